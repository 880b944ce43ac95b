// What a decision chose among: in bytes, and as the collection logs it.

#include "src/engine/candidate_set.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "src/engine/config_bytes.h"
#include "src/engine/event.h"
#include "tests/engine_support/engine_world.h"

namespace hindsight {
namespace {

using Kind = CandidateSet::Kind;

DecisionEvent some_decision() {
  DecisionEvent event;
  event.decision.id = {.source = 1, .counter = 2};
  event.decision.items = {4, 3};
  event.decision.shown_count = 2;
  event.decision.score = {0.5, 0.25};
  event.decision.prob_first = {0.5, 0.25};
  return event;
}

Event event_of(DecisionEvent body) {
  return {.id = {.source = 1, .sequence = 7}, .clock_ms = 9, .body = std::move(body)};
}

CandidateSet through_bytes(const CandidateSet& set) {
  DecisionEvent event = some_decision();
  event.candidates = set;
  const Result<Event> read = decode_event(encode_event(event_of(std::move(event))));
  return read.ok() ? std::get<DecisionEvent>(read->body).candidates : CandidateSet{};
}

TEST(CandidateSet, IsReadAsItWasWritten) {
  CandidateSet listed{.kind = Kind::kListed, .items = {5, 4, 3}, .prior = {0.5, 0.0, -1.0}};
  listed.features.row_begin = {0, 1, 1, 2};
  listed.features.sparse_index = {3, 9};
  listed.features.sparse_value = {0.25, 4.0};
  const CandidateSet read = through_bytes(listed);
  EXPECT_EQ(read.kind, Kind::kListed);
  EXPECT_EQ(read.items, listed.items);
  EXPECT_EQ(read.prior, listed.prior);
  EXPECT_EQ(read.features.row_begin, listed.features.row_begin);
  EXPECT_EQ(read.features.sparse_value, listed.features.sparse_value);
  EXPECT_EQ(through_bytes({.kind = Kind::kTopic, .topic = 12}).topic, 12U);
  for (const Kind kind : {Kind::kNotLogged, Kind::kShown, Kind::kTopic, Kind::kLibrary}) {
    EXPECT_EQ(through_bytes({.kind = kind}).kind, kind);
  }
}

TEST(CandidateSet, DamagedBytesAreRefused) {
  DecisionEvent event = some_decision();
  event.candidates = {.kind = Kind::kListed, .items = {5, 4}, .prior = {1.0, 2.0}};
  const std::vector<std::byte> good = encode_event(event_of(event));
  for (std::size_t size = 0; size < good.size(); ++size) {
    EXPECT_FALSE(decode_event(std::span(good).first(size)).ok());
  }
  event.candidates.prior.pop_back();
  EXPECT_FALSE(decode_event(encode_event(event_of(event))).ok());
  event.candidates = {.kind = static_cast<Kind>(9)};
  EXPECT_FALSE(decode_event(encode_event(event_of(event))).ok());
}

TEST(CandidateSet, EventsOfTheFirstFormatHaveNone) {
  std::vector<std::byte> bytes = encode_event(event_of(some_decision()));
  bytes.resize(bytes.size() -
               2);  // the set's kind and the draw, which the first format did not have
  bytes.front() = std::byte{1};
  const Result<Event> read = decode_event(bytes);
  ASSERT_TRUE(read.ok()) << to_string(read.error());
  EXPECT_EQ(std::get<DecisionEvent>(read->body).candidates.kind, Kind::kNotLogged);
  EXPECT_EQ(std::get<DecisionEvent>(read->body).decision.items, (std::vector<ItemIndex>{4, 3}));
  bytes.front() = std::byte{2};
  EXPECT_FALSE(decode_event(bytes).ok());
}

std::vector<std::byte> bytes_of(bool log_queries, bool log_candidates) {
  CollectionConfig config;
  config.log_queries = log_queries;
  config.log_candidates = log_candidates;
  ByteWriter out;
  put_config(out, config);
  return out.take();
}

TEST(CandidateSet, TheSwitchIsReadAsItWasWritten) {
  for (const bool queries : {false, true}) {
    for (const bool candidates : {false, true}) {
      const std::vector<std::byte> bytes = bytes_of(queries, candidates);
      ByteReader in(bytes);
      CollectionConfig read;
      ASSERT_TRUE(get_config(in, read));
      EXPECT_EQ(read.log_queries, queries);
      EXPECT_EQ(read.log_candidates, candidates);
    }
  }
}

// Before there was the switch, the byte that it stands in was 0 or 1, for queries alone.
TEST(CandidateSet, SettingsWrittenBeforeThereWasTheSwitchLogCandidates) {
  const std::vector<std::byte> without = bytes_of(false, true);
  const std::vector<std::byte> with = bytes_of(true, true);
  ASSERT_EQ(without.size(), with.size());
  const auto [old, now] = std::mismatch(without.begin(), without.end(), with.begin());
  ASSERT_NE(old, without.end());
  EXPECT_EQ(*old, std::byte{0});
  EXPECT_EQ(*now, std::byte{1});
  EXPECT_TRUE(std::equal(old + 1, without.end(), now + 1));
}

class LoggedCandidates : public ::testing::Test {
 protected:
  void SetUp() override {
    CollectionPatch patch;
    patch.ranker = "random";
    patch.seed = 1;
    ASSERT_TRUE(world.put("c", patch).ok());
    std::vector<ItemInput> items;
    for (const char* id : {"a", "b", "c", "d"}) {
      items.push_back({.id = id, .topics = {}, .features = {}, .links = {}});
    }
    items[1].topics = items[2].topics = items[3].topics = {"t"};
    ASSERT_TRUE(world.add("c", items).ok());
  }

