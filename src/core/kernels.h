// Array kernels of the hot paths, vectorised by Highway and dispatched at run time.
//
// Same bits everywhere: element-wise work uses unfused IEEE operations; element i of a reduction
// goes to logical accumulator i mod 16, and the sixteen are added in one fixed tree, whatever the
// width of the machine's vectors.
//
// Thread-safety: pure functions of their arguments.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace hindsight {

/// RETURNS: the largest element. REQUIRES: x is not empty and has no NaN
double max_of(std::span<const double> x);

/// RETURNS: the sum, each float widened to double first.
double sum_of(std::span<const float> x);
double sum_of(std::span<const double> x);

/// RETURNS: whether every element is finite.
bool all_finite(std::span<const double> x);

/// RETURNS: whether low <= x[i] <= high for every i; a NaN is not within. REQUIRES: low <= high
bool all_within(std::span<const double> x, double low, double high);

/// out[i] = e^(x[i] - shift). RETURNS: their sum. REQUIRES: equal sizes; out may be x
double exp_shifted(std::span<const double> x, double shift, std::span<double> out);

/// out[i] = ln x[i]. REQUIRES: equal sizes; every x[i] positive, normal and finite; out may be x
void log_of(std::span<const double> x, std::span<double> out);

/// out[i] = scale * table[index[i]]. RETURNS: the largest. REQUIRES: index in range, not empty,
/// equal sizes
double gather_scaled(std::span<const double> table, std::span<const std::uint32_t> index,
                     double scale, std::span<double> out);

/// table[index[i]] += factor * x[i]. RETURNS: the change of the table's squared Euclidean norm.
/// REQUIRES: indices in range and distinct, equal sizes
double scatter_add(std::span<double> table, std::span<const std::uint32_t> index, double factor,
                   std::span<const double> x);

/// RETURNS: the inner product. REQUIRES: equal sizes
double dot(std::span<const double> x, std::span<const double> y);

/// ln sum_i e^x[i] without overflow. `scratch` is overwritten. REQUIRES: not empty, equal sizes,
/// finite
double log_sum_exp(std::span<const double> x, std::span<double> scratch);

/// SIMD targets that this machine can run, as Highway's bits, best first; and a switch for tests
/// that run one computation under each of them (0 lifts the restriction).
std::span<const std::int64_t> simd_targets();
void restrict_simd_target_for_test(std::int64_t target);
const char* simd_target_name(std::int64_t target);

}  // namespace hindsight
