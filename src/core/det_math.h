// Elementary functions that give the same bits on every machine.
//
// They use only IEEE +, -, *, / and integer operations, in a fixed order and without fused
// operations (the build sets -ffp-contract=off), so that no libm, CPU or SIMD width changes a
// result. src/core/kernels.h has the same functions over arrays, equal bit for bit.
//
// Thread-safety: pure functions.

#pragma once

#include <cstddef>

namespace hindsight {

/// e^x within 2 ulp; 0 below -708, +infinity above 709.7. REQUIRES: x is not NaN
double det_exp(double x);

/// ln x within 2 ulp. REQUIRES: x > 0, x is normal and finite
double det_log(double x);

/// ln(1 + e^x) without overflow.
double det_log1p_exp(double x);

/// 1 / (1 + e^-x).
double det_logistic(double x);

/// 2^(quarters / 4), exact to one rounding. REQUIRES: quarters >= 0
double pow2_quarters(unsigned quarters);

/// x^(3/4). REQUIRES: x >= 0
double pow_three_quarters(double x);

/// Coefficients and constants, shared with the array versions.
namespace det {
inline constexpr double kLog2E = 0x1.71547652b82fep+0;
inline constexpr double kLn2High =
    0x1.62e42feep-1;  // 33 bits: n * kLn2High is exact for |n| < 2^20
inline constexpr double kLn2Low = 0x1.a39ef35793c76p-33;
inline constexpr double kExpLowest = -708.0;
inline constexpr double kExpHighest = 709.7;
/// 1.5 * 2^52: adding it rounds to the nearest integer, which then stands in the low bits.
inline constexpr double kRoundMagic = 0x1.8p52;
/// 1/k! for k = 2..13, highest first (Taylor; |r| <= ln2/2 leaves 5e-18).
inline constexpr double kExpCoefficients[] = {
    1.0 / 6227020800.0, 1.0 / 479001600.0, 1.0 / 39916800.0, 1.0 / 3628800.0,
    1.0 / 362880.0,     1.0 / 40320.0,     1.0 / 5040.0,     1.0 / 720.0,
    1.0 / 120.0,        1.0 / 24.0,        1.0 / 6.0,        1.0 / 2.0};
/// ln((1+s)/(1-s)) / s - 2 in s^2, highest first (the minimax set of fdlibm's e_log.c).
inline constexpr double kLogCoefficients[] = {1.479819860511658591e-01, 1.531383769920937332e-01,
                                              1.818357216161805012e-01, 2.222219843214978396e-01,
                                              2.857142874366239149e-01, 3.999999999940941908e-01,
                                              6.666666666666735130e-01};
inline constexpr double kSqrt2 = 0x1.6a09e667f3bcdp+0;
}  // namespace det

}  // namespace hindsight
