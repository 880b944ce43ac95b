#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "hindsight/registry.h"
#include "src/core/bytes.h"
#include "src/core/envelope.h"
#include "src/core/kernels.h"
#include "tests/support/stream.h"

namespace hindsight {
namespace {

std::unique_ptr<Ranker> lived(std::string_view name, const ParamMap& params = {}) {
  auto ranker = *make_ranker(name, params);
  testing::RandomLife life(*ranker, 5);
  life.grow(12);
  for (int i = 0; i < 60; ++i) {
    life.visit();
  }
  return ranker;
}

TEST(SaveFormat, BringsBackEveryRankerWithItsParameters) {
  for (const RankerInfo& info : ranker_registry()) {
    const auto before = lived(info.name);
    const auto after = load_ranker(save_ranker(*before));
    ASSERT_TRUE(after.ok()) << to_string(after.error());
    EXPECT_EQ((*after)->name(), info.name);
    EXPECT_EQ((*after)->params(), *check_params(info, {}));
    EXPECT_EQ((*after)->params(), before->params());
    EXPECT_EQ(model_hash(**after), model_hash(*before));
  }
}

TEST(SaveFormat, WhatIsHandedOnInPiecesIsWhatWouldBeKept) {
  for (const std::size_t size : {1U, 7U, 1'000U, 40'000U, 100'000U}) {
    std::vector<std::byte> pieces;
    std::size_t largest = 0;
    ByteWriter in_pieces([&](std::span<const std::byte> piece) {
      pieces.insert(pieces.end(), piece.begin(), piece.end());
      largest = std::max(largest, piece.size());
    });
    ByteWriter whole;
    for (std::uint32_t i = 0; i < 30'000; ++i) {
      in_pieces.put(i);
      whole.put(i);
      if (i % 10'000 == 5) {
        const std::vector<std::uint8_t> values(size, static_cast<std::uint8_t>(i));
        in_pieces.put(values);
        whole.put(values);
      }
    }
    in_pieces.flush();
    EXPECT_EQ(pieces, whole.bytes());
    EXPECT_TRUE(in_pieces.bytes().empty());
    EXPECT_LE(largest, std::max<std::size_t>(size, 100'000)) << "the whole was kept";
  }
}

TEST(SaveFormat, RefusesEveryTruncation) {
  for (const RankerInfo& info : ranker_registry()) {
    const std::vector<std::byte> bytes = save_ranker(*lived(info.name));
    for (std::size_t size = 0; size < bytes.size(); ++size) {
      const auto loaded = load_ranker(std::span(bytes).first(size));
      ASSERT_FALSE(loaded.ok()) << info.name << " cut to " << size;
      EXPECT_EQ(loaded.error().code, ErrorCode::kCorrupt);
    }
  }
}

TEST(SaveFormat, RefusesEveryFlippedBit) {
  for (const char* name : {"klrank", "hits", "mcrank"}) {
    std::vector<std::byte> bytes = save_ranker(*lived(name));
    for (std::size_t i = 0; i < bytes.size() * 8; ++i) {
      bytes[i / 8] ^= std::byte{1} << (i % 8);
      EXPECT_FALSE(load_ranker(bytes).ok()) << name << " bit " << i;
      bytes[i / 8] ^= std::byte{1} << (i % 8);
    }
    EXPECT_TRUE(load_ranker(bytes).ok());
  }
}

TEST(SaveFormat, NewerVersionsAreNamedAsSuch) {
  std::vector<std::byte> bytes = save_ranker(*lived("random"));
  constexpr std::size_t kVersionAt = 16;  // after the magic
  const std::uint32_t newer = 1000;
  std::memcpy(bytes.data() + kVersionAt, &newer, sizeof(newer));
  const auto loaded = load_ranker(bytes);
  ASSERT_FALSE(loaded.ok());
  EXPECT_EQ(loaded.error().code, ErrorCode::kNewerVersion);
}

// Decisions written by hand, so that nothing but the fold and the format decides the hash: a change
// that would fold the same log to other bits, or write other bytes, breaks this test and needs a
// new version number.
std::string hash_of_fixed_log(const char* name, std::uint64_t keys = 1) {
  auto ranker = *make_ranker(name, {{"choice_set", std::string("candidates")}});
  std::vector<Item> items(40);
  for (ItemIndex i = 0; i < items.size(); ++i) {
    items[i].index = i;
    if (i > 0) {
      items[i].links = {i / 2};
    }
  }
  EXPECT_TRUE(ranker->add_items(items).ok());
  const Signals signals;
  for (std::uint64_t t = 1; t <= 300; ++t) {
    Decision decision;
    decision.id = {0, t};
    decision.choice_set = ChoiceSet::kCandidates;
    decision.context_key = t % keys;
    for (std::uint64_t i = 0; i < 35; ++i) {
      decision.items.push_back(static_cast<ItemIndex>((t * 7 + i * 3) % 40));
    }
    decision.shown_count = decision.items.size();
    decision.score.assign(decision.items.size(), 0.0);
    decision.prob_first.assign(decision.items.size(), 1.0 / 35.0);
    Feedback feedback;
    feedback.decision = decision.id;
    feedback.clicked = {decision.items[t * t % 11]};
    EXPECT_TRUE(ranker->learn(decision, feedback, signals).ok());
  }
  return model_hash(*ranker);
}

TEST(SaveFormat, HashOfAFixedLogNeverChanges) {
  EXPECT_EQ(hash_of_fixed_log("klrank"), "f07ea62e9067db27f9a4a4a7d7e46880");
  EXPECT_EQ(hash_of_fixed_log("online-ranknet"), "32af9fd9cb342830013021d60c958139");
  EXPECT_EQ(hash_of_fixed_log("category-ranking"), "3238a1595e35795b6b623a6e51027695");
}

TEST(SaveFormat, HashOfAFixedLogWithContextKeysNeverChanges) {
  EXPECT_EQ(hash_of_fixed_log("klrank", 5), "1ca5046b06e47e7179e68dc9d3a6dc40");
  EXPECT_EQ(hash_of_fixed_log("online-ranknet", 5), "472c61a53fcc379dc6108b6586798db9");
}

// Version 1 knew neither context_terms nor library.
TEST(SaveFormat, LoadsTheFirstVersion) {
  const auto ranker = lived("noregret-klrank", {{"alpha", 2.0}});
  ByteWriter out;
  out.put_raw(std::as_bytes(std::span("HINDSIGHT MODEL\n", 16)));
  out.put(std::uint32_t{1});
  out.put(std::uint32_t{1});
  out.put(std::string_view("noregret-klrank"));
  out.put(std::uint64_t{1});
  out.put(std::string_view("alpha"));
  out.put(std::uint8_t{0});
  out.put(2.0);
  ranker->save(out);
  const auto loaded = load_ranker(seal_record(std::move(out)));
  ASSERT_TRUE(loaded.ok()) << to_string(loaded.error());
  EXPECT_EQ((*loaded)->params(), ranker->params());
  EXPECT_EQ(model_hash(**loaded), model_hash(*ranker));
}

/// Three lists of everything, each with a click. A refusal is fine.
void rank_and_click(Ranker& ranker) {
  Signals signals;
  std::vector<ItemIndex> items;
  for (ItemIndex item = 0; item < ranker.items_added(); ++item) {
    signals.item_added(item, 0);
    items.push_back(item);
  }
  for (std::uint64_t t = 1; t <= 3; ++t) {
    Rng rng(t);
    Request request;
    request.decision = {0, t};
    request.candidates = items;
    request.k = 4;
    const auto decision = ranker.rank(request, signals, rng);
    if (decision.ok()) {
      Feedback feedback;
      feedback.decision = decision->id;
      feedback.clicked = {decision->items[0]};
      feedback.closed = true;
      (void)ranker.learn(*decision, feedback, signals);
    }
  }
}

// A damaged or hostile file may hold any number: either it is refused, or the ranker goes on, and
// what it saves then loads again.
TEST(SaveFormat, ACounterAtTheEndOfItsRangeIsRefusedOrGoesOn) {
  for (const RankerInfo& info : ranker_registry()) {
    const std::vector<std::byte> bytes = save_ranker(*lived(info.name));
    const std::size_t end = bytes.size() - sizeof(std::uint64_t);  // of what the checksum covers
    for (const std::uint64_t value : {~std::uint64_t{0}, kMaxCount + 1, kMaxCount, kMaxCount - 1}) {
      for (std::size_t at = bytes.size() / 2; at + sizeof(value) <= end; ++at) {
        std::vector<std::byte> changed(bytes.begin(), bytes.begin() + static_cast<long>(end));
        std::memcpy(changed.data() + at, &value, sizeof(value));
        ByteWriter out;
        out.put_raw(changed);
        auto loaded = load_ranker(seal_record(std::move(out)));
        if (!loaded.ok()) {
          continue;
        }
        rank_and_click(**loaded);
        const auto again = load_ranker(save_ranker(**loaded));
        ASSERT_TRUE(again.ok()) << info.name << " with " << value << " at " << at << ": "
                                << to_string(again.error());
      }
    }
  }
}

TEST(SaveFormat, FoldGivesTheSameHashUnderEverySimdTarget) {
  for (const RankerInfo& info : ranker_registry()) {
    const std::string reference = model_hash(*lived(info.name));
    for (const std::int64_t target : simd_targets()) {
      restrict_simd_target_for_test(target);
      EXPECT_EQ(model_hash(*lived(info.name)), reference)
          << info.name << " on " << simd_target_name(target);
    }
    restrict_simd_target_for_test(0);
  }
}

}  // namespace
}  // namespace hindsight
