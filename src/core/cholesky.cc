#include "src/core/cholesky.h"

#include <cmath>

#include "src/core/check.h"

namespace hindsight {

std::optional<std::vector<double>> cholesky(std::span<const double> a, std::size_t n) {
  HINDSIGHT_CHECK(a.size() == n * n);
  // A pivot that has lost all but this share of its entry is rounding.
  constexpr double kLost = 1e-14;
  std::vector<double> l(n * n, 0.0);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      double sum = a[i * n + j];
      for (std::size_t k = 0; k < j; ++k) {
        sum -= l[i * n + k] * l[j * n + k];
      }
      if (i != j) {
        l[i * n + j] = sum / l[j * n + j];
      } else if (sum > kLost * a[i * n + i] && std::isfinite(sum)) {
        l[i * n + i] = std::sqrt(sum);
      } else {
        return std::nullopt;
      }
    }
  }
  return l;
}

std::vector<double> inverse_of_triangle(std::span<const double> triangle, std::size_t n) {
  std::vector<double> inverse(n * n, 0.0);
  for (std::size_t j = 0; j < n; ++j) {
    inverse[j * n + j] = 1.0 / triangle[j * n + j];
    for (std::size_t i = j + 1; i < n; ++i) {
      double sum = 0.0;
      for (std::size_t k = j; k < i; ++k) {
        sum -= triangle[i * n + k] * inverse[k * n + j];
      }
      inverse[i * n + j] = sum / triangle[i * n + i];
    }
  }
  return inverse;
}

std::vector<double> triangle_times(std::span<const double> triangle, std::span<const double> x) {
  const std::size_t n = x.size();
  std::vector<double> y(n, 0.0);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t k = 0; k <= i; ++k) {
      y[i] += triangle[i * n + k] * x[k];
    }
  }
  return y;
}

std::vector<double> transposed_triangle_times(std::span<const double> triangle,
                                              std::span<const double> x) {
  const std::size_t n = x.size();
  std::vector<double> y(n, 0.0);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t k = 0; k <= i; ++k) {
      y[k] += triangle[i * n + k] * x[i];
    }
  }
  return y;
}

void add_outer(std::span<double> a, std::span<const double> x, double factor) {
  const std::size_t n = x.size();
  for (std::size_t i = 0; i < n; ++i) {
    const double scaled = factor * x[i];
    for (std::size_t j = 0; j <= i; ++j) {
      a[i * n + j] += scaled * x[j];
    }
  }
}

}  // namespace hindsight
