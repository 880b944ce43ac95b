// Whole rankings and positions as feedback, from the call to the model.

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <map>
#include <thread>

#include "tests/engine_support/engine_world.h"
#include "tests/engine_support/hand_made_log.h"

namespace hindsight {
namespace {

using Ids = std::vector<std::string>;

class Rankings : public testing::Test {
 protected:
  void SetUp() override {
    make("votes", "onlinerank", {{"feedback", std::string("rankings")}});
    make("picks", "onlinerank", {});
  }

  void make(const std::string& name, const std::string& ranker, const ParamMap& params) {
    CollectionPatch patch;
    patch.ranker = ranker;
    patch.params = params;
    patch.seed = 3;
    patch.window_ms = 60'000;
    ASSERT_TRUE(world_.put(name, patch).ok());
    ASSERT_TRUE(world_.add_ids(name, {"a", "b", "c"}).ok());
  }
  RankReply list(const std::string& name = "votes", const Ids& ids = {"a", "b", "c"}) {
    return *world_.rank_ids(name, ids);
  }
  Result<ClicksReply> rank_all(const std::string& decision, const Ids& ranking,
                               const std::string& event = "") {
    return world_.clicks("votes", {{.decision = decision, .event = event, .ranking = ranking}});
  }
  Result<ClicksReply> at(const std::string& name, const std::string& decision,
                         std::uint32_t position, const std::string& event = "") {
    return world_.clicks(name, {{.decision = decision, .event = event, .position = position}});
  }
  std::string hash(const std::string& name = "votes") { return world_.stats(name).model_hash; }
  std::map<std::string, std::uint64_t> reasons(const std::string& name = "votes") {
    const auto list = world_.stats(name).quarantine_reasons;
    return {list.begin(), list.end()};
  }
  double score(const std::string& id) { return world_.engine().item("votes", id)->score; }

