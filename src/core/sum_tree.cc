#include "src/core/sum_tree.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "src/core/check.h"
#include "src/core/det_math.h"

namespace hindsight {
namespace {

constexpr std::size_t kMaxLeaves = std::size_t{1} << 31;

/// Sixteen values in one fixed tree.
template <class T>
double sum16(const T* x) {
  std::array<double, 8> s;
  for (std::size_t i = 0; i < 8; ++i) {
    s[i] = static_cast<double>(x[i]) + static_cast<double>(x[i + 8]);
  }
  for (std::size_t i = 0; i < 4; ++i) {
    s[i] = s[i] + s[i + 4];
  }
  return (s[0] + s[2]) + (s[1] + s[3]);
}

Result<void> check_weight(float weight, std::size_t position) {
  if (weight >= 0.0F && std::isfinite(weight)) {
    return {};
  }
  const std::string field = "weights[" + std::to_string(position) + "]";
  if (!std::isfinite(weight)) {
    return Error{ErrorCode::kNotFinite, "a weight is not a finite number", field};
  }
  return Error{ErrorCode::kInvalidArgument, "a weight is negative", field};
}

std::size_t groups_of(std::size_t nodes) { return (nodes + 15) / 16; }

/// Where in a row of sixteen values a point lies: first which four, then which of them, without a
/// branch that could be guessed wrong. `point` becomes the distance from the start of the value.
/// RETURNS: the position of a positive value. REQUIRES: there is one
template <class T>
std::size_t find_child(const T* values, double& point) {
  const auto at = [&](std::size_t i) { return static_cast<double>(values[i]); };
  const auto four = [&](std::size_t i) { return (at(i) + at(i + 1)) + (at(i + 2) + at(i + 3)); };
  const auto step = [&](double a, double b, double c) {
    const double ends[4] = {0.0, a, a + b, (a + b) + c};
    const std::size_t index =
        (point >= ends[1] ? 1U : 0U) + (point >= ends[2] ? 1U : 0U) + (point >= ends[3] ? 1U : 0U);
    point -= ends[index];
    return index;
  };
  const std::size_t begin = 4 * step(four(0), four(4), four(8));
  std::size_t child = begin + step(at(begin), at(begin + 1), at(begin + 2));
  if (!(at(child) > 0.0)) [[unlikely]] {
    // Rounding has put the point behind the last positive value: it belongs to that one.
    child = 15;
    while (!(at(child) > 0.0)) {
      --child;
    }
    point = at(child);
  }
  return child;
}

}  // namespace

/// A draw without replacement, from a tree that stays as it is.
///
/// Slots are first drawn from the whole tree, several at a time, so that their cache misses
/// overlap. One that meets a leaf already drawn is drawn again from what is left, which needs a
/// copy of the nodes above the drawn leaves; so are all slots once half of the mass is drawn.
/// Either way a leaf i that is left has probability w_i / W + (D / W) w_i / (W - D) = w_i / (W -
/// D), with W the whole mass and D what is drawn of it.
class SumTree::Draw {
 public:
  Draw(const SumTree& tree, Rng& rng)
      : tree_(tree), rng_(rng), depth_(tree.levels_.size() + 1), total_(tree.total()) {}

  DrawnList run(std::size_t k) {
    list_.order.reserve(k);
    // Looking for repeats one by one pays for short lists only.
    const bool propose = k <= kMaxProposed;
    while (list_.order.size() < k) {
      const std::size_t count = std::min(kBatch, k - list_.order.size());
      if (propose && drawn_ <= 0.5 * total_) {
        propose_leaves(count);
      }
      for (std::size_t j = 0; j < count; ++j) {
        const bool usable = propose && drawn_ <= 0.5 * total_ && !is_drawn(proposed_[j]);
        accept(usable ? proposed_[j] : draw_from_rest());
      }
    }
    list_.log_propensity = log_prob();
    return std::move(list_);
  }

  /// Takes the leaves of a given list, as if they had been drawn. REQUIRES: positive weights
  double follow(std::span<const std::uint32_t> order) {
    for (const std::uint32_t leaf : order) {
      if (drawn_ > 0.5 * total_) {
        take_out_drawn();
      }
      accept(leaf);
    }
    return log_prob();
  }

 private:
  static constexpr std::size_t kBatch = 16;
  static constexpr std::size_t kMaxProposed = 128;

  struct Node {
    Values left;                              // of each child, what is not drawn yet
    std::array<std::int32_t, kFanout> below;  // its own node here, or -1: nothing drawn below it
  };

