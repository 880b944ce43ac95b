#include "src/sim/pair_table.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "src/core/check.h"

namespace hindsight {

PairTable::PairTable(std::size_t reach, const std::function<double(double)>& law)
    : reach_(static_cast<std::int64_t>(reach)) {
  constexpr std::size_t kLongest = 100'000'000;
  HINDSIGHT_CHECK(reach <= kLongest);
  chances_.reserve(2 * reach + 1);
  for (std::int64_t difference = -reach_; difference <= reach_; ++difference) {
    chances_.push_back(law(static_cast<double>(difference)));
  }
}

double PairTable::mean_position(std::span<const std::int64_t> counts, std::uint32_t item) const {
  const std::int64_t mine = counts[item];
  double sums[4] = {0.0, 0.0, 0.0, 0.0};  // apart, so that one need not wait for the other
  std::size_t i = 0;
  for (; i + 4 <= counts.size(); i += 4) {
    for (std::size_t j = 0; j < 4; ++j) {
      sums[j] += at(counts[i + j] - mine);
    }
  }
  for (; i < counts.size(); ++i) {
    sums[0] += at(counts[i] - mine);
  }
  return (sums[0] + sums[1]) + (sums[2] + sums[3]) - at(0);  // the item itself does not count
}

namespace {

constexpr std::size_t kCoins = 256;

}  // namespace

QuickSortPlaces::QuickSortPlaces(std::uint32_t items)
    : order_(items),
      scratch_(items),
      is_wanted_(items, 0),
      place_of_(items, 0.0),
      coins_(std::min<std::size_t>(kCoins, std::size_t{4} * items)),
      next_coin_(coins_.size()) {
  std::iota(order_.begin(), order_.end(), 0U);
}

double QuickSortPlaces::coin(Rng& rng) {
  if (next_coin_ == coins_.size()) {
    rng.fill_uniform_positive(coins_);
    next_coin_ = 0;
  }
  return coins_[next_coin_++];
}

// The items stand as the last draw has left them, which does not change the law: a pivot is chosen
// uniformly among those of its part, whatever their order.
void QuickSortPlaces::draw(const PairTable& before, std::span<const std::int64_t> counts,
                           std::span<const std::uint32_t> items, Rng& rng, std::span<double> out) {
  HINDSIGHT_CHECK(items.size() == out.size());
  for (const std::uint32_t item : items) {
    is_wanted_[item] = 1;
  }
  waiting_.assign(
      1, {0, static_cast<std::uint32_t>(order_.size()), static_cast<std::uint32_t>(items.size())});
  while (!waiting_.empty()) {
    const auto [begin, end, wanted] = waiting_.back();
    waiting_.pop_back();
    if (wanted == 0) {
      continue;
    }
    // A coin is uniform in (0, 1]: its part after the point is as good as one of rng's own.
    const auto drawn = static_cast<std::uint32_t>(coin(rng) * static_cast<double>(end - begin));
    std::swap(order_[begin], order_[std::min(begin + drawn, end - 1)]);
    const std::uint32_t pivot = order_[begin];
    const std::int64_t count = counts[pivot];
    std::uint32_t left = begin;
    std::uint32_t right = end;
    std::uint32_t wanted_left = 0;
    for (std::uint32_t i = begin + 1; i < end; ++i) {
      const std::uint32_t item = order_[i];
      const std::uint32_t to_left = coin(rng) <= before.at(counts[item] - count) ? 1 : 0;
      // Written to both ends; only one of them counts it. No branch could be foretold here.
      scratch_[left] = item;
      scratch_[right - 1] = item;
      left += to_left;
      right -= 1 - to_left;
      wanted_left += to_left & is_wanted_[item];
    }
    scratch_[left] = pivot;
    std::copy(scratch_.begin() + begin, scratch_.begin() + end, order_.begin() + begin);
    place_of_[pivot] = static_cast<double>(left);
    waiting_.push_back({begin, left, wanted_left});
    waiting_.push_back({left + 1, end, wanted - wanted_left - is_wanted_[pivot]});
  }
  for (std::size_t i = 0; i < items.size(); ++i) {
    out[i] = place_of_[items[i]];
    is_wanted_[items[i]] = 0;
  }
}

}  // namespace hindsight
