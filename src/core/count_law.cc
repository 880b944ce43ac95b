#include "src/core/count_law.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "src/core/check.h"
#include "src/core/det_math.h"

namespace hindsight {
namespace {

constexpr double kFurthest = 80.0;

}  // namespace

float CountLaw::leaf(double count) const {
  return static_cast<float>(det_exp(std::clamp(rate_ * count - shift_, -kFurthest, kFurthest)));
}

void CountLaw::note_counted(ItemIndex item) {
  is_counted_.resize(tree_.size());
  if (!is_counted_[item]) {
    is_counted_[item] = true;
    counted_.push_back(item);
  }
}

void CountLaw::grow(std::size_t items) {
  const std::vector<float> added(items - tree_.size(), leaf(0.0));
  HINDSIGHT_CHECK(tree_.append(added).ok());
}

void CountLaw::remove(ItemIndex item) { HINDSIGHT_CHECK(tree_.set(item, 0.0F).ok()); }

void CountLaw::set(ItemIndex item, double count, std::span<const double> counts) {
  note_counted(item);
  if (tree_.weight(item) == 0.0F) {
    return;  // removed; a click on an old list still counts
  }
  if (rate_ * count - shift_ > kFurthest) {
    rescale(rate_, counts);
  } else {
    HINDSIGHT_CHECK(tree_.set(item, leaf(count)).ok());
  }
}

void CountLaw::rescale(double rate, std::span<const double> counts) {
  HINDSIGHT_CHECK(counts.size() == tree_.size());
  const float uncounted = leaf(0.0);
  rate_ = rate;
  double top = 0.0;
  for (const ItemIndex item : counted_) {
    top = tree_.weight(item) > 0.0F ? std::max(top, counts[item]) : top;
  }
  shift_ = rate_ * top;
  constexpr std::size_t kLeavesPerPath = 16;  // a pass over so many costs as much as one path
  if (leaf(0.0) == uncounted && counted_.size() < tree_.size() / kLeavesPerPath) {
    for (const ItemIndex item : counted_) {
      if (tree_.weight(item) > 0.0F) {
        HINDSIGHT_CHECK(tree_.set(item, leaf(counts[item])).ok());
      }
    }
    return;
  }
  tree_.rewrite([&](std::span<float> leaves) {
    for (std::size_t i = 0; i < counts.size(); ++i) {
      leaves[i] = leaves[i] > 0.0F ? leaf(counts[i]) : 0.0F;
    }
  });
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
  counted_.clear();
  is_counted_.clear();
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] != 0.0) {
      note_counted(static_cast<ItemIndex>(i));
    }
  }
  return {};
}

}  // namespace hindsight
