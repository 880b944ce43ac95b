// Context terms: one more weight for a pair of a context key and an item, in a table of bounded
// size.
//
// Where a request names a context (a query, a place on the page), Phi of item i gets one more
// coordinate e_h with h = context_slot(key, i, terms): pairs share the weights of the table by
// hashing. So that the longer vector stays within F, the bound of [Delage09] 4, it is multiplied by
// context_factor(F): |(Phi, e_h)|^2 <= F^2 + 1.
//
// Thread-safety: pure functions.

#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "hindsight/types.h"

namespace hindsight {

inline constexpr std::size_t kMaxContextTerms = std::size_t{1} << 22;

/// RETURNS: the weight of a pair, below `terms`. Part of the model: it never changes. The pair is
/// put into 64 bits by the golden ratio and stirred twice, with the fractions of the square roots
/// of 2 and 3 as multipliers. REQUIRES: 0 < terms <= kMaxContextTerms
inline std::uint32_t context_slot(std::uint64_t key, ItemIndex item, std::size_t terms) {
  constexpr std::uint64_t kGolden = 0x9E3779B97F4A7C15;
  constexpr std::uint64_t kRootOf2 = 0x6A09E667F3BCC909;
  constexpr std::uint64_t kRootOf3 = 0xBB67AE8584CAA73B;
  std::uint64_t x = key + kGolden * (std::uint64_t{item} + 1);
  x = (x ^ (x >> 32)) * kRootOf2;
  x = (x ^ (x >> 29)) * kRootOf3;
  x ^= x >> 32;
  return static_cast<std::uint32_t>(x % terms);
}

/// RETURNS: the weights of the items under a key; none without a key (0) or without terms.
/// REQUIRES: terms <= kMaxContextTerms
inline std::vector<std::uint32_t> context_slots(std::uint64_t key, std::span<const ItemIndex> items,
                                                std::size_t terms) {
  std::vector<std::uint32_t> slots;
  if (key != 0 && terms > 0) {
    slots.reserve(items.size());
    for (const ItemIndex item : items) {
      slots.push_back(context_slot(key, item, terms));
    }
  }
  return slots;
}

/// RETURNS: F / sqrt(F^2 + 1). REQUIRES: feature_bound > 0
inline double context_factor(double feature_bound) {
  return feature_bound / std::sqrt(feature_bound * feature_bound + 1.0);
}

}  // namespace hindsight
