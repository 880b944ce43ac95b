// Cholesky factors of small symmetric matrices.
//
// Matrices are n x n, row after row. Only +, -, *, / and sqrt of IEEE doubles in a fixed order: the
// same bits on every machine.
//
// Thread-safety: pure functions.

#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace hindsight {

/// RETURNS: the lower triangular L with L L^T = a; none where `a` is not positive definite to
/// working accuracy. REQUIRES: a.size() == n * n; only its lower triangle is read
std::optional<std::vector<double>> cholesky(std::span<const double> a, std::size_t n);

/// RETURNS: L^-1, lower triangular too. REQUIRES: L comes from cholesky
std::vector<double> inverse_of_triangle(std::span<const double> triangle, std::size_t n);

/// RETURNS: T x. REQUIRES: T lower triangular
std::vector<double> triangle_times(std::span<const double> triangle, std::span<const double> x);

/// RETURNS: T^T x. REQUIRES: T lower triangular
std::vector<double> transposed_triangle_times(std::span<const double> triangle,
                                              std::span<const double> x);

/// a += factor x x^T, the lower triangle only.
void add_outer(std::span<double> a, std::span<const double> x, double factor);

}  // namespace hindsight