  EngineWorld world_;
};

TEST_F(Rankings, ARankingIsLearnedAsOneRound) {
  EXPECT_EQ(rank_all(list().decision, {"c", "a", "b"})->accepted, 1U);
  EXPECT_EQ(world_.stats("votes").clicks.learned, 1U);
  EXPECT_GT(score("a"), 0.0);
  EXPECT_DOUBLE_EQ(score("c"), 2.0 * score("a"));
  EXPECT_EQ(score("b"), 0.0);
}

TEST_F(Rankings, TheFirstRankingOfADecisionCounts) {
  const std::string decision = list().decision;
  EXPECT_EQ(rank_all(decision, {"c", "a", "b"})->accepted, 1U);
  const std::string learned = hash();
  EXPECT_EQ(rank_all(decision, {"c", "a", "b"})->duplicate, 1U);
  EXPECT_EQ(rank_all(decision, {"a", "b", "c"})->duplicate, 1U) << "whatever it says";
  EXPECT_EQ(rank_all(decision, {"a", "b", "c"}, "e1")->accepted, 1U) << "but is not learned";
  EXPECT_EQ(rank_all(decision, {"a", "b", "c"}, "e1")->duplicate, 1U);
  EXPECT_EQ(world_.click("votes", decision, "a", "e1")->duplicate, 1U) << "an event is an event";
  EXPECT_EQ(hash(), learned);
  const std::string other = list().decision;
  EXPECT_EQ(rank_all(other, {"c", "a", "b"}, "e1")->accepted, 1U);
  EXPECT_EQ(rank_all(other, {"c", "a", "b"})->duplicate, 1U) << "it has had its ranking";
  EXPECT_TRUE(adds_up(world_.stats("votes").clicks));
}

TEST_F(Rankings, ARankingThatIsNotOneOfTheListIsQuarantinedAndChangesNothing) {
  const std::string before = hash();
  const std::string decision = list("votes", {"a", "b"}).decision;
  for (const Ids& wrong : {Ids{"a"}, Ids{"a", "c"}, Ids{"a", "b", "c"}, Ids{"a", "nowhere"},
                           Ids{"a", "a"}, Ids{"a", "b", "b"}}) {
    EXPECT_EQ(rank_all(decision, wrong)->quarantined, 1U);
  }
  EXPECT_EQ(reasons()["ranking_not_of_the_list"], 6U);
  EXPECT_EQ(hash(), before);
  EXPECT_EQ(rank_all(decision, {"b", "a"})->accepted, 1U) << "a mistake costs nothing";
}

TEST_F(Rankings, OtherRankersRefuseRankingsByName) {
  make("books", "klrank", {});
  for (const std::string name : {"picks", "books"}) {
    const std::string decision = list(name).decision;
    const auto refused = world_.clicks(name, {{.decision = decision, .item = "a"},
                                              {.decision = decision, .ranking = {"a", "b", "c"}}});
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.error().code, ErrorCode::kUnsupported);
    EXPECT_EQ(refused.error().field, "clicks[1].ranking");
    EXPECT_EQ(world_.stats(name).clicks.received, 0U) << "nothing is logged";
  }
}

TEST_F(Rankings, AnotherRankerReplaysTheLogWithoutThem) {
  EXPECT_EQ(rank_all(list().decision, {"c", "a", "b"})->accepted, 1U);
  EXPECT_EQ(world_.click("votes", list().decision, "a")->accepted, 1U);
  CollectionPatch patch;
  patch.ranker = "noregret-klrank";
  ASSERT_TRUE(world_.put("votes", patch).ok());
  for (int i = 0; i < 1000 && world_.stats("votes").building; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  const ClickCounts counts = world_.stats("votes").clicks;
  EXPECT_EQ(counts.learned, 1U);
  EXPECT_EQ(reasons()["ranking_not_learnable"], 1U);
  EXPECT_TRUE(adds_up(counts));
}

TEST_F(Rankings, RankingsAfterTheWindowAreLate) {
  const std::string decision = list().decision;
  const std::string before = hash();
  world_.pass(61'000);
  world_.tick();
  EXPECT_EQ(rank_all(decision, {"c", "a", "b"})->late, 1U);
  EXPECT_EQ(hash(), before);
}

TEST_F(Rankings, AppendedItemsMayBeRankedAndArePassedOver) {
  RankInput input;
  for (const char* id : {"a", "stranger", "b"}) {
    input.candidates.push_back({.id = id, .features = {}, .prior = 0.0});
  }
  input.on_unknown = OnUnknown::kAppend;
  const std::string decision = world_.rank("votes", input)->decision;
  EXPECT_EQ(at("votes", decision, 3)->quarantined, 1U);
  EXPECT_EQ(reasons()["item_not_in_library"], 1U);
  EXPECT_EQ(rank_all(decision, {"stranger", "b", "a"})->accepted, 1U);
  EXPECT_GT(score("b"), score("a"));
}

TEST_F(Rankings, APositionIsTheItemThatStoodThere) {
  const RankReply shown = list("picks");
  EXPECT_EQ(at("picks", shown.decision, 2)->accepted, 1U);
  EXPECT_GT(world_.engine().item("picks", shown.items[1].id)->score, 0.0);
  EXPECT_EQ(world_.click("picks", shown.decision, shown.items[1].id)->duplicate, 1U);
  EXPECT_EQ(at("picks", shown.decision, 2)->duplicate, 1U);
  EXPECT_EQ(world_.click("picks", shown.decision, shown.items[0].id)->accepted, 1U);
  EXPECT_EQ(at("picks", shown.decision, 1)->duplicate, 1U);
  EXPECT_EQ(at("picks", shown.decision, 4)->quarantined, 1U);
  EXPECT_EQ(reasons("picks")["position_not_shown"], 1U);
  EXPECT_EQ(world_.engine().decision("picks", shown.decision)->clicked,
            (Ids{shown.items[1].id, shown.items[0].id}));
}

// [Ailon13] section 4, through the engine: the two collections end up the same.
TEST_F(Rankings, PositionsTeachWhatItemsTeach) {
  make("by_position", "onlinerank", {});
  make("by_item", "onlinerank", {});
  for (std::size_t t = 0; t < 30; ++t) {
    const std::string wanted = Ids{"a", "b", "c"}[t * t % 3];
    const RankReply one = list("by_item");
    ASSERT_EQ(world_.click("by_item", one.decision, wanted)->accepted, 1U);
    const RankReply other = list("by_position");
    for (std::uint32_t place = 0; place < 3; ++place) {
      if (other.items[place].id == wanted) {
        ASSERT_EQ(at("by_position", other.decision, place + 1)->accepted, 1U);
      }
    }
  }
  EXPECT_EQ(hash("by_item"), hash("by_position"));
}

TEST_F(Rankings, AccountsAndModelSurviveARestartAndACrash) {
  const std::string decision = list().decision;
  ASSERT_TRUE(rank_all(decision, {"c", "a", "b"}, "e").ok());
  ASSERT_TRUE(at("votes", list().decision, 1).ok());
  const std::string learned = hash();
  world_.crash();
  EXPECT_EQ(hash(), learned);
  world_.restart();
  EXPECT_EQ(hash(), learned);
  EXPECT_EQ(rank_all(decision, {"c", "a", "b"}, "e")->duplicate, 1U);
  EXPECT_EQ(rank_all(decision, {"c", "a", "b"})->duplicate, 1U);
}

TEST_F(Rankings, ListsWithoutALawOfTheFirstSlotSaySo) {
  make("sorted", "onlinerank", {{"sort", std::string("quicksort")}});
  const RankReply shown = list("sorted");
  for (const RankedItem& item : shown.items) {
    EXPECT_FALSE(item.prob_first);
  }
  EXPECT_TRUE(shown.log_propensity);
  EXPECT_EQ(at("sorted", shown.decision, 1)->accepted, 1U);
  const auto seen = world_.engine().decision("sorted", shown.decision);
  ASSERT_TRUE(seen.ok());
  EXPECT_FALSE(seen->items[0].prob_first);
  EXPECT_FALSE(world_.stats("sorted").regret) << "no K-L cost is booked, and none made up";
  const std::string learned = hash("sorted");
  world_.crash();
  EXPECT_EQ(hash("sorted"), learned);
}

// A log of lists without prob_first, learned by a ranker that books K-L costs: they stay finite.
TEST(RankingsInLogs, ALogOfQuickSortListsCanBeLearnedByKlRank) {
  EngineWorld world;
  CollectionPatch patch;
  patch.ranker = "onlinerank";
  patch.params =
      ParamMap{{"sort", std::string("quicksort")}, {"choice_set", std::string("candidates")}};
  ASSERT_TRUE(world.put("books", patch).ok());
  for (int i = 0; i < 20; ++i) {
    const auto shown = world.rank_ids("books", {"a", "b", "c"}, 2);
    ASSERT_TRUE(world.click("books", shown->decision, shown->items[0].id).ok());
  }
  CollectionPatch next;
  next.ranker = "noregret-klrank";
  next.params = ParamMap{{"choice_set", std::string("candidates")}};
  ASSERT_TRUE(world.put("books", next).ok());
  for (int i = 0; i < 1000 && world.stats("books").building; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  const std::optional<RegretSummary> costs = world.stats("books").regret;
  ASSERT_TRUE(costs);
  EXPECT_EQ(costs->clicks, 20U);
  EXPECT_TRUE(std::isfinite(costs->served_cost));
  EXPECT_TRUE(std::isfinite(costs->learned_cost));
}

// Clicks that came before their decision wait in snapshots, with all that they say.
TEST(RankingsInLogs, PositionsAndRankingsWaitForTheirDecision) {
  HandMadeLog log("onlinerank", {{"feedback", std::string("rankings")}});
  log.save_and_load_after(4);
  log.add_items({"a", "b", "c"});
  log.click({.decision = {.source = 1, .counter = 1}, .ranking = {"c", "b", "a"}});
  log.click({.decision = {.source = 1, .counter = 1}, .position = 2});
  EXPECT_EQ(log.counts().pending, 2U);
  log.decide(1, {0, 1, 2});
  EXPECT_EQ(log.counts().learned, 2U);
  EXPECT_EQ(log.fold().decision({.source = 1, .counter = 1})->clicked, std::vector<ItemIndex>{1});
  EXPECT_DOUBLE_EQ(log.model().ranker().item_score(1), log.model().ranker().item_score(2));
  EXPECT_GT(log.model().ranker().item_score(1), log.model().ranker().item_score(0));
}

TEST(RankingsInLogs, WhatWaitsIsBounded) {
  HandMadeLog log("onlinerank", {{"feedback", std::string("rankings")}});
  const ClickRecord huge{.decision = {.source = 1, .counter = 1},
                         .ranking = std::vector<std::string>(kMaxShown, "a")};
  log.click(huge);
  EXPECT_EQ(log.counts().pending, 1U);
  log.click(huge);
  EXPECT_EQ(log.counts().quarantined, 1U);
}

TEST(RankingEvents, SurviveTheirBytes) {
  const ClicksEvent clicks{
      .clicks = {{.decision = {.source = 1, .counter = 2}, .event = "e", .ranking = {"b", "a"}},
                 {.decision = {.source = 1, .counter = 3}, .position = 7}}};
  const std::vector<std::byte> bytes =
      encode_event({.id = {.source = 1, .sequence = 2}, .clock_ms = 3, .body = clicks});
  const auto back = std::get<ClicksEvent>(decode_event(bytes)->body).clicks;
  ASSERT_EQ(back.size(), 2U);
  EXPECT_EQ(back[0].ranking, (Ids{"b", "a"}));
  EXPECT_EQ(back[0].event, "e");
  EXPECT_EQ(back[1].position, 7U);
  for (std::size_t cut = 0; cut < bytes.size(); ++cut) {
    EXPECT_FALSE(decode_event(std::span(bytes).first(cut)).ok());
  }
}

}  // namespace
}  // namespace hindsight
