#include "src/core/unit_vector.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

#include "src/core/check.h"
#include "src/core/kernels.h"

namespace hindsight {
namespace {

constexpr std::size_t kPairs = 32;  // points of the square that are tried at once

/// Gaussian numbers up to a common factor; a square of points, of which about 25 are in the circle.
std::size_t fill_gaussian(Rng& rng, std::span<double> out) {
  std::array<double, 2 * kPairs> uniform{};
  std::array<double, kPairs> square{};
  std::array<double, kPairs> log_square{};
  rng.fill_uniform_positive(uniform);
  std::size_t kept = 0;
  for (std::size_t i = 0; i < kPairs; ++i) {
    const double x = 2.0 * uniform[2 * i] - 1.0;
    const double y = 2.0 * uniform[2 * i + 1] - 1.0;
    const double length2 = x * x + y * y;
    uniform[2 * kept] = x;
    uniform[2 * kept + 1] = y;
    square[kept] = length2;
    kept += length2 > 0.0 && length2 < 1.0 ? 1 : 0;
  }
  log_of(std::span(square).first(kept), std::span(log_square).first(kept));
  const std::size_t count = std::min(2 * kept, out.size());
  for (std::size_t i = 0; 2 * i < count; ++i) {
    log_square[i] = std::sqrt(-log_square[i] / square[i]);
  }
  for (std::size_t i = 0; i < count; ++i) {
    out[i] = uniform[i] * log_square[i / 2];
  }
  return count;
}

}  // namespace

void draw_unit_vector(Rng& rng, std::span<double> out) {
  HINDSIGHT_CHECK(!out.empty());
  double length2 = 0.0;
  while (length2 == 0.0) {
    for (std::size_t done = 0; done < out.size();) {
      done += fill_gaussian(rng, out.subspan(done));
    }
    length2 = dot(out, out);
  }
  const double factor = 1.0 / std::sqrt(length2);
  for (double& x : out) {
    x *= factor;
  }
}

}  // namespace hindsight
