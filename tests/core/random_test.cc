#include "hindsight/random.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <vector>

namespace hindsight {
namespace {

// Known-answer vectors of the Random123 distribution (kat_vectors, philox4x32 10 rounds).
TEST(Philox, MatchesPublishedVectors) {
  using Block = std::array<std::uint32_t, 4>;
  EXPECT_EQ(philox4x32({0, 0, 0, 0}, {0, 0}),
            (Block{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(philox4x32({0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}, {0xffffffff, 0xffffffff}),
            (Block{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox4x32({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (Block{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

// The first values of each distribution, written down once: they may not change on any platform.
TEST(Rng, GivesTheSameValuesEverywhere) {
  Rng rng(42, 7);
  EXPECT_EQ(rng.next_u32(), 0x67ee6f2cU);
  EXPECT_EQ(rng.next_u64(), 0xe55410cc6c7eca35ULL);
  EXPECT_EQ(rng.uniform(), 0x1.55ce634f9777ap-2);
  EXPECT_EQ(rng.uniform_positive(), 0x1.803d865a3f38p-2);
  EXPECT_EQ(rng.exponential(), 0x1.bf963a10af2e3p+0);
  EXPECT_EQ(rng.normal(), -0x1.1febc2869c21cp-8);
  EXPECT_EQ(rng.below(1'000'000'007), 179849932U);
  EXPECT_EQ(Rng::for_decision(1, {2, 3}).next_u64(), 0x665ee920e84fc0e6ULL);
}

TEST(Rng, StreamsAndDecisionsDiffer) {
  std::set<std::uint64_t> seen;
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    for (std::uint64_t i = 0; i < 10; ++i) {
      seen.insert(Rng(seed, i).next_u64());
      seen.insert(Rng::for_decision(seed, {0, i}).next_u64());
      seen.insert(Rng::for_decision(seed, {i + 1, 0}).next_u64());
    }
  }
  EXPECT_EQ(seen.size(), 300U);
}

// Means over a million draws; each within 6 standard errors, a false alarm has probability 2e-9.
TEST(Rng, DistributionsHaveTheirMoments) {
  constexpr int kDraws = 1'000'000;
  Rng rng(1);
  double uniform = 0;
  double uniform_square = 0;
  double exponential = 0;
  double exponential_square = 0;
  double normal = 0;
  double normal_square = 0;
  for (int i = 0; i < kDraws; ++i) {
    const double u = rng.uniform();
    ASSERT_TRUE(u >= 0.0 && u < 1.0);
    const double e = rng.exponential();
    ASSERT_GE(e, 0.0);
    const double z = rng.normal();
    uniform += u;
    uniform_square += u * u;
    exponential += e;
    exponential_square += e * e;
    normal += z;
    normal_square += z * z;
  }
  const double six = 6.0 / std::sqrt(kDraws);
  EXPECT_NEAR(uniform / kDraws, 0.5, six * std::sqrt(1.0 / 12));
  EXPECT_NEAR(uniform_square / kDraws, 1.0 / 3, six * std::sqrt(4.0 / 45));
  EXPECT_NEAR(exponential / kDraws, 1.0, six);
  EXPECT_NEAR(exponential_square / kDraws, 2.0, six * std::sqrt(20.0));
  EXPECT_NEAR(normal / kDraws, 0.0, six);
  EXPECT_NEAR(normal_square / kDraws, 1.0, six * std::sqrt(2.0));
}

// Counts of 600,000 draws below 6: each within 6 standard deviations (false alarm 1.2e-8 in all).
TEST(Rng, IntegersAreUniform) {
  Rng rng(2);
  std::vector<double> count(6, 0.0);
  for (int i = 0; i < 600'000; ++i) {
    ++count[rng.below(6)];
  }
  for (const double c : count) {
    EXPECT_NEAR(c, 100'000, 6 * std::sqrt(600'000 * (1.0 / 6) * (5.0 / 6)));
  }
  EXPECT_EQ(rng.below(1), 0U);
  EXPECT_LT(rng.below(~std::uint64_t{0}), ~std::uint64_t{0});
}

}  // namespace
}  // namespace hindsight
