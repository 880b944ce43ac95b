#include "src/core/race.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "src/core/block_sums.h"
#include "src/core/kernels.h"
#include "src/core/plackett_luce.h"
#include "tests/core/list_law.h"

namespace hindsight {
namespace {

using testing::expect_draws_follow;
using testing::Law;
using testing::List;
using testing::plackett_luce_law;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

List race_floats(const std::vector<double>& weights, std::size_t k, Rng& rng) {
  const std::vector<float> floats(weights.begin(), weights.end());
  return race_with_jumps(std::span<const float>(floats), k, rng).value();
}
List race_doubles(const std::vector<double>& weights, std::size_t k, Rng& rng) {
  return race_with_jumps(std::span<const double>(weights), k, rng).value();
}
List race_all(const std::vector<double>& weights, std::size_t k, Rng& rng) {
  return race_of_all(weights, k, rng);
}

using RaceFunction = List (*)(const std::vector<double>&, std::size_t, Rng&);
constexpr RaceFunction kRaces[] = {race_floats, race_doubles, race_all};

// All powers of two or small integers times one, so that float and double are the same numbers.
const std::vector<std::vector<double>> kWeights = {
    {1},
    {1, 2},
    {3, 0, 1, 0},
    {0.5, 8, 1, 4, 2},
    {1, 1, 1, 1, 1},
    {0x1p-149, 0x3p-149, 0x2p-149},  // denormal floats
    {0x1p120, 0x1p-120, 0x3p-120}};

TEST(Race, FollowsThePlackettLuceLaw) {
  for (const RaceFunction race : kRaces) {
    for (const auto& weights : kWeights) {
      const auto positive = static_cast<std::size_t>(
          std::count_if(weights.begin(), weights.end(), [](double w) { return w > 0; }));
      for (std::size_t k = 1; k <= positive; ++k) {
        Rng rng(31, k);
        expect_draws_follow(plackett_luce_law(weights, k), [&] { return race(weights, k, rng); });
      }
    }
  }
}

// The positive weights far apart among zeros: blocks that are jumped over, block ends, the tail.
TEST(Race, FollowsTheLawAcrossBlocks) {
  const std::vector<double> weights = {2, 1, 4, 0.5, 1};
  const std::vector<std::size_t> places = {3, 255, 256, 9 * 256 + 77, 20 * 256 + 5};
  std::vector<double> spread(20 * 256 + 6, 0.0);
  for (std::size_t i = 0; i < weights.size(); ++i) {
    spread[places[i]] = weights[i];
  }
  for (const RaceFunction race : {race_floats, race_doubles}) {
    Rng rng(32);
    expect_draws_follow(plackett_luce_law(weights, 3), [&] {
      List list = race(spread, 3, rng);
      for (std::uint32_t& position : list) {
        position = static_cast<std::uint32_t>(std::find(places.begin(), places.end(), position) -
                                              places.begin());
      }
      return list;
    });
  }
}

TEST(Race, DoublesBelowTheNormalRangeKeepTheirLaw) {
  for (const std::vector<double>& weights :
       {std::vector<double>{0x1p-1074, 0x3p-1074, 0x2p-1074}, {0x1p-1074, 1e200, 0x3p-1074}}) {
    for (const std::size_t k : {1, 2, 3}) {
      for (const RaceFunction race : {race_doubles, race_all}) {
        Rng rng(33);
        expect_draws_follow(plackett_luce_law(weights, k), [&] { return race(weights, k, rng); });
      }
    }
  }
}

/// Many items in few classes of equal weight: the law of the classes of the first k is exact.
struct Classes {
  std::vector<double> weight;                  // of an item, per class
  std::vector<std::size_t> size;               // items per class
  std::function<std::size_t(std::size_t)> of;  // class of a position

  std::vector<double> weights() const {
    std::size_t n = 0;
    for (const std::size_t s : size) {
      n += s;
    }
    std::vector<double> result(n);
    std::vector<std::size_t> seen(size.size(), 0);
    for (std::size_t i = 0; i < n; ++i) {
      result[i] = weight[of(i)];
      ++seen[of(i)];
    }
    EXPECT_EQ(seen, size);
    return result;
  }

