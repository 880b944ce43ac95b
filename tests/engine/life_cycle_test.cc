// Collections: making, changing, erasing; privacy; retention.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <future>
#include <limits>
#include <thread>

#include "src/engine/recovery.h"
#include "tests/engine_support/engine_world.h"

namespace hindsight {
namespace {

constexpr std::int64_t kDayMs = 24LL * 3600 * 1000;

CollectionPatch patch_of(const std::string& ranker) {
  CollectionPatch patch;
  patch.ranker = ranker;
  patch.seed = 7;
  return patch;
}

// Ranks and clicks `count` times, always on "b" where it is shown.
void play(EngineWorld& world, int count) {
  for (int i = 0; i < count; ++i) {
    const auto reply = world.rank_ids("books", {"a", "b", "c", "d"}, 3);
    ASSERT_TRUE(reply.ok());
    const auto shown = std::find_if(reply->items.begin(), reply->items.end(),
                                    [](const RankedItem& item) { return item.id == "b"; });
    ASSERT_TRUE(
        world
            .click("books", reply->decision, shown == reply->items.end() ? reply->items[0].id : "b")
            .ok());
  }
}

// Waits until no ranker is being built.
void wait_for_build(EngineWorld& world) {
  while (world.engine().collection("books")->building) {
    std::this_thread::yield();
  }
}

TEST(LifeCycle, AnIdenticalPutChangesNothing) {
  EngineWorld world;
  EXPECT_EQ(*world.put("books", patch_of("klrank")), PutOutcome::kCreated);
  const Position before = world.stats("books").position;
  EXPECT_EQ(*world.put("books", patch_of("klrank")), PutOutcome::kUnchanged);
  EXPECT_EQ(*world.put("books", {}), PutOutcome::kUnchanged);
  EXPECT_EQ(world.stats("books").position, before);
}

TEST(LifeCycle, ChangesAtTheSameTimeAreAllKept) {
  EngineWorld world;
  ASSERT_TRUE(world.put("books", patch_of("klrank")).ok());
  std::vector<std::thread> callers;
  for (int i = 0; i < 3; ++i) {
    callers.emplace_back([&world, i] {
      CollectionPatch patch;
      if (i == 0) {
        patch.control = 0.25;
      } else if (i == 1) {
        patch.log_queries = true;
      } else {
        patch.max_scan = 777;
      }
      EXPECT_EQ(*world.put("books", patch), PutOutcome::kChanged);
    });
  }
  for (std::thread& caller : callers) {
    caller.join();
  }
  const CollectionConfig config = world.engine().collection("books")->config;
  EXPECT_EQ(config.control, 0.25);
  EXPECT_TRUE(config.log_queries);
  EXPECT_EQ(config.max_scan, 777U);
}

TEST(LifeCycle, APutThatMeetsADeletionWaitsForIt) {
  EngineWorld world;
  ASSERT_TRUE(world.put("books", patch_of("klrank")).ok());
  std::promise<Result<PutOutcome>> answer;
  // On the thread that makes one change after the other: both are behind this one.
  world.engine().put_collection("other", patch_of("klrank"), [&](const Result<PutOutcome>&) {
    world.engine().put_collection("books", patch_of("klrank"), [&](Result<PutOutcome> outcome) {
      answer.set_value(std::move(outcome));
    });
    world.engine().delete_collection(
        "books", [](const Result<void>& deleted) { EXPECT_TRUE(deleted.ok()); });
    EXPECT_FALSE(world.engine().collection("books").ok());
  });
  const Result<PutOutcome> outcome = answer.get_future().get();
  ASSERT_TRUE(outcome.ok()) << to_string(outcome.error());
  EXPECT_EQ(*outcome, PutOutcome::kCreated);
  EXPECT_TRUE(world.rank_ids("books", {"a", "b"}, 2).ok());
}

std::string serving(EngineWorld& world) {
  const std::string id = world.rank_ids("books", {"a", "b"}, 2)->decision;
  world.stats("books");  // once it is in the log
  return world.engine().decision("books", id)->ranker;
}

/// Makes an event of the log unreadable, or readable again.
void break_event(MemoryStore& store, Position position, bool broken) {
  const auto edited =
      store.rewrite(store.logs()->front().id, [=](const LogEntry& entry) -> std::optional<Payload> {
        Payload payload = entry.payload;
        if (entry.position == position) {
          broken ? payload.push_back(std::byte{0}) : payload.pop_back();
          return payload;
        }
        return std::nullopt;
      });
  ASSERT_TRUE(edited.ok());
  ASSERT_EQ(*edited, 1U);
}

std::string hash_of_log(EngineWorld& world) {
  const auto folded =
      fold_log(world.store(), world.store().logs()->front().id, nullptr, std::nullopt, {});
  return folded.ok() ? model_hash(folded->model->ranker()) : to_string(folded.error());
}

/// "klrank" serves, and "online-ranknet" was chosen but could not learn the history.
void fail_a_build(EngineWorld& world) {
  ASSERT_TRUE(world.put("books", patch_of("klrank")).ok());
  play(world, 20);
  const std::string before = world.stats("books").model_hash;
  break_event(world.store(), 10, true);
  EXPECT_EQ(*world.put("books", patch_of("online-ranknet")), PutOutcome::kChanged);
  wait_for_build(world);
  EXPECT_EQ(world.stats("books").model_hash, before);
}

TEST(LifeCycle, ARankerThatCannotLearnTheHistorySaysSoAndIsTriedAgain) {
  EngineWorld world;
  fail_a_build(world);
  const auto failed = [&](std::string_view why) {
    wait_for_build(world);
    const CollectionInfo info = *world.engine().collection("books");
    EXPECT_EQ(info.config.ranker, "online-ranknet");
    ASSERT_TRUE(info.build_error);
    EXPECT_NE(info.build_error->message.find(why), std::string::npos) << info.build_error->message;
    EXPECT_EQ(world.stats("books").build_error->message, info.build_error->message);
    EXPECT_EQ(serving(world), "klrank");
  };
  failed("position 10");

  // Another setting leaves the ranker that serves as it is, and does not try again.
  CollectionPatch setting;
  setting.max_scan = 777;
  EXPECT_EQ(*world.put("books", setting), PutOutcome::kChanged);
  EXPECT_EQ(*world.put("books", setting), PutOutcome::kUnchanged);
  failed("position 10");
  EXPECT_EQ(*world.put("books", patch_of("online-ranknet")), PutOutcome::kChanged);
  failed("position 10");
  setting.max_scan.reset();
  setting.params = world.engine().collection("books")->config.params;
  EXPECT_EQ(*world.put("books", setting), PutOutcome::kChanged) << "tried again";
  failed("position 10");
  CollectionPatch wish = patch_of("online-ranknet");
  wish.max_scan = 778;
  EXPECT_EQ(world.put("books", wish).error().code, ErrorCode::kConflict) << "one at a time";
  wish = patch_of("online-ranknet");
  wish.history = History::kDiscard;
  EXPECT_EQ(world.put("books", wish).error().code, ErrorCode::kConflict);

  // Neither a crash nor a restart needs what could not be read.
  ASSERT_TRUE(world.engine().snapshot_all().ok());
  EXPECT_GT(world.stats("books").snapshot_position, 10U);
  world.crash();
  failed("before this start");
  play(world, 5);
  world.restart();
  failed("before this start");

  break_event(world.store(), 10, false);
  EXPECT_EQ(*world.put("books", patch_of("online-ranknet")), PutOutcome::kChanged);
  wait_for_build(world);
  EXPECT_EQ(serving(world), "online-ranknet");
  const CollectionStats built = world.stats("books");
  EXPECT_FALSE(built.build_error);
  EXPECT_EQ(built.model_hash, hash_of_log(world));
  EXPECT_EQ(world.engine().collection("books")->config.max_scan, 777U);
  play(world, 5);
  EXPECT_EQ(world.stats("books").model_hash, hash_of_log(world));
}

TEST(LifeCycle, AFailedBuildIsSnapshottedSoThatACrashDoesNotNeedIt) {
  EngineWorld world;
  fail_a_build(world);
  while (world.stats("books").snapshot_position == 0) {
    world.tick();  // nothing else makes a snapshot due
  }
  world.crash();
  EXPECT_TRUE(world.stats("books").build_error);
  EXPECT_EQ(serving(world), "klrank");
}

TEST(LifeCycle, WhoDiscardsTheHistoryBeginsAnewAlsoWithTheRankerThatServes) {
  for (const char* ranker : {"klrank", "random"}) {
    EngineWorld world;
    fail_a_build(world);
    CollectionPatch discard = patch_of(ranker);
    discard.history = History::kDiscard;
    EXPECT_EQ(*world.put("books", discard), PutOutcome::kChanged);
    EXPECT_FALSE(world.stats("books").build_error);
    play(world, 5);
    const std::string live = world.stats("books").model_hash;
    break_event(world.store(), 10, false);
    EXPECT_EQ(live, hash_of_log(world)) << ranker;
  }
}

TEST(LifeCycle, TheSeedNeverChanges) {
  EngineWorld world;
  ASSERT_TRUE(world.put("books", patch_of("klrank")).ok());
  CollectionPatch other;
  other.seed = 8;
  const auto refused = world.put("books", other);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::kConflict);
  EXPECT_EQ(refused.error().field, "seed");
}

TEST(LifeCycle, BadSettingsAreRefusedAndNothingIsMade) {
  EngineWorld world;
  CollectionPatch patch = patch_of("no-such-ranker");
  EXPECT_EQ(world.put("books", patch).error().code, ErrorCode::kUnknownName);
  patch = patch_of("klrank");
  patch.params = ParamMap{{"alpha", -1.0}};
  EXPECT_FALSE(world.put("books", patch).ok());
  patch = patch_of("klrank");
  patch.control = 1.5;
  EXPECT_EQ(world.put("books", patch).error().field, "control");
  patch = patch_of("klrank");
  patch.retain_days = 1;
  EXPECT_EQ(world.put("books", patch).error().field, "retain_days");
  EXPECT_FALSE(world.put("Bücher", {}).ok());
  EXPECT_TRUE(world.engine().collections().empty());
  EXPECT_TRUE(world.store().logs()->empty());
}

TEST(LifeCycle, AnotherRankerIsANewEraThatMayDiscardTheHistory) {
  EngineWorld world;
  ASSERT_TRUE(world.put("books", patch_of("klrank")).ok());
  play(world, 20);
  EXPECT_EQ(world.stats("books").regret->clicks, 20U);
  CollectionPatch patch = patch_of("noregret-klrank");
  patch.history = History::kDiscard;
  EXPECT_EQ(*world.put("books", patch), PutOutcome::kChanged);
  const CollectionStats stats = world.stats("books");
  EXPECT_EQ(stats.era, 1U);
  EXPECT_EQ(stats.regret->clicks, 0U);
  EXPECT_EQ(stats.clicks.learned, 20U);
  play(world, 1);
  EXPECT_EQ(world.stats("books").regret->clicks, 1U);
}

TEST(LifeCycle, ANewRankerThatReplaysEqualsOneThatWasThereFromTheBeginning) {
  EngineWorld world;
  ASSERT_TRUE(world.put("books", patch_of("klrank")).ok());
  play(world, 50);
  ASSERT_TRUE(world.remove("books", "d").ok());
  ASSERT_TRUE(world.put("books", patch_of("noregret-klrank")).ok());
  play(world, 5);
  wait_for_build(world);
  play(world, 5);
  const CollectionStats live = world.stats("books");
  EXPECT_EQ(live.era, 1U);
  EXPECT_EQ(live.regret->clicks, live.clicks.learned);

  const LogId log = world.store().logs()->front().id;
  const RankerChoice choice{"noregret-klrank", *check_params(**find_ranker("noregret-klrank"), {})};
  const auto reference = fold_log(world.store(), log, &choice, std::nullopt, {});
  ASSERT_TRUE(reference.ok());
  EXPECT_EQ(live.model_hash, model_hash(reference->model->ranker()));

  world.crash();
  EXPECT_EQ(world.stats("books").model_hash, live.model_hash);
  EXPECT_EQ(world.stats("books").clicks, live.clicks);
  world.restart();
  world.restart();
  EXPECT_EQ(world.stats("books").model_hash, live.model_hash);
}

TEST(LifeCycle, RankersMayChangeThereAndBackAgain) {
  EngineWorld world;
  ASSERT_TRUE(world.put("books", patch_of("klrank")).ok());
  play(world, 20);
  const std::string first = world.stats("books").model_hash;
  for (const char* ranker : {"online-ranknet", "klrank"}) {
    ASSERT_TRUE(world.put("books", patch_of(ranker)).ok());
    static_cast<void>(world.engine().stats("books", true));  // of the ranker that still serves
    wait_for_build(world);
    const LogId log = world.store().logs()->front().id;
    const auto reference = fold_log(world.store(), log, nullptr, std::nullopt, {});
    ASSERT_TRUE(reference.ok());
    EXPECT_EQ(world.stats("books").model_hash, model_hash(reference->model->ranker())) << ranker;
  }
  EXPECT_EQ(world.stats("books").model_hash, first);
  world.crash();
  EXPECT_EQ(world.stats("books").model_hash, first);
  EXPECT_EQ(world.stats("books").era, 2U);
}

TEST(LifeCycle, ADeletedCollectionIsGoneAndAnotherOfItsNameIsNew) {
  EngineWorld world;
  ASSERT_TRUE(world.put("books", patch_of("klrank")).ok());
  const auto reply = world.rank_ids("books", {"a", "b"});
  const auto erase = [&] {
    return wait_for<void>([&](auto done) { world.engine().delete_collection("books", done); });
  };
  ASSERT_TRUE(erase().ok());
  EXPECT_EQ(world.rank_ids("books", {"a", "b"}).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(erase().error().code, ErrorCode::kNotFound);
  ASSERT_TRUE(world.put("books", patch_of("klrank")).ok());
  EXPECT_EQ(world.click("books", reply->decision, "a")->quarantined, 1U);
  EXPECT_EQ(world.stats("books").items, 0U);
}

TEST(LifeCycle, PostingAnItemAgainReplacesTopicsFeaturesAndLinks) {
  EngineWorld world;
  ASSERT_TRUE(world.put("books", patch_of("klrank")).ok());
  ASSERT_TRUE(world.add_ids("books", {"x"}).ok());
  const auto first = world.add(
      "books", {{.id = "a", .topics = {"t"}, .features = {{"year", 1.5}}, .links = {"x"}}});
  ASSERT_TRUE(first.ok());
  EXPECT_EQ(first->added, 1U);
  const auto second =
      world.add("books", {{.id = "a", .topics = {"u"}, .features = {}, .links = {}}});
  EXPECT_EQ(second->updated, 1U);
  const auto view = world.engine().item("books", "a");
  ASSERT_TRUE(view.ok());
  EXPECT_EQ(view->topics, std::vector<std::string>{"u"});
  EXPECT_TRUE(view->features.empty());
  EXPECT_TRUE(view->links.empty());
  RankInput by_topic;
  by_topic.topic = "t";
  EXPECT_EQ(world.rank("books", by_topic).error().code, ErrorCode::kEmptyCandidates);
}

TEST(LifeCycle, ItemsAreAddedAllOrNone) {
  EngineWorld world;
  ASSERT_TRUE(world.put("books", patch_of("klrank")).ok());
  const auto unknown_link =
      world.add("books", {{.id = "a", .topics = {}, .features = {}, .links = {}},
                          {.id = "b", .topics = {}, .features = {}, .links = {"zz"}}});
  EXPECT_EQ(unknown_link.error().code, ErrorCode::kUnknownItem);
  EXPECT_EQ(unknown_link.error().field, "items[1].links[0]");
  EXPECT_EQ(world.add_ids("books", {"a", "a"}).error().code, ErrorCode::kDuplicateItem);
  for (const double value : {std::numeric_limits<double>::infinity(), std::nan("")}) {
    const auto not_finite =
        world.add("books", {{.id = "a", .topics = {}, .features = {{"f", value}}, .links = {}}});
    ASSERT_FALSE(not_finite.ok());
    EXPECT_EQ(not_finite.error().code, ErrorCode::kNotFinite);
  }
  EXPECT_EQ(world.stats("books").items, 0U);
  const auto forward =
      world.add("books", {{.id = "a", .topics = {}, .features = {}, .links = {"b"}},
                          {.id = "b", .topics = {}, .features = {}, .links = {"a"}}});
  EXPECT_TRUE(forward.ok());
}

TEST(LifeCycle, TheControlArmGetsTheCallersOrderAndBothArmsAreReported) {
  EngineWorld world;
  CollectionPatch patch = patch_of("klrank");
  patch.control = 0.5;
  ASSERT_TRUE(world.put("books", patch).ok());
  int controls = 0;
  constexpr int kRanks = 200;
  for (int i = 0; i < kRanks; ++i) {
    const auto reply = world.rank_ids("books", {"a", "b", "c"});
    ASSERT_TRUE(reply.ok());
    if (reply->control) {
      ++controls;
      EXPECT_EQ(reply->items[0].id, "a");
      EXPECT_EQ(reply->items[1].id, "b");
      EXPECT_EQ(reply->items[2].id, "c");
      const std::string hash = world.stats("books").model_hash;
      EXPECT_EQ(world.click("books", reply->decision, "b")->accepted, 1U);
      EXPECT_EQ(world.stats("books").model_hash, hash);
    }
  }
  // Binomial(200, 1/2): outside of 60..140 with probability below 1e-8; the seed is fixed besides.
  EXPECT_GT(controls, 60);
  EXPECT_LT(controls, 140);
  const CollectionStats stats = world.stats("books");
  EXPECT_EQ(stats.control_arm.decisions, static_cast<std::uint64_t>(controls));
  EXPECT_EQ(stats.ranker_arm.decisions, static_cast<std::uint64_t>(kRanks - controls));
  EXPECT_EQ(stats.control_arm.clicks, static_cast<std::uint64_t>(controls));
  EXPECT_EQ(stats.control_arm.first_clicks, 0U);
}

TEST(LifeCycle, PagesGoOnInTheOrderOfTheirListAndAreNotCompared) {
  EngineWorld world;
  CollectionPatch patch = patch_of("klrank");
  patch.control = 0.5;
  ASSERT_TRUE(world.put("books", patch).ok());
  const std::vector<std::string> ids = {"a", "b", "c", "d", "e"};
  std::uint64_t controls = 0;
  constexpr std::uint64_t kRanks = 60;
  for (std::uint64_t i = 0; i < kRanks; ++i) {
    const auto first = world.rank_ids("books", ids, 2);
    ASSERT_TRUE(first.ok());
    // Everybody clicks on the first page, and nobody on the second.
    ASSERT_EQ(world.click("books", first->decision, first->items[0].id)->accepted, 1U);
    controls += first->control ? 1 : 0;
    std::vector<std::string> seen = {first->items[0].id, first->items[1].id};
    for (const std::size_t offset : {2, 4}) {
      RankInput page;
      page.decision = first->decision;
      page.offset = offset;
      page.k = 2;
      const auto next = world.rank("books", page);
      ASSERT_TRUE(next.ok());
      EXPECT_EQ(next->control, first->control);
      for (const RankedItem& item : next->items) {
        seen.push_back(item.id);
      }
    }
    if (first->control) {
      EXPECT_EQ(seen, ids) << "the caller's order, page by page";
    }
  }
  ASSERT_GT(controls, 0U);
  ASSERT_LT(controls, kRanks);
  const auto expect_arms = [&](const CollectionStats& stats) {
    EXPECT_EQ(stats.drawn_control_arm.decisions, controls);
    EXPECT_EQ(stats.drawn_control_arm.clicked, controls);
    EXPECT_EQ(stats.drawn_ranker_arm.decisions, kRanks - controls);
    EXPECT_EQ(stats.drawn_ranker_arm.clicked, kRanks - controls);
  };
  expect_arms(world.stats("books"));
  EXPECT_EQ(world.stats("books").ranker_arm.decisions, 3 * (kRanks - controls));
  EXPECT_EQ(world.stats("books").control_arm.decisions, 3 * controls);
  // No caller's order to keep: the whole library, and a list of which nothing is known.
  RankInput library;
  library.k = 2;
  ASSERT_TRUE(world.rank("books", library).ok());
  RankInput unknown;
  unknown.candidates = {{.id = "z", .features = {}, .prior = 0.0}};
  unknown.on_unknown = OnUnknown::kAppend;
  ASSERT_TRUE(world.rank("books", unknown).ok());
  // Without a control there is no draw.
  patch = {};
  patch.control = 0.0;
  ASSERT_TRUE(world.put("books", patch).ok());
  const auto plain = world.rank_ids("books", ids, 2);
  ASSERT_TRUE(world.click("books", plain->decision, plain->items[0].id).ok());
  expect_arms(world.stats("books"));
  EXPECT_EQ(world.stats("books").ranker_arm.decisions, 3 * (kRanks - controls) + 3);
  world.restart();
  expect_arms(world.stats("books"));
  world.crash();
  expect_arms(world.stats("books"));
}

bool log_contains(EngineWorld& world, const std::string& text) {
  const LogId log = world.store().logs()->front().id;
  for (const LogEntry& entry : world.store().copy_of(log)) {
    const std::string_view bytes(reinterpret_cast<const char*>(entry.payload.data()),
                                 entry.payload.size());
    if (bytes.find(text) != std::string_view::npos) {
      return true;
    }
  }
  return false;
}

RankInput personal_request() {
  RankInput input;
  input.query = "very private words";
  input.user = "alice@example.org";
  input.session = "session-of-alice";
  for (const char* id : {"a", "b"}) {
    input.candidates.push_back({.id = id, .features = {}, .prior = 0.0});
  }
  return input;
}

TEST(Privacy, UsersAndSessionsAreKeptAsMacsAndQueriesOnlyOnDemand) {
  EngineWorld world;
  ASSERT_TRUE(world.put("books", patch_of("klrank")).ok());
  ASSERT_TRUE(world.rank("books", personal_request()).ok());
  world.stats("books");
  EXPECT_FALSE(log_contains(world, "alice"));
  EXPECT_FALSE(log_contains(world, "private"));
  CollectionPatch patch;
  patch.log_queries = true;
  ASSERT_TRUE(world.put("books", patch).ok());
  const auto reply = world.rank("books", personal_request());
  world.stats("books");
  EXPECT_TRUE(log_contains(world, "private"));
  EXPECT_EQ(world.engine().decision("books", reply->decision)->query, "very private words");
}

TEST(Privacy, ErasingAUserLeavesTheModelAsItWas) {
  EngineWorld world;
  CollectionPatch patch = patch_of("klrank");
  patch.log_queries = true;
  ASSERT_TRUE(world.put("books", patch).ok());
  for (int i = 0; i < 3; ++i) {
    const auto reply = world.rank("books", personal_request());
    ASSERT_TRUE(world.click("books", reply->decision, "a").ok());
  }
  const CollectionStats before = world.stats("books");
  const auto erased = wait_for<std::uint64_t>(
      [&](auto done) { world.engine().erase_user("books", "alice@example.org", done); });
  ASSERT_TRUE(erased.ok());
  EXPECT_EQ(*erased, 3U);
  EXPECT_FALSE(log_contains(world, "private"));
  const auto again = wait_for<std::uint64_t>(
      [&](auto done) { world.engine().erase_user("books", "alice@example.org", done); });
  EXPECT_EQ(*again, 0U);
  world.crash();
  EXPECT_EQ(world.stats("books").model_hash, before.model_hash);
  EXPECT_EQ(world.stats("books").clicks, before.clicks);
}

TEST(Privacy, AnErasureThatAnotherProgramHeldUpTellsInTheEndWhatItChangedInAll) {
  EngineWorld world;
  ASSERT_TRUE(world.put("books", patch_of("klrank")).ok());
  const auto rank_for = [&](const char* user) {
    RankInput input = personal_request();
    input.user = user;
    ASSERT_TRUE(world.rank("books", input).ok());
    world.stats("books");
  };
  const auto erase = [&](const char* user) {
    return wait_for<std::uint64_t>(
        [&](auto done) { world.engine().erase_user("books", user, done); });
  };
  rank_for("alice");
  rank_for("alice");
  rank_for("bob");
  world.store().keep_old_bytes(true);
  EXPECT_EQ(erase("alice").error().code, ErrorCode::kConflict);
  rank_for("alice");
  EXPECT_EQ(erase("alice").error().code, ErrorCode::kConflict);
  EXPECT_EQ(erase("alice").error().code, ErrorCode::kConflict);
  world.store().keep_old_bytes(false);
  EXPECT_EQ(*erase("bob"), 1U);
  EXPECT_EQ(*erase("alice"), 3U);
  EXPECT_EQ(*erase("alice"), 0U);
}

TEST(Privacy, ErasingReachesWhatWasRankedAMomentAgoAndLaterPages) {
  EngineWorld world;
  CollectionPatch patch = patch_of("klrank");
  patch.log_queries = true;
  ASSERT_TRUE(world.put("books", patch).ok());
  RankInput input = personal_request();
  input.candidates.push_back({.id = "c", .features = {}, .prior = 0.0});
  input.k = 2;
  const auto reply = world.rank("books", input);
  const auto erased = wait_for<std::uint64_t>(
      [&](auto done) { world.engine().erase_user("books", "alice@example.org", done); });
  EXPECT_EQ(*erased, 1U);
  RankInput page;
  page.decision = reply->decision;
  page.offset = 2;
  EXPECT_EQ(world.rank("books", page).error().code, ErrorCode::kNotFound);
  world.stats("books");
  EXPECT_FALSE(log_contains(world, "private"));
}

TEST(Retention, OldEventsGoOnceTwoSnapshotsAreNewer) {
  EngineWorld world;
  CollectionPatch patch = patch_of("klrank");
  patch.retain_days = 2;
  ASSERT_TRUE(world.put("books", patch).ok());
  play(world, 30);
  ASSERT_TRUE(world.engine().snapshot_all().ok());
  world.pass(3 * kDayMs);
  play(world, 5);
  const LogId log = world.store().logs()->front().id;
  const std::size_t entries = world.store().copy_of(log).size();
  ASSERT_TRUE(world.engine().snapshot_all().ok());
  const CollectionStats before = world.stats("books");
  EXPECT_LT(world.store().copy_of(log).size(), entries);
  EXPECT_GE(world.store().copy_of(log).size(), 10U);
  // The older of the two snapshots still leads to the end.
  EXPECT_EQ(*world.store().first(log), world.store().snapshots(log)->back() + 1);
  world.crash();
  EXPECT_EQ(world.stats("books").model_hash, before.model_hash);
  // The beginning is gone: another ranker can only start anew.
  CollectionPatch other = patch_of("noregret-klrank");
  EXPECT_EQ(world.put("books", other).error().code, ErrorCode::kConflict);
  other.history = History::kDiscard;
  EXPECT_TRUE(world.put("books", other).ok());
}

TEST(Retention, ALogWithoutItsBeginningIsNotFoldedAsIfItWereWhole) {
  EngineWorld world;
  ASSERT_TRUE(world.put("books", patch_of("klrank")).ok());
  play(world, 5);
  const LogId log = world.store().logs()->front().id;
  CollectionPatch patch;
  patch.retain_days = 2;
  ASSERT_TRUE(world.put("books", patch).ok());
  // What begins now with a change of settings looks much like the making of a collection.
  ASSERT_TRUE(world.store().truncate_before(log, *world.store().head(log)).ok());
  EXPECT_FALSE(keeps_whole_log(world.store(), log));
  const auto folded = fold_log(world.store(), log, nullptr, std::nullopt, FoldOptions{});
  ASSERT_FALSE(folded.ok());
  EXPECT_EQ(folded.error().code, ErrorCode::kConflict);
  EXPECT_NE(folded.error().message.find("retain_days"), std::string::npos);
}

}  // namespace
}  // namespace hindsight
