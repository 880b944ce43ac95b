// What can be looked at: the items with the highest scores, and the lists that were made.

#include <gtest/gtest.h>

#include <numeric>
#include <string>
#include <vector>

#include "tests/engine_support/engine_world.h"

namespace hindsight {
namespace {

constexpr Position kNow = 1'000'000'000;
const std::vector<std::string> kIds = {"a", "b", "c", "d"};

class Look : public testing::Test {
 protected:
  Look() {
    CollectionPatch patch;
    patch.seed = 7;
    patch.window_ms = 1000;
    EXPECT_TRUE(world_.put("books", patch).ok());
    EXPECT_TRUE(world_.add_ids("books", kIds).ok());
  }
  std::string decide() {
    const auto reply = world_.rank_ids("books", kIds);
    EXPECT_TRUE(reply.ok());
    return reply.ok() ? reply->decision : "";
  }
  void pick(const std::string& item, int times) {
    for (int i = 0; i < times; ++i) {
      ASSERT_TRUE(world_.click("books", decide(), item).ok());
    }
    world_.stats("books");
  }
  std::vector<std::string> lists_before(Position before, std::size_t limit) {
    world_.stats("books");
    const auto lists = world_.engine().decisions("books", before, limit);
    EXPECT_TRUE(lists.ok());
    std::vector<std::string> ids;
    for (const DecisionView& list : *lists) {
      ids.push_back(list.decision);
    }
    return ids;
  }

  EngineWorld world_;
};

TEST_F(Look, AnItemIsExplainedAsItWouldBeRanked) {
  CollectionPatch patch;
  patch.ranker = "auto";
  ASSERT_TRUE(world_.put("shop", patch).ok());
  std::vector<ItemInput> items;
  for (const std::string& id : kIds) {
    items.push_back(
        {.id = id, .topics = {id < "c" ? "first" : "second"}, .features = {}, .links = {}});
  }
  ASSERT_TRUE(wait_for<ItemsReply>([&](auto done) {
                world_.engine().add_items("shop", items, done);
              }).ok());
  for (int i = 0; i < 20; ++i) {
    const auto list = world_.rank_ids("shop", kIds);
    ASSERT_TRUE(list.ok());
    ASSERT_TRUE(world_.click("shop", list->decision, "d").ok());
  }
  world_.stats("shop");
  // The weights of its experts have a past, which survives.
  for (const bool crashed : {false, true}) {
    if (crashed) {
      world_.crash();
      world_.stats("shop");
    }
    auto past = world_.engine().history("shop", 100);
    ASSERT_TRUE(past.ok());
    std::erase_if(*past, [](const CurvePoint& point) { return point.hindsight.has_value(); });
    ASSERT_EQ(past->size(), 21U);  // a point for each click, and the present
    for (const CurvePoint& point : *past) {
      ASSERT_EQ(point.expert_weights.size(), 13U);
      EXPECT_NEAR(std::accumulate(point.expert_weights.begin(), point.expert_weights.end(), 0.0F),
                  1.0F, 1e-5F);
    }
    EXPECT_NE(past->front().expert_weights, past->back().expert_weights);
  }
  const RankInput whole;
  const auto liked = world_.engine().explain("shop", "d", whole);
  const auto other = world_.engine().explain("shop", "a", whole);
  ASSERT_TRUE(liked.ok() && other.ok());
  EXPECT_GT(liked->score, other->score);
  EXPECT_GT(liked->experts.size(), 5U);
  RankInput topic;
  topic.topic = "second";
  const auto within = world_.engine().explain("shop", "d", topic);
  ASSERT_TRUE(within.ok());
  EXPECT_GT(*within->prob_first, *liked->prob_first);  // fewer rivals
  EXPECT_EQ(world_.engine().explain("shop", "a", topic).error().field, "topic");
  EXPECT_EQ(world_.engine().explain("shop", "nobody", whole).error().field, "id");
  EXPECT_EQ(world_.engine().explain("none", "a", whole).error().code, ErrorCode::kNotFound);
}

TEST_F(Look, TopItemsHaveTheHighestScoresFirst) {
  pick("c", 5);
  const auto top = world_.engine().top_items("books", 1000);
  ASSERT_TRUE(top.ok());
  ASSERT_EQ(top->items.size(), 4U);
  EXPECT_TRUE(top->next_cursor.empty());
  EXPECT_EQ(top->items[0].id, "c");
  EXPECT_EQ(top->items[0].picks, 5U);
  for (std::size_t i = 1; i < 4; ++i) {
    EXPECT_GE(top->items[i - 1].score, top->items[i].score);
  }
  const auto two = world_.engine().top_items("books", 2);
  ASSERT_EQ(two->items.size(), 2U);
  EXPECT_EQ(two->items[1].id, top->items[1].id);
}

TEST_F(Look, EqualScoresStandInTheOrderOfAddingAndRemovedItemsNowhere) {
  ASSERT_TRUE(world_.remove("books", "b").ok());
  world_.stats("books");
  const auto top = world_.engine().top_items("books", 10);
  ASSERT_EQ(top->items.size(), 3U);
  EXPECT_EQ(top->items[0].id, "a");
  EXPECT_EQ(top->items[1].id, "c");
  EXPECT_EQ(top->items[2].id, "d");
}

TEST_F(Look, ALibraryBeyondMaxScanIsNotSorted) {
  CollectionPatch patch;
  patch.max_scan = 3;
  ASSERT_TRUE(world_.put("books", patch).ok());
  world_.stats("books");
  const auto top = world_.engine().top_items("books", 2);
  ASSERT_FALSE(top.ok());
  EXPECT_EQ(top.error().code, ErrorCode::kTooLarge);
  EXPECT_EQ(world_.engine().top_items("none", 2).error().code, ErrorCode::kNotFound);
}

/// Answers that would be long: items with ids of 200 bytes, and some that link to all of them.
class LookAtMuch : public Look {
 protected:
  static constexpr std::size_t kLinked = 4000;
  static constexpr std::size_t kLinking = 5;

