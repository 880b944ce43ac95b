// Regret against the best fixed policy in hindsight while a collection runs: held against a ledger
// that the test keeps by itself.

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "hindsight/random.h"
#include "src/engine/event.h"
#include "tests/engine_support/engine_world.h"
#include "tests/engine_support/regret_ledger.h"

namespace hindsight {
namespace {

constexpr std::int64_t kDayMs = 24LL * 3600 * 1000;

/// A collection with readers who prefer low numbers, and a ledger beside it.
class Library {
 public:
  explicit Library(std::string ranker, double alpha = 3.0, EngineWorld::Adjust adjust = {})
      : world_({}, 2,
               [adjust](EngineOptions& options) {
                 options.insight_share = 1.0;
                 if (adjust) {
                   adjust(options);
                 }
               }),
        ranker_(std::move(ranker)),
        ledger_(alpha) {}

  EngineWorld& world() { return world_; }
  const RegretLedger& ledger() const { return ledger_; }
  std::uint64_t control_decisions() const { return control_decisions_; }

  bool make(const CollectionPatch& settings = {}) {
    CollectionPatch patch = settings;
    patch.ranker = ranker_;
    patch.seed = 7;
    patch.params = ParamMap{{"alpha", 3.0}};
    return world_.put("books", patch).ok();
  }

  /// Asks for lists and clicks on some of them, at once or a few lists later.
  void play(int decisions) {
    for (int i = 0; i < decisions; ++i) {
      decide();
      while (!waiting_.empty() && (waiting_.size() > 5 || rng_.below(2) == 0)) {
        const std::size_t which = rng_.below(waiting_.size());
        click(waiting_[which]);
        waiting_.erase(waiting_.begin() + static_cast<std::ptrdiff_t>(which));
      }
    }
  }

  /// Another size of the balls: the ledger begins anew, or learns its clicks again.
  void change_alpha(double alpha, History history) {
    CollectionPatch patch;
    patch.params = ParamMap{{"alpha", alpha}};
    patch.history = history;
    ASSERT_EQ(*world_.put("books", patch), PutOutcome::kChanged);
    wait_until([&] { return !world_.engine().collection("books")->building; });
    ledger_ = history == History::kReplay ? all_.again(alpha) : RegretLedger(alpha);
  }

  /// RETURNS: stats in which every learned click is measured.
  CollectionStats measure() {
    CollectionStats stats;
    wait_until([&] {
      world_.pass(5 * 60 * 1000 + 1);
      world_.tick();
      stats = world_.stats("books", false);
      return stats.measured && stats.measured->cost->clicks == stats.regret->clicks;
    });
    return stats;
  }

  std::vector<CurvePoint> history(std::size_t points = 2000) {
    Result<std::vector<CurvePoint>> history = world_.engine().history("books", points);
    return history.ok() ? *std::move(history) : std::vector<CurvePoint>();
  }

