// The fold, event by event: what no caller of a well-kept store can bring about.

#include "src/engine/fold.h"

#include <gtest/gtest.h>

#include "tests/engine_support/hand_made_log.h"

namespace hindsight {
namespace {

TEST(Fold, AClickBeforeItsDecisionIsPendingAndLearnedWhenItComes) {
  HandMadeLog log;
  log.add_items({"a", "b"});
  log.click(1, "a");
  EXPECT_EQ(log.counts().pending, 1U);
  EXPECT_EQ(log.counts().learned, 0U);
  log.decide(1, {0, 1});
  EXPECT_EQ(log.counts().pending, 0U);
  EXPECT_EQ(log.counts().learned, 1U);
}

TEST(Fold, AClickWhoseDecisionNeverComesIsUnjoinedWhenItsWindowEnds) {
  HandMadeLog log;
  log.add_items({"a", "b"});
  log.at(1000).click(1, "a");
  log.at(2000).close(999);
  EXPECT_EQ(log.counts().pending, 1U);
  log.close(1000);
  EXPECT_EQ(log.counts().pending, 0U);
  EXPECT_EQ(log.counts().unjoined, 1U);
}

TEST(Fold, RepeatedClicksWithoutADecisionAreUnjoinedAndNotDuplicates) {
  HandMadeLog log;
  log.add_items({"a", "b"});
  log.at(1000).click(1, "a", "e");
  log.click(1, "a", "e");
  log.close(1000);
  EXPECT_EQ(log.counts().unjoined, 2U);
  EXPECT_EQ(log.counts().duplicate, 0U);
}

TEST(Fold, PendingClicksAreJudgedWhenTheirDecisionComes) {
  HandMadeLog log;
  log.add_items({"a", "b", "c"});
  log.click(1, "a", "e");
  log.click(1, "a", "e");
  log.click(1, "c");
  log.decide(1, {0, 1});
  EXPECT_EQ(log.counts().learned, 1U);
  EXPECT_EQ(log.counts().duplicate, 1U);
  EXPECT_EQ(log.counts().quarantined, 1U);
  EXPECT_EQ(log.counts().pending, 0U);
}

TEST(Fold, EventsCarryTheLatestTimeSoFar) {
  HandMadeLog log;
  log.add_items({"a", "b"});
  log.at(5000).decide(1, {0, 1});
  log.at(100).decide(2, {0, 1});  // a clock that went back
  EXPECT_EQ(log.fold().time_ms(), 5000);
  log.close(4999);
  EXPECT_EQ(log.stats().open_decisions, 2U);
  log.close(5000);
  EXPECT_EQ(log.stats().open_decisions, 0U);
}

TEST(Fold, ARepeatedEventChangesNothing) {
  HandMadeLog once;
  HandMadeLog twice;
  twice.repeat_every_event();
  for (HandMadeLog* log : {&once, &twice}) {
    log->add_items({"a", "b", "c"});
    log->decide(1, {0, 1, 2});
    log->click(1, "b");
    log->remove("c");
    log->add_items({"c"});
    log->decide(2, {0, 3});
    log->click(2, "c", "e");
    log->close(10);
  }
  EXPECT_EQ(twice.hash(), once.hash());
  EXPECT_EQ(twice.counts(), once.counts());
  EXPECT_EQ(twice.stats().decisions, 2U);
}

TEST(Fold, AnOldItemsEventThatComesAgainDoesNotUndoALaterOne) {
  HandMadeLog log;
  const Event first = log.add_items({"a"}, "old");
  log.add_items({"a"}, "new");
  log.append(first);
  EXPECT_EQ(log.model().topic("old").size(), 0U);
  EXPECT_EQ(log.model().topic("new").size(), 1U);
}

TEST(Fold, ADecisionThatNamesUnknownItemsIsIgnored) {
  HandMadeLog log;
  log.add_items({"a"});
  log.decide(1, {0, 99});
  EXPECT_EQ(log.stats().decisions, 0U);
}

TEST(Fold, ARemovedItemsOpenDecisionStillLearns) {
  HandMadeLog log;
  log.add_items({"a", "b"});
  log.decide(1, {0, 1});
  log.remove("a");
  const std::string before = log.hash();
  log.click(1, "a");
  EXPECT_EQ(log.counts().learned, 1U);
  EXPECT_NE(log.hash(), before);
}

TEST(Fold, AnItemThatIsAddedAgainIsANewItem) {
  HandMadeLog log;
  log.add_items({"a", "b"});
  log.decide(1, {0, 1});
  log.remove("a");
  log.add_items({"a"});
  EXPECT_EQ(log.model().find("a"), ItemIndex{2});
  EXPECT_EQ(log.model().items_added(), 3U);
  log.click(1, "a");  // of the old one
  EXPECT_GT(log.model().signals().picks(0), 0U);
  EXPECT_EQ(log.model().signals().picks(2), 0U);
}

TEST(Fold, GoesOnTheSameFromEveryPositionOfASave) {
  HandMadeLog whole;
  const auto play = [](HandMadeLog& log) {
    log.add_items({"a", "b", "c"});
    log.click(2, "b");
    for (std::uint64_t d = 1; d <= 6; ++d) {
      log.at(static_cast<std::int64_t>(100 * d)).decide(d, {0, 1, 2});
      log.click(d, d % 2 == 0 ? "a" : "b", "e");
      log.click(d, "a", "e");
      if (d == 3) {
        log.remove("c");
        log.add_items({"c", "d"}, "topic");
      }
      log.close(static_cast<std::int64_t>(100 * d) - 150);
    }
    log.click(9, "a");
  };
  play(whole);
  for (std::size_t position = 1; position <= whole.size(); ++position) {
    HandMadeLog log;
    log.save_and_load_after(position);
    play(log);
    EXPECT_EQ(log.hash(), whole.hash()) << "saved after event " << position;
    EXPECT_EQ(log.counts(), whole.counts());
    EXPECT_EQ(log.snapshot(), whole.snapshot());
  }
}

TEST(Fold, DamagedSnapshotsAreRefused) {
  HandMadeLog log;
  log.add_items({"a", "b", "c"}, "topic");
  log.decide(1, {0, 1, 2});
  log.click(1, "b");
  const std::vector<std::byte> good = log.snapshot();
  ASSERT_TRUE(log.loads(good));
  for (std::size_t i = 0; i < good.size(); i += 7) {
    std::vector<std::byte> bad = good;
    bad[i] ^= std::byte{0x10};
    EXPECT_FALSE(log.loads(bad)) << "byte " << i;
    EXPECT_FALSE(log.loads(std::span(good).first(i))) << "cut at " << i;
  }
}

TEST(Fold, ClosingTellsRankersThatWaitForItWhatWasNotClicked) {
  HandMadeLog log;
  log.add_items({"a", "b"});
  const std::shared_ptr<const std::vector<Feedback>> heard = log.use_listener(Learns::kOnClose);
  log.at(100).decide(1, {0, 1});
  log.at(100).decide(2, {1, 0});
  log.click(1, "b");
  EXPECT_EQ(log.counts().pending, 1U);
  EXPECT_TRUE(heard->empty());
  log.close(100);
  ASSERT_EQ(heard->size(), 2U);
  EXPECT_EQ(heard->at(0).clicked, std::vector<ItemIndex>{1});
  EXPECT_TRUE(heard->at(0).closed);
  EXPECT_TRUE(heard->at(1).clicked.empty());
  EXPECT_EQ(log.counts().pending, 0U);
  EXPECT_EQ(log.counts().learned, 1U);
}

TEST(Fold, ImmediateRankersHearEachDistinctItemOnceInLogOrder) {
  HandMadeLog log;
  log.add_items({"a", "b"});
  const std::shared_ptr<const std::vector<Feedback>> heard = log.use_listener(Learns::kImmediate);
  log.at(100).decide(1, {0, 1});
  log.click(1, "b", "e1");
  log.click(1, "b", "e2");
  log.click(1, "a", "e3");
  log.close(100);
  ASSERT_EQ(heard->size(), 2U);
  EXPECT_EQ(heard->at(0).clicked, std::vector<ItemIndex>{1});
  EXPECT_EQ(heard->at(1).clicked, std::vector<ItemIndex>{0});
}

}  // namespace
}  // namespace hindsight
