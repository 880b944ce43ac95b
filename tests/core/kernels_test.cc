#include "src/core/kernels.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "hindsight/random.h"
#include "src/core/det_math.h"
#include "src/core/row_kernels.h"

namespace hindsight {
namespace {

double ulps_apart(double ours, long double truth) {
  const double rounded = static_cast<double>(truth);
  const double ulp = std::nextafter(std::abs(rounded), INFINITY) - std::abs(rounded);
  return static_cast<double>(std::abs(static_cast<long double>(ours) - truth) / ulp);
}

TEST(DetMath, ExpAndLogAreWithinTwoUlp) {
  Rng rng(1);
  double worst_exp = 0;
  double worst_log = 0;
  for (int i = 0; i < 200'000; ++i) {
    const double x = -700 + 1400 * rng.uniform();
    worst_exp = std::max(worst_exp, ulps_apart(det_exp(x), expl(x)));
    const double y = det_exp(x);
    worst_log = std::max(worst_log, ulps_apart(det_log(y), logl(y)));
    const double near_one = 0.5 + rng.uniform();
    worst_log = std::max(worst_log, ulps_apart(det_log(near_one), logl(near_one)));
  }
  EXPECT_LT(worst_exp, 2.0);
  EXPECT_LT(worst_log, 2.0);
  EXPECT_EQ(det_exp(0.0), 1.0);
  EXPECT_EQ(det_log(1.0), 0.0);
  EXPECT_EQ(det_exp(-1000.0), 0.0);
  EXPECT_EQ(det_exp(1000.0), std::numeric_limits<double>::infinity());
}

TEST(DetMath, DerivedFunctionsAgreeWithLibm) {
  for (double x = -800; x <= 800; x += 0.37) {
    const double expected = x > 50 ? x : std::log1p(std::exp(x));
    EXPECT_NEAR(det_log1p_exp(x), expected, 4e-16 * std::max(1.0, std::abs(x))) << x;
    EXPECT_NEAR(det_logistic(x), 1 / (1 + std::exp(-x)), 4e-16) << x;
  }
  EXPECT_NEAR(det_log1p_exp(-40), std::exp(-40.0), 1e-30);
  for (unsigned q = 0; q < 200; ++q) {
    EXPECT_NEAR(pow2_quarters(q) / std::pow(2.0, q / 4.0), 1.0, 1e-15);
  }
  EXPECT_NEAR(pow_three_quarters(16.0), 8.0, 1e-14);
}

// Every kernel, on sizes around the block of sixteen, as one vector of bits.
std::vector<std::uint64_t> kernel_bits() {
  std::vector<std::uint64_t> bits;
  const auto note = [&](double x) { bits.push_back(std::bit_cast<std::uint64_t>(x)); };
  for (const std::size_t n : {1, 2, 7, 15, 16, 17, 31, 32, 33, 100, 1000}) {
    Rng rng(7, n);
    std::vector<double> x(n), y(n), out(n), table(3 * n);
    std::vector<float> f(n);
    std::vector<std::uint32_t> index(n);
    for (std::size_t i = 0; i < n; ++i) {
      x[i] = 40 * rng.normal();
      y[i] = rng.normal();
      f[i] = static_cast<float>(rng.uniform());
      index[i] = static_cast<std::uint32_t>(3 * ((i * 7919) % n) + i % 3);
    }
    if (n ==
        7) {  // 7919 is a multiple of no n used here, but keep the indices distinct in any case
      std::iota(index.begin(), index.end(), 0U);
    }
    for (double& t : table) {
      t = rng.normal();
    }
    note(max_of(x));
    note(sum_of(x));
    note(sum_of(f));
    note(dot(x, y));
    dot_rows(table, 3, std::span(x).first(std::min<std::size_t>(n, 3)), out);
    for (const double product : out) {
      note(product);
    }
    note(exp_shifted(x, max_of(x), out));
    for (const double e : out) {
      note(e);
    }
    for (double& t : out) {
      t = rng.uniform_positive();
    }
    log_of(out, out);
    for (const double l : out) {
      note(l);
    }
    note(gather_scaled(table, index, 1.7, out));
    for (const double g : out) {
      note(g);
    }
    note(scatter_add(table, index, -0.3, x));
    for (const double t : table) {
      note(t);
    }
  }
  return bits;
}

TEST(Kernels, GiveTheSameBitsUnderEverySimdTarget) {
  const auto reference = kernel_bits();
  ASSERT_GE(simd_targets().size(), 2U) << "nothing to compare on this machine";
  for (const std::int64_t target : simd_targets()) {
    restrict_simd_target_for_test(target);
    EXPECT_EQ(kernel_bits(), reference) << simd_target_name(target);
  }
  restrict_simd_target_for_test(0);
}

// The inner product by its definition: element i goes to accumulator i mod 16.
double plain_dot(std::span<const double> x, std::span<const double> y) {
  std::array<double, 16> sum{};
  for (std::size_t i = 0; i < x.size(); ++i) {
    sum[i % 16] += x[i] * y[i];
  }
  for (std::size_t width = 8; width > 0; width /= 2) {
    for (std::size_t i = 0; i < width; ++i) {
      sum[i] += sum[i + width];
    }
  }
  return sum[0];
}

TEST(Kernels, RowsTimesAVectorAreInnerProductsBitForBit) {
  for (const std::int64_t target : simd_targets()) {
    restrict_simd_target_for_test(target);
    Rng rng(5);
    for (std::size_t columns = 0; columns < 70; ++columns) {
      const std::size_t stride = columns + columns % 3;
      std::vector<double> rows(4 * stride), y(columns), out(4, -1.0);
      for (double& v : rows) {
        v = rng.normal();
      }
      for (double& v : y) {
        v = rng.normal();
      }
      dot_rows(rows, stride, y, out);
      for (std::size_t i = 0; i < 4; ++i) {
        const auto row = std::span(rows).subspan(i * stride, columns);
        ASSERT_EQ(out[i], plain_dot(row, y)) << simd_target_name(target) << " " << columns;
        ASSERT_EQ(dot(row, y), out[i]);
      }
    }
  }
  restrict_simd_target_for_test(0);
}

TEST(Kernels, AFewWordsAreSortedAsByTheLibrary) {
  for (const std::int64_t target : simd_targets()) {
    restrict_simd_target_for_test(target);
    Rng rng(6);
    for (std::size_t n = 0; n <= kFewWords; ++n) {
      std::vector<std::uint64_t> words(n);
      for (std::size_t i = 0; i < n; ++i) {  // near each other, at both ends of the range
        words[i] = (i % 2 == 0 ? ~std::uint64_t{0} - 64 : 0) + 2 * i;
      }
      for (std::size_t i = 0; i + 1 < n; ++i) {
        std::swap(words[i], words[i + rng.below(n - i)]);
      }
      std::vector<std::uint64_t> expected = words;
      std::sort(expected.begin(), expected.end());
      sort_few(words);
      ASSERT_EQ(words, expected) << simd_target_name(target) << " " << n;
    }
  }
  restrict_simd_target_for_test(0);
}

TEST(Kernels, ArrayFunctionsEqualTheScalarOnesBitForBit) {
  Rng rng(3);
  std::vector<double> x(10'007), e(x.size()), l(x.size());
  for (double& v : x) {
    v = -720 + 1440 * rng.uniform();
  }
  exp_shifted(x, 0.0, e);
  for (std::size_t i = 0; i < x.size(); ++i) {
    ASSERT_EQ(e[i], det_exp(x[i])) << x[i];
    x[i] = rng.uniform_positive();
  }
  log_of(x, l);
  for (std::size_t i = 0; i < x.size(); ++i) {
    ASSERT_EQ(l[i], det_log(x[i])) << x[i];
  }
}

TEST(Kernels, AgreeWithPlainLoops) {
  Rng rng(5);
  for (const std::size_t n : {1, 5, 16, 50, 333}) {
    std::vector<double> x(n), table(2 * n, 0.5), out(n);
    std::vector<std::uint32_t> index(n);
    double sum = 0;
    for (std::size_t i = 0; i < n; ++i) {
      x[i] = rng.normal();
      index[i] = static_cast<std::uint32_t>(2 * i + 1);
      sum += x[i];
    }
    EXPECT_NEAR(sum_of(x), sum, 1e-12);
    EXPECT_EQ(max_of(x), *std::max_element(x.begin(), x.end()));
    const double change = scatter_add(table, index, 2.0, x);
    double norm2 = 0;
    for (std::size_t i = 0; i < n; ++i) {
      EXPECT_EQ(table[2 * i], 0.5);
      EXPECT_EQ(table[2 * i + 1], 0.5 + 2.0 * x[i]);
    }
    for (const double t : table) {
      norm2 += t * t;
    }
    EXPECT_NEAR(change, norm2 - 0.25 * 2.0 * static_cast<double>(n), 1e-10);
    EXPECT_NEAR(log_sum_exp(x, out), std::log([&] {
                  double s = 0;
                  for (double v : x) s += std::exp(v);
                  return s;
                }()),
                1e-13);
  }
}

TEST(Kernels, AllFiniteFindsOneBadNumberAnywhere) {
  for (const std::int64_t target : simd_targets()) {
    restrict_simd_target_for_test(target);
    for (const std::size_t n : {1, 15, 16, 40}) {
      std::vector<double> x(n, -1e308);
      EXPECT_TRUE(all_finite(x));
      EXPECT_TRUE(all_within(x, -1e308, 0.0));
      for (std::size_t i = 0; i < n; ++i) {
        for (const double bad : {HUGE_VAL, -HUGE_VAL, std::nan("")}) {
          x[i] = bad;
          EXPECT_FALSE(all_finite(x)) << n << " " << i;
          EXPECT_FALSE(all_within(x, -1e308, 1e308)) << n << " " << i;
        }
        x[i] = 0.5;
        EXPECT_FALSE(all_within(x, -1e308, 0.25)) << n << " " << i;
        EXPECT_TRUE(all_within(x, -1e308, 0.5)) << n << " " << i;
        x[i] = 0.0;
      }
    }
  }
  restrict_simd_target_for_test(0);
  EXPECT_TRUE(all_finite({}));
}

TEST(Kernels, LogSumExpSurvivesHugeScores) {
  std::vector<double> x = {1e6, 1e6 - 1, -1e300}, scratch(3);
  EXPECT_NEAR(log_sum_exp(x, scratch), 1e6 + std::log1p(std::exp(-1.0)), 1e-9);
}

}  // namespace
}  // namespace hindsight
