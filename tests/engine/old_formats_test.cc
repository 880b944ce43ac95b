// Bytes that earlier versions wrote, as they wrote them.

#include <gtest/gtest.h>

#include <string_view>
#include <vector>

#include "src/engine/engine.h"
#include "src/engine/event.h"
#include "src/engine/recovery.h"
#include "tests/engine_support/hand_made_log.h"

namespace hindsight {
namespace {

// A decision and the making of a collection in format 1 of events, and the snapshot of a small log
// in format 2 of records.
constexpr std::string_view kOldDecision =
    "0103010000000000000004000000000000004d000000000000000100000000000000090000000000000005000000"
    "0000000006000000000000006b6c72616e6b00000000000000000002000000000000000100000000000000020000"
    "00000000000200000000000000000000000000e03f000000000000d03f0200000000000000000000000000e03f00"
    "0000000000e03f000000000000000000000000000000000000000000000000000000000000000000000000000000"
    "00000000000000000001000000000000e0bf00000000000000000000000000000000000000000000000000000000"
    "00000000000000000100000000000000710100000001000000000000007a01";
constexpr std::string_view kOldCollection =
    "0100010000000000000000000000000000004d0000000000000006000000000000006b6c72616e6b0a0000000500"
    "000000000000616c7068610000000000000008400a0000000000000063686f6963655f7365740105000000000000"
    "0073686f776e0d00000000000000636f6e746578745f7465726d7300000000000000f04009000000000000006375"
    "727661747572650000000000000000000d00000000000000666561747572655f626f756e6400000000000000f03f"
    "0700000000000000686f72697a6f6e00000000000000000009000000000000006f7074696d697365720104000000"
    "000000006770657203000000000000007068690105000000000000006974656d7306000000000000007265647261"
    "7702000700000000000000726573746172740104000000000000007761726d070000000000000040771b00000000"
    "00000000000000000000000040420f0000000000204e00000000000000000040000000000300000001";
// Clicks in format 2 of events, which name items only.
constexpr std::string_view kOldClicks =
    "0204010000000000000005000000000000004d000000000000000200000001000000000000000900000000000000"
    "0101000000000000006201000000000000006501000000000000000a000000000000000001000000000000006300"
    "00000000000000";
constexpr std::string_view kOldSnapshot =
    "48494e4453494748542053544154450a02000000010000000700000000000000d0070000000000000f0000000000"
    "00006e6f7265677265742d6b6c72616e6b0b0000000500000000000000616c7068610000000000000008400a0000"
    "000000000063686f6963655f73657401050000000000000073686f776e0d00000000000000636f6e746578745f74"
    "65726d7300000000000000f04009000000000000006375727661747572650000000000000000000d000000000000"
    "00666561747572655f626f756e6400000000000000f03f0700000000000000686f72697a6f6e0000000000000000"
    "0007000000000000006c696272617279020009000000000000006f7074696d697365720104000000000000006770"
    "657203000000000000007068690105000000000000006974656d7306000000000000007265647261770200070000"
    "0000000000726573746172740104000000000000007761726d000000000000000040771b00000000000000000000"
    "00000000000040420f0000000000204e000000000000000000400000000000000000000000000000000002000000"
    "00000000000000000000000002000000000000000000000000000000000000000000000000000000000000000000"
    "00000000000003000000000000000000000000000000030000000000000002000000000000000100000000000000"
    "9f9a1acc4918fa3f0000000000000000000000000000000000000000000000000000000000000000000000000100"
    "00000100000000000000060000000000000000000000000000000300000000000000010000000000000001000000"
    "000000000300000000000000e8030000000000000101000000000000003b8b3b1336dd60a3010000000000000001"
    "0000000000000000000000010000000000000002000000000000000500000000000000d007000000000000010100"
    "0000000000002d8037b5bd40e6140100000000000000020000000000000000000000010000000000000003000000"
    "000000000700000000000000d007000000000000000000000000000000000000000000000000000000000000000f"
    "000000000000006e6f7265677265742d6b6c72616e6b0b0000000500000000000000616c70686100000000000000"
    "08400a0000000000000063686f6963655f73657401050000000000000073686f776e0d00000000000000636f6e74"
    "6578745f7465726d7300000000000000f04009000000000000006375727661747572650000000000000000000d00"
    "000000000000666561747572655f626f756e6400000000000000f03f0700000000000000686f72697a6f6e000000"
    "00000000000007000000000000006c696272617279020009000000000000006f7074696d69736572010400000000"
    "0000006770657203000000000000007068690105000000000000006974656d730600000000000000726564726177"
    "02000700000000000000726573746172740104000000000000007761726d000000000000000040771b0000000000"
    "000000000000000000000040420f0000000000204e00000000000000000040000000000000000007000000000000"
    "00030000000000000001006101006201006300000000000000000000000000000000000000000000000022020000"
    "0000000048494e445349474854204d4f44454c0a02000000010000000f000000000000006e6f7265677265742d6b"
    "6c72616e6b0b000000000000000500000000000000616c7068610000000000000008400a0000000000000063686f"
    "6963655f73657401050000000000000073686f776e0d00000000000000636f6e746578745f7465726d7300000000"
    "000000f04009000000000000006375727661747572650000000000000000000d0000000000000066656174757265"
    "5f626f756e6400000000000000f03f0700000000000000686f72697a6f6e00000000000000000007000000000000"
    "006c696272617279020009000000000000006f7074696d6973657201040000000000000067706572030000000000"
    "00007068690105000000000000006974656d73060000000000000072656472617702000700000000000000726573"
    "746172740104000000000000007761726d03000000000000000101010300000000000000ebb456e627ba02c0aed3"
    "5a999fe8fa3f542ca5666017e53f00000000000000000000000000000000000000000000f03f6cb66f663b7c2140"
    "070000000000000000000000000000000200000000000000020000000000000001000000000000000a03ad7aea93"
    "f13f0a03ad7aea93f13fc21e04b3772e0440a0924a0f7d8a0c40aed35a999fe8fa3f0100000000000000ef39fafe"
    "422ee63fef39fafe422ee63f0000000000000840da6cdfcc76f81040000000000000f83f1110b9802e1118c20100"
    "5c26050000000000c87e9a0000000020000000000000001000000000000000200000000000000000000100000000"
    "00d00700000000000003000000000000000000000000000000000000000000000000000000000000000100000000"
    "000000e803000000000000000000000000f03f000000000000f03f00000000000000000000000000000000000000"
    "00000000000100000000000000d007000000000000000000000000f03f000000000000f03f000000000000000000"
    "00000000000000000000000000000083dc39ae9e5e577a";
constexpr std::string_view kOldHash = "35a425f9150119fb81a63a38d3513328";
// A snapshot in format 5 of records, of two decisions in each of two eras, all with a click.
constexpr std::string_view kOldEras =
    "48494e4453494748542053544154450a05000000010000000b00000000000000c7e63ff0a1010000060000000000"
    "000072616e646f6d010000000a0000000000000063686f6963655f736574010a0000000000000063616e64696461"
    "746573010000000000000040771b000000000000000000000000e03f020140420f0000000000204e000000000000"
    "00000040000000000000000001000000000000000400000000000000000000000000000004000000000000000000"
    "00000000000000000000000000000000000000000000000000000000000004000000000000000000000000000000"
    "04000000000000000400000000000000040000000000000000000000000010400400000000000000000000000000"
    "10400000000000000000000000000000000000000000000000000000000000000000000000000000000000000000"
    "00000000000000000100000001000000000000000a00000000000000000000000000000004000000000000000100"
    "0000000000000100000000000000030000000000000097e63ff0a101000001010000000000000020a7376f99d0f6"
    "d20100000000000000000000000000000000000000010000000000000002000000000000000500000000000000a3"
    "e63ff0a101000001010000000000000020a7376f99d0f6d201000000000000000000000000000000000000000100"
    "00000000000003000000000000000800000000000000b3e63ff0a1010000010100000000000000202345a3389100"
    "990100000000000000010000000000000000000000010000000000000004000000000000000a00000000000000bf"
    "e63ff0a1010000010100000000000000202345a33891009901000000000000000100000000000000000000000000"
    "00000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000"
    "01000000000000000400000000000000000000009fe63ff0a1010000040000000000000000000100000000000000"
    "01000000000000000100000000000000000000000000f03f0100000000000000000000000000f03f000000000000"
    "00000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000"
    "00000000a7e63ff0a101000006000000000000000000020000000000000002000000000000000200000000000000"
    "00000000000000400200000000000000000000000000004000000000000000000000000000000000000000000000"
    "00000000000000000000000000000000000000000000000000000100000000000000b7e63ff0a101000009000000"
    "00000000000003000000000000000300000000000000030000000000000000000000000008400300000000000000"
    "00000000000008400000000000000000000000000000000000000000000000000000000000000000000000000000"
    "000000000000000000000100000000000000c7e63ff0a10100000b00000000000000000004000000000000000400"
    "00000000000004000000000000000000000000001040040000000000000000000000000010400000000000000000"
    "00000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000"
    "000000000000000000000000000000000000000000000000000000000000060000000000000072616e646f6d0100"
    "00000a0000000000000063686f6963655f736574010a0000000000000063616e6469646174657301000000000000"
    "0040771b000000000000000000000000e03f020140420f0000000000204e00000000000000000040000000000000"
    "00000b00000000000000020000000000000001006101006200000000000000000000000000000000000000000000"
    "0000650000000000000048494e445349474854204d4f44454c0a0500000001000000060000000000000072616e64"
    "6f6d01000000000000000a0000000000000063686f6963655f736574010a0000000000000063616e646964617465"
    "73020000000000000001013b08e1b3ea81cc17022c01000000000000b80b00000000000020000000000000001000"
    "000000000000200000000000000000000100000000004000000000000000c7e63ff0a10100000400000000000000"
    "020000000000000090e63ff0a1010000000000000000000000000000000000000200000000000000a7e63ff0a101"
    "00000200000000000000ba895a128cf6ff3f5c9767c10dffff3f0000000000000000000000000000000090e63ff0"
    "a1010000000000000000000000000000000000000200000000000000c7e63ff0a10100000400000000000000ba89"
    "5a128cf6ff3f5c9767c10dffff3f0000000000000000000000000000000000000000000000004a0338b4975c7974";

std::vector<std::byte> bytes_of(std::string_view hex) {
  const auto digit = [](char c) { return c <= '9' ? c - '0' : c - 'a' + 10; };
  std::vector<std::byte> bytes;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2) {
    bytes.push_back(static_cast<std::byte>(16 * digit(hex[i]) + digit(hex[i + 1])));
  }
  return bytes;
}

/// The log that the old snapshot was taken of.
void write_log(HandMadeLog& log) {
  log.add_items({"a", "b", "c"});
  log.at(1000).decide(1, {0, 1, 2});
  log.click(1, "b", "e");
  log.at(2000).decide(2, {2, 0});
  log.click(2, "c");
  log.decide(3, {1, 0});
}

TEST(OldFormats, EventsAreRead) {
  const Result<Event> decided = decode_event(bytes_of(kOldDecision));
  ASSERT_TRUE(decided.ok()) << to_string(decided.error());
  const auto& event = std::get<DecisionEvent>(decided->body);
  EXPECT_EQ(event.decision.id, (DecisionId{.source = 1, .counter = 9}));
  EXPECT_EQ(event.decision.items, (std::vector<ItemIndex>{1, 0}));
  EXPECT_EQ(event.decision.log_propensity, -0.5);
  EXPECT_EQ(event.query, "q");
  EXPECT_EQ(event.appended, std::vector<std::string>{"z"});
  EXPECT_TRUE(event.control);
  EXPECT_FALSE(event.drawn) << "it does not say, and counts for neither arm";
  const Result<Event> made = decode_event(bytes_of(kOldCollection));
  ASSERT_TRUE(made.ok()) << to_string(made.error());
  const auto& config = std::get<CollectionEvent>(made->body).config;
  EXPECT_EQ(config.seed, 7U);
  EXPECT_EQ(config.retain_days, 3U);
}

// Or a user's erasure would change what the log gives.
TEST(OldFormats, AnEventThatIsWrittenAgainIsFoldedAsBefore) {
  DecisionEvent decision;
  decision.decision.user = 7;
  std::vector<std::byte> bytes =
      encode_event({.id = {.source = 1, .sequence = 2}, .clock_ms = 3, .body = decision});
  EXPECT_EQ(encode_event(*decode_event(bytes)), bytes);
  bytes[0] = std::byte{4};
  EXPECT_EQ(encode_event(*decode_event(bytes)), bytes);
}

// A ranker gets a parameter: collections from before have its default, wherever they are compared.
TEST(OldFormats, AParameterThatARankerHasGotSinceHasItsDefault) {
  for (const char* ranker : {"auto", "klrank"}) {
    CollectionEvent made;
    made.config.ranker = ranker;
    made.config.params = *check_params(**find_ranker(ranker), {});
    const ParamMap complete = made.config.params;
    ASSERT_EQ(made.config.params.erase("context_terms"), 1U);
    const Result<Event> read = decode_event(encode_event({.id = {}, .clock_ms = 0, .body = made}));
    ASSERT_TRUE(read.ok()) << to_string(read.error());
    const CollectionConfig& config = std::get<CollectionEvent>(read->body).config;
    EXPECT_EQ(config.params, complete);
    const Result<std::unique_ptr<Model>> model = Model::make(config);
    ASSERT_TRUE(model.ok());
    EXPECT_EQ((*model)->clone()->config(), config);
  }
}

TEST(OldFormats, ClicksThatNameItemsOnlyAreRead) {
  const Result<Event> read = decode_event(bytes_of(kOldClicks));
  ASSERT_TRUE(read.ok()) << to_string(read.error());
  const std::vector<ClickRecord>& clicks = std::get<ClicksEvent>(read->body).clicks;
  ASSERT_EQ(clicks.size(), 2U);
  EXPECT_EQ(clicks[0].decision, (DecisionId{.source = 1, .counter = 9}));
  EXPECT_EQ(clicks[0].item, "b");
  EXPECT_EQ(clicks[0].event, "e");
  EXPECT_EQ(clicks[0].position, 0U);
  EXPECT_TRUE(clicks[0].ranking.empty());
  EXPECT_EQ(clicks[1].item, "c");
  EXPECT_FALSE(clicks[1].issued_here);
}

// Programs that wrote these kept every key, and so must a fold of what they wrote.
TEST(OldFormats, NoMemoryBoundsTheKeysOfClicksFromBeforeFormat5) {
  const auto quarantined = [](std::uint8_t format) {
    HandMadeLog log;
    log.add_items({"a", "b"});
    log.decide(1, {0, 1});
    CollectionConfig config = log.model().config();
    config.memory_budget = std::uint64_t{1} << 20;
    log.append({.id = {.source = 2, .sequence = 1},
                .clock_ms = 0,
                .body = CollectionEvent{.config = config, .history = History::kDiscard}});
    ClicksEvent clicks;
    for (int event = 0; event < 10'000; ++event) {
      clicks.clicks.push_back(
          {.decision = {.source = 1, .counter = 1}, .item = "a", .event = std::to_string(event)});
    }
    std::vector<std::byte> bytes = encode_event(
        {.id = {.source = 2, .sequence = 2}, .clock_ms = 0, .body = std::move(clicks)});
    bytes[0] = std::byte{format};
    const LogEntry entry{.position = log.fold().position() + 1, .payload = std::move(bytes)};
    EXPECT_TRUE(log.fold().apply(entry, log.model(), nullptr).ok());
    return log.counts().quarantined;
  };
  EXPECT_EQ(quarantined(4), 0U);
  EXPECT_EQ(quarantined(5), 10'000U - ((1U << 20) / 8 / 16 + 1 + DecisionTable::kUsualKeys));
}

TEST(OldFormats, ASnapshotIsReadAndKnownToKnowLess) {
  HandMadeLog log;
  write_log(log);
  const Result<Folded> old = load_snapshot(log.store(), log.id(), bytes_of(kOldSnapshot), {});
  ASSERT_TRUE(old.ok()) << to_string(old.error());
  EXPECT_TRUE(old->fold->partial());
  EXPECT_EQ(model_hash(old->model->ranker()), kOldHash);
  EXPECT_EQ(log.hash(), kOldHash);
  EXPECT_EQ(old->fold->counts(), log.counts());
  EXPECT_EQ(old->fold->sample().seen(), 0U);
  CollectionStats stats;
  old->fold->fill_stats(stats);
  EXPECT_EQ(stats.ranker_arm.clicks, 2U);
  EXPECT_EQ(stats.ranker_arm.clicked, 2U);
  EXPECT_GE(stats.ranker_arm.ndcg_squares, log.stats().ranker_arm.ndcg_squares);
}

TEST(OldFormats, TheWholeLogIsFoldedAgainWhereItIsThere) {
  HandMadeLog log;
  write_log(log);
  const Position head = log.fold().position();
  ASSERT_TRUE(log.store().put_snapshot(log.id(), head, bytes_of(kOldSnapshot)).ok());
  const LogInfo info{.id = log.id(), .name = "log"};
  const Result<Folded> whole = recover(log.store(), info, {});
  ASSERT_TRUE(whole.ok());
  EXPECT_FALSE(whole->fold->partial());
  EXPECT_EQ(whole->fold->sample().seen(), 2U);
  EXPECT_TRUE(whole->anew);
  // Its beginning gone, the snapshot is what there is.
  ASSERT_TRUE(log.store().truncate_before(log.id(), head).ok());
  const Result<Folded> rest = recover(log.store(), info, {});
  ASSERT_TRUE(rest.ok()) << to_string(rest.error());
  EXPECT_TRUE(rest->fold->partial());
  EXPECT_EQ(model_hash(rest->model->ranker()), kOldHash);
}

TEST(OldFormats, AnIdleCollectionIsFoldedAgainOnceAndNotAtEveryStart) {
  HandMadeLog log;
  write_log(log);
  const Position head = log.fold().position();
  ASSERT_TRUE(log.store().put_snapshot(log.id(), head, bytes_of(kOldSnapshot)).ok());
  EngineOptions options;
  options.timers = false;
  { ASSERT_TRUE(Engine::open(log.store(), options).ok()); }  // takes a snapshot when it ends
  const Result<std::vector<std::byte>> taken = log.store().get_snapshot(log.id(), head);
  ASSERT_TRUE(taken.ok());
  const Result<Folded> known = load_snapshot(log.store(), log.id(), *taken, {});
  ASSERT_TRUE(known.ok());
  EXPECT_FALSE(known->fold->partial());
}

TEST(OldFormats, CountsGoOnFromAnOldSnapshotWithinTheirRange) {
  HandMadeLog log;
  write_log(log);
  Result<Folded> old = load_snapshot(log.store(), log.id(), bytes_of(kOldSnapshot), {});
  ASSERT_TRUE(old.ok());
  const Position head = old->fold->position();
  log.click(1, "a");  // a second item of a decision that had a click,
  log.click(3, "b");  // and the first of one that had none
  const Result<std::vector<LogEntry>> tail = log.store().read(log.id(), head, 10);
  ASSERT_TRUE(tail.ok());
  for (const LogEntry& entry : *tail) {
    ASSERT_TRUE(old->fold->apply(entry, *old->model, nullptr).ok());
  }
  CollectionStats stats;
  old->fold->fill_stats(stats);
  EXPECT_EQ(stats.ranker_arm.clicks, 4U);
  EXPECT_EQ(stats.ranker_arm.clicked, 3U);
  EXPECT_EQ(model_hash(old->model->ranker()), log.hash());
}

TEST(OldFormats, ASnapshotThatDoesNotTellErasApartIsKnownToKnowLess) {
  HandMadeLog log;
  const Result<Folded> old = load_snapshot(log.store(), log.id(), bytes_of(kOldEras), {});
  ASSERT_TRUE(old.ok()) << to_string(old.error());
  EXPECT_EQ(old->fold->era(), 1U);
  EXPECT_TRUE(old->fold->partial());
  CollectionStats stats;
  old->fold->fill_stats(stats);
  EXPECT_EQ(stats.ranker_arm.clicked, 4U);
  EXPECT_EQ(stats.era_arm, ArmStats{});
  EXPECT_EQ(stats.drawn_ranker_arm, ArmStats{}) << "what is in the log counts for neither arm";
  const std::vector<CurvePoint> points = old->fold->history(*old->model, 10);
  EXPECT_EQ(points.front().era, 0U);
  EXPECT_EQ(points.front().choice_set, "");
  EXPECT_EQ(points.back().choice_set, "candidates");
}

TEST(OldFormats, TheFirstEraOfAnOldSnapshotIsAllThereIs) {
  HandMadeLog log;
  write_log(log);
  const Result<Folded> old = load_snapshot(log.store(), log.id(), bytes_of(kOldSnapshot), {});
  ASSERT_TRUE(old.ok());
  CollectionStats stats;
  old->fold->fill_stats(stats);
  EXPECT_EQ(stats.era_arm.decisions, 3U);
  EXPECT_EQ(stats.era_arm.clicked, log.stats().era_arm.clicked);
}

TEST(OldFormats, WhatWasMeasuredSurvivesItsBytes) {
  CurvePoint point;
  point.era = 3;
  point.time_ms = 5;
  point.position = 7;
  point.cost = RegretSummary{.clicks = 9, .learned_cost = 4.5};
  point.hindsight = Hindsight{.cost = 3.5, .error = 0.25, .regret_upper = 1.5, .sample = 8};
  point.control_arm.clicked = 2;
  const std::vector<std::byte> bytes = encode_event(
      {.id = {.source = 1, .sequence = 2}, .clock_ms = 3, .body = MeasuredEvent{point}});
  EXPECT_EQ(std::get<MeasuredEvent>(decode_event(bytes)->body).point, point);
  for (std::size_t cut = 0; cut < bytes.size(); ++cut) {
    EXPECT_FALSE(decode_event(std::span(bytes).first(cut)).ok());
  }
}

}  // namespace
}  // namespace hindsight
