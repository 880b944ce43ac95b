#include "src/core/recur_rank.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <set>

#include "src/core/bytes.h"
#include "src/core/det_math.h"
#include "src/core/kernels.h"

namespace hindsight {
namespace {

/// Items on a circle, and attractiveness linear in where they are, all in [0, 1].
struct Circle {
  std::vector<double> rows;
  std::vector<double> attraction;

  explicit Circle(std::size_t count, std::uint64_t seed = 1) {
    Rng rng(seed);
    for (std::size_t i = 0; i < count; ++i) {
      const double x = rng.normal();
      const double y = rng.normal();
      const double length = std::sqrt(2.0 * (x * x + y * y));
      rows.insert(rows.end(), {x / length, y / length, std::sqrt(0.5)});
      attraction.push_back(0.5 + 0.5 * x / std::sqrt(x * x + y * y));
    }
  }
  Item item(ItemIndex index) const {
    Item made;
    made.index = index;
    made.dense.assign(rows.begin() + 3 * index, rows.begin() + 3 * index + 3);
    return made;
  }
};

/// One round with clicks of the position-based model. RETURNS: the list
std::vector<ItemIndex> play(RecurRank& machine, const Circle& circle,
                            const std::vector<double>& bias, Rng& rng) {
  std::vector<ItemIndex> list;
  RecurRank::Probes probes;
  machine.draw({}, bias.size(), rng, list, probes);
  for (const RecurRank::Probe& probe : probes) {
    const double rate = bias[probe.place] * circle.attraction[list[probe.place]];
    const bool clicked = rng.uniform() < rate;
    if (machine.fit(probe, list[probe.place]) == RecurRank::Fit::kWanted) {
      machine.observe(probe, clicked);
    }
  }
  machine.end_round();
  return list;
}

std::vector<ItemIndex> best_of(const Circle& circle, std::size_t count) {
  std::vector<ItemIndex> order(circle.attraction.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    order[i] = static_cast<ItemIndex>(i);
  }
  std::sort(order.begin(), order.end(),
            [&](ItemIndex a, ItemIndex b) { return circle.attraction[a] > circle.attraction[b]; });
  order.resize(count);
  return order;
}

const std::vector<double> kBias = {1.0, 0.5, 1.0 / 3.0};

TEST(RecurRank, FirstPhaseWantsWhatEquationSixSays) {
  const Circle circle(50);
  const auto machine = *RecurRank::make({.positions = 3, .horizon = 10'000}, circle.rows, 3);
  ASSERT_EQ(machine.blocks().size(), 1U);
  const RecurRank::Block& block = machine.blocks()[0];
  // delta_1 = (1 / sqrt T) / (2 K 1 2), Delta_1 = 1/2.
  const double log_term = std::log(50 * 100.0 * 2 * 3 * 2);
  double total = 0.0;
  for (const std::uint64_t wanted : block.wanted) {
    total += static_cast<double>(wanted);
  }
  EXPECT_GE(total, 3.0 * 2.0 * log_term);
  EXPECT_LE(total, 1.01 * 3.0 * 2.0 * log_term + static_cast<double>(block.support.size()));
  EXPECT_LE(block.support.size(), 6U);
}

TEST(RecurRank, FindsTheBestItems) {
  const Circle circle(40);
  auto machine = *RecurRank::make({.positions = 3, .horizon = 300'000}, circle.rows, 3);
  Rng rng(5);
  for (int round = 0; round < 300'000; ++round) {
    play(machine, circle, kBias, rng);
  }
  EXPECT_GT(machine.blocks().size(), 0U);
  std::vector<ItemIndex> list;
  RecurRank::Probes probes;
  double value = 0.0;
  double best = 0.0;
  machine.draw({}, 3, rng, list, probes);
  for (std::size_t k = 0; k < 3; ++k) {
    value += kBias[k] * circle.attraction[list[k]];
    best += kBias[k] * circle.attraction[best_of(circle, 3)[k]];
  }
  EXPECT_NEAR(value, best, 0.05);
}

// Lemma 1: the failure event has probability at most delta = 1/sqrt T. In 200 runs of T = 400 the
// expected number of failures is at most 10; more than 30 come with probability below 1e-6
// (Chernoff: (e^2 / 27)^10 = 2.3e-6 at the bound itself, and the union bound is never that tight).
TEST(RecurRank, TheFailureEventStaysBelowDelta) {
  constexpr int kRuns = 200;
  constexpr std::uint64_t kRounds = 400;
  int failures = 0;
  for (int run = 0; run < kRuns; ++run) {
    const Circle circle(30, 100 + static_cast<std::uint64_t>(run));
    auto machine = *RecurRank::make({.positions = 3, .horizon = kRounds}, circle.rows, 3);
    const std::vector<ItemIndex> best = best_of(circle, 3);
    Rng rng(static_cast<std::uint64_t>(run));
    bool failed = false;
    std::map<std::uint64_t, RecurRank::Block> before;
    for (std::uint64_t round = 0; round < 10 * kRounds; ++round) {
      for (const RecurRank::Block& block : machine.blocks()) {
        before[block.serial] = block;
      }
      play(machine, circle, kBias, rng);
      for (const RecurRank::Block& block : machine.blocks()) {
        before.erase(block.serial);
      }
      // What is left has ended: its estimates against chi times the attractiveness.
      for (const auto& [serial, block] : before) {
        const double delta = std::ldexp(1.0, -static_cast<int>(block.phase));
        for (const ItemIndex item : block.items) {
          const double truth = kBias[block.first] * circle.attraction[item];
          failed = failed || std::abs(machine.estimate(item) - truth) >= delta;
        }
      }
      before.clear();
      for (const RecurRank::Block& block : machine.blocks()) {
        for (std::size_t k = block.first; k < block.first + block.places; ++k) {
          failed = failed ||
                   std::find(block.items.begin(), block.items.end(), best[k]) == block.items.end();
        }
      }
      if (failed) {
        break;
      }
    }
    failures += failed ? 1 : 0;
  }
  EXPECT_LE(failures, 30);
}

/// RETURNS: the number of items left in the last block after some rounds.
std::size_t left_after(bool printed, int rounds) {
  const Circle circle(2'000);
  auto machine = *RecurRank::make({.positions = 3, .horizon = 100'000, .printed_rule = printed},
                                  circle.rows, 3);
  Rng rng(3);
  for (int round = 0; round < rounds; ++round) {
    play(machine, circle, kBias, rng);
  }
  return machine.blocks().back().items.size();
}

TEST(RecurRank, AgainstTheMthBestManyAreDroppedAndByThePrintedRuleNone) {
  EXPECT_LT(left_after(false, 20'000), 800U);
  EXPECT_EQ(left_after(true, 20'000), 2'000U);
}

TEST(RecurRank, ASpannerServesAsADesignToo) {
  const Circle circle(40);
  auto machine =
      *RecurRank::make({.positions = 3, .horizon = 50'000, .spanner = true}, circle.rows, 3);
  EXPECT_LE(machine.blocks()[0].support.size(), 6U);
  Rng rng(5);
  for (int round = 0; round < 50'000; ++round) {
    play(machine, circle, kBias, rng);
  }
  EXPECT_LT(machine.blocks().back().items.size(), 40U);
}

/// Blocks lie side by side, hold distinct items, and only the last may have more than places.
void expect_consistent(const RecurRank& machine, std::size_t positions) {
  std::size_t first = 0;
  std::set<ItemIndex> seen;
  for (std::size_t i = 0; i < machine.blocks().size(); ++i) {
    const RecurRank::Block& block = machine.blocks()[i];
    EXPECT_EQ(block.first, first);
    EXPECT_GE(block.places, 1U);
    EXPECT_LE(block.places, block.items.size());
    if (i + 1 < machine.blocks().size()) {
      EXPECT_EQ(block.places, block.items.size());
    }
    first += block.places;
    for (const ItemIndex item : block.items) {
      EXPECT_TRUE(seen.insert(item).second);
    }
  }
  EXPECT_LE(first, positions);
}

TEST(RecurRank, BlocksStayConsistentWhileItemsComeAndGo) {
  const Circle circle(200);
  RecurRank machine({.positions = 3, .horizon = 5'000});
  Rng rng(11);
  std::vector<ItemIndex> live;
  ItemIndex next = 0;
  const auto add = [&] {
    machine.add(circle.item(next));
    live.push_back(next++);
  };
  for (int i = 0; i < 6; ++i) {
    add();
  }
  machine.begin();
  for (int step = 0; step < 20'000; ++step) {
    if (step % 120 == 0 && next < 200) {
      add();
    }
    if (step % 150 == 7 && live.size() > 4) {
      const std::size_t at = rng.below(live.size());
      machine.remove(live[at]);
      live.erase(live.begin() + static_cast<std::ptrdiff_t>(at));
    }
    const auto list = play(machine, circle, kBias, rng);
    EXPECT_EQ(list.size(), 3U);
    for (const ItemIndex item : list) {
      EXPECT_NE(std::find(live.begin(), live.end(), item), live.end());
    }
    if (step % 50 == 0) {
      expect_consistent(machine, 3);
    }
  }
}

TEST(RecurRank, AnItemThatArrivesWaitsForTheNextPhaseOfTheLastBlock) {
  const Circle circle(21);
  RecurRank machine({.positions = 3, .horizon = 10'000});
  for (ItemIndex i = 0; i < 20; ++i) {
    machine.add(circle.item(i));
  }
  machine.begin();
  Rng rng(1);
  const auto in_blocks = [&] {
    for (const RecurRank::Block& block : machine.blocks()) {
      if (std::find(block.items.begin(), block.items.end(), 20U) != block.items.end()) {
        return block.serial;
      }
    }
    return std::uint64_t{0};
  };
  machine.add(circle.item(20));
  const std::uint64_t serial = machine.blocks().back().serial;
  while (machine.blocks().back().serial == serial) {
    EXPECT_EQ(in_blocks(), 0U);
    play(machine, circle, kBias, rng);
  }
  EXPECT_EQ(in_blocks(), machine.blocks().back().serial);
}

TEST(RecurRank, ItemsWithoutFeaturesStayBehindAllOthers) {
  const Circle circle(6);
  RecurRank machine({.positions = 3, .horizon = 500});
  Item bare;
  machine.add(bare);
  machine.begin();
  EXPECT_FALSE(machine.begun());
  for (ItemIndex i = 1; i < 5; ++i) {
    machine.add(circle.item(i));
  }
  machine.begin();
  Rng rng(3);
  for (int round = 0; round < 500; ++round) {
    const auto list = play(machine, circle, kBias, rng);
    EXPECT_EQ(std::count(list.begin(), list.end(), 0U), 0);
  }
  Item known = circle.item(5);
  known.index = 0;
  machine.add(known);  // it has features now, and joins
  for (int round = 0; round < 5'000; ++round) {
    play(machine, circle, kBias, rng);
  }
  expect_consistent(machine, 3);
}

TEST(RecurRank, LateAndRepeatedAnswersCountOnceAndOldPhasesNot) {
  const Circle circle(20);
  auto machine = *RecurRank::make({.positions = 3, .horizon = 1'000}, circle.rows, 3);
  Rng rng(2);
  std::vector<ItemIndex> list;
  RecurRank::Probes late;
  machine.draw({}, 3, rng, list, late);
  const ItemIndex probed = list[0];
  EXPECT_EQ(machine.fit(late[0], probed), RecurRank::Fit::kWanted);
  EXPECT_EQ(machine.fit(late[0], list[1]), RecurRank::Fit::kWrong);
  RecurRank::Probe moved = late[0];
  moved.place = 1;
  EXPECT_EQ(machine.fit(moved, probed), RecurRank::Fit::kWrong);
  moved = late[0];
  moved.serial = 77;
  EXPECT_EQ(machine.fit(moved, probed), RecurRank::Fit::kWrong);
  // The same answer again and again, until the need of its item is met.
  const std::uint64_t wanted = machine.blocks()[0].wanted[late[0].support];
  for (std::uint64_t i = 0; i < wanted; ++i) {
    EXPECT_EQ(machine.fit(late[0], probed), RecurRank::Fit::kWanted);
    machine.observe(late[0], true);
  }
  EXPECT_EQ(machine.fit(late[0], probed), RecurRank::Fit::kPast);
  while (machine.blocks()[0].serial == late[0].serial) {
    play(machine, circle, kBias, rng);
  }
  EXPECT_EQ(machine.fit(late[0], probed), RecurRank::Fit::kPast);
}

TEST(RecurRank, ProbabilitiesOfListsSumToOneAndMatchTheDraws) {
  const Circle circle(8);
  RecurRank machine({.positions = 3, .horizon = 3'000});
  for (ItemIndex i = 0; i < 8; ++i) {
    machine.add(circle.item(i));
  }
  machine.begin();
  Rng rng(4);
  for (int round = 0; round < 3'000; ++round) {
    play(machine, circle, kBias, rng);
  }
  const std::vector<std::uint8_t> some = {1, 1, 0, 1, 1, 1, 0, 1};
  for (const std::span<const std::uint8_t> available :
       {std::span<const std::uint8_t>(), std::span<const std::uint8_t>(some)}) {
    std::map<std::vector<ItemIndex>, double> said;
    for (int i = 0; i < 4'000; ++i) {
      std::vector<ItemIndex> list;
      RecurRank::Probes probes;
      machine.draw(available, 4, rng, list, probes);
      const auto log_prob = machine.log_probability(available, 4, list);
      ASSERT_TRUE(log_prob);
      double by_probes = 0.0;
      for (const RecurRank::Probe& probe : probes) {
        by_probes += std::log(probe.share);
      }
      EXPECT_NEAR(*log_prob, by_probes, 1e-12);
      said[list] = std::exp(*log_prob);
    }
    double total = 0.0;
    for (const auto& [list, prob] : said) {
      total += prob;
    }
    EXPECT_NEAR(total, 1.0, 0.02);  // rare lists may not have come
    double first = 0.0;
    for (ItemIndex item = 0; item < 8; ++item) {
      if (available.empty() || available[item] != 0) {
        first += machine.first_probability(available, item);
      }
    }
    EXPECT_NEAR(first, 1.0, 1e-12);
  }
}

TEST(RecurRank, AnUnknownHorizonIsDoubled) {
  const Circle circle(20);
  auto machine = *RecurRank::make({.positions = 3}, circle.rows, 3);
  Rng rng(6);
  for (int round = 0; round < 1024 + 2048; ++round) {
    EXPECT_EQ(machine.runs(), round < 1024 ? 1U : 2U);
    play(machine, circle, kBias, rng);
  }
  EXPECT_EQ(machine.runs(), 3U);
}

TEST(RecurRank, SaveAndLoadGoOnAlike) {
  const Circle circle(60);
  RecurRank machine({.positions = 3, .horizon = 4'000});
  for (ItemIndex i = 0; i < 50; ++i) {
    machine.add(circle.item(i));
  }
  machine.begin();
  Rng rng(9);
  for (int round = 0; round < 3'000; ++round) {
    play(machine, circle, kBias, rng);
  }
  machine.add(circle.item(50));
  machine.remove(3);
  ByteWriter out;
  machine.save(out);
  RecurRank copy({.positions = 3, .horizon = 4'000});
  ByteReader in(out.bytes());
  ASSERT_TRUE(copy.load(in).ok());
  Rng other = rng;
  for (int round = 0; round < 3'000; ++round) {
    ASSERT_EQ(play(machine, circle, kBias, rng), play(copy, circle, kBias, other));
  }
  for (std::size_t size = 0; size < out.bytes().size(); size += 7) {
    ByteReader cut(std::span(out.bytes()).first(size));
    RecurRank victim({.positions = 3, .horizon = 4'000});
    EXPECT_FALSE(victim.load(cut).ok());
  }
}

TEST(RecurRank, CountersThatAreAtTheirEndStayThere) {
  const Circle circle(20);
  RecurRank machine({.positions = 3});
  for (ItemIndex i = 0; i < 20; ++i) {
    machine.add(circle.item(i));
  }
  machine.begin();
  ByteWriter out;
  machine.save(out);
  std::vector<std::byte> bytes(out.bytes().begin(), out.bytes().end());
  for (const std::size_t from_end : {8, 16, 24}) {  // runs, rounds, serials
    std::memcpy(bytes.data() + bytes.size() - from_end, &kMaxCount, sizeof(kMaxCount));
  }
  for (int turn = 0; turn < 3; ++turn) {
    RecurRank loaded({.positions = 3});
    ByteReader in(bytes);
    ASSERT_TRUE(loaded.load(in).ok()) << turn;
    loaded.begin();
    Rng rng(9);
    play(loaded, circle, kBias, rng);
    loaded.remove(static_cast<ItemIndex>(turn));
    ByteWriter again;
    loaded.save(again);
    bytes.assign(again.bytes().begin(), again.bytes().end());
  }
}

TEST(RecurRank, BadInputIsRefused) {
  const auto code = [](std::size_t positions, std::vector<double> rows, std::size_t dim) {
    const auto made = RecurRank::make({.positions = positions}, rows, dim);
    return made.ok() ? ErrorCode::kInternal : made.error().code;
  };
  EXPECT_EQ(code(3, {1, 2}, 1), ErrorCode::kInvalidArgument);  // K > L
  EXPECT_EQ(code(0, {1, 2}, 1), ErrorCode::kInvalidArgument);  // K = 0
  EXPECT_EQ(code(1, {1, 2}, 0), ErrorCode::kInvalidArgument);  // d = 0
  EXPECT_EQ(code(1, {}, 1), ErrorCode::kInvalidArgument);      // L = 0
  EXPECT_EQ(code(1, {1, 0}, 1), ErrorCode::kInvalidArgument);  // a vector of zeros
  EXPECT_EQ(code(1, {1, NAN}, 1), ErrorCode::kNotFinite);
  EXPECT_EQ(code(1, {1, 1e7}, 1), ErrorCode::kFeatureTooLong);
  EXPECT_EQ(code(1, {1, 2, 1, 2}, 2), ErrorCode::kInvalidArgument);  // all equal
  EXPECT_EQ(code(1, {1, 2, 2, 1}, 2), ErrorCode::kInternal);         // fine
  EXPECT_EQ(code(65, std::vector<double>(70, 1.0), 1), ErrorCode::kTooLarge);
  std::vector<double> wide(2 * 129, 1.0);
  wide[0] = 2.0;
  EXPECT_EQ(code(1, wide, 129), ErrorCode::kTooLarge);
}

}  // namespace
}  // namespace hindsight
