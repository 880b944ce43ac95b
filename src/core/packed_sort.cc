#include "src/core/packed_sort.h"

#include <hwy/contrib/sort/vqsort.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "src/core/check.h"
#include "src/core/row_kernels.h"
#include "src/core/scratch.h"

namespace hindsight {
namespace {

/// All words are distinct, so that every correct algorithm gives the same result.
void sort_words(std::span<std::uint64_t> words) {
  constexpr std::size_t kWorthVectors = 64;
  if (words.size() <= kFewWords) {
    sort_few(words);
  } else if (words.size() < kWorthVectors) {
    std::sort(words.begin(), words.end());
  } else {
    hwy::Sorter()(words.data(), words.size(), hwy::SortAscending());
  }
}

/// Keeps, of words whose upper bits are keys, some that include all with a key not above the k-th
/// smallest. RETURNS: how many, now in front.
///
/// A few words say roughly where the k-th lies; one pass without branches keeps what is not above
/// that. Where the guess was too low, everything stays.
std::size_t keep_likely(std::span<std::uint64_t> words, std::uint64_t position_mask,
                        std::size_t k) {
  constexpr std::size_t kSample = 32;
  if (words.size() < 8 * kSample || k > words.size() / 8) {
    return words.size();
  }
  std::array<std::uint64_t, kSample> sample;
  for (std::size_t j = 0; j < kSample; ++j) {
    sample[j] = words[(2 * j + 1) * words.size() / (2 * kSample)];
  }
  const double expected = static_cast<double>(k * kSample) / static_cast<double>(words.size());
  const auto rank = static_cast<std::size_t>(expected + 2.0 * std::sqrt(expected) + 2.0);
  std::nth_element(sample.begin(), sample.begin() + rank, sample.end());
  const std::uint64_t limit = sample[rank] | position_mask;
  const auto small = static_cast<std::size_t>(
      std::count_if(words.begin(), words.end(), [&](std::uint64_t w) { return w <= limit; }));
  if (small < k) {
    return words.size();
  }
  std::size_t kept = 0;
  for (std::size_t i = 0; kept < small; ++i) {
    const std::uint64_t word = words[i];
    words[kept] = word;
    kept += word <= limit ? 1 : 0;
  }
  return kept;
}

/// As keep_likely, and no others.
std::size_t keep_smallest(std::span<std::uint64_t> words, std::uint64_t position_mask,
                          std::size_t k) {
  words = words.first(keep_likely(words, position_mask, k));
  if (words.size() <= 2 * k) {
    return words.size();  // sorting them all costs less than another selection
  }
  const auto kth = words.begin() + static_cast<std::ptrdiff_t>(k - 1);
  std::nth_element(words.begin(), kth, words.end());
  const std::uint64_t limit = *kth | position_mask;
  const auto end =
      std::partition(kth + 1, words.end(), [&](std::uint64_t w) { return w <= limit; });
  return static_cast<std::size_t>(end - words.begin());
}

/// Puts right the order of positions whose keys differ only in the bits under the mask. REQUIRES:
/// `order` is sorted by the other bits
void sort_by_lower_bits(std::span<const std::uint64_t> keys, std::uint64_t position_mask,
                        std::span<std::uint32_t> order) {
  for (auto begin = order.begin(); begin != order.end();) {
    auto end = begin + 1;
    while (end != order.end() && (keys[*end] | position_mask) == (keys[*begin] | position_mask)) {
      ++end;
    }
    std::sort(begin, end, [&](std::uint32_t a, std::uint32_t b) {
      return keys[a] != keys[b] ? keys[a] < keys[b] : a < b;
    });
    begin = end;
  }
}

}  // namespace

std::vector<std::uint32_t> positions_of_smallest(std::span<const std::uint64_t> keys,
                                                 std::size_t k) {
  const std::size_t n = keys.size();
  HINDSIGHT_CHECK(k >= 1 && k <= n && n <= UINT32_MAX);
  const std::uint64_t position_mask = std::bit_ceil(std::uint64_t{n}) - 1;
  Scratch<std::uint64_t> words(n);
  const std::span<std::uint64_t> packed = words.values();
  for (std::size_t i = 0; i < n; ++i) {
    packed[i] = (keys[i] & ~position_mask) | i;
  }
  const std::size_t kept = k < n ? keep_smallest(packed, position_mask, k) : n;
  sort_words(packed.first(kept));

  std::vector<std::uint32_t> order(kept);
  bool exact = true;
  for (std::size_t i = 0; i < kept; ++i) {
    order[i] = static_cast<std::uint32_t>(packed[i] & position_mask);
    exact = exact && (i == 0 || keys[order[i - 1]] <= keys[order[i]]);
  }
  if (!exact) {
    sort_by_lower_bits(keys, position_mask, order);
  }
  std::size_t count = k;
  while (count < kept && keys[order[count]] == keys[order[k - 1]]) {
    ++count;
  }
  order.resize(count);
  return order;
}

}  // namespace hindsight
