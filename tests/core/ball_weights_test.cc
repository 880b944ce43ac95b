#include "src/core/ball_weights.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <vector>

#include "src/core/bytes.h"
#include "src/core/kernels.h"
#include "tests/support/random_choices.h"

namespace hindsight {
namespace {

using testing::random_vector;

// The plain one: every coordinate in long double, the projection over all of them.
class PlainBall {
 public:
  explicit PlainBall(std::size_t n) : theta_(n, 0.0L) {}
  void step(const std::vector<double>& gradient, double eta, double radius) {
    long double squared = 0.0L;
    for (std::size_t i = 0; i < theta_.size(); ++i) {
      theta_[i] -= static_cast<long double>(eta) * gradient[i];
      squared += theta_[i] * theta_[i];
    }
    const long double norm = sqrtl(squared);
    if (norm > radius) {
      for (long double& x : theta_) {
        x *= radius / norm;
      }
    }
  }
  double operator[](std::size_t i) const { return static_cast<double>(theta_[i]); }

 private:
  std::vector<long double> theta_;
};

// Phi^T c by the definition.
std::vector<double> plain_gradient(const Choice& choice, const std::vector<double>& c) {
  const auto& sizes = testing::kChoiceSizes;
  std::vector<double> gradient(sizes.items + sizes.dense + sizes.sparse, 0.0);
  for (std::size_t i = 0; i < choice.n; ++i) {
    if (!choice.items.empty()) {
      gradient[choice.items[i]] += c[i];
    }
    for (std::size_t j = 0; j < choice.rows.dense_dim; ++j) {
      gradient[sizes.items + j] += c[i] * choice.rows.dense[i * choice.rows.dense_dim + j];
    }
    if (!choice.rows.row_begin.empty()) {
      for (auto e = choice.rows.row_begin[i]; e < choice.rows.row_begin[i + 1]; ++e) {
        gradient[sizes.items + sizes.dense + choice.rows.sparse_index[e]] +=
            c[i] * choice.rows.sparse_value[e];
      }
    }
  }
  return gradient;
}

std::vector<double> unit(std::size_t n, std::size_t i) {
  std::vector<double> e(n, 0.0);
  e[i] = 1.0;
  return e;
}

TEST(BallWeights, StepsAgreeWithThePlainProjectionForEveryMixOfFeatures) {
  for (const testing::ChoiceShape& shape : testing::all_shapes()) {
    Rng rng(31);
    const auto& sizes = testing::kChoiceSizes;
    BallWeights weights;
    weights.grow_items(sizes.items);
    weights.grow_dense(sizes.dense);
    weights.grow_sparse(sizes.sparse);
    PlainBall plain(sizes.items + sizes.dense + sizes.sparse);
    for (int t = 1; t <= 3000; ++t) {
      const Choice choice = testing::random_choice(shape, rng);
      const std::vector<double> raw = random_vector(choice.n, rng);
      const LossSlope slope{.loss = 0.0, .factor = 0.7, .picked_extra = -1.0};
      std::vector<double> c(choice.n);
      for (std::size_t i = 0; i < choice.n; ++i) {
        c[i] = 0.7 * raw[i] - (i == choice.picked ? 1.0 : 0.0);
      }
      const double eta = rng.uniform();
      const double radius = 0.5 + 3.0 * rng.uniform();
      const std::vector<double> gradient = plain_gradient(choice, c);
      const ChoiceFeatures features{.items = choice.items, .rows = &choice.rows, .n = choice.n};
      const double squared = weights.step(features, raw, choice.picked, slope, eta, radius);
      plain.step(gradient, eta, radius);
      ASSERT_NEAR(squared, dot(gradient, gradient), 1e-9 * (1.0 + squared));
      ASSERT_LE(weights.norm(), radius * (1.0 + 1e-12));
    }
    for (std::size_t i = 0; i < sizes.items; ++i) {
      EXPECT_NEAR(weights.item(static_cast<ItemIndex>(i)), plain[i], 1e-11);
    }
    for (std::size_t j = 0; j < sizes.dense; ++j) {
      EXPECT_NEAR(weights.dense(j), plain[sizes.items + j], 1e-11);
    }
    for (std::size_t j = 0; j < sizes.sparse; ++j) {
      EXPECT_NEAR(weights.sparse(j), plain[sizes.items + sizes.dense + j], 1e-11);
    }
  }
}

// The same with context terms: few slots, so that several items of a choice share one.
TEST(BallWeights, StepsWithContextTermsAgreeWithThePlainProjection) {
  constexpr std::size_t kSlots = 5;
  constexpr double kFactor = 0.8;
  for (const testing::ChoiceShape& shape : testing::all_shapes()) {
    Rng rng(41);
    const auto& sizes = testing::kChoiceSizes;
    const std::size_t before = sizes.items + sizes.dense + sizes.sparse;
    BallWeights weights;
    weights.grow_items(sizes.items);
    weights.grow_context(kSlots);
    PlainBall plain(before + kSlots);
    for (int t = 1; t <= 3000; ++t) {
      const Choice choice = testing::random_choice(shape, rng);
      const std::vector<double> raw = random_vector(choice.n, rng);
      std::vector<double> c(choice.n);
      for (std::size_t i = 0; i < choice.n; ++i) {
        c[i] = 0.7 * raw[i] - (i == choice.picked ? 1.0 : 0.0);
      }
      std::vector<double> gradient = plain_gradient(choice, c);
      gradient.resize(before + kSlots, 0.0);
      ChoiceFeatures features{.items = choice.items, .rows = &choice.rows, .n = choice.n};
      std::vector<std::uint32_t> slots;
      if (rng.below(3) > 0) {  // one request in three has no key
        for (std::size_t i = 0; i < choice.n; ++i) {
          slots.push_back(static_cast<std::uint32_t>(rng.below(kSlots)));
          gradient[before + slots[i]] += c[i];
        }
        for (double& g : gradient) {
          g *= kFactor;
        }
        features.context = slots;
        features.context_factor = kFactor;
      }
      const double eta = rng.uniform();
      const double radius = 0.5 + 3.0 * rng.uniform();
      const double squared =
          weights.step(features, raw, choice.picked,
                       {.loss = 0.0, .factor = 0.7, .picked_extra = -1.0}, eta, radius);
      plain.step(gradient, eta, radius);
      ASSERT_NEAR(squared, dot(gradient, gradient), 1e-9 * (1.0 + squared));
      ASSERT_LE(weights.norm(), radius * (1.0 + 1e-12));

      std::vector<double> scores(choice.n);
      const double top = weights.scores(features, scores);
      EXPECT_EQ(top, max_of(scores));
      for (std::size_t i = 0; i < choice.n; ++i) {
        const std::vector<double> phi = plain_gradient(choice, unit(choice.n, i));
        double score = slots.empty() ? 0.0 : plain[before + slots[i]];
        for (std::size_t j = 0; j < before; ++j) {
          score += phi[j] * plain[j];
        }
        ASSERT_NEAR(scores[i], slots.empty() ? score : kFactor * score, 1e-10);
      }
    }
    for (std::size_t j = 0; j < kSlots; ++j) {
      EXPECT_NEAR(weights.context(j), plain[before + j], 1e-11);
    }
  }
}

TEST(BallWeights, ContextTermsAreSavedAndLoaded) {
  BallWeights weights;
  weights.grow_items(3);
  weights.grow_context(4);
  const std::vector<ItemIndex> items = {0, 2};
  const std::vector<std::uint32_t> slots = {3, 1};
  const std::vector<double> raw = {0.5, 0.5};
  weights.step({.items = items, .n = 2, .context = slots, .context_factor = 0.7}, raw, 0,
               {0.0, 1.0, -1.0}, 1.0, 10.0);
  ByteWriter out;
  weights.save(out);
  const std::vector<std::byte> bytes = out.take();
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    ByteReader in(std::span<const std::byte>(bytes).first(size));
    BallWeights cut;
    EXPECT_FALSE(cut.load(in).ok()) << size;
  }
  ByteReader in(bytes);
  BallWeights loaded;
  ASSERT_TRUE(loaded.load(in).ok());
  EXPECT_EQ(loaded.context_count(), 4U);
  for (std::size_t j = 0; j < 4; ++j) {
    EXPECT_EQ(loaded.context(j), weights.context(j));
    EXPECT_EQ(loaded.context(j) != 0.0, j == 1 || j == 3);
  }
}

// Projections shorten distances, so that rounding errors add up and never grow: 10^8 steps (10^6 in
// a quick run) of size one must stay within 10^8 roundings of 2^-53 each.
TEST(BallWeights, StayAccurateOverAHundredMillionSteps) {
  const long steps = std::getenv("HINDSIGHT_FULL") != nullptr ? 100'000'000 : 1'000'000;
  constexpr std::size_t kItems = 8;
  BallWeights weights;
  weights.grow_items(kItems);
  PlainBall plain(kItems);
  Rng rng(37);
  std::vector<double> gradient(kItems, 0.0);
  for (long t = 0; t < steps; ++t) {
    const auto a = static_cast<ItemIndex>(rng.next_u32() % kItems);
    const auto b = static_cast<ItemIndex>((a + 1 + rng.next_u32() % (kItems - 1)) % kItems);
    const double p = 0x1p-32 * rng.next_u32();
    const std::vector<ItemIndex> items = {a, b};
    const std::vector<double> raw = {p, 1.0 - p};
    weights.step({.items = items, .n = 2}, raw, 0, {0.0, 1.0, -1.0}, 0.125, 2.0);
    gradient[a] = p - 1.0;
    gradient[b] = 1.0 - p;
    plain.step(gradient, 0.125, 2.0);
    gradient[a] = gradient[b] = 0.0;
  }
  for (std::size_t i = 0; i < kItems; ++i) {
    EXPECT_NEAR(weights.item(static_cast<ItemIndex>(i)), plain[i],
                0x1p-53 * static_cast<double>(steps));
  }
}

TEST(BallWeights, ColumnsThatWereNeverSeenWeighNothing) {
  BallWeights weights;
  FeatureRows rows{.dense_dim = 2,
                   .dense = {1.0, 2.0},
                   .row_begin = {0, 1},
                   .sparse_index = {1000},
                   .sparse_value = {3.0}};
  double score = -1.0;
  weights.scores({.items = {}, .rows = &rows, .n = 1}, std::span(&score, 1));
  EXPECT_EQ(score, 0.0);
  EXPECT_EQ(weights.sparse_count(), 0U);
}

TEST(BallWeights, LoadRefusesNumbersThatAreNotFinite) {
  BallWeights weights;
  weights.grow_items(3);
  ByteWriter out;
  weights.save(out);
  std::vector<std::byte> bytes = out.take();
  const double nan = std::nan("");
  std::memcpy(bytes.data() + sizeof(std::uint64_t), &nan, sizeof(nan));
  ByteReader in(bytes);
  BallWeights loaded;
  const auto result = loaded.load(in);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().code, ErrorCode::kCorrupt);
}

}  // namespace
}  // namespace hindsight