  /// The decisions' sets as the log has them.
  std::vector<CandidateSet> logged() {
    world.stats("c");
    std::vector<CandidateSet> sets;
    for (const LogEntry& entry : world.store().copy_of(1)) {
      Result<Event> event = decode_event(entry.payload);
      if (auto* decided = event.ok() ? std::get_if<DecisionEvent>(&event->body) : nullptr) {
        sets.push_back(std::move(decided->candidates));
      }
    }
    return sets;
  }

  EngineWorld world;
};

TEST_F(LoggedCandidates, HoldWhatWasNotShown) {
  ASSERT_TRUE(world.rank_ids("c", {"d", "a", "c"}, 2).ok());
  ASSERT_TRUE(world.rank_ids("c", {"d", "a", "c"}, 3).ok());
  RankInput topic;
  topic.topic = "t";
  topic.k = 2;
  ASSERT_TRUE(world.rank("c", topic).ok());
  RankInput library;
  library.k = 2;
  ASSERT_TRUE(world.rank("c", library).ok());
  const std::vector<CandidateSet> sets = logged();
  ASSERT_EQ(sets.size(), 4U);
  EXPECT_EQ(sets[0].kind, Kind::kListed);
  EXPECT_EQ(sets[0].items, (std::vector<ItemIndex>{3, 0, 2}));
  EXPECT_EQ(sets[1].kind, Kind::kShown);
  EXPECT_EQ(sets[2].kind, Kind::kTopic);
  EXPECT_EQ(sets[2].topic, 0U);
  EXPECT_EQ(sets[3].kind, Kind::kLibrary);
}

TEST_F(LoggedCandidates, HoldPriorsAndFeaturesThatTheRequestGave) {
  RankInput input;
  input.candidates = {{.id = "a", .features = {{"f", 2.0}}, .prior = 0.5},
                      {.id = "b", .features = {}, .prior = -1.0}};
  input.has_prior = true;
  input.has_features = true;
  ASSERT_TRUE(world.rank("c", input).ok());
  const std::vector<CandidateSet> sets = logged();
  ASSERT_EQ(sets.size(), 1U);
  EXPECT_EQ(sets[0].kind, Kind::kListed);
  EXPECT_EQ(sets[0].prior, (std::vector<double>{0.5, -1.0}));
  EXPECT_EQ(sets[0].features.sparse_value, (std::vector<double>{2.0}));
}

TEST_F(LoggedCandidates, AreLeftOutWhereTheCollectionSaysSo) {
  CollectionPatch patch;
  patch.log_candidates = false;
  ASSERT_EQ(*world.put("c", patch), PutOutcome::kChanged);
  ASSERT_TRUE(world.rank_ids("c", {"d", "a", "c"}, 2).ok());
  world.restart();
  EXPECT_FALSE(world.engine().collection("c")->config.log_candidates);
  const std::vector<CandidateSet> sets = logged();
  ASSERT_EQ(sets.size(), 1U);
  EXPECT_EQ(sets[0].kind, Kind::kNotLogged);
}

TEST_F(LoggedCandidates, SurviveTheErasureOfAUser) {
  RankInput input;
  for (const char* id : {"a", "b", "c"}) {
    input.candidates.push_back({.id = id, .features = {}, .prior = 0.0});
  }
  input.k = 2;
  input.user = "alice";
  ASSERT_TRUE(world.rank("c", input).ok());
  world.stats("c");
  const auto erased =
      wait_for<std::uint64_t>([&](auto done) { world.engine().erase_user("c", "alice", done); });
  ASSERT_TRUE(erased.ok());
  EXPECT_EQ(*erased, 1U);
  EXPECT_EQ(logged().at(0).items, (std::vector<ItemIndex>{0, 1, 2}));
}

}  // namespace
}  // namespace hindsight