  /// Draws leaves of the whole tree, level by level for all of them.
  void propose_leaves(std::size_t count) {
    std::array<double, kBatch> point;
    for (std::size_t j = 0; j < count; ++j) {
      point[j] = rng_.uniform() * total_;
      proposed_[j] = 0;
    }
    for (std::size_t level = depth_; level-- > 0;) {
      for (std::size_t j = 0; j < count; ++j) {
        const std::size_t first = proposed_[j] * kFanout;
        if (level > 0) {
          proposed_[j] = first + find_child(tree_.levels_[level - 1].data() + first, point[j]);
          tree_.prefetch_children(level - 1, proposed_[j]);
        } else {
          proposed_[j] = first + find_child(tree_.leaves_.data() + first, point[j]);
        }
      }
    }
  }

  bool is_drawn(std::size_t leaf) const {
    return std::find(list_.order.begin(), list_.order.end(), leaf) != list_.order.end();
  }

  void accept(std::size_t leaf) {
    const auto weight = static_cast<double>(tree_.leaves_[leaf]);
    // The difference keeps its precision while at least half is left; after that the sums of what
    // is left are at hand.
    const double rest = drawn_ <= 0.5 * total_ ? total_ - drawn_ : sum16(nodes_[0].left.data());
    list_.order.push_back(static_cast<std::uint32_t>(leaf));
    drawn_ += weight;
    count_prob(weight / rest);
  }

  void take_out_drawn() {
    if (nodes_.empty()) {
      add_node(depth_ - 1, 0);
    }
    for (; taken_out_ < list_.order.size(); ++taken_out_) {
      take_out(list_.order[taken_out_]);
    }
  }

  std::size_t draw_from_rest() {
    take_out_drawn();
    double point = rng_.uniform() * sum16(nodes_[0].left.data());
    std::size_t leaf = 0;
    std::int32_t here = 0;
    for (std::size_t level = depth_; level-- > 0;) {
      const std::size_t first = leaf * kFanout;
      std::size_t child = 0;
      if (here >= 0) {
        const Node& node = nodes_[static_cast<std::size_t>(here)];
        child = find_child(node.left.data(), point);
        here = node.below[child];
      } else {
        child = level > 0 ? find_child(tree_.levels_[level - 1].data() + first, point)
                          : find_child(tree_.leaves_.data() + first, point);
      }
      leaf = first + child;
    }
    return leaf;
  }

  std::int32_t add_node(std::size_t level, std::size_t index) {
    Node& node = nodes_.emplace_back();
    node.left = tree_.children(level, index);
    node.below.fill(-1);
    return static_cast<std::int32_t>(nodes_.size() - 1);
  }

  /// Copies the nodes above a leaf, where they are not copied yet, and sets it to zero in them.
  void take_out(std::size_t leaf) {
    std::array<std::int32_t, kMaxDepth> path;
    path[depth_ - 1] = 0;
    for (std::size_t level = depth_ - 1; level > 0; --level) {
      const std::size_t index = leaf >> (4 * level);
      std::int32_t below = node_at(path[level]).below[index % kFanout];
      if (below < 0) {
        below = add_node(level - 1, index);
        node_at(path[level]).below[index % kFanout] = below;
      }
      path[level - 1] = below;
    }
    double left = 0.0;
    for (std::size_t level = 0; level < depth_; ++level) {
      Values& values = node_at(path[level]).left;
      values[(leaf >> (4 * level)) % kFanout] = left;
      left = sum16(values.data());
    }
  }

  Node& node_at(std::int32_t index) { return nodes_[static_cast<std::size_t>(index)]; }

  /// Multiplies, and takes a logarithm only before the product would vanish.
  void count_prob(double factor) {
    prob_ *= factor;
    if (prob_ < 1e-200) {
      log_prob_ += det_log(prob_);
      prob_ = 1.0;
    }
  }

  double log_prob() const { return log_prob_ + det_log(prob_); }

