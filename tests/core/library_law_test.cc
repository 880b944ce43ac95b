#include "src/core/library_law.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cmath>
#include <cstring>
#include <vector>

#include "hindsight/random.h"
#include "src/core/bytes.h"
#include "src/core/det_math.h"

namespace hindsight {
namespace {

/// Weights that learn, and the law that follows them.
struct Life {
  BallWeights weights;
  LibraryLaw law;
  std::vector<std::uint8_t> live;

  void grow(std::size_t count) {
    weights.grow_items(count);
    law.grow(count);
    live.resize(count, 1);
  }

  void remove(ItemIndex item) {
    live[item] = 0;
    law.remove(item, weights);
  }

  /// A click on the first of `items`.
  void click(const std::vector<ItemIndex>& items, double eta, double radius) {
    const std::vector<double> raw(items.size(), 1.0 / static_cast<double>(items.size()));
    weights.step({.items = items, .n = items.size()}, raw, 0,
                 {.loss = 0.0, .factor = 1.0, .picked_extra = -1.0}, eta, radius);
    law.follow(weights, items);
  }

  double served(ItemIndex item) const { return det_log(law.tree().weight(item)) + law.shift(); }

  LibraryLaw reloaded() const {
    ByteWriter out;
    law.save(out);
    const std::vector<std::byte> bytes = out.take();
    ByteReader in(bytes);
    LibraryLaw loaded;
    EXPECT_TRUE(loaded.load(in, weights, [this](ItemIndex item) { return live[item] != 0; }).ok());
    return loaded;
  }
};

void expect_equal_trees(const LibraryLaw& a, const LibraryLaw& b) {
  ASSERT_EQ(a.shift(), b.shift());
  ASSERT_EQ(a.tree().size(), b.tree().size());
  ASSERT_EQ(a.tree().total(), b.tree().total());
  for (std::size_t i = 0; i < a.tree().size(); ++i) {
    ASSERT_EQ(a.tree().weight(i), b.tree().weight(i)) << i;
  }
}

/// RETURNS: two to five distinct items.
std::vector<ItemIndex> some_items(std::size_t count, Rng& rng) {
  const std::size_t n = std::min<std::size_t>(count, 2 + rng.below(4));
  std::vector<ItemIndex> items;
  const auto start = static_cast<ItemIndex>(rng.below(count));
  for (std::size_t i = 0; i < n; ++i) {
    items.push_back(static_cast<ItemIndex>((start + i) % count));
  }
  return items;
}

// The steps of GPER, with the projections that its small balls bring; one in 50 starts cold.
TEST(LibraryLaw, StaysNearTheModelAndLoadsAsTheSameThroughAnyLife) {
  EXPECT_TRUE(rc::check([] {
    Rng rng(*rc::gen::arbitrary<std::uint64_t>());
    const double alpha = std::exp(6.0 * rng.uniform() - 1.0);
    Life life;
    life.grow(20 + rng.below(200));
    for (int t = 1; t <= 400; ++t) {
      if (rng.below(50) == 0) {
        life.grow(life.live.size() + rng.below(20));
      }
      if (rng.below(40) == 0) {
        const auto item = static_cast<ItemIndex>(rng.below(life.live.size()));
        if (life.live[item] != 0) {
          life.remove(item);
        }
      }
      if (rng.below(50) == 0) {
        life.weights.clear();
      }
      life.click(some_items(life.live.size(), rng), alpha / std::sqrt(t), alpha);
      if (t % 20 == 0) {
        expect_equal_trees(life.law, life.reloaded());
        double top = -1e300;
        for (ItemIndex i = 0; i < life.live.size(); ++i) {
          top = life.live[i] != 0 ? std::max(top, life.weights.item(i)) : top;
        }
        for (ItemIndex i = 0; i < life.live.size(); ++i) {
          if (life.live[i] == 0) {
            RC_ASSERT(life.law.tree().weight(i) == 0.0F);
          } else if (life.weights.item(i) > top - 30.0) {
            RC_ASSERT(std::abs(life.served(i) - life.weights.item(i)) <= 0.5001);
          }
        }
      }
    }
  }));
}

TEST(LibraryLaw, GoesOnAfterLoadingAsIfItHadNotBeenSaved) {
  Rng rng(5);
  Life life;
  life.grow(300);
  for (int t = 1; t <= 1000; ++t) {
    life.click(some_items(300, rng), 3.0 / std::sqrt(t % 100 + 1), 3.0);
    if (t % 50 == 0) {
      Life copy{life.weights, life.reloaded(), life.live};
      Rng ahead = rng;
      for (int s = 0; s < 49; ++s) {
        const auto items = some_items(300, ahead);
        copy.click(items, 3.0 / std::sqrt((t + s + 1) % 100 + 1), 3.0);
      }
      Life original = life;
      ahead = rng;
      for (int s = 0; s < 49; ++s) {
        const auto items = some_items(300, ahead);
        original.click(items, 3.0 / std::sqrt((t + s + 1) % 100 + 1), 3.0);
      }
      expect_equal_trees(copy.law, original.law);
    }
  }
}

// Scores far beyond what e^x can be as a float: the top keeps its order and its differences.
TEST(LibraryLaw, HoldsScoresOfAnySize) {
  Life life;
  life.grow(1000);
  for (const double score : {10.0, 60.0, 95.0, 300.0, 5000.0, 1e6}) {
    life.click({7, 8}, 2.0 * score, 1e9);  // theta_7 grows by `score`
    const double expected = life.weights.item(7);
    EXPECT_NEAR(life.served(7), expected, 1e-5 + 1e-12 * expected);
    EXPECT_TRUE(std::isfinite(life.law.tree().total()));
    EXPECT_EQ(life.law.tree().positive(), 1000U);  // what is far below can still be drawn
  }
}

// When the leader goes, the differences below it count again.
TEST(LibraryLaw, FindsTheOthersAgainWhenTheTopIsGone) {
  Life life;
  life.grow(50);
  life.click({1, 2}, 4.0, 1e9);
  life.click({7, 8}, 1000.0, 1e9);
  EXPECT_NEAR(life.served(7), 500.0, 1e-4);
  life.remove(7);
  EXPECT_NEAR(life.served(1), 2.0, 1e-6);
  EXPECT_NEAR(life.served(2), -2.0, 1e-6);
  EXPECT_NEAR(life.served(3), 0.0, 1e-6);
  // The same when it falls by learning.
  life.click({9, 10}, 1000.0, 1e9);
  life.click({11, 9}, 1000.0, 1e9);
  life.remove(11);
  EXPECT_NEAR(life.served(9), life.weights.item(9), 1e-6);
  EXPECT_NEAR(life.served(1), 2.0, 1e-6);
}

TEST(LibraryLaw, RefusesASavedLawOutOfRange) {
  Life life;
  life.grow(3);
  ByteWriter out;
  life.law.save(out);
  const std::vector<std::byte> good = out.take();
  for (const double bad : {std::nan(""), 0.0, -1.0, HUGE_VAL}) {
    std::vector<std::byte> bytes = good;
    std::memcpy(bytes.data(), &bad, sizeof(bad));
    ByteReader in(bytes);
    LibraryLaw loaded;
    const auto result = loaded.load(in, life.weights, [](ItemIndex) { return true; });
    ASSERT_FALSE(result.ok());
    EXPECT_EQ(result.error().code, ErrorCode::kCorrupt);
  }
}

}  // namespace
}  // namespace hindsight