  LookAtMuch() {
    std::vector<ItemInput> items;
    for (std::size_t i = 0; i < kLinked; ++i) {
      ids_.push_back(std::to_string(100'000 + i) + std::string(194, 'x'));
      items.push_back({.id = ids_.back(), .topics = {}, .features = {}, .links = {}});
    }
    EXPECT_TRUE(world_.put("much", {}).ok());
    EXPECT_TRUE(world_.add("much", items).ok());
    for (std::size_t i = 0; i < kLinking; ++i) {
      all_.push_back("linking " + std::to_string(i));
      EXPECT_TRUE(
          world_.add("much", {{.id = all_.back(), .topics = {}, .features = {}, .links = ids_}})
              .ok());
    }
    all_.insert(all_.begin(), ids_.begin(), ids_.end());
  }
  static std::size_t bytes_of(const ItemView& item) {
    std::size_t bytes = item.id.size();
    for (const std::string& link : item.links) {
      bytes += link.size();
    }
    return bytes;
  }
  static std::size_t bytes_of(const ItemPage& page) {
    return std::accumulate(
        page.items.begin(), page.items.end(), std::size_t{0},
        [](std::size_t sum, const ItemView& item) { return sum + bytes_of(item); });
  }
  /// Beyond which no item is added to a page: the largest may be the last.
  static constexpr std::size_t kMost = kMaxPageBytes + kLinked * 200;

  std::vector<std::string> ids_;
  std::vector<std::string> all_;
};

TEST_F(LookAtMuch, PagesOfItemsEndAtSomeSizeAndNoneIsLostBetweenThem) {
  std::vector<std::string> seen;
  std::string cursor;
  std::size_t pages = 0;
  do {
    const auto page = world_.engine().items("much", cursor, 1000);
    ASSERT_TRUE(page.ok());
    ASSERT_FALSE(page->items.empty());
    EXPECT_LE(bytes_of(*page), kMost);
    for (const ItemView& item : page->items) {
      seen.push_back(item.id);
    }
    cursor = page->next_cursor;
    ++pages;
  } while (!cursor.empty());
  EXPECT_EQ(seen, all_);
  EXPECT_GE(pages, 4000U / 1000U + kLinking / 2);
}

TEST_F(LookAtMuch, TheTopItemsEndAtTheSameSize) {
  const auto top = world_.engine().top_items("much", 1000);
  ASSERT_TRUE(top.ok());
  EXPECT_EQ(top->items.size(), 1000U) << "short ones";
  for (const std::string& id : ids_) {
    ASSERT_TRUE(world_.remove("much", id).ok());
  }
  world_.stats("much", false);
  const auto cut = world_.engine().top_items("much", 1000);
  ASSERT_TRUE(cut.ok());
  EXPECT_EQ(cut->items.size(), 2U);
  EXPECT_EQ(cut->items[0].links.size(), kLinked);
  EXPECT_LE(bytes_of(*cut), kMost);
}

TEST_F(LookAtMuch, ListsOfListsEndAtTheSameSize) {
  std::vector<std::string> made;
  for (int i = 0; i < 3; ++i) {
    const auto reply = world_.rank_ids("much", ids_, kLinked);
    ASSERT_TRUE(reply.ok());
    made.push_back(reply->decision);
  }
  world_.stats("much", false);
  const auto lists = world_.engine().decisions("much", kNow, 50);
  ASSERT_TRUE(lists.ok());
  ASSERT_EQ(lists->size(), 1U);
  EXPECT_EQ(lists->front().decision, made.back());
  EXPECT_EQ(lists->front().items.size(), kLinked);
}

TEST_F(LookAtMuch, ListsAreNotLookedForBehindTooManyBytes) {
  ASSERT_TRUE(world_.rank_ids("much", kIds).ok());
  const auto found = [this] {
    world_.stats("much", false);
    const auto lists = world_.engine().decisions("much", kNow, 2);
    return lists.ok() ? lists->size() : 99;
  };
  EXPECT_EQ(found(), 1U);
  const std::vector<ItemInput> again = {{.id = "again", .topics = {}, .features = {}, .links = {}}};
  std::vector<ItemInput> many;
  for (std::size_t i = 0; i < 700; ++i) {
    many.push_back({.id = ids_[i], .topics = {}, .features = {}, .links = {}});
  }
  for (int i = 0; i < 150; ++i) {
    ASSERT_TRUE(world_.add("much", again).ok());
  }
  EXPECT_EQ(found(), 1U) << "few bytes";
  for (int i = 0; i < 150; ++i) {
    ASSERT_TRUE(world_.add("much", many).ok());
  }
  EXPECT_EQ(found(), 0U);
}

TEST_F(Look, DecisionsComeNewestFirstAndBeforeAPosition) {
  std::vector<std::string> made;
  std::vector<Position> ends;
  for (int i = 0; i < 5; ++i) {
    made.push_back(decide());
    ends.push_back(world_.stats("books").position);
  }
  EXPECT_EQ(lists_before(kNow, 2), (std::vector<std::string>{made[4], made[3]}));
  EXPECT_EQ(lists_before(kNow, 50), (std::vector<std::string>{made.rbegin(), made.rend()}));
  EXPECT_EQ(lists_before(ends[2] + 1, 1), std::vector<std::string>{made[2]});
  EXPECT_EQ(lists_before(ends[2], 1), std::vector<std::string>{made[1]});
  EXPECT_TRUE(lists_before(1, 10).empty());
  EXPECT_EQ(world_.engine().decisions("none", kNow, 1).error().code, ErrorCode::kNotFound);
}

TEST_F(Look, AListedDecisionIsTheOneThatItsIdNames) {
  const std::string id = decide();
  ASSERT_TRUE(world_.click("books", id, "b").ok());
  world_.stats("books");
  const auto listed = world_.engine().decisions("books", kNow, 1);
  const auto named = world_.engine().decision("books", id);
  ASSERT_TRUE(named.ok());
  ASSERT_EQ(listed->size(), 1U);
  const DecisionView& one = listed->front();
  EXPECT_EQ(one.decision, named->decision);
  EXPECT_EQ(one.time_ms, named->time_ms);
  EXPECT_EQ(one.clicked, std::vector<std::string>{"b"});
  EXPECT_TRUE(one.open);
  ASSERT_EQ(one.items.size(), named->items.size());
  for (std::size_t i = 0; i < one.items.size(); ++i) {
    EXPECT_EQ(one.items[i].id, named->items[i].id);
    EXPECT_EQ(one.items[i].score, named->items[i].score);
  }
}

TEST_F(Look, ClicksOfForgottenDecisionsAreReadFromTheLog) {
  const std::string id = decide();
  ASSERT_TRUE(world_
                  .clicks("books", {{.decision = id, .item = "b", .event = ""},
                                    {.decision = id, .item = "nobody", .event = ""},
                                    {.decision = id, .item = "b", .event = "again"}})
                  .ok());
  constexpr std::int64_t kDay = 24LL * 3600 * 1000;
  for (int i = 0; i < 3; ++i) {
    world_.pass(2 * kDay);
    world_.tick();
    ASSERT_TRUE(world_.add_ids("books", {std::to_string(i) + " more"}).ok());  // time goes on
  }
  ASSERT_FALSE(world_.engine().decision("books", id).ok()) << "it is still remembered";
  const auto listed = world_.engine().decisions("books", kNow, 1);
  ASSERT_EQ(listed->size(), 1U);
  EXPECT_EQ(listed->front().decision, id);
  EXPECT_EQ(listed->front().clicked, std::vector<std::string>{"b"});
  EXPECT_FALSE(listed->front().open);
}

TEST_F(Look, ManyEventsBetweenListsAreStillFoundBehind) {
  const std::string id = decide();
  world_.stats("books");
  for (int i = 0; i < 300; ++i) {
    ASSERT_TRUE(world_.add_ids("books", {std::to_string(i) + " more"}).ok());
  }
  EXPECT_EQ(lists_before(kNow, 3), std::vector<std::string>{id});
}

}  // namespace
}  // namespace hindsight
