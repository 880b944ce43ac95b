// What the check of a log finds in snapshots that are whole and yet wrong, and in damaged entries.

#include "src/engine/folder_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <optional>
#include <thread>

#include "tests/engine_support/engine_world.h"

namespace hindsight {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

class FolderCheck : public ::testing::Test {
 protected:
  FolderCheck() {
    live(world_, 0);
    live_ = world_.stats("books");
    log_ = world_.store().logs()->front();
  }

  /// Ranks and clicks, always on the item of one place, with two snapshots on the way.
  static void live(EngineWorld& world, std::size_t place) {
    CollectionPatch patch;
    patch.ranker = "klrank";
    patch.seed = 7;
    EXPECT_TRUE(world.put("books", patch).ok());
    for (int part = 0; part < 3; ++part) {
      for (int i = 0; i < 10; ++i) {
        const auto reply = world.rank_ids("books", {"a", "b", "c", "d"});
        EXPECT_TRUE(world.click("books", reply->decision, reply->items[place].id).ok());
      }
      world.stats("books");
      EXPECT_TRUE(part == 2 || world.engine().snapshot_all().ok());
    }
  }

  CollectionCheck check() {
    findings_.clear();
    return check_collection(world_.store(), log_, {}, findings_);
  }

  EngineWorld world_;
  CollectionStats live_;
  LogInfo log_;
  std::vector<Finding> findings_;
};

TEST_F(FolderCheck, AWholeLogHasTheServedModelAndGoodSnapshots) {
  Position seen = 0;
  FoldOptions options;
  options.progress = [&](Position position) { seen = position; };
  const CollectionCheck whole = check_collection(world_.store(), log_, options, findings_);
  EXPECT_THAT(findings_, IsEmpty());
  EXPECT_EQ(whole.model_hash, live_.model_hash);
  EXPECT_EQ(whole.snapshots, 2U);
  EXPECT_EQ(whole.events, live_.position);
  EXPECT_EQ(seen, live_.position);
}

TEST_F(FolderCheck, ALogWithoutItsBeginningIsFoldedFromItsOldestSnapshot) {
  const Position oldest = world_.store().snapshots(log_.id)->back();
  ASSERT_TRUE(world_.store().truncate_before(log_.id, oldest + 1).ok());
  EXPECT_EQ(check().model_hash, live_.model_hash);
  EXPECT_THAT(findings_, IsEmpty());
  ASSERT_TRUE(world_.store().truncate_before(log_.id, live_.position).ok());
  EXPECT_EQ(check().model_hash, "");
  ASSERT_EQ(findings_.size(), 1U);
  EXPECT_THAT(findings_[0].problem, HasSubstr("no good snapshot"));
}

TEST_F(FolderCheck, ASnapshotFromBeforeTheChosenRankerWasBuiltIsGood) {
  const auto damage = [&](bool broken) {
    return world_.store().rewrite(log_.id, [=](const LogEntry& entry) -> std::optional<Payload> {
      Payload payload = entry.payload;
      broken ? payload.push_back(std::byte{0}) : payload.pop_back();
      return entry.position == 5 ? std::optional(payload) : std::nullopt;
    });
  };
  ASSERT_TRUE(damage(true).ok());
  CollectionPatch patch;
  patch.ranker = "pdgd";  // which learns only when a decision's window closes
  ASSERT_TRUE(world_.put("books", patch).ok());
  while (!world_.stats("books").build_error) {
    std::this_thread::yield();
  }
  ASSERT_TRUE(world_.engine().snapshot_all().ok());
  ASSERT_TRUE(damage(false).ok());
  EXPECT_NE(check().model_hash, live_.model_hash);
  EXPECT_THAT(findings_, IsEmpty());
}

TEST_F(FolderCheck, ASnapshotOfAnotherModelIsFoundThoughItIsWhole) {
  const Position newest = world_.store().snapshots(log_.id)->front();
  EngineWorld other;
  live(other, 3);
  const auto wrong = other.store().get_snapshot(other.store().logs()->front().id, newest);
  ASSERT_TRUE(wrong.ok()) << "the same events, but for what was clicked";
  ASSERT_TRUE(world_.store().put_snapshot(log_.id, newest, *wrong).ok());
  EXPECT_EQ(check().snapshots, 1U);
  ASSERT_EQ(findings_.size(), 1U);
  EXPECT_EQ(findings_[0].file,
            "snapshots/" + std::to_string(log_.id) + "/" + std::to_string(newest) + ".snapshot");
  EXPECT_THAT(findings_[0].problem, HasSubstr("not what the log gives"));
}

TEST_F(FolderCheck, ASnapshotUnderAnotherPositionsNameIsFound) {
  const auto positions = *world_.store().snapshots(log_.id);
  const auto older = *world_.store().get_snapshot(log_.id, positions[1]);
  ASSERT_TRUE(world_.store().put_snapshot(log_.id, positions[0], older).ok());
  check();
  ASSERT_EQ(findings_.size(), 1U);
  EXPECT_THAT(findings_[0].problem, HasSubstr("another position"));
}

TEST_F(FolderCheck, AnEventThatCannotBeReadIsNamed) {
  ASSERT_TRUE(world_.store().inject(log_.id, {Payload(3)}).ok());
  world_.store().flush();
  EXPECT_EQ(check().model_hash, "");
  ASSERT_EQ(findings_.size(), 1U);
  EXPECT_EQ(findings_[0].file, "hindsight.db");
  EXPECT_THAT(findings_[0].problem, HasSubstr("position " + std::to_string(live_.position + 1)));
}

}  // namespace
}  // namespace hindsight
