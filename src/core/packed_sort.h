// Selecting and sorting positions by 64-bit keys: the inner loop of every policy that sorts.
//
// Key and position are packed into one word (the position in the key's low bits), so that sorting
// moves plain integers and reads no second array; the few keys that differ only in the bits that
// were given up are put right afterwards, so that the order is exactly that of the full keys.
//
// Thread-safety: pure functions.

#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace hindsight {

/// A key that orders like the number, smallest first; 0.0 and -0.0 have one key. REQUIRES: not NaN
inline std::uint64_t ascending_key(double x) {
  const auto bits = std::bit_cast<std::uint64_t>(x + 0.0);
  const std::uint64_t flip = (bits >> 63) != 0 ? ~std::uint64_t{0} : std::uint64_t{1} << 63;
  return bits ^ flip;
}

/// A key that orders largest first.
inline std::uint64_t descending_key(double x) { return ~ascending_key(x); }

/// RETURNS: the positions of the k smallest keys, smallest first, and with them every further
/// position whose key equals the k-th, so that the result may be longer than k. Positions of equal
/// keys stand in ascending order. REQUIRES: 1 <= k <= keys.size() < 2^32
std::vector<std::uint32_t> positions_of_smallest(std::span<const std::uint64_t> keys,
                                                 std::size_t k);

}  // namespace hindsight
