#include "src/core/optimal_design.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "hindsight/random.h"
#include "src/core/cholesky.h"
#include "src/core/kernels.h"
#include "src/core/span_basis.h"

namespace hindsight {
namespace {

VectorSet gaussian(std::size_t count, std::size_t dim, Rng& rng) {
  VectorSet set(count, dim);
  for (double& x : set.columns) {
    x = rng.normal();
  }
  return set;
}

/// A set of lower rank than its dimension, with every vector twice.
VectorSet degenerate(std::size_t count, std::size_t rank, std::size_t dim, Rng& rng) {
  const VectorSet inner = gaussian(count, rank, rng);
  const VectorSet map = gaussian(rank, dim, rng);
  VectorSet set(2 * count, dim);
  for (std::size_t i = 0; i < set.count; ++i) {
    for (std::size_t c = 0; c < dim; ++c) {
      for (std::size_t r = 0; r < rank; ++r) {
        set.at(i, c) += inner.at(i % count, r) * map.at(r, c);
      }
    }
  }
  return set;
}

double total(const std::vector<double>& x) { return std::accumulate(x.begin(), x.end(), 0.0); }

void expect_distribution(const Design& design) {
  EXPECT_NEAR(total(design.weight), 1.0, 1e-12);
  for (const double w : design.weight) {
    EXPECT_GT(w, 0.0);
  }
  EXPECT_TRUE(std::is_sorted(design.support.begin(), design.support.end()));
}

TEST(VectorSet, ProductsAndLengthsAreThoseOfPlainLoopsOnEveryTarget) {
  Rng rng(3);
  for (const std::size_t count : {1, 2, 3, 4, 7, 8, 9, 33}) {
    const VectorSet set = gaussian(count, 5, rng);
    std::vector<double> triangle(25, 0.0);
    for (std::size_t r = 0; r < 5; ++r) {
      for (std::size_t c = 0; c <= r; ++c) {
        triangle[r * 5 + c] = rng.normal();
      }
    }
    for (const std::int64_t target : simd_targets()) {
      restrict_simd_target_for_test(target);
      std::vector<double> products(count);
      std::vector<double> lengths(count);
      products_of(set, std::span(triangle).last(5), products);
      squared_lengths_of(set, triangle, lengths);
      std::vector<double> bounds(count);
      upper_bounds_of(set, std::span(triangle).last(5), triangle, 0.7, 1.5, bounds);
      for (std::size_t i = 0; i < count; ++i) {
        double squared = 0.0;
        double product = 0.0;
        for (std::size_t r = 0; r < 5; ++r) {
          product = triangle[r * 5] * set.at(i, 0);
          for (std::size_t c = 1; c <= r; ++c) {
            product += triangle[r * 5 + c] * set.at(i, c);
          }
          squared += product * product;
        }
        EXPECT_EQ(products[i], product);
        EXPECT_EQ(lengths[i], squared);
        EXPECT_EQ(bounds[i], std::min(product + 0.7 * std::sqrt(squared), 1.5));
      }
    }
    restrict_simd_target_for_test(0);
  }
}

TEST(Cholesky, FactorsAndInverts) {
  Rng rng(5);
  const std::size_t n = 7;
  std::vector<double> a(n * n, 0.0);
  for (int i = 0; i < 12; ++i) {
    std::vector<double> x(n);
    for (double& value : x) {
      value = rng.normal();
    }
    add_outer(a, x, 0.5);
  }
  const auto l = cholesky(a, n);
  ASSERT_TRUE(l);
  const std::vector<double> inverse = inverse_of_triangle(*l, n);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      double product = 0.0;
      double identity = 0.0;
      for (std::size_t k = 0; k < n; ++k) {
        product += (*l)[i * n + k] * (*l)[j * n + k];
        identity += (*l)[i * n + k] * inverse[k * n + j];
      }
      EXPECT_NEAR(product, a[i * n + j], 1e-12);
      EXPECT_NEAR(identity, i == j ? 1.0 : 0.0, 1e-12);
    }
  }
  EXPECT_FALSE(cholesky(std::vector<double>{1, 0, 1, 1}, 2));
}

TEST(OptimalDesign, ItsCertificateHoldsAndItsSupportIsSmall) {
  EXPECT_TRUE(rc::check([](std::uint64_t seed) {
    Rng rng(seed);
    const std::size_t dim = 1 + rng.below(6);
    const VectorSet set = gaussian(1 + rng.below(200), dim, rng);
    const Design design = *g_optimal_design(set, 0.02);
    RC_ASSERT(design.rank == std::min(dim, set.count));
    const auto rank = static_cast<double>(design.rank);
    RC_ASSERT(design.largest <= 1.02 * rank * (1 + 1e-9));
    RC_ASSERT(design.largest >= rank * (1 - 1e-9));  // no distribution has less
    RC_ASSERT(design.support.size() <= design.rank * (design.rank + 1) / 2);
    RC_ASSERT(std::abs(design_certificate(set, design) - design.largest) < 1e-6 * rank);
    RC_ASSERT(std::abs(total(design.weight) - 1.0) < 1e-12);
  }));
}