  Law law(std::size_t k) const {
    Law result;
    List prefix;
    std::vector<std::size_t> left = size;
    const auto extend = [&](const auto& self, long double prob) -> void {
      if (prefix.size() == k) {
        result[prefix] += static_cast<double>(prob);
        return;
      }
      long double rest = 0;
      for (std::size_t c = 0; c < left.size(); ++c) {
        rest += static_cast<long double>(left[c]) * weight[c];
      }
      for (std::uint32_t c = 0; c < left.size(); ++c) {
        if (left[c] > 0) {
          const long double p = static_cast<long double>(left[c]) * weight[c] / rest;
          --left[c];
          prefix.push_back(c);
          self(self, prob * p);
          prefix.pop_back();
          ++left[c];
        }
      }
    };
    extend(extend, 1);
    return result;
  }
};

void expect_classes_follow(const Classes& classes, std::size_t k) {
  const std::vector<double> weights = classes.weights();
  const std::vector<float> floats(weights.begin(), weights.end());
  const auto to_classes = [&](List list) {
    for (std::uint32_t& position : list) {
      position = static_cast<std::uint32_t>(classes.of(position));
    }
    return list;
  };
  Rng rng(34);
  expect_draws_follow(classes.law(k), [&] {
    return to_classes(race_with_jumps(std::span<const float>(floats), k, rng).value());
  });
}

TEST(Race, FollowsTheLawOverManyItems) {
  expect_classes_follow(
      {{0.125, 1, 8, 64}, {600, 600, 600, 600}, [](std::size_t i) { return i % 4; }}, 3);
}

// The guess of the first pass samples block 2 of 5 among others, never the tail.
TEST(Race, FollowsTheLawWhereTheSampleMisleads) {
  constexpr std::size_t n = 40 * kBlockSize + 10;
  // Nearly all mass outside the sample (block 0), or in a sampled block (the first is 40 / 32 = 1).
  for (const std::size_t heavy : {std::size_t{0}, kBlockSize + 7, n - 1}) {
    for (const double mass : {100.0, 0x1p20, 0x1p44}) {
      const Classes classes{
          {1, mass}, {n - 1, 1}, [=](std::size_t i) { return i == heavy ? 1 : 0; }};
      const std::vector<double> weights = classes.weights();
      const std::vector<float> floats(weights.begin(), weights.end());
      Rng rng(35);
      const double alone = mass / (mass + static_cast<double>(n - 1));
      // P(the heavy item is not first) = 1 - alone. 2000 draws; Bernstein's inequality puts fewer
      // than 1e-6 beyond 5.3 standard deviations and 10.
      int not_first = 0;
      int missing = 0;
      for (int draw = 0; draw < 2000; ++draw) {
        const List list = race_with_jumps(std::span<const float>(floats), 3, rng).value();
        ASSERT_EQ(list.size(), 3U);
        not_first += list[0] != heavy ? 1 : 0;
        missing += std::find(list.begin(), list.end(), heavy) == list.end() ? 1 : 0;
      }
      const double expected = 2000 * (1 - alone);
      EXPECT_NEAR(not_first, expected, 5.3 * std::sqrt(expected) + 10);
      const double expected_missing = 2000 * std::pow(1 - alone, 3);
      EXPECT_NEAR(missing, expected_missing, 5.3 * std::sqrt(expected_missing) + 10);
    }
  }
}

TEST(Race, ZeroWeightsNeverFinish) {
  std::vector<double> weights(3000, 0.0);
  weights[700] = weights[2999] = 1e-30;
  for (const RaceFunction race : kRaces) {
    Rng rng(36);
    for (int draw = 0; draw < 100; ++draw) {
      List list = race(weights, 5, rng);
      std::sort(list.begin(), list.end());
      ASSERT_EQ(list, (List{700, 2999}));
    }
  }
  for (const RaceFunction race : kRaces) {
    Rng rng(36);
    EXPECT_TRUE(race(std::vector<double>(600, 0.0), 2, rng).empty());
  }
}

template <class T>
void expect_weight_errors() {
  Rng rng(37);
  for (const std::size_t n : {10, 5000}) {
    for (const std::size_t at : {std::size_t{0}, n / 2, n - 1}) {
      for (const double bad : {kNan, kInfinity, -kInfinity, -1.0, -1e-30}) {
        std::vector<T> weights(n, T{0.5});
        weights[at] = static_cast<T>(bad);
        for (const std::size_t k : {std::size_t{1}, n}) {
          const auto result = draw_top_k(std::span<const T>(weights), k, rng);
          ASSERT_FALSE(result.ok()) << n << " " << at << " " << bad;
          EXPECT_EQ(result.error().code,
                    std::isfinite(bad) ? ErrorCode::kInvalidArgument : ErrorCode::kNotFinite);
          EXPECT_EQ(result.error().field, "weights[" + std::to_string(at) + "]");
        }
      }
    }
    std::vector<T> weights(n, T{0});
    weights[1] = weights[3] = T{1};
    EXPECT_TRUE(draw_top_k(std::span<const T>(weights), 2, rng).ok());
    EXPECT_EQ(draw_top_k(std::span<const T>(weights), 3, rng).error().code,
              ErrorCode::kInvalidArgument);
    EXPECT_EQ(draw_top_k(std::span<const T>(weights), n + 1, rng).error().code,
              ErrorCode::kInvalidArgument);
    EXPECT_EQ(draw_top_k(std::span<const T>(weights), 0, rng).error().code,
              ErrorCode::kInvalidArgument);
    EXPECT_EQ(draw_top_k(std::span<const T>(), 1, rng).error().code, ErrorCode::kEmptyCandidates);
    // Minus zero is zero, not a negative weight.
    std::fill(weights.begin(), weights.end(), T{-0.0});
    weights[2] = T{1};
    EXPECT_EQ(draw_top_k(std::span<const T>(weights), 1, rng).value(), List{2});
  }
}

TEST(Race, BadWeightsAreErrors) {
  expect_weight_errors<float>();
  expect_weight_errors<double>();
  Rng rng(38);
  const std::vector<double> large(2000, 1e201);
  EXPECT_EQ(draw_top_k(std::span<const double>(large), 1, rng).error().code,
            ErrorCode::kInvalidArgument);
}

TEST(Race, SumsBeyondTheRangeOfFloatAreHarmless) {
  const std::vector<float> weights(3000, std::numeric_limits<float>::max());
  Rng rng(39);
  std::vector<int> first(3, 0);
  for (int draw = 0; draw < 3000; ++draw) {
    ++first[race_with_jumps(std::span<const float>(weights), 2, rng).value()[0] / 1000];
  }
  for (const int count : first) {
    EXPECT_NEAR(count, 1000, 5.3 * std::sqrt(667.0));  // 1e-6 of a normal law
  }
}

TEST(BlockSums, SkipIsAnUpperBoundThatLandsInTheRightBlock) {
  Rng rng(40);
  std::vector<float> floats(12 * kBlockSize);
  std::vector<double> doubles(floats.size());
  for (std::size_t i = 0; i < floats.size(); ++i) {
    floats[i] = static_cast<float>(rng.exponential());
    doubles[i] = static_cast<double>(floats[i]);
  }
  double passed = 0;
  for (std::size_t block = 0; block < 12; ++block) {
    double weight = 0;
    double lanes_f[kBlockLanes];
    double lanes_d[kBlockLanes];
    lane_sums(floats.data() + block * kBlockSize, lanes_f);
    lane_sums(doubles.data() + block * kBlockSize, lanes_d);
    for (std::size_t lane = 0; lane < kBlockLanes; ++lane) {
      EXPECT_EQ(lanes_f[lane], lanes_d[lane]);
      weight += lanes_f[lane];
    }
    const double inside = passed + 0.5 * weight;
    const double scale = kDistancePerWeight<double>;
    BlockSkip of_doubles = skip_blocks(doubles.data(), 12, inside * scale);
    of_doubles.left /= scale;
    of_doubles.total /= scale;
    for (const BlockSkip& skip : {skip_blocks(floats.data(), 12, inside), of_doubles}) {
      EXPECT_EQ(skip.passed, block);
      EXPECT_LE(skip.left, 0.5 * weight);
      EXPECT_GT(skip.left, 0.5 * weight - 1e-5 * (passed + weight));
      EXPECT_NEAR(skip.total, passed + weight, 1e-6 * (passed + weight));
      EXPECT_FALSE(skip.sign);
    }
    passed += weight;
  }
  floats[100] = -0.0F;
  EXPECT_TRUE(skip_blocks(floats.data(), 12, 1e9).sign);
}

}  // namespace
}  // namespace hindsight
