#include "src/core/sum_tree.h"

#include <algorithm>
#include <cmath>
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

/// Where in a sum over sixteen values a point lies. `point` becomes the distance from the start of
/// the value that was found. REQUIRES: a positive value
std::size_t find_child(const std::array<double, 16>& values, double& point) {
  for (std::size_t c = 0; c < values.size(); ++c) {
    if (point < values[c]) {  // never at a value of zero
      return c;
    }
    point -= values[c];
  }
  // Rounding left the point behind the end: it belongs to the last value there is.
  std::size_t last = values.size() - 1;
  while (values[last] <= 0.0) {
    --last;
  }
  point = values[last];
  return last;
}

}  // namespace

/// One draw without replacement: the tree as it is, and over it the nodes above drawn leaves with
/// what is left of their children.
class SumTree::Draw {
 public:
  Draw(const SumTree& tree, std::size_t k, Rng& rng)
      : tree_(tree), rng_(rng), depth_(tree.levels_.size() + 1) {
    nodes_.reserve(std::min<std::size_t>(k * depth_, 64));
    list_.order.reserve(k);
    add_node(depth_ - 1, 0);
  }

  DrawnList run(std::size_t k) {
    for (std::size_t j = 0; j < k; ++j) {
      next(j + 1 < k);
    }
    list_.log_propensity = log_prob_ + det_log(prob_);
    return std::move(list_);
  }

 private:
  struct Node {
    Values left;                         // of each child, what is not drawn yet
    std::array<std::int32_t, 16> below;  // its own node here, or -1: nothing drawn below it
  };
  struct Step {
    std::int32_t node;
    std::size_t child;
  };

  std::int32_t add_node(std::size_t level, std::size_t index) {
    Node& node = nodes_.emplace_back();
    node.left = tree_.children(level, index);
    node.below.fill(-1);
    return static_cast<std::int32_t>(nodes_.size() - 1);
  }

  /// Draws one leaf; takes it out if more are to follow.
  void next(bool more) {
    const double total = sum16(nodes_[0].left.data());
    double point = rng_.uniform() * total;
    std::array<Step, kMaxDepth> path;
    std::size_t leaf = 0;
    double weight = 0.0;
    std::int32_t here = 0;
    for (std::size_t level = depth_; level-- > 0;) {
      if (here < 0 && !more) {
        // Nothing is taken out below, and nothing will be.
        const Values values = tree_.children(level, leaf);
        const std::size_t child = find_child(values, point);
        weight = values[child];
        leaf = leaf * kFanout + child;
        continue;
      }
      if (here < 0) {
        here = add_node(level, leaf);
        nodes_[static_cast<std::size_t>(path[level + 1].node)].below[path[level + 1].child] = here;
      }
      const Node& node = nodes_[static_cast<std::size_t>(here)];
      const std::size_t child = find_child(node.left, point);
      path[level] = {here, child};
      weight = node.left[child];
      leaf = leaf * kFanout + child;
      here = node.below[child];
    }
    list_.order.push_back(static_cast<std::uint32_t>(leaf));
    count_prob(weight / total);
    if (more) {
      take_out(path);
    }
  }

  void take_out(const std::array<Step, kMaxDepth>& path) {
    double left = 0.0;
    for (std::size_t level = 0; level < depth_; ++level) {
      Values& values = nodes_[static_cast<std::size_t>(path[level].node)].left;
      values[path[level].child] = left;
      left = sum16(values.data());
    }
  }

  /// Multiplies, and takes a logarithm only before the product would vanish.
  void count_prob(double factor) {
    prob_ *= factor;
    if (prob_ < 1e-200) {
      log_prob_ += det_log(prob_);
      prob_ = 1.0;
    }
  }

  const SumTree& tree_;
  Rng& rng_;
  std::size_t depth_;        // steps from the top to a leaf
  std::vector<Node> nodes_;  // the first is the top
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

Result<void> SumTree::append(std::span<const float> weights) {
  if (weights.size() > kMaxLeaves - size_) {
    return Error{ErrorCode::kInvalidArgument, "there are more weights than can be numbered",
                 "weights"};
  }
  for (std::size_t i = 0; i < weights.size(); ++i) {
    HINDSIGHT_RETURN_IF_ERROR(check_weight(weights[i], i));
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
  return Draw(*this, k, rng).run(k);
}

}  // namespace hindsight