  const SumTree& tree_;
  Rng& rng_;
  std::size_t depth_;  // steps from the top to a leaf
  double total_;
  double drawn_ = 0.0;  // mass of what is drawn
  std::array<std::size_t, kBatch> proposed_;
  std::vector<Node> nodes_;  // above the first `taken_out_` of the list; the first is the top
  std::size_t taken_out_ = 0;
  DrawnList list_;
  double log_prob_ = 0.0;
  double prob_ = 1.0;
};

Result<SumTree> SumTree::build(std::span<const float> weights) {
  SumTree tree;
  HINDSIGHT_RETURN_IF_ERROR(tree.append(weights));
  return tree;
}

double SumTree::total() const { return levels_.empty() ? 0.0 : sum16(levels_.back().data()); }

SumTree::Values SumTree::children(std::size_t level, std::size_t node) const {
  Values values;
  if (level == 0) {
    const float* from = leaves_.data() + node * kFanout;
    std::copy(from, from + kFanout, values.begin());
  } else {
    const double* from = levels_[level - 1].data() + node * kFanout;
    std::copy(from, from + kFanout, values.begin());
  }
  return values;
}

void SumTree::prefetch_children(std::size_t level, std::size_t node) const {
  if (level == 0) {
    __builtin_prefetch(leaves_.data() + node * kFanout);
  } else {
    __builtin_prefetch(levels_[level - 1].data() + node * kFanout);
    __builtin_prefetch(levels_[level - 1].data() + node * kFanout + kFanout / 2);
  }
}

void SumTree::resize(std::size_t size) {
  size_ = size;
  std::size_t groups = groups_of(size);
  leaves_.resize(groups * kFanout, 0.0F);
  for (std::size_t level = 0;; ++level) {
    if (level == levels_.size()) {
      levels_.emplace_back();
    }
    const std::size_t nodes = groups;
    groups = groups_of(nodes);
    levels_[level].resize(groups * kFanout, 0.0);
    if (groups <= 1 && level + 1 >= levels_.size()) {
      break;
    }
  }
}

void SumTree::recompute(std::size_t begin, std::size_t end) {
  for (std::size_t level = 0; level < levels_.size(); ++level) {
    begin /= kFanout;
    end = groups_of(end);
    for (std::size_t node = begin; node < end; ++node) {
      levels_[level][node] = level == 0 ? sum16(leaves_.data() + node * kFanout)
                                        : sum16(levels_[level - 1].data() + node * kFanout);
    }
  }
}

Result<void> SumTree::set(std::size_t leaf, float weight) {
  HINDSIGHT_CHECK(leaf < size_);
  HINDSIGHT_RETURN_IF_ERROR(check_weight(weight, leaf));
  positive_ -= leaves_[leaf] > 0.0F ? 1 : 0;
  positive_ += weight > 0.0F ? 1 : 0;
  leaves_[leaf] = weight;
  recompute(leaf, leaf + 1);
  return {};
}

void SumTree::rewrite(const std::function<void(std::span<float> leaves)>& change) {
  change(std::span<float>(leaves_.data(), size_));
  recompute(0, size_);
}

Result<void> SumTree::append(std::span<const float> weights) {
  if (weights.size() > kMaxLeaves - size_) {
    return Error{ErrorCode::kInvalidArgument, "there are more weights than can be numbered",
                 "weights"};
  }
  for (std::size_t i = 0; i < weights.size(); ++i) {
    HINDSIGHT_RETURN_IF_ERROR(check_weight(weights[i], i));
  }
  if (weights.empty()) {
    return {};
  }
  const std::size_t before = size_;
  const std::size_t levels = levels_.size();
  resize(before + weights.size());
  std::copy(weights.begin(), weights.end(), leaves_.begin() + static_cast<std::ptrdiff_t>(before));
  positive_ += static_cast<std::size_t>(
      std::count_if(weights.begin(), weights.end(), [](float w) { return w > 0.0F; }));
  recompute(levels_.size() > levels ? 0 : before, size_);  // a new level sums all of the old ones
  return {};
}

Result<DrawnList> SumTree::draw_top_k(std::size_t k, Rng& rng) const {
  HINDSIGHT_RETURN_IF_ERROR(check_list_size(size_, k));
  if (k > positive_) {
    return Error{ErrorCode::kInvalidArgument,
                 "k is " + std::to_string(k) + ", but only " + std::to_string(positive_) +
                     " weights are positive",
                 "k"};
  }
  return Draw(*this, rng).run(k);
}

double SumTree::log_propensity(std::span<const std::uint32_t> order) const {
  HINDSIGHT_CHECK(!order.empty());
  for (const std::uint32_t leaf : order) {
    HINDSIGHT_CHECK(leaf < size_);
    if (leaves_[leaf] == 0.0F) {
      return -std::numeric_limits<double>::infinity();
    }
  }
  Rng unused(0);
  return std::min(Draw(*this, unused).follow(order), 0.0);
}

}  // namespace hindsight
