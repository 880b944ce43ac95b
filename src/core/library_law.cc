#include "src/core/library_law.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "src/core/bytes.h"
#include "src/core/check.h"
#include "src/core/det_math.h"
#include "src/core/kernels.h"

namespace hindsight {
namespace {

/// How far a log-weight in the tree may lie from the shift: floats reach from e^-87 to e^88.
constexpr double kReach = 80.0;
/// Shifts are multiples of this, so that most rebuilds keep them and with them the leaves of items
/// of weight zero.
constexpr double kShiftStep = 32.0;
/// e^-40: with less mass than this, all that is left lies far below the shift.
constexpr double kThin = 0x1p-58;

// By how much a log-weight may be off: once a rebuild has been paid for, and in any case.
constexpr double kSoftDrift = 0.01;
constexpr double kHardDrift = 0.5;
/// Leaves of a rebuild that one changed leaf pays for: it costs about as much as this many that are
/// filled in a row.
constexpr std::uint64_t kPaid = 16;
/// Up to one in so many items a rebuild sets the leaves of those that moved one by one, each at the
/// cost of so many in a row.
constexpr std::size_t kListed = 64;
constexpr std::uint64_t kOneByOne = 32;

constexpr double kMaxShift = 0x1p400;

double v_of(const BallWeights& weights, ItemIndex item) { return weights.unscaled_items()[item]; }

}  // namespace

float LibraryLaw::leaf(double v) const {
  return static_cast<float>(det_exp(std::clamp(scale_ * v - shift_, -kReach, kReach)));
}

void LibraryLaw::Extremes::note(double v) {
  largest = std::max(largest, std::abs(v));
  top = std::max(top, v);
}

void LibraryLaw::grow(std::size_t count) {
  if (count > tree_.size()) {
    const std::vector<float> added(count - tree_.size(), leaf(0.0));
    HINDSIGHT_CHECK(tree_.append(added).ok());
    listed_.resize(count, 0);
  }
}

void LibraryLaw::remove(ItemIndex item, const BallWeights& weights) {
  HINDSIGHT_CHECK(tree_.set(item, 0.0F).ok());
  if (tree_.positive() > 0 && tree_.total() < kThin) {
    rebuild(weights);
  }
}

void LibraryLaw::follow(const BallWeights& weights, std::span<const ItemIndex> touched) {
  Extremes extremes{.largest = largest_};
  for (const ItemIndex item : touched) {
    __builtin_prefetch(listed_.data() + item);  // far apart in a large library
  }
  for (const ItemIndex item : touched) {
    if (listed_[item] == 0) {
      listed_[item] = 1;
      moved_.push_back(item);
    }
    if (tree_.weight(item) > 0.0F) {
      extremes.note(v_of(weights, item));
    }
  }
  largest_ = extremes.largest;
  touched_ += touched.size();
  moved_at_most_ += touched.size();
  const bool too_high = scale_ * extremes.top - shift_ > kReach;
  if (weights.folds() != folds_ || too_high || has_to_rebuild(weights)) {
    rebuild(weights);
    return;
  }
  for (const ItemIndex item : touched) {
    if (tree_.weight(item) > 0.0F) {
      HINDSIGHT_CHECK(tree_.set(item, leaf(v_of(weights, item))).ok());
    }
  }
  if (tree_.positive() > 0 && tree_.total() < kThin) {
    rebuild(weights);
  }
}

bool LibraryLaw::has_to_rebuild(const BallWeights& weights) const {
  const double drift = std::abs(weights.scale() - scale_) * largest_;
  const bool few = moved_at_most_ < tree_.size() / kListed;
  const std::uint64_t cost = few ? kOneByOne * moved_at_most_ : tree_.size();
  return drift > kHardDrift || (drift > kSoftDrift && kPaid * touched_ >= cost);
}

void LibraryLaw::rebuild(const BallWeights& weights) {
  scale_ = weights.scale();
  folds_ = weights.folds();
  const bool few = moved_.size() < tree_.size() / kListed;
  const Extremes extremes = few ? set_listed(weights) : rewrite(weights, false);
  largest_ = extremes.largest;
  // The multiple of the step that is nearest to the highest score.
  const double shift = kShiftStep * std::floor(scale_ * extremes.top / kShiftStep + 0.5);
  if (shift != shift_) {
    shift_ = shift;
    rewrite(weights, true);
  }
  // What has come back to zero leaves the list: its length is then a function of the weights.
  const std::span<const double> v = weights.unscaled_items();
  const auto is_zero = [&](ItemIndex item) {
    listed_[item] = v[item] != 0.0 ? 1 : 0;
    return v[item] == 0.0;
  };
  if (few) {
    moved_.erase(std::remove_if(moved_.begin(), moved_.end(), is_zero), moved_.end());
  } else {
    list_moved(weights);
  }
  moved_at_most_ = moved_.size();
  touched_ = 0;
}

LibraryLaw::Extremes LibraryLaw::set_listed(const BallWeights& weights) {
  Extremes extremes;
  std::size_t live = 0;
  for (const ItemIndex item : moved_) {
    if (tree_.weight(item) > 0.0F) {
      const double v = v_of(weights, item);
      extremes.note(v);
      ++live;
      HINDSIGHT_CHECK(tree_.set(item, leaf(v)).ok());
    }
  }
  if (live < tree_.positive() || live == 0) {
    extremes.note(0.0);  // of the items that never moved
  }
  return extremes;
}

// Leaves in blocks, in which the array kernel gives the bits of `leaf`.
LibraryLaw::Extremes LibraryLaw::rewrite(const BallWeights& weights, bool all) {
  constexpr std::size_t kBlock = 1024;
  const std::span<const double> v = weights.unscaled_items();
  Extremes extremes;
  std::size_t live = 0;
  tree_.rewrite([&](std::span<float> leaves) {
    std::array<std::uint32_t, kBlock> at;
    std::array<double, kBlock> score;
    for (std::size_t begin = 0; begin < leaves.size(); begin += kBlock) {
      const std::size_t end = std::min(begin + kBlock, leaves.size());
      std::size_t count = 0;
      for (std::size_t i = all ? begin : next_listed(begin, end); i < end;
           i = all ? i + 1 : next_listed(i + 1, end)) {
        at[count] = static_cast<std::uint32_t>(i);
        count += leaves[i] > 0.0F ? 1 : 0;
      }
      for (std::size_t j = 0; j < count; ++j) {
        extremes.note(v[at[j]]);
        score[j] = std::clamp(scale_ * v[at[j]] - shift_, -kReach, kReach);
      }
      const auto part = std::span(score).first(count);
      exp_shifted(part, 0.0, part);
      for (std::size_t j = 0; j < count; ++j) {
        leaves[at[j]] = static_cast<float>(score[j]);
      }
      live += count;
    }
  });
  if (live < tree_.positive() || live == 0) {
    extremes.note(0.0);
  }
  return extremes;
}

void LibraryLaw::list_moved(const BallWeights& weights) {
  const std::span<const double> v = weights.unscaled_items();
  moved_.clear();
  for (std::size_t i = next_listed(0, v.size()); i < v.size(); i = next_listed(i + 1, v.size())) {
    listed_[i] = v[i] != 0.0 ? 1 : 0;
    if (listed_[i] != 0) {
      moved_.push_back(static_cast<ItemIndex>(i));
    }
  }
}

// RETURNS: the first listed item from `begin` on, or `end`; eight at a time where there are none.
std::size_t LibraryLaw::next_listed(std::size_t begin, std::size_t end) const {
  while (begin < end && listed_[begin] == 0) {
    std::uint64_t eight = 1;
    if (begin + sizeof(eight) <= end) {
      std::memcpy(&eight, listed_.data() + begin, sizeof(eight));
    }
    begin += eight == 0 ? sizeof(eight) : 1;
  }
  return begin;
}

void LibraryLaw::save(ByteWriter& out) const {
  out.put(scale_);
  out.put(shift_);
  out.put(largest_);
  out.put(touched_);
  out.put(moved_at_most_);
}

Result<void> LibraryLaw::load(ByteReader& in, const BallWeights& weights,
                              const std::function<bool(ItemIndex)>& is_live) {
  in.get(scale_);
  in.get(shift_);
  in.get(largest_);
  in.get(touched_);
  in.get(moved_at_most_);
  HINDSIGHT_RETURN_IF_ERROR(in.check("law of the library"));
  constexpr double kMaxScale = 0x1p40;
  const bool sane = scale_ >= 1.0 / kMaxScale && scale_ <= kMaxScale &&
                    std::abs(shift_) <= kMaxShift && largest_ >= 0.0 && largest_ <= kMaxShift;
  if (!sane) {
    return Error{ErrorCode::kCorrupt, "the saved law of the library is out of range", "library"};
  }
  listed_.assign(weights.item_count(), 1);
  list_moved(weights);
  folds_ = weights.folds();
  std::vector<float> live(weights.item_count());
  for (std::size_t i = 0; i < live.size(); ++i) {
    live[i] = is_live(static_cast<ItemIndex>(i)) ? 1.0F : 0.0F;
  }
  HINDSIGHT_ASSIGN_OR_RETURN(tree_, SumTree::build(live));
  rewrite(weights, true);
  return {};
}

}  // namespace hindsight