  /// A guard against hanging, not a measure of speed.
  template <class Done>
  static void wait_until(const Done& done) {
    for (int i = 0; i < 60'000; ++i) {
      if (done()) {
        return;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    ADD_FAILURE() << "nothing came for a minute";
  }

 private:
  struct Shown {
    std::string decision;
    std::vector<std::string> items;
    RegretLedger law;  // as it was served
    bool control = false;
    std::size_t clicked = 0;
  };

  void decide() {
    std::vector<std::string> candidates;
    while (candidates.size() < 8) {
      const std::string id = "b" + std::to_string(rng_.below(25));
      if (std::find(candidates.begin(), candidates.end(), id) == candidates.end()) {
        candidates.push_back(id);
      }
    }
    const Result<RankReply> reply = world_.rank_ids("books", candidates, 5);
    ASSERT_TRUE(reply.ok()) << to_string(reply.error());
    Shown shown{.decision = reply->decision,
                .items = {},
                .law = ledger_,
                .control = reply->control,
                .clicked = 0};
    for (const RankedItem& item : reply->items) {
      shown.items.push_back(item.id);
    }
    control_decisions_ += shown.control ? 1 : 0;
    const std::size_t clicks = rng_.below(4) == 0 ? 2 : rng_.below(4) == 0 ? 0 : 1;
    for (std::size_t i = 0; i < clicks; ++i) {
      shown.clicked = i;
      waiting_.push_back(shown);
    }
  }

  void click(const Shown& shown) {
    // The reader takes the lowest number but for some, who take whatever comes.
    std::vector<std::string> wish = shown.items;
    std::sort(wish.begin(), wish.end(), [](const std::string& a, const std::string& b) {
      return std::stoi(a.substr(1)) < std::stoi(b.substr(1));
    });
    const std::size_t place = rng_.below(5) == 0 ? 2 + shown.clicked : shown.clicked;
    const std::string& item = wish[place];
    const Result<ClicksReply> reply = world_.click("books", shown.decision, item, "");
    ASSERT_TRUE(reply.ok());
    if (shown.control || reply->accepted != 1) {
      return;
    }
    const double served = shown.law.cost(shown.items, item);
    ledger_.learn(shown.items, item, served);
    all_.learn(shown.items, item, served);
  }

  EngineWorld world_;
  std::string ranker_;
  RegretLedger ledger_;
  RegretLedger all_{1.0};  // every click since the beginning
  Rng rng_{5};
  std::vector<Shown> waiting_;
  std::uint64_t control_decisions_ = 0;
};

void expect_costs(const RegretSummary& cost, const RegretLedger& ledger) {
  EXPECT_EQ(cost.clicks, ledger.clicks());
  EXPECT_NEAR(cost.learned_cost, ledger.learned(), 1e-5);
  EXPECT_NEAR(cost.served_cost, ledger.served(), 1e-5);
  EXPECT_NEAR(cost.theorem_bound, ledger.bound(), 1e-5);
  EXPECT_NEAR(cost.data_bound, ledger.data_bound(), 1e-5 * ledger.data_bound());
}

void expect_figures(const CollectionStats& stats, const RegretLedger& ledger) {
  ASSERT_TRUE(stats.regret && stats.measured);
  expect_costs(*stats.regret, ledger);
  expect_costs(*stats.measured->cost, ledger);
  EXPECT_EQ(stats.measured->era, stats.era);
  const RegretBracket bracket = ledger.bracket();
  const Hindsight& hindsight = *stats.measured->hindsight;
  EXPECT_EQ(hindsight.sample, ledger.clicks());
  EXPECT_LE(hindsight.error, 1e-5 * bracket.cost);
  EXPECT_NEAR(hindsight.cost, bracket.hindsight_cost, 1e-5 * bracket.hindsight_cost);
  EXPECT_NEAR(hindsight.regret_upper, bracket.upper, 1e-5 * bracket.cost);
  EXPECT_NEAR(*stats.measured->regret(), bracket.lower, 1e-5 * bracket.cost);
  EXPECT_LE(*stats.measured->regret(), hindsight.regret_upper);
  EXPECT_LE(hindsight.regret_upper, stats.measured->cost->data_bound);
}

class Regret : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Rankers, Regret, ::testing::Values("klrank", "noregret-klrank"),
                         [](const auto& which) {
                           return std::string(which.param) == "klrank" ? "klrank" : "noregret";
                         });

TEST_P(Regret, FiguresOfARunningStreamAreThoseOfTheLedger) {
  Library library(GetParam());
  CollectionPatch settings;
  settings.control = 0.2;
  ASSERT_TRUE(library.make(settings));
  library.play(40);
  expect_figures(library.measure(), library.ledger());
  library.play(160);
  const CollectionStats stats = library.measure();
  expect_figures(stats, library.ledger());
  EXPECT_EQ(stats.choice_set, "shown");
  EXPECT_EQ(stats.refresh, HindsightRefresh::kOn);
  EXPECT_GT(library.control_decisions(), 10U);
  EXPECT_EQ(stats.control_arm.decisions, library.control_decisions());
  EXPECT_EQ(stats.ranker_arm.clicks, library.ledger().clicks());
}

TEST_P(Regret, FiguresSurviveRestartsAndCrashes) {
  Library library(GetParam());
  ASSERT_TRUE(library.make());
  library.play(60);
  const CollectionStats before = library.measure();
  library.world().restart();
  EXPECT_EQ(library.world().stats("books").measured, before.measured);
  library.play(30);
  const CollectionStats after = library.measure();
  expect_figures(after, library.ledger());
  const auto history = library.history();
  library.world().crash();
  EXPECT_EQ(library.world().stats("books").measured, after.measured);
  EXPECT_EQ(library.history(), history);
  library.play(30);
  expect_figures(library.measure(), library.ledger());
}

TEST_P(Regret, EveryEraHasItsOwn) {
  Library library(GetParam());
  ASSERT_TRUE(library.make());
  library.play(60);
  const CollectionStats first = library.measure();
  library.change_alpha(1.0, History::kDiscard);
  EXPECT_FALSE(library.world().stats("books").measured) << "of the era before";
  library.play(50);
  const CollectionStats second = library.measure();
  EXPECT_EQ(second.era, 1U);
  expect_figures(second, library.ledger());
  library.change_alpha(2.0, History::kReplay);
  const CollectionStats third = library.measure();
  EXPECT_EQ(third.era, 2U);
  expect_figures(third, library.ledger());
  library.world().crash();
  library.play(20);
  expect_figures(library.measure(), library.ledger());

  std::vector<CurvePoint> measured;
  for (const CurvePoint& point : library.history()) {
    if (point.hindsight) {
      measured.push_back(point);
    } else {
      EXPECT_EQ(point.era, 2U) << "the ranker that serves has learned all of it";
    }
  }
  for (const CollectionStats& stats : {first, second, third}) {
    EXPECT_EQ(std::count(measured.begin(), measured.end(), *stats.measured), 1) << stats.era;
  }
}

TEST_P(Regret, ARankerThatReplaysAsManyClicksIsMeasuredBeforeTheNext) {
  Library library(GetParam());
  ASSERT_TRUE(library.make());
  library.play(60);
  const CollectionStats before = library.measure();
  library.change_alpha(1.0, History::kReplay);
  const CollectionStats after = library.measure();
  EXPECT_EQ(after.regret->clicks, before.regret->clicks);
  EXPECT_EQ(after.era, 1U);
  expect_figures(after, library.ledger());
}

TEST(RegretEras, ClickRatesAreOfTheDecisionsThatTheCostsCouldBeOf) {
  EngineWorld world;
  CollectionPatch patch;
  patch.ranker = "klrank";
  ASSERT_TRUE(world.put("books", patch).ok());
  const auto rank = [&] { return *world.rank_ids("books", {"a", "b", "c"}); };
  const auto click = [&](const RankReply& reply) {
    ASSERT_EQ(world.click("books", reply.decision, "a")->accepted, 1U);
  };
  const auto expect_era = [&](std::uint64_t decisions, std::uint64_t clicked) {
    for (int i = 0; i < 2; ++i) {
      EXPECT_EQ(world.stats("books").era_arm.decisions, decisions);
      EXPECT_EQ(world.stats("books").era_arm.clicked, clicked);
      i == 0 ? world.restart() : world.crash();
    }
  };
  click(rank());
  const RankReply of_before = rank();
  expect_era(2, 1);
  patch = {};
  patch.params = ParamMap{{"alpha", 1.0}, {"choice_set", std::string("candidates")}};
  patch.history = History::kDiscard;
  ASSERT_TRUE(world.put("books", patch).ok());
  expect_era(0, 0);
  click(rank());
  rank();
  rank();
  click(of_before);  // which was ranked in the era before
  expect_era(3, 1);
  EXPECT_EQ(world.stats("books").ranker_arm.clicked, 3U);
  // A ranker that learns the history pays for all of it.
  patch.params = ParamMap{{"alpha", 2.0}, {"choice_set", std::string("shown")}};
  patch.history = History::kReplay;
  ASSERT_TRUE(world.put("books", patch).ok());
  Library::wait_until([&] { return !world.engine().collection("books")->building; });
  expect_era(5, 3);
}

TEST_P(Regret, EveryPointHasTheChoiceSetOfItsEra) {
  Library library(GetParam());
  ASSERT_TRUE(library.make());
  library.play(10);
  library.measure();
  CollectionPatch patch;
  patch.params = ParamMap{{"choice_set", std::string("candidates")}};
  patch.history = History::kDiscard;
  ASSERT_TRUE(library.world().put("books", patch).ok());
  library.play(10);
  library.world().restart();
  std::uint64_t eras[2] = {0, 0};
  for (const CurvePoint& point : library.history()) {
    EXPECT_EQ(point.choice_set, point.era == 0 ? "shown" : "candidates");
    ++eras[point.era];
  }
  EXPECT_GT(eras[0], 0U);
  EXPECT_GT(eras[1], 0U);
}

TEST_P(Regret, HistoryTellsTheCostsClickByClick) {
  Library library(GetParam());
  ASSERT_TRUE(library.make());
  std::vector<RegretLedger> ledgers;
  for (int i = 0; i < 100; ++i) {
    library.play(1);
    if (ledgers.empty() || ledgers.back().clicks() < library.ledger().clicks()) {
      ledgers.push_back(library.ledger());
    }
  }
  const CollectionStats stats = library.measure();
  const auto history = library.history();
  Position position = 0;
  std::uint64_t compared = 0;
  for (const CurvePoint& point : history) {
    EXPECT_GE(point.position, position);
    position = point.position;
    for (const RegretLedger& ledger : ledgers) {
      if (ledger.clicks() == point.cost->clicks) {
        expect_costs(*point.cost, ledger);
        ++compared;
      }
    }
  }
  EXPECT_GE(compared, ledgers.size());
  EXPECT_EQ(history.back().cost, stats.regret);
  EXPECT_EQ(history.back().ranker_arm, stats.ranker_arm);
  const auto few = library.history(5);
  EXPECT_EQ(few.size(), 5U);
  EXPECT_EQ(few.back(), history.back());
  EXPECT_EQ(std::count(few.begin(), few.end(), *stats.measured), 1) << "the last one measured";
}

TEST(RegretSample, TheErrorOfASampleCoversTheTruth) {
  Library library("klrank", 3.0, [](EngineOptions& options) { options.insight_clicks = 300; });
  ASSERT_TRUE(library.make());
  library.play(500);
  const CollectionStats stats = library.measure();
  const RegretBracket bracket = library.ledger().bracket();
  const Hindsight& hindsight = *stats.measured->hindsight;
  EXPECT_EQ(hindsight.sample, 300U);
  EXPECT_GT(stats.regret->clicks, 400U);
  EXPECT_LE(std::abs(hindsight.cost - bracket.hindsight_cost), hindsight.error);
  EXPECT_GE(hindsight.regret_upper, bracket.upper);
  EXPECT_LE(hindsight.regret_upper, stats.measured->cost->data_bound);
  EXPECT_LT(hindsight.error, 0.5 * bracket.hindsight_cost);
  expect_costs(*stats.measured->cost, library.ledger());
}

TEST(RegretRefresh, NothingIsMeasuredAgainAtTheStart) {
  Library library("klrank");
  ASSERT_TRUE(library.make());
  library.play(30);
  const CollectionStats before = library.measure();
  library.world().restart();
  library.world().pass(kDayMs / 2);
  library.world().engine().tick();
  // One thread measures, in the order of asking: once another collection is done, so is this one.
  CollectionPatch other;
  other.ranker = "klrank";
  other.seed = 1;
  ASSERT_TRUE(library.world().put("other", other).ok());
  const RankReply reply = *library.world().rank_ids("other", {"a", "b", "c"});
  ASSERT_TRUE(library.world().click("other", reply.decision, "a").ok());
  Library::wait_until([&] {
    library.world().tick();
    return library.world().stats("other").measured.has_value();
  });
  const CollectionStats after = library.world().stats("books");
  EXPECT_EQ(after.measured, before.measured);
  const LogId log = library.world().store().logs()->front().id;
  std::size_t measured = 0;
  for (const LogEntry& entry : library.world().store().copy_of(log)) {
    measured += std::holds_alternative<MeasuredEvent>(decode_event(entry.payload)->body) ? 1 : 0;
  }
  const auto history = library.history();
  EXPECT_EQ(measured, static_cast<std::size_t>(std::count_if(
                          history.begin(), history.end(),
                          [](const CurvePoint& point) { return point.hindsight.has_value(); })));
}

TEST(RegretRefresh, WhatRetentionDroppedIsNotMeasuredAnyMore) {
  Library library("klrank");
  CollectionPatch settings;
  settings.retain_days = 2;
  ASSERT_TRUE(library.make(settings));
  library.play(40);
  const CollectionStats before = library.measure();
  ASSERT_TRUE(library.world().engine().snapshot_all().ok());
  library.world().pass(3 * kDayMs);
  library.play(10);
  ASSERT_TRUE(library.world().engine().snapshot_all().ok());
  library.play(10);
  const auto expect_dropped = [&] {
    library.world().pass(kDayMs / 24);
    library.world().tick();
    const CollectionStats stats = library.world().stats("books");
    EXPECT_EQ(stats.refresh, HindsightRefresh::kDropped);
    EXPECT_EQ(stats.measured, before.measured) << "what was known stays";
    expect_costs(*stats.regret, library.ledger());
  };
  expect_dropped();
  library.world().restart();
  expect_dropped();
  library.change_alpha(1.0, History::kDiscard);  // a new era is whole again
  library.play(20);
  expect_figures(library.measure(), library.ledger());
}

TEST(RegretRefresh, IsOffWithoutAShareOfTheProcessor) {
  Library library("klrank", 3.0, [](EngineOptions& options) { options.insight_share = 0.0; });
  ASSERT_TRUE(library.make());
  library.play(30);
  library.world().pass(kDayMs / 24);
  library.world().tick();
  const CollectionStats stats = library.world().stats("books");
  EXPECT_EQ(stats.refresh, HindsightRefresh::kOff);
  EXPECT_FALSE(stats.measured);
  expect_costs(*stats.regret, library.ledger());
  EXPECT_EQ(library.history(10).size(), 10U) << "costs have a curve";
}

TEST(RegretRefresh, RankersWithoutAKlCostHaveNone) {
  for (const char* ranker : {"online-ranknet", "mcrank"}) {
    EngineWorld world({}, 2, [](EngineOptions& options) { options.insight_share = 1.0; });
    CollectionPatch patch;
    patch.ranker = ranker;
    ASSERT_TRUE(world.put("books", patch).ok());
    const RankReply reply = *world.rank_ids("books", {"a", "b", "c"});
    ASSERT_TRUE(world.click("books", reply.decision, "a").ok());
    world.tick();
    const CollectionStats stats = world.stats("books");
    EXPECT_EQ(stats.refresh, HindsightRefresh::kUnsupported) << ranker;
    EXPECT_FALSE(stats.measured) << ranker;
  }
}

TEST(RegretRefresh, EndsWithItsCollectionAndWithTheEngine) {
  // So small a share that a measurement would sleep for hours.
  Library library("klrank", 3.0, [](EngineOptions& options) { options.insight_share = 1e-6; });
  ASSERT_TRUE(library.make());
  library.play(300);
  for (int i = 0; i < 3; ++i) {
    library.world().tick();
  }
  ASSERT_TRUE(wait_for<void>([&](auto done) {
                library.world().engine().delete_collection("books", done);
              }).ok());
  ASSERT_TRUE(library.make());
  library.play(300);
  library.world().tick();
  library.world().restart();
  EXPECT_EQ(library.world().stats("books").refresh, HindsightRefresh::kOn);
}

}  // namespace
}  // namespace hindsight
