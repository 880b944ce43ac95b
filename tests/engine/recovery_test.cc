// Same log, same model: from any snapshot, on any number of threads, through any store.

#include "src/engine/recovery.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <thread>

#include "src/core/kernels.h"
#include "src/engine/left_right.h"
#include "src/engine/seen_events.h"
#include "src/store/sqlite_store.h"
#include "tests/engine_support/engine_world.h"

namespace hindsight {
namespace {

CollectionPatch klrank_patch() {
  CollectionPatch patch;
  patch.ranker = "klrank";
  patch.seed = 7;
  patch.window_ms = 500;
  return patch;
}

// Several callers at once: rank, click (now and then twice, wrongly, or not at all), add items.
void play(EngineWorld& world, std::uint64_t seed, int callers, int rounds) {
  std::vector<std::thread> threads;
  for (int caller = 0; caller < callers; ++caller) {
    threads.emplace_back([&world, seed, caller, rounds] {
      Rng rng(seed, static_cast<std::uint64_t>(caller));
      for (int round = 0; round < rounds; ++round) {
        std::vector<std::string> ids;
        const std::uint64_t first = rng.below(40);
        for (std::uint64_t i = 0; i < 8; ++i) {
          ids.push_back("item" + std::to_string(first + i));
        }
        const auto reply = world.rank_ids("books", ids, 5);
        if (!reply.ok()) {
          continue;
        }
        const std::uint64_t what = rng.below(10);
        const std::string item = reply->items[rng.below(reply->items.size())].id;
        if (what < 8) {
          static_cast<void>(world.click("books", reply->decision, what == 7 ? "nowhere" : item));
        }
        if (what < 2) {
          static_cast<void>(world.click("books", reply->decision, item));
        }
        if (what == 9) {
          world.pass(50);
          world.engine().tick();
        }
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
}

std::string hash_of_whole_log(const Store& store) {
  const auto folded = fold_log(store, store.logs()->front().id, nullptr, std::nullopt, {});
  return folded.ok() ? model_hash(folded->model->ranker()) : to_string(folded.error());
}

TEST(Recovery, TheSameLogGivesTheSameModelOnAnyNumberOfThreads) {
  EngineWorld world;
  ASSERT_TRUE(world.put("books", klrank_patch()).ok());
  play(world, 1, 4, 100);
  const CollectionStats live = world.stats("books");
  EXPECT_GT(live.clicks.learned, 100U);
  EXPECT_TRUE(adds_up(live.clicks));
  EXPECT_EQ(live.model_hash, hash_of_whole_log(world.store()));
  for (const int threads : {1, 2, 8}) {
    const auto store = world.store().reopened();
    EngineOptions options;
    options.timers = false;
    options.learner_threads = threads;
    const auto engine = Engine::open(*store, options);
    ASSERT_TRUE(engine.ok());
    EXPECT_EQ((*engine)->stats("books", true)->model_hash, live.model_hash);
    EXPECT_EQ((*engine)->stats("books", true)->clicks, live.clicks);
  }
}

TEST(Recovery, TheSameLogGivesTheSameModelUnderEverySimdTarget) {
  EngineWorld world;
  ASSERT_TRUE(world.put("books", klrank_patch()).ok());
  play(world, 3, 2, 60);
  const std::string live = world.stats("books").model_hash;
  for (const std::int64_t target : simd_targets()) {
    restrict_simd_target_for_test(target);
    EXPECT_EQ(hash_of_whole_log(world.store()), live) << simd_target_name(target);
  }
  restrict_simd_target_for_test(0);
}

TEST(Recovery, DuplicatesAndReorderedArrivalsOfSeveralProducersFoldToTheSameModelEverywhere) {
  EngineWorld world({.node = 1, .seed = 3, .duplicate_prob = 0.3, .reorder_window = 5});
  ASSERT_TRUE(world.put("books", klrank_patch()).ok());
  play(world, 2, 4, 100);
  const CollectionStats live = world.stats("books");
  EXPECT_GT(live.clicks.learned, 100U);
  EXPECT_TRUE(adds_up(live.clicks));
  EXPECT_EQ(live.model_hash, hash_of_whole_log(world.store()));

  // The same entries, each once, in the order of their first coming: another node without repeats.
  const LogId log = world.store().logs()->front().id;
  MemoryStore clean;
  const LogId clean_log = *clean.create_log("books");
  SeenEvents seen;
  for (const LogEntry& entry : world.store().copy_of(log)) {
    const auto event = decode_event(entry.payload);
    ASSERT_TRUE(event.ok());
    if (seen.insert(event->id) || event->id.sequence == 0) {
      ASSERT_TRUE(clean.inject(clean_log, {entry.payload}).ok());
    }
  }
  clean.flush();
  EXPECT_LT(clean.copy_of(clean_log).size(), world.store().copy_of(log).size());
  EXPECT_EQ(hash_of_whole_log(clean), live.model_hash);

  // The same log through the embedded store.
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("hindsight_fold_" + std::to_string(::getpid()));
  std::filesystem::remove_all(folder);
  {
    const auto sqlite = open_sqlite_store({.folder = folder});
    ASSERT_TRUE(sqlite.ok()) << to_string(sqlite.error());
    const LogId same = *(*sqlite)->create_log("books");
    for (const LogEntry& entry : world.store().copy_of(log)) {
      ASSERT_TRUE(wait_for<Position>([&](auto done) {
                    (*sqlite)->append(same, {entry.payload}, done);
                  }).ok());
    }
    EXPECT_EQ(hash_of_whole_log(**sqlite), live.model_hash);
  }
  std::filesystem::remove_all(folder);
}

TEST(Recovery, ANodeLearnsFromTheClicksThatOthersAppend) {
  EngineWorld world;
  ASSERT_TRUE(world.put("books", klrank_patch()).ok());
  const auto reply = world.rank_ids("books", {"a", "b"});
  world.stats("books");
  const LogId log = world.store().logs()->front().id;
  const auto entries = world.store().copy_of(log);
  const auto decision = decode_event(entries.back().payload);
  ASSERT_TRUE(decision.ok());
  const Event click{.id = {.source = 99, .sequence = 1},
                    .clock_ms = world.now(),
                    .body = ClicksEvent{
                        .clicks = {{.decision = std::get<DecisionEvent>(decision->body).decision.id,
                                    .issued_here = true,
                                    .item = "a",
                                    .event = ""}}}};
  ASSERT_TRUE(world.store().inject(log, {encode_event(click)}).ok());
  EXPECT_EQ(world.stats("books").clicks.learned, 1U);
}

TEST(Recovery, SnapshotAndTailEqualTheWholeLog) {
  EngineWorld world;
  ASSERT_TRUE(world.put("books", klrank_patch()).ok());
  for (std::uint64_t round = 0; round < 4; ++round) {
    play(world, 10 + round, 2, 30);
    world.stats("books");
    ASSERT_TRUE(world.engine().snapshot_all().ok());
    play(world, 20 + round, 2, 10);
    const CollectionStats before = world.stats("books");
    EXPECT_GT(before.position, before.snapshot_position);
    world.crash();
    const CollectionStats after = world.stats("books");
    EXPECT_EQ(after.model_hash, before.model_hash);
    EXPECT_EQ(after.clicks, before.clicks);
    EXPECT_EQ(after.model_hash, hash_of_whole_log(world.store()));
  }
  EXPECT_TRUE(world.warnings().empty());
}

TEST(Recovery, ADamagedSnapshotFallsBackToTheOneBeforeAndSaysSo) {
  EngineWorld world;
  ASSERT_TRUE(world.put("books", klrank_patch()).ok());
  const LogId log = world.store().logs()->front().id;
  play(world, 1, 2, 30);
  world.stats("books");
  ASSERT_TRUE(world.engine().snapshot_all().ok());
  play(world, 2, 2, 30);
  const CollectionStats before = world.stats("books");
  std::vector<std::byte> damaged =
      *world.store().get_snapshot(log, world.store().snapshots(log)->front());
  damaged[damaged.size() / 2] ^= std::byte{1};
  ASSERT_TRUE(world.store().put_snapshot(log, before.position, damaged).ok());
  world.crash();
  EXPECT_EQ(world.stats("books").model_hash, before.model_hash);
  ASSERT_EQ(world.warnings().size(), 1U);
  EXPECT_NE(world.warnings()[0].find("damaged"), std::string::npos);
}

TEST(Recovery, ReadersAreServedWhileTheLearnerWaits) {
  LeftRight<int> value({std::make_unique<int>(1), std::make_unique<int>(1)});
  auto slow = std::make_unique<LeftRight<int>::Guard>(value.read());
  value.hidden() = 2;
  std::thread writer([&] {
    value.publish();  // waits for the slow reader
    value.hidden() = 2;
  });
  int seen = 0;
  while (seen != 2) {  // new readers get the new value all the same
    seen = *value.read();
  }
  EXPECT_EQ(**slow, 1);
  slow.reset();
  writer.join();
  EXPECT_EQ(*value.read(), 2);
}

TEST(Recovery, ReadersNeverSeeAHalfChangedValue) {
  struct Pair {
    int a = 0;
    int b = 0;
  };
  LeftRight<Pair> value({std::make_unique<Pair>(), std::make_unique<Pair>()});
  std::atomic<bool> done{false};
  std::vector<std::thread> readers;
  std::atomic<int> torn{0};
  for (int i = 0; i < 3; ++i) {
    readers.emplace_back([&] {
      while (!done) {
        const auto guard = value.read();
        torn += guard->a == guard->b ? 0 : 1;
      }
    });
  }
  for (int i = 1; i < 2000; ++i) {
    for (int copy = 0; copy < 2; ++copy) {
      value.hidden().a = i;
      value.hidden().b = i;
      if (copy == 0) {
        value.publish();
      }
    }
  }
  done = true;
  for (std::thread& reader : readers) {
    reader.join();
  }
  EXPECT_EQ(torn, 0);
}

}  // namespace
}  // namespace hindsight
