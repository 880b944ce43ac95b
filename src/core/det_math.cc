#include "src/core/det_math.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <limits>

#include "src/core/check.h"

namespace hindsight {

double det_exp(double x) {
  if (x < det::kExpLowest) {
    return 0.0;
  }
  if (x > det::kExpHighest) {
    return std::numeric_limits<double>::infinity();
  }
  // x = n ln2 + r, |r| <= ln2/2; e^x = 2^n e^r.
  const double shifted = x * det::kLog2E + det::kRoundMagic;
  const double n = shifted - det::kRoundMagic;
  const double r = (x - n * det::kLn2High) - n * det::kLn2Low;
  double p = det::kExpCoefficients[0];
  for (std::size_t i = 1; i < std::size(det::kExpCoefficients); ++i) {
    p = p * r + det::kExpCoefficients[i];
  }
  const double e_r = 1.0 + (r + r * r * p);
  // The low bits of `shifted` hold n; adding them to the exponent multiplies by 2^n.
  const std::uint64_t exponent = std::bit_cast<std::uint64_t>(shifted) << 52;
  return std::bit_cast<double>(std::bit_cast<std::uint64_t>(e_r) + exponent);
}

double det_log(double x) {
  HINDSIGHT_CHECK(x >= std::numeric_limits<double>::min() &&
                  x <= std::numeric_limits<double>::max());
  const std::uint64_t bits = std::bit_cast<std::uint64_t>(x);
  // x = 2^e m with m in [sqrt(1/2), sqrt(2)).
  double m = std::bit_cast<double>((bits & 0x000fffffffffffffULL) | 0x3ff0000000000000ULL);
  double e = static_cast<double>(static_cast<std::int64_t>(bits >> 52) - 1023);
  if (m > det::kSqrt2) {
    m = m * 0.5;
    e = e + 1.0;
  }
  const double f = m - 1.0;
  const double s = f / (2.0 + f);
  const double z = s * s;
  double p = det::kLogCoefficients[0];
  for (std::size_t i = 1; i < std::size(det::kLogCoefficients); ++i) {
    p = p * z + det::kLogCoefficients[i];
  }
  const double half_square = 0.5 * f * f;
  const double correction = s * (half_square + z * p) + e * det::kLn2Low;
  return e * det::kLn2High - ((half_square - correction) - f);
}

double det_log1p_exp(double x) {
  const double magnitude = std::abs(x);
  const double tail = det_exp(-magnitude);
  // ln(1 + tail): for a small tail the rounded 1 + tail is corrected to first order.
  const double sum = 1.0 + tail;
  const double log_sum = sum == 1.0 ? tail : det_log(sum) * (tail / (sum - 1.0));
  return (x > 0.0 ? x : 0.0) + log_sum;
}

double det_logistic(double x) {
  if (x >= 0.0) {
    return 1.0 / (1.0 + det_exp(-x));
  }
  const double e = det_exp(x);
  return e / (1.0 + e);
}

double pow2_quarters(unsigned quarters) {
  constexpr double kRoots[] = {1.0, 0x1.306fe0a31b715p+0, 0x1.6a09e667f3bcdp+0,
                               0x1.ae89f995ad3adp+0};
  return std::ldexp(kRoots[quarters % 4], static_cast<int>(quarters / 4));
}

double pow_three_quarters(double x) {
  const double root = std::sqrt(x);
  return root * std::sqrt(root);
}

}  // namespace hindsight
