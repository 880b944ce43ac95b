// Kernels of short rows, as a list of candidates has them. The bits are those of
// src/core/kernels.h: the same on every machine.
//
// Thread-safety: pure functions of their arguments.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace hindsight {

/// out[i] = dot(y, the first y.size() numbers of row i), rows standing `stride` apart. REQUIRES:
/// out.size() rows; y.size() <= stride
void dot_rows(std::span<const double> rows, std::size_t stride, std::span<const double> y,
              std::span<double> out);

/// Sorts a few words, smallest first, by counting for each how many are below it. REQUIRES: at most
/// kFewWords, no two alike
inline constexpr std::size_t kFewWords = 32;
void sort_few(std::span<std::uint64_t> words);

}  // namespace hindsight
