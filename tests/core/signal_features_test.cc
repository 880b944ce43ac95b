#include "src/core/signal_features.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include "hindsight/random.h"

namespace hindsight {
namespace {

std::vector<double> features(const Signals& signals, const SignalAsker& asker,
                             const std::vector<ItemIndex>& items, const SignalUse& use = {}) {
  std::vector<double> out(kSignalColumns * items.size());
  signal_features(signals, asker, use, items, out);
  return out;
}

/// RETURNS: the number of the only item asked for, in the column of this name.
double value(const std::vector<double>& row, const std::string& name) {
  for (std::size_t j = 0; j < kSignalColumns; ++j) {
    if (signal_columns()[j].name == name) {
      return row[j];
    }
  }
  ADD_FAILURE() << "no column " << name;
  return 0.0;
}

Signals library(std::size_t items) {
  Signals signals;
  for (std::size_t i = 0; i < items; ++i) {
    signals.item_added(static_cast<ItemIndex>(i), 0);
  }
  return signals;
}

void expect_bounded(const std::vector<double>& out, std::size_t n) {
  for (std::size_t j = 0; j < kSignalColumns; ++j) {
    for (std::size_t i = 0; i < n; ++i) {
      ASSERT_LE(std::abs(out[j * n + i]), signal_columns()[j].bound) << signal_columns()[j].name;
    }
  }
}

TEST(SignalFeatures, SayWhatTheLogSays) {
  Signals signals = library(6);
  signals.set_links(0, std::vector<ItemIndex>{1});
  signals.set_links(2, std::vector<ItemIndex>{0});
  signals.picked(0, 0, 7, 3);  // an earlier session picks 0 and 1
  signals.picked(1, 0, 7, 3);
  signals.picked(0, 0, 8, 0);  // this one has picked 0 so far
  const SignalAsker asker{.session = 8, .group = 3};
  const auto one = features(signals, asker, {1});
  EXPECT_NEAR(value(one, "picks"), std::log(2.0), 1e-12);
  EXPECT_NEAR(value(one, "recent picks"), std::log(1.0 + signals.decayed_picks(1, 0)), 1e-12);
  EXPECT_NEAR(value(one, "age"), std::log(4.0) / 4, 1e-12);
  EXPECT_NEAR(value(one, "time since the last pick"), std::log(2.0) / 4, 1e-12);
  EXPECT_NEAR(value(one, "picks for its age"), std::log(2.0) - std::log(1.01), 1e-12);
  EXPECT_EQ(value(one, "never picked"), 0.0);
  EXPECT_NEAR(value(one, "picked together with this session's picks"), 1.0 / std::sqrt(3.0 * 2.0),
              1e-12);
  EXPECT_EQ(value(one, "picked together with any of them"), 1.0);
  EXPECT_EQ(value(one, "already picked in this session"), 0.0);
  EXPECT_NEAR(value(one, "linked from this session's picks"), std::log(2.0), 1e-12);
  EXPECT_EQ(value(one, "links to this session's picks"), 0.0);
  EXPECT_NEAR(value(one, "picks by this group"), std::log(2.0), 1e-12);
  EXPECT_NEAR(value(one, "share of this group in its picks"), 0.5, 1e-12);
  const auto two = features(signals, asker, {2});
  EXPECT_NEAR(value(two, "links to this session's picks"), std::log(2.0), 1e-12);
  EXPECT_EQ(value(two, "never picked"), 1.0);
  EXPECT_EQ(value(features(signals, asker, {0}), "already picked in this session"), 1.0);
}

TEST(SignalFeatures, ASessionsFirstPickHasColumnsOfItsOwn) {
  Signals signals = library(2);
  signals.picked(0, 0, 1, 0);
  const auto first = features(signals, {.session = 99}, {0});
  EXPECT_EQ(value(first, "picks, at a session's first pick"), value(first, "picks"));
  const auto later = features(signals, {.session = 1}, {0});
  EXPECT_EQ(value(later, "picks, at a session's first pick"), 0.0);
  const auto without = features(signals, {}, {0});
  EXPECT_EQ(value(without, "picks, at a session's first pick"), 0.0);
}

TEST(SignalFeatures, WhatMayNotBeUsedIsZero) {
  Signals signals = library(4);
  signals.set_links(1, std::vector<ItemIndex>{0});
  signals.picked(1, 0, 5, 5);
  signals.picked(0, 0, 5, 5);
  const SignalAsker asker{.session = 5, .group = 5};
  const auto none =
      features(signals, asker, {1}, {.session = false, .group = false, .links = false});
  const auto all = features(signals, asker, {1});
  for (std::size_t j = 0; j < kSignalColumns; ++j) {
    if (signal_columns()[j].kind == SignalKind::kPicks) {
      EXPECT_EQ(none[j], all[j]) << signal_columns()[j].name;
    } else {
      EXPECT_EQ(none[j], 0.0) << signal_columns()[j].name;
    }
  }
  const auto no_links = features(signals, asker, {1}, {.links = false});
  EXPECT_EQ(value(no_links, "links to this session's picks"), 0.0);
  EXPECT_GT(value(all, "links to this session's picks"), 0.0);
}

TEST(SignalFeatures, AnItemThatTheSignalsDoNotKnowCountsAsNew) {
  Signals signals = library(2);
  signals.picked(0, 0, 3, 3);
  const auto row = features(signals, {.session = 3, .group = 3}, {41});
  EXPECT_EQ(value(row, "picks"), 0.0);
  EXPECT_EQ(value(row, "age"), 0.0);
  EXPECT_EQ(value(row, "never picked"), 1.0);
}

// The slow reference: links counted pair by pair.
TEST(SignalFeatures, LinksAreCountedAsPairs) {
  Rng rng(11);
  constexpr std::size_t kItems = 300;
  Signals signals = library(kItems);
  for (ItemIndex item = 0; item < kItems; ++item) {
    std::vector<ItemIndex> links(rng.below(40));
    for (ItemIndex& link : links) {
      link = static_cast<ItemIndex>(rng.below(kItems));
    }
    signals.set_links(item, links);
  }
  for (int i = 0; i < 25; ++i) {
    signals.picked(static_cast<ItemIndex>(rng.below(kItems)), 0, 1, 0);
  }
  std::vector<ItemIndex> items(kItems);
  std::iota(items.begin(), items.end(), 0U);
  const auto out = features(signals, {.session = 1}, items);
  const auto has = [&](ItemIndex from, ItemIndex to) {
    const auto links = signals.links(from);
    return std::find(links.begin(), links.end(), to) != links.end();
  };
  for (ItemIndex item = 0; item < kItems; ++item) {
    double from = 0;
    double to = 0;
    for (const ItemIndex pick : signals.session_picks(1)) {
      from += has(pick, item) ? 1 : 0;
      to += has(item, pick) ? 1 : 0;
    }
    std::vector<double> row(kSignalColumns);
    for (std::size_t j = 0; j < kSignalColumns; ++j) {
      row[j] = out[j * kItems + item];
    }
    EXPECT_NEAR(value(row, "linked from this session's picks"), std::log(1 + from), 1e-12);
    EXPECT_NEAR(value(row, "links to this session's picks"), std::log(1 + to), 1e-12);
  }
}

TEST(SignalFeatures, StayWithinTheirBoundsForSessionsWithoutEnd) {
  Signals signals = library(2000);
  for (std::uint32_t i = 0; i < 100'000; ++i) {
    signals.picked(i * 7 % 2000, 0, 1, 1);
  }
  EXPECT_EQ(signals.session_picks(1).size(), signals.params().picks_per_session);
  std::vector<ItemIndex> items(2000);
  std::iota(items.begin(), items.end(), 0U);
  expect_bounded(features(signals, {.session = 1, .group = 1}, items), items.size());
}

TEST(SignalFeatures, StayWithinTheirBoundsForItemsWithTenThousandLinks) {
  Signals signals = library(10'001);
  std::vector<ItemIndex> all(10'001);
  std::iota(all.begin(), all.end(), 0U);
  for (const ItemIndex item : {0U, 1U, 2U, 10'000U}) {
    signals.set_links(item, all);
    EXPECT_EQ(signals.links(item).size(), signals.params().links_per_item);
    signals.picked(item, 0, 1, 0);
  }
  expect_bounded(features(signals, {.session = 1}, all), all.size());
}

TEST(SignalFeatures, AMillionGroupsTakeTheRoomOfAFew) {
  Signals signals = library(3);
  for (std::uint64_t group = 1; group <= 1'000'000; ++group) {
    signals.picked(static_cast<ItemIndex>(group % 3), 0, 0, group);
  }
  std::size_t remembered = 0;
  for (std::uint64_t group = 1; group <= 1'000'000; ++group) {
    remembered += signals.group_picks(0, group);
  }
  EXPECT_EQ(remembered, signals.params().groups_per_item);
  expect_bounded(features(signals, {.group = 999'999}, {0, 1, 2}), 3);
}

}  // namespace
}  // namespace hindsight
