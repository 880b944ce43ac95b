#include "src/core/count_law.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "src/core/check.h"
#include "src/core/det_math.h"

namespace hindsight {
namespace {

constexpr double kFurthest = 80.0;

float least_leaf() {
  static const float least = static_cast<float>(det_exp(-kFurthest));
  return least;
}

}  // namespace

float CountLaw::leaf(double count) const {
  return static_cast<float>(det_exp(std::clamp(rate_ * count - shift_, -kFurthest, kFurthest)));
}

bool CountLaw::rest_is_least() const { return leaf(0.0) == least_leaf(); }

void CountLaw::put(ItemIndex item, float weight) {
  if (tree_.weight(item) <= least_leaf() && weight > least_leaf()) {
    lifted_.push_back(item);
  }
  HINDSIGHT_CHECK(tree_.set(item, weight).ok());
}

void CountLaw::find_lifted() {
  lifted_.clear();
  if (rest_is_least()) {
    for (std::size_t i = 0; i < tree_.size(); ++i) {
      if (tree_.weight(i) > least_leaf()) {
        lifted_.push_back(static_cast<ItemIndex>(i));
      }
    }
  }
}

void CountLaw::grow(std::size_t items) {
  const std::vector<float> added(items - tree_.size(), leaf(0.0));
  HINDSIGHT_CHECK(tree_.append(added).ok());
}

void CountLaw::remove(ItemIndex item) { HINDSIGHT_CHECK(tree_.set(item, 0.0F).ok()); }

void CountLaw::set(ItemIndex item, double count, std::span<const double> counts) {
  if (tree_.weight(item) == 0.0F) {
    return;  // removed; a click on an old list still counts
  }
  if (rate_ * count - shift_ <= kFurthest) {
    put(item, leaf(count));
  } else if (rest_is_least()) {
    outgrow(item, count, counts);
  } else {
    rescale(rate_, counts);
  }
}

// No other score is as high: all were within the limit of the old shift.
void CountLaw::outgrow(ItemIndex item, double count, std::span<const double> counts) {
  shift_ = rate_ * count;
  put(item, leaf(count));
  const auto falls = [&](ItemIndex lifted) {
    if (tree_.weight(lifted) == 0.0F) {
      return true;
    }
    const float weight = leaf(counts[lifted]);
    HINDSIGHT_CHECK(tree_.set(lifted, weight).ok());
    return weight <= least_leaf();
  };
  lifted_.erase(std::remove_if(lifted_.begin(), lifted_.end(), falls), lifted_.end());
}

void CountLaw::rescale(double rate, std::span<const double> counts) {
  HINDSIGHT_CHECK(counts.size() == tree_.size());
  rate_ = rate;
  double top = 0.0;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    top = tree_.weight(i) > 0.0F ? std::max(top, counts[i]) : top;
  }
  shift_ = rate_ * top;
  const float unpicked = leaf(0.0);  // most of a large library
  tree_.rewrite([&](std::span<float> leaves) {
    for (std::size_t i = 0; i < counts.size(); ++i) {
      const float weight = counts[i] == 0.0 ? unpicked : leaf(counts[i]);
      leaves[i] = leaves[i] > 0.0F ? weight : 0.0F;
    }
  });
  find_lifted();
}

Result<void> CountLaw::load(double shift, double rate, std::span<const double> counts,
                            const std::function<bool(ItemIndex)>& is_live) {
  rate_ = rate;
  shift_ = shift;
  double top = 0.0;
  std::vector<float> leaves(counts.size());
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const bool live = is_live(static_cast<ItemIndex>(i));
    top = live ? std::max(top, counts[i]) : top;
    leaves[i] = live ? leaf(counts[i]) : 0.0F;
  }
  if (!(std::isfinite(shift) && shift >= 0.0 && rate_ * top - shift <= kFurthest)) {
    return Error{ErrorCode::kCorrupt, "the saved shift does not fit the counts", "shift"};
  }
  HINDSIGHT_ASSIGN_OR_RETURN(tree_, SumTree::build(leaves));
  find_lifted();
  return {};
}

}  // namespace hindsight
