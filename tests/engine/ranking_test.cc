// What is ranked: candidates by id, by topic and of the whole library; priors; context; pages;
// budgets.

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "tests/engine_support/engine_world.h"

namespace hindsight {
namespace {

class Ranking : public testing::Test {
 protected:
  void make(const std::string& ranker, CollectionPatch patch = {}) {
    patch.ranker = ranker;
    patch.seed = 7;
    const auto made = world_.put("books", patch);
    ASSERT_TRUE(made.ok()) << to_string(made.error());
  }
  static RankInput input_of(const std::vector<std::string>& ids) {
    RankInput input;
    for (const std::string& id : ids) {
      input.candidates.push_back({.id = id, .features = {}, .prior = 0.0});
    }
    return input;
  }
  static std::vector<std::string> ids_of(const RankReply& reply) {
    std::vector<std::string> ids;
    for (const RankedItem& item : reply.items) {
      ids.push_back(item.id);
    }
    return ids;
  }

  EngineWorld world_;
};

TEST_F(Ranking, UnknownCandidatesAreAddedByDefault) {
  make("klrank");
  const auto reply = world_.rank("books", input_of({"a", "b"}));
  ASSERT_TRUE(reply.ok());
  EXPECT_EQ(reply->items.size(), 2U);
  EXPECT_EQ(world_.stats("books").items, 2U);
}

TEST_F(Ranking, UnknownCandidatesMayBeAppendedInTheCallersOrder) {
  make("klrank");
  ASSERT_TRUE(world_.add_ids("books", {"a", "b"}).ok());
  RankInput input = input_of({"z", "a", "y", "b"});
  input.on_unknown = OnUnknown::kAppend;
  const auto reply = world_.rank("books", input);
  ASSERT_TRUE(reply.ok());
  ASSERT_EQ(reply->items.size(), 4U);
  EXPECT_EQ(reply->items[2].id, "z");
  EXPECT_EQ(reply->items[3].id, "y");
  EXPECT_TRUE(reply->items[2].unknown);
  EXPECT_EQ(world_.click("books", reply->decision, "z")->quarantined, 1U);
  EXPECT_EQ(world_.stats("books").quarantine_reasons[0].first, "item_not_in_library");
  EXPECT_EQ(world_.stats("books").items, 2U);
  input = input_of({"p", "q"});
  input.on_unknown = OnUnknown::kAppend;
  EXPECT_EQ(ids_of(*world_.rank("books", input)), (std::vector<std::string>{"p", "q"}));
}

TEST_F(Ranking, ARefusedRequestAddsNothing) {
  CollectionPatch patch;
  patch.max_scan = 50;
  make("klrank", patch);
  EXPECT_EQ(world_.rank("books", input_of({"a", "b", "a"})).error().code,
            ErrorCode::kDuplicateItem);
  std::vector<std::string> many;
  for (int i = 0; i < 51; ++i) {
    many.push_back(std::to_string(i));
  }
  EXPECT_EQ(world_.rank("books", input_of(many)).error().code, ErrorCode::kTooLarge);
  EXPECT_EQ(world_.stats("books").items, 0U);
}

TEST_F(Ranking, NewNamesOfFeaturesGoTogetherWithAppendedItems) {
  CollectionPatch patch;
  patch.on_unknown = OnUnknown::kAppend;
  make("klrank", patch);
  ASSERT_TRUE(world_.add_ids("books", {"a"}).ok());
  RankInput input = input_of({"a", "z"});
  input.has_features = true;
  input.candidates[0].features = {{"new", 0.5}};
  const auto reply = world_.rank("books", input);
  ASSERT_TRUE(reply.ok()) << to_string(reply.error());
  EXPECT_EQ(reply->items.size(), 2U);
}

TEST_F(Ranking, UnknownCandidatesMayBeAnError) {
  CollectionPatch patch;
  patch.on_unknown = OnUnknown::kError;
  make("klrank", patch);
  ASSERT_TRUE(world_.add_ids("books", {"a"}).ok());
  const auto reply = world_.rank("books", input_of({"a", "zz"}));
  ASSERT_FALSE(reply.ok());
  EXPECT_EQ(reply.error().code, ErrorCode::kUnknownItem);
  EXPECT_EQ(reply.error().field, "candidates[1]");
}

TEST_F(Ranking, TopicsAndTheWholeLibraryAreCandidatesToo) {
  make("klrank");
  ASSERT_TRUE(
      world_
          .add("books", {{.id = "a", .topics = {"math"}, .features = {}, .links = {}},
                         {.id = "b", .topics = {"math", "art"}, .features = {}, .links = {}},
                         {.id = "c", .topics = {"art"}, .features = {}, .links = {}}})
          .ok());
  RankInput input;
  input.topic = "math";
  auto ids = ids_of(*world_.rank("books", input));
  std::sort(ids.begin(), ids.end());
  EXPECT_EQ(ids, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(world_.rank("books", {})->items.size(), 3U);
  ASSERT_TRUE(world_.remove("books", "b").ok());
  EXPECT_EQ(ids_of(*world_.rank("books", input)), std::vector<std::string>{"a"});
}

TEST_F(Ranking, MoreThanMaxScanIsRefusedUnlessTheRankerIsSublinear) {
  CollectionPatch patch;
  patch.max_scan = 50;
  make("klrank", patch);
  std::vector<std::string> ids;
  for (int i = 0; i < 60; ++i) {
    ids.push_back(std::to_string(i));
  }
  ASSERT_TRUE(world_.add_ids("books", ids).ok());
  EXPECT_EQ(world_.rank("books", {}).error().code, ErrorCode::kTooLarge);
  EXPECT_EQ(world_.rank("books", input_of(ids)).error().code, ErrorCode::kTooLarge);
  CollectionPatch random;
  random.ranker = "random";
  random.history = History::kDiscard;
  ASSERT_TRUE(world_.put("books", random).ok());
  const auto reply = world_.rank("books", {});
  ASSERT_TRUE(reply.ok()) << to_string(reply.error());
  const auto shown = ids_of(*reply);
  EXPECT_EQ(std::set<std::string>(shown.begin(), shown.end()).size(), 10U);
}

TEST_F(Ranking, AStrongPriorKeepsTheCallersBestFirst) {
  make("klrank");
  RankInput input = input_of({"a", "b", "c", "d"});
  input.has_prior = true;
  input.candidates[2].prior = 20.0;
  for (int i = 0; i < 50; ++i) {
    const auto reply = world_.rank("books", input);
    ASSERT_TRUE(reply.ok());
    EXPECT_EQ(reply->items[0].id, "c");  // e^-20: missed once in 10^8 lists
  }
}

TEST_F(Ranking, PriorsMustBeFinite) {
  make("klrank");
  RankInput input = input_of({"a", "b"});
  input.has_prior = true;
  input.candidates[0].prior = std::numeric_limits<double>::infinity();
  const Position before = world_.stats("books").position;
  ASSERT_FALSE(world_.rank("books", input).ok());
  EXPECT_GE(world_.stats("books").position, before);
}

TEST_F(Ranking, ContextsLearnOnTheirOwn) {
  make("noregret-klrank");
  const std::vector<std::string> ids = {"a", "b", "c"};
  for (int i = 0; i < 400; ++i) {
    for (const auto& [context, wish] : {std::pair("winter", "a"), std::pair("summer", "b")}) {
      RankInput input = input_of(ids);
      input.context_key = context;
      const auto reply = world_.rank("books", input);
      ASSERT_TRUE(reply.ok()) << to_string(reply.error());
      ASSERT_TRUE(world_.click("books", reply->decision, wish).ok());
    }
  }
  const auto score = [&](const char* context, const char* id) {
    RankInput input = input_of(ids);
    input.context_key = context;
    const auto reply = world_.rank("books", input);
    for (const RankedItem& item : reply->items) {
      if (item.id == id) {
        return item.score;
      }
    }
    return 0.0;
  };
  EXPECT_GT(score("winter", "a"), score("winter", "b"));
  EXPECT_GT(score("summer", "b"), score("summer", "a"));
}

TEST_F(Ranking, FeaturesOfARequestTakeThePlaceOfTheItems) {
  CollectionPatch patch;
  patch.params = ParamMap{{"phi", std::string("features")}, {"feature_bound", 2.0}};
  make("klrank", patch);
  for (int i = 0; i < 60; ++i) {
    RankInput input = input_of({"a", "b"});
    input.has_features = true;
    // Whichever item has it: what counts is the feature.
    input.candidates[i % 2].features = {{"fresh", 1.0}};
    input.candidates[1 - i % 2].features = {{"stale", 1.0}};
    const auto reply = world_.rank("books", input);
    ASSERT_TRUE(reply.ok()) << to_string(reply.error());
    ASSERT_TRUE(world_.click("books", reply->decision, i % 2 == 0 ? "a" : "b").ok());
  }
  RankInput input = input_of({"c", "d"});
  input.has_features = true;
  input.candidates[0].features = {{"stale", 1.0}};
  input.candidates[1].features = {{"fresh", 1.0}};
  const auto reply = world_.rank("books", input);
  for (const RankedItem& item : reply->items) {
    EXPECT_EQ(item.score > 0.0, item.id == "d");
  }
  input.candidates[0].features = {{"fresh", 5.0}};
  EXPECT_EQ(world_.rank("books", input).error().code, ErrorCode::kFeatureTooLong);
}

TEST_F(Ranking, PagesGoThroughAllCandidatesOnceAndStayTheSame) {
  make("noregret-klrank");
  std::vector<std::string> ids;
  for (int i = 0; i < 23; ++i) {
    ids.push_back(std::to_string(i));
  }
  RankInput input = input_of(ids);
  input.k = 5;
  const auto first = world_.rank("books", input);
  ASSERT_TRUE(first.ok());
  std::vector<std::string> seen = ids_of(*first);
  for (std::size_t offset = 5; offset < 23; offset += 5) {
    RankInput page;
    page.decision = first->decision;
    page.offset = offset;
    page.k = 5;
    const auto reply = world_.rank("books", page);
    ASSERT_TRUE(reply.ok()) << to_string(reply.error());
    EXPECT_NE(reply->decision, first->decision);
    const auto more = ids_of(*reply);
    EXPECT_EQ(ids_of(*world_.rank("books", page)), more);
    seen.insert(seen.end(), more.begin(), more.end());
    EXPECT_EQ(world_.click("books", reply->decision, more.back())->accepted, 1U);
  }
  EXPECT_EQ(seen.size(), 23U);
  EXPECT_EQ(std::set<std::string>(seen.begin(), seen.end()).size(), 23U);
  RankInput page;
  page.decision = first->decision;
  page.offset = 23;
  EXPECT_TRUE(world_.rank("books", page)->items.empty());
  page.offset = 7;
  EXPECT_EQ(world_.rank("books", page).error().field, "offset");
}

TEST_F(Ranking, OverTheMemoryBudgetItemsAreRefusedAndRankingGoesOn) {
  CollectionPatch patch;
  patch.memory_budget = 1 << 20;
  make("klrank", patch);
  Result<ItemsReply> added = ItemsReply{};
  std::size_t count = 0;
  while (added.ok() && count < 100'000) {
    std::vector<std::string> ids;
    for (int i = 0; i < 500; ++i) {
      ids.push_back("item-number-" + std::to_string(count++));
    }
    added = world_.add_ids("books", ids);
  }
  ASSERT_FALSE(added.ok());
  EXPECT_EQ(added.error().code, ErrorCode::kOverBudget);
  std::vector<std::string> many;
  for (int i = 0; i < 5000; ++i) {
    many.push_back("new-" + std::to_string(i));
  }
  EXPECT_EQ(world_.rank("books", input_of(many)).error().code, ErrorCode::kOverBudget);
  EXPECT_TRUE(world_.rank("books", input_of({"item-number-0", "item-number-1"})).ok());
}

TEST_F(Ranking, DecisionsCanBeLoggedBeforeTheReply) {
  CollectionPatch patch;
  patch.decisions_before_reply = true;
  make("klrank", patch);
  const auto reply = world_.rank("books", input_of({"a", "b"}));
  const auto stats = world_.engine().stats("books", false);  // without waiting
  EXPECT_EQ(stats->decisions, 1U);
  EXPECT_TRUE(world_.engine().decision("books", reply->decision)->open);
}

TEST_F(Ranking, AFailedStoreStopsAcknowledgingAndSaysSo) {
  make("klrank");
  const auto reply = world_.rank("books", input_of({"a", "b"}));
  ASSERT_TRUE(reply.ok());
  world_.stats("books");
  world_.store().fail_with({ErrorCode::kIo, "the disk is gone", ""});
  const auto click = world_.click("books", reply->decision, "a");
  ASSERT_FALSE(click.ok());
  EXPECT_EQ(click.error().code, ErrorCode::kIo);
  EXPECT_TRUE(world_.engine().failure().has_value());
  EXPECT_TRUE(
      world_.rank("books", input_of({"a", "b"})).ok());  // what is known can still be ranked
}

TEST_F(Ranking, NobodyWaitsForWhatAFailedLogDoesNotHandOver) {
  make("klrank");
  world_.stats("books");
  const LogId log = world_.store().logs()->front().id;
  world_.store().unsubscribe(log);  // as where an entry that is there cannot be read
  ASSERT_TRUE(world_.store().inject(log, {Payload(1)}).ok());
  world_.store().flush();
  world_.store().fail_with({ErrorCode::kIo, "the disk is gone", ""});
  world_.engine().settle();
  const auto erased =
      wait_for<std::uint64_t>([&](auto done) { world_.engine().erase_user("books", "ann", done); });
  EXPECT_EQ(erased.error().code, ErrorCode::kIo);
}

}  // namespace
}  // namespace hindsight