TEST(OptimalDesign, VectorsWithoutFullRankAndRepeatsAreFine) {
  EXPECT_TRUE(rc::check([](std::uint64_t seed) {
    Rng rng(seed);
    const std::size_t rank = 1 + rng.below(4);
    const VectorSet set = degenerate(rank + rng.below(30), rank, rank + rng.below(5), rng);
    for (const Design& design : {*g_optimal_design(set, 0.05), *volumetric_spanner(set)}) {
      RC_ASSERT(design.rank == rank);
      RC_ASSERT(std::abs(design_certificate(set, design) - design.largest) < 1e-5 * design.largest);
    }
  }));
}

TEST(OptimalDesign, OfAnOrthonormalBasisIsUniform) {
  VectorSet set(4, 4);
  for (std::size_t i = 0; i < 4; ++i) {
    set.at(i, i) = 1.0;
  }
  const Design design = *g_optimal_design(set, 0.01);
  EXPECT_EQ(design.weight, std::vector<double>(4, 0.25));
  EXPECT_NEAR(design.largest, 4.0, 1e-12);
}

TEST(OptimalDesign, OfEqualVectorsIsOneOfThem) {
  VectorSet set(5, 3);
  std::fill(set.columns.begin(), set.columns.end(), 0.5);
  const Design design = *g_optimal_design(set, 0.01);
  EXPECT_EQ(design.rank, 1U);
  EXPECT_EQ(design.weight, std::vector<double>{1.0});
  EXPECT_NEAR(design.largest, 1.0, 1e-9);
}

TEST(OptimalDesign, PruningKeepsTheCertificate) {
  EXPECT_TRUE(rc::check([](std::uint64_t seed) {
    Rng rng(seed);
    const std::size_t dim = 1 + rng.below(4);
    const std::size_t most = dim * (dim + 1) / 2;
    const VectorSet set = gaussian(most + 1 + rng.below(20), dim, rng);
    Design design{.rank = dim};
    design.support.resize(set.count);
    std::iota(design.support.begin(), design.support.end(), 0U);
    for (std::size_t i = 0; i < set.count; ++i) {
      design.weight.push_back(0.1 + rng.uniform());
    }
    const double sum = total(design.weight);
    for (double& w : design.weight) {
      w /= sum;
    }
    const double before = design_certificate(set, design);
    prune_support(set, design.support, design.weight);
    RC_ASSERT(design.support.size() <= most);
    RC_ASSERT(std::abs(total(design.weight) - 1.0) < 1e-12);
    RC_ASSERT(design_certificate(set, design) <= before * (1 + 1e-6));
  }));
}

TEST(OptimalDesign, ManyVectorsOfManyDimensionsAreDone) {
  Rng rng(9);
  const VectorSet set = gaussian(20'000, 16, rng);
  const Design design = *g_optimal_design(set, 0.05);
  expect_distribution(design);
  EXPECT_LE(design.largest, 1.05 * 16);
  EXPECT_LE(design.support.size(), 16U * 17 / 2);
}

TEST(VolumetricSpanner, EveryVectorIsACombinationOfLengthAtMostOne) {
  EXPECT_TRUE(rc::check([](std::uint64_t seed) {
    Rng rng(seed);
    const std::size_t dim = 1 + rng.below(6);
    const VectorSet set = gaussian(1 + rng.below(150), dim, rng);
    const Design design = *volumetric_spanner(set);
    const auto size = static_cast<double>(design.support.size());
    RC_ASSERT(design.support.size() <= 2 * design.rank);
    // [Li19] appendix B: the uniform distribution on a spanner of n vectors has ||x||^2 <= n.
    RC_ASSERT(design.largest <= size * (1 + 1e-9));
    RC_ASSERT(std::abs(design_certificate(set, design) - design.largest) < 1e-6 * size);
  }));
}

TEST(OptimalDesign, BadInputIsRefused) {
  const auto code = [](const VectorSet& set) { return g_optimal_design(set, 0.1).error().code; };
  EXPECT_EQ(code(VectorSet(0, 3)), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code(VectorSet(3, 0)), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code(VectorSet(3, 2)), ErrorCode::kInvalidArgument);  // zeros
  VectorSet odd(2, 1);
  odd.columns = {1.0, std::numeric_limits<double>::infinity()};
  EXPECT_EQ(code(odd), ErrorCode::kNotFinite);
  odd.columns = {1.0, 1e200};
  EXPECT_EQ(code(odd), ErrorCode::kNotFinite);
  odd.columns = {1.0, 2.0};
  EXPECT_FALSE(g_optimal_design(odd, 0.0).ok());
  EXPECT_FALSE(volumetric_spanner(VectorSet(3, 2)).ok());
}

TEST(LeastSquares, FindsWhatTheMeansSay) {
  Rng rng(2);
  const VectorSet set = degenerate(6, 3, 5, rng);
  const std::vector<double> theta = {0.1, -0.2, 0.3, 0.4, -0.5};
  std::vector<double> truth(set.count);
  products_of(set, theta, truth);
  std::vector<double> counts;
  std::vector<double> sums;
  for (std::size_t i = 0; i < set.count; ++i) {
    counts.push_back(1.0 + static_cast<double>(i));
    sums.push_back(counts.back() * truth[i]);
  }
  std::vector<double> said(set.count);
  products_of(set, least_squares(set, counts, sums), said);
  for (std::size_t i = 0; i < set.count; ++i) {
    EXPECT_NEAR(said[i], truth[i], 1e-9);
  }
}

}  // namespace
}  // namespace hindsight
