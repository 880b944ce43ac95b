#include "src/core/packed_sort.h"

#include <algorithm>

#include "src/core/check.h"

namespace hindsight {

std::vector<std::uint32_t> positions_of_smallest(std::span<const std::uint64_t> keys,
                                                 std::size_t k) {
  const std::size_t n = keys.size();
  HINDSIGHT_CHECK(k >= 1 && k <= n && n <= UINT32_MAX);
  const std::uint64_t position_mask = std::bit_ceil(std::uint64_t{n}) - 1;
  std::vector<std::uint64_t> packed(n);
  for (std::size_t i = 0; i < n; ++i) {
    packed[i] = (keys[i] & ~position_mask) | i;
  }

  std::size_t count = n;
  if (k < n) {
    const auto kth = packed.begin() + static_cast<std::ptrdiff_t>(k - 1);
    std::nth_element(packed.begin(), kth, packed.end());
    // All that might equal the k-th key share its upper bits.
    const std::uint64_t limit = *kth | position_mask;
    count = static_cast<std::size_t>(
        std::partition(kth + 1, packed.end(), [&](std::uint64_t p) { return p <= limit; }) -
        packed.begin());
  }
  std::sort(packed.begin(), packed.begin() + static_cast<std::ptrdiff_t>(count));

  std::vector<std::uint32_t> order(count);
  bool exact = true;
  for (std::size_t i = 0; i < count; ++i) {
    order[i] = static_cast<std::uint32_t>(packed[i] & position_mask);
    // Out of order only if the bits that were given up say so.
    exact = exact && (i == 0 || keys[order[i - 1]] <= keys[order[i]]);
  }
  if (!exact) {
    for (std::size_t begin = 0; begin < count;) {
      std::size_t end = begin + 1;
      while (end < count && (packed[end] | position_mask) == (packed[begin] | position_mask)) {
        ++end;
      }
      std::sort(order.begin() + static_cast<std::ptrdiff_t>(begin),
                order.begin() + static_cast<std::ptrdiff_t>(end),
                [&](std::uint32_t a, std::uint32_t b) {
                  return keys[a] != keys[b] ? keys[a] < keys[b] : a < b;
                });
      begin = end;
    }
  }
  const std::uint64_t last = keys[order[k - 1]];
  while (count > k && keys[order[count - 1]] != last) {
    --count;
  }
  order.resize(count);
  return order;
}

}  // namespace hindsight
