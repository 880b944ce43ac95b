#include "src/core/top_rank.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "src/core/bytes.h"

namespace hindsight {
namespace {

/// TopRank as it is printed: all pairs, every round.
class SlowTopRank {
 public:
  SlowTopRank(std::size_t size, double horizon)
      : size_(size),
        horizon_(horizon),
        s_(size * size, 0.0),
        n_(size * size, 0.0),
        worse_(size * size, 0),
        level_(size, 0) {}

  void learn(const std::set<ItemIndex>& clicked) {
    const auto click = [&](std::size_t i) {
      return clicked.count(static_cast<ItemIndex>(i)) > 0 ? 1.0 : 0.0;
    };
    for (std::size_t i = 0; i < size_; ++i) {
      for (std::size_t j = 0; j < size_; ++j) {
        if (i != j && level_[i] == level_[j]) {
          s_[i * size_ + j] += click(i) - click(j);
          n_[i * size_ + j] += std::abs(click(i) - click(j));
        }
      }
    }
    for (std::size_t at = 0; at < s_.size(); ++at) {
      const double n = n_[at];
      if (n > 0 &&
          s_[at] >= std::sqrt(2 * n * std::log(3.43 * std::sqrt(n) * std::sqrt(horizon_)))) {
        worse_[at] = 1;
      }
    }
    // Levels: the items that nothing left is better than, again and again.
    std::vector<std::uint8_t> placed(size_, 0);
    for (std::uint16_t level = 0; std::count(placed.begin(), placed.end(), 0) > 0; ++level) {
      std::vector<std::size_t> block;
      for (std::size_t j = 0; j < size_; ++j) {
        bool best = placed[j] == 0;
        for (std::size_t i = 0; best && i < size_; ++i) {
          best = placed[i] != 0 || worse_[i * size_ + j] == 0;
        }
        if (best) {
          block.push_back(j);
        }
      }
      for (const std::size_t j : block) {
        placed[j] = 1;
        level_[j] = level;
      }
    }
  }
  std::uint16_t level(std::size_t i) const { return level_[i]; }

 private:
  std::size_t size_;
  double horizon_;
  std::vector<double> s_;
  std::vector<double> n_;
  std::vector<std::uint8_t> worse_;
  std::vector<std::uint16_t> level_;
};

/// Clicks of a list in which every shown item is clicked as often as it is attractive.
std::vector<ItemIndex> clicks_of(const std::vector<ItemIndex>& list, std::size_t size, Rng& rng) {
  std::vector<ItemIndex> clicked;
  for (const ItemIndex item : list) {
    if (rng.uniform() < static_cast<double>(item) / static_cast<double>(size)) {
      clicked.push_back(item);
    }
  }
  return clicked;
}

TEST(TopRank, IsTheAlgorithmThatTouchesEveryPair) {
  EXPECT_TRUE(rc::check([](std::uint64_t seed) {
    Rng rng(seed);
    const std::size_t size = 3 + rng.below(5);
    TopRank fast(100);
    fast.grow(size);
    SlowTopRank slow(size, 100);
    std::vector<ItemIndex> list;
    for (int round = 0; round < 400; ++round) {
      fast.draw(3, rng, list);
      const auto clicked = clicks_of(list, size, rng);
      fast.learn(clicked);
      fast.settle();
      slow.learn({clicked.begin(), clicked.end()});
      for (std::size_t i = 0; i < size; ++i) {
        RC_ASSERT(fast.level(static_cast<ItemIndex>(i)) == slow.level(i));
      }
    }
  }));
}

TEST(TopRank, FindsTheOrder) {
  TopRank machine(10'000);
  machine.grow(6);
  Rng rng(1);
  std::vector<ItemIndex> list;
  for (int round = 0; round < 10'000; ++round) {
    machine.draw(3, rng, list);
    machine.learn(clicks_of(list, 6, rng));
    machine.settle();
  }
  machine.draw(3, rng, list);
  EXPECT_EQ(list, (std::vector<ItemIndex>{5, 4, 3}));
  EXPECT_GT(machine.relations(), 5U);
}

// A count of N draws of probability p is off by more than sqrt(2 N p (1 - p) x) + x / 3 with
// probability 2 e^-x at most (Bernstein), x = 25.
TEST(TopRank, ListsAreUniformInsideABlock) {
  TopRank machine(100);
  for (const std::size_t size : {4, 30}) {
    machine.grow(size);
    Rng rng(7);
    std::map<std::vector<ItemIndex>, int> counts;
    constexpr int kDraws = 20'000;
    std::vector<ItemIndex> list;
    for (int i = 0; i < kDraws; ++i) {
      machine.draw(2, rng, list);
      ++counts[list];
    }
    const double p = 1.0 / static_cast<double>(size * (size - 1));
    EXPECT_EQ(counts.size(), size * (size - 1));
    for (const auto& [drawn, count] : counts) {
      EXPECT_NEAR(count, p * kDraws, std::sqrt(2 * p * kDraws * 25) + 25.0 / 3);
    }
  }
}

TEST(TopRank, RowsAreMadeForClickedItemsOnly) {
  TopRank machine(1'000'000);
  machine.grow(10'000);
  ByteWriter before;
  machine.save(before);
  const std::vector<ItemIndex> clicked = {17};
  machine.learn(clicked);
  machine.settle();
  ByteWriter after;
  machine.save(after);
  EXPECT_EQ(after.bytes().size() - before.bytes().size(), 60'000U);
  EXPECT_EQ(machine.wins(17, 4), 1U);
  EXPECT_EQ(machine.wins(17, 17), 0U);
  EXPECT_EQ(machine.wins(4, 17), 0U);
}

TEST(TopRank, ItemsComeGoAndAreKept) {
  TopRank machine(100);
  machine.grow(5);
  Rng rng(3);
  std::vector<ItemIndex> list;
  const auto play = [&](TopRank& one, Rng& draws) {
    one.draw(3, draws, list);
    const auto clicked = clicks_of(list, 8, draws);
    one.learn(clicked);
    one.settle();
  };
  for (int round = 0; round < 2'000; ++round) {
    play(machine, rng);
  }
  EXPECT_GT(machine.blocks().size(), 1U);
  machine.remove(4);
  machine.grow(8);
  EXPECT_EQ(machine.level(4), TopRank::kGone);
  EXPECT_EQ(machine.level(7), 0);
  ByteWriter out;
  machine.save(out);
  TopRank copy(100);
  ByteReader in(out.bytes());
  ASSERT_TRUE(copy.load(in).ok());
  Rng other = rng;
  for (int round = 0; round < 3'000; ++round) {
    play(machine, rng);
    play(copy, other);
    ASSERT_EQ(machine.version(), copy.version());
  }
  machine.draw(7, rng, list);
  EXPECT_EQ(list[0], 7U);
  EXPECT_EQ(std::count(list.begin(), list.end(), 4U), 0);
}

}  // namespace
}  // namespace hindsight
