#include "hindsight/signals.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <vector>

#include "hindsight/random.h"
#include "src/core/bytes.h"

namespace hindsight {
namespace {

// An event of the fold: a new item, or a pick of one.
struct Event {
  bool add = false;
  ItemIndex item = 0;
  std::int64_t time_ms = 0;
  std::uint64_t session = 0;
  std::uint64_t group = 0;
};

void apply(Signals& signals, const Event& event) {
  if (event.add) {
    signals.item_added(event.item, event.time_ms);
    const std::vector<ItemIndex> links = {event.item / 2, event.item / 3, event.item};
    signals.set_links(event.item, links);
  } else {
    signals.picked(event.item, event.time_ms, event.session, event.group);
  }
}

std::vector<std::byte> saved(const Signals& signals) {
  ByteWriter out;
  signals.save(out);
  return out.take();
}

Result<void> load_from(Signals& signals, std::span<const std::byte> bytes) {
  ByteReader in(bytes);
  return signals.load(in);
}

// Any stream: items come while others are picked; times jump both ways.
std::vector<Event> random_stream(std::uint64_t seed, std::size_t length) {
  Rng rng(seed);
  std::vector<Event> events;
  ItemIndex items = 0;
  std::int64_t time_ms = -5000;
  for (std::size_t i = 0; i < length; ++i) {
    time_ms += static_cast<std::int64_t>(rng.below(3000)) - 500;
    const bool add = items < 2 || rng.below(8) == 0;
    Event event{.add = add, .time_ms = time_ms};
    event.item = add ? items++ : static_cast<ItemIndex>(rng.below(items));
    event.session = rng.below(7);
    event.group = rng.below(5);
    events.push_back(event);
  }
  return events;
}

// The slow reference: the whole past is kept, and each rule is written as it reads.
class Reference {
 public:
  explicit Reference(SignalsParams params) : params_(params) {}

  void apply(Event event) {
    now_ms_ = std::max(now_ms_, event.time_ms);
    event.time_ms = now_ms_;
    if (event.add) {
      added_.push_back(event.time_ms);
      added_at_.push_back(picks_.size());
      neighbours_.emplace_back();
      groups_.emplace_back();
      return;
    }
    picks_.push_back(event);
    if (event.group != 0) {
      bump(groups_[event.item], event.group, params_.groups_per_item);
    }
    if (event.session != 0 && params_.max_sessions > 0 && params_.picks_per_session > 0) {
      join(event);
    }
  }

  std::size_t size() const { return added_.size(); }
  std::int64_t now_ms() const { return now_ms_; }
  std::int64_t added(ItemIndex item) const { return added_[item]; }

  std::vector<Event> picks_of(ItemIndex item) const {
    std::vector<Event> mine;
    std::copy_if(picks_.begin(), picks_.end(), std::back_inserter(mine),
                 [item](const Event& pick) { return pick.item == item; });
    return mine;
  }

  double decayed(ItemIndex item, std::size_t which) const {
    double sum = 0;
    for (std::size_t i = 0; i < picks_.size(); ++i) {
      const auto since = static_cast<double>(picks_.size() - 1 - i);
      sum += picks_[i].item == item
                 ? std::exp2(-since / static_cast<double>(params_.half_life[which]))
                 : 0.0;
    }
    return sum;
  }
  /// Picks of any item since the item's last, or since it was added.
  std::uint64_t since_last(ItemIndex item) const {
    for (std::size_t i = picks_.size(); i > added_at_[item]; --i) {
      if (picks_[i - 1].item == item) {
        return picks_.size() - i;
      }
    }
    return since_added(item);
  }
  std::uint64_t since_added(ItemIndex item) const { return picks_.size() - added_at_[item]; }

  std::uint32_t co_picks(ItemIndex item, ItemIndex other) const {
    return find(neighbours_[item], other);
  }
  std::uint32_t group_picks(ItemIndex item, std::uint64_t group) const {
    return find(groups_[item], group);
  }
  std::vector<ItemIndex> session(std::uint64_t key) const {
    const auto at = sessions_.find(key);
    return at == sessions_.end() ? std::vector<ItemIndex>() : at->second.items;
  }

 private:
  struct Entry {
    std::uint64_t key;
    std::uint32_t count;
    std::uint64_t since;
  };
  struct Session {
    std::vector<ItemIndex> items;
    std::size_t last_used = 0;
  };

  static std::uint32_t find(const std::vector<Entry>& entries, std::uint64_t key) {
    for (const Entry& entry : entries) {
      if (entry.key == key) {
        return entry.count;
      }
    }
    return 0;
  }

  void bump(std::vector<Entry>& entries, std::uint64_t key, std::size_t capacity) {
    if (capacity == 0) {
      return;
    }
    for (Entry& entry : entries) {
      if (entry.key == key) {
        ++entry.count;
        return;
      }
    }
    if (entries.size() == capacity) {
      std::size_t loser = 0;
      for (std::size_t i = 1; i < entries.size(); ++i) {
        const bool rarer = entries[i].count < entries[loser].count;
        const bool equal = entries[i].count == entries[loser].count;
        if (rarer || (equal && entries[i].since < entries[loser].since)) {
          loser = i;
        }
      }
      std::swap(entries[loser], entries.back());
      entries.pop_back();
    }
    entries.insert(entries.begin(), {key, 1, mentions_++});
  }

  void join(const Event& event) {
    if (!sessions_.contains(event.session) && sessions_.size() == params_.max_sessions) {
      auto oldest = sessions_.begin();
      for (auto at = sessions_.begin(); at != sessions_.end(); ++at) {
        oldest = at->second.last_used < oldest->second.last_used ? at : oldest;
      }
      sessions_.erase(oldest);
    }
    Session& session = sessions_[event.session];
    session.last_used = picks_.size();
    const bool again = std::erase(session.items, event.item) > 0;
    for (const ItemIndex other : session.items) {
      if (!again) {
        bump(neighbours_[event.item], other, params_.neighbours_per_item);
        bump(neighbours_[other], event.item, params_.neighbours_per_item);
      }
    }
    if (session.items.size() == params_.picks_per_session) {
      session.items.erase(session.items.begin());
    }
    session.items.push_back(event.item);
  }

  SignalsParams params_;
  std::int64_t now_ms_ = std::numeric_limits<std::int64_t>::min();
  std::vector<std::int64_t> added_;
  std::vector<std::size_t> added_at_;
  std::vector<Event> picks_;
  std::vector<std::vector<Entry>> neighbours_;
  std::vector<std::vector<Entry>> groups_;
  std::map<std::uint64_t, Session> sessions_;
  std::uint64_t mentions_ = 0;
};

void expect_equal(const Signals& signals, const Reference& reference) {
  const std::int64_t asked_ms = reference.now_ms() + 1234;
  RC_ASSERT(signals.size() == reference.size());
  for (ItemIndex item = 0; item < signals.size(); ++item) {
    const auto picks = reference.picks_of(item);
    RC_ASSERT(signals.picks(item) == picks.size());
    RC_ASSERT(signals.age_ms(item, asked_ms) == asked_ms - reference.added(item));
    RC_ASSERT(signals.since_last_pick_ms(item, asked_ms) ==
              (picks.empty() ? -1 : asked_ms - picks.back().time_ms));
    RC_ASSERT(signals.picks_since_added(item) == reference.since_added(item));
    RC_ASSERT(signals.picks_since_last(item) == reference.since_last(item));
    for (const std::size_t which : {0, 1}) {
      const double expected = reference.decayed(item, which);
      RC_ASSERT(std::abs(signals.decayed_picks(item, which) - expected) <= 1e-12 * (1 + expected));
    }
    for (ItemIndex other = 0; other < signals.size(); ++other) {
      RC_ASSERT(signals.co_picks(item, other) == reference.co_picks(item, other));
    }
    for (std::uint64_t group = 1; group < 5; ++group) {
      RC_ASSERT(signals.group_picks(item, group) == reference.group_picks(item, group));
    }
  }
  for (std::uint64_t session = 1; session < 7; ++session) {
    const auto picks = signals.session_picks(session);
    RC_ASSERT(std::vector<ItemIndex>(picks.begin(), picks.end()) == reference.session(session));
  }
}

SignalsParams random_params(bool roomy) {
  SignalsParams params;
  params.half_life = {*rc::gen::inRange<std::int64_t>(1, 20), 50'000};
  if (!roomy) {
    params.neighbours_per_item = *rc::gen::inRange<std::size_t>(0, 4);
    params.groups_per_item = *rc::gen::inRange<std::size_t>(0, 3);
    params.picks_per_session = *rc::gen::inRange<std::size_t>(0, 4);
    params.max_sessions = *rc::gen::inRange<std::size_t>(0, 4);
  }
  return params;
}

TEST(Signals, EqualTheSlowReferenceAtEveryStep) {
  EXPECT_TRUE(rc::check([] {
    const SignalsParams params = random_params(*rc::gen::arbitrary<bool>());
    Signals signals(params);
    Reference reference(params);
    for (const Event& event : random_stream(*rc::gen::arbitrary<std::uint64_t>(), 60)) {
      apply(signals, event);
      reference.apply(event);
      expect_equal(signals, reference);
    }
  }));
}

TEST(Signals, SaveLoadContinueEqualsContinue) {
  EXPECT_TRUE(rc::check([] {
    const SignalsParams params = random_params(*rc::gen::arbitrary<bool>());
    const auto events = random_stream(*rc::gen::arbitrary<std::uint64_t>(), 200);
    const auto cut = *rc::gen::inRange<std::size_t>(0, events.size() + 1);
    Signals straight(params);
    Signals resumed;
    for (std::size_t i = 0; i < events.size(); ++i) {
      if (i == cut) {
        RC_ASSERT(load_from(resumed, saved(straight)).ok());
      }
      apply(straight, events[i]);
      if (i >= cut) {
        apply(resumed, events[i]);
        RC_ASSERT(saved(resumed) == saved(straight));
      }
    }
  }));
}

TEST(Signals, ALoadTakesTheParametersAndLeavesTheRestOfTheBytes) {
  SignalsParams params;
  params.max_sessions = 3;
  Signals signals(params);
  signals.item_added(0, 5);
  ByteWriter out;
  signals.save(out);
  out.put(std::uint8_t{42});
  ByteReader in(out.bytes());
  Signals loaded;
  ASSERT_TRUE(loaded.load(in).ok());
  EXPECT_EQ(loaded.params(), params);
  EXPECT_EQ(in.left(), 1U);
}

TEST(Signals, MemoryIsBoundedHoweverLongTheLog) {
  SignalsParams params;
  params.neighbours_per_item = 4;
  params.groups_per_item = 3;
  params.picks_per_session = 5;
  params.max_sessions = 16;
  Signals signals(params);
  Rng rng(11);
  constexpr ItemIndex kItems = 50;
  for (ItemIndex item = 0; item < kItems; ++item) {
    signals.item_added(item, 0);
  }
  for (int i = 0; i < 20'000; ++i) {
    signals.picked(static_cast<ItemIndex>(rng.below(kItems)), i, rng.next_u64(), rng.next_u64());
    signals.picked(static_cast<ItemIndex>(rng.below(kItems)), i, 1 + rng.below(40), 0);
  }
  EXPECT_EQ(signals.sessions_remembered(), 16U);
  for (ItemIndex item = 0; item < kItems; ++item) {
    int neighbours = 0;
    for (ItemIndex other = 0; other < kItems; ++other) {
      neighbours += signals.co_picks(item, other) > 0 ? 1 : 0;
    }
    EXPECT_LE(neighbours, 4);
  }
  // Fixed part, per item at most 4 neighbours and 3 groups of 12 bytes, per session 5 picks.
  const std::size_t ceiling = 144 + kItems * (80 + 7 * 12) + 16 * (16 + 5 * 4);
  EXPECT_LE(saved(signals).size(), ceiling);
}

TEST(Signals, PicksFadeByHalfInAHalfLifeOfPicksWhateverTheClockDoes) {
  SignalsParams params;
  params.half_life = {10, 40};
  Signals signals(params);
  signals.item_added(0, 0);
  signals.item_added(1, 0);
  signals.picked(0, 0, 0, 0);
  EXPECT_EQ(signals.decayed_picks(0, 0), 1.0);
  for (int i = 0; i < 10; ++i) {  // a clock that stands still
    signals.picked(1, 0, 0, 0);
  }
  EXPECT_NEAR(signals.decayed_picks(0, 0), 0.5, 1e-15);
  EXPECT_NEAR(signals.decayed_picks(0, 1), std::exp2(-0.25), 1e-15);
  EXPECT_EQ(signals.picks_since_last(0), 10U);
  EXPECT_EQ(signals.picks_since_added(0), 11U);
  signals.picked(0, 1'000'000'000'000, 0, 0);  // and one that jumps
  EXPECT_NEAR(signals.decayed_picks(0, 0), 1.0 + std::exp2(-1.1), 1e-15);
  EXPECT_EQ(signals.picks(0), 2U);
}

TEST(Signals, LinksAreASetWithoutStrangersAndAreReplaced) {
  SignalsParams params;
  params.links_per_item = 3;
  Signals signals(params);
  for (ItemIndex item = 0; item < 6; ++item) {
    signals.item_added(item, 0);
  }
  signals.set_links(5, std::vector<ItemIndex>{5, 0, 0, 77, 1, 2, 3});
  const auto links = signals.links(5);
  EXPECT_EQ(std::vector<ItemIndex>(links.begin(), links.end()), (std::vector<ItemIndex>{0, 1, 2}));
  EXPECT_TRUE(signals.links(0).empty());
  Signals loaded;
  ASSERT_TRUE(load_from(loaded, saved(signals)).ok());
  EXPECT_EQ(saved(loaded), saved(signals));
  signals.set_links(5, {});
  EXPECT_TRUE(signals.links(5).empty());
}

// What a save of the first version, with half-lives in milliseconds, held for two items.
TEST(Signals, ASaveOfTheFirstVersionLoadsWithEveryLastPickAsOfNow) {
  ByteWriter out;
  out.put(std::uint8_t{1});
  for (const std::int64_t half_life_ms : {86'400'000LL, 2'592'000'000LL}) {
    out.put(std::int64_t{half_life_ms});
  }
  for (const std::uint64_t limit : {32, 16, 32, 65'536}) {
    out.put(limit);
  }
  out.put(std::int64_t{30});
  out.put(std::uint64_t{2});
  out.put(std::int64_t{10});  // item 0: added, picks, last pick, faded, no neighbours, one group
  out.put(std::uint64_t{2});
  out.put(std::int64_t{20});
  out.put(1.5);
  out.put(1.75);
  out.put(std::uint64_t{0});
  out.put(std::uint64_t{1});
  out.put(std::uint64_t{7});
  out.put(std::uint32_t{2});
  out.put(std::int64_t{30});  // item 1: never picked
  out.put(std::uint64_t{0});
  out.put(std::uint64_t{0});  // sessions
  Signals signals;
  ASSERT_TRUE(load_from(signals, out.bytes()).ok());
  EXPECT_EQ(signals.params(), SignalsParams());
  EXPECT_EQ(signals.picks(0), 2U);
  EXPECT_EQ(signals.decayed_picks(0, 0), 1.5);
  EXPECT_EQ(signals.decayed_picks(0, 1), 1.75);
  EXPECT_EQ(signals.picks_since_last(0), 0U);
  EXPECT_EQ(signals.picks_since_added(1), 2U);
  EXPECT_EQ(signals.group_picks(0, 7), 2U);
  Signals again;
  ASSERT_TRUE(load_from(again, saved(signals)).ok());
}

TEST(Signals, AnEventOfAnEarlierTimeCountsAsOfTheLatest) {
  Signals late;
  Signals clamped;
  for (Signals* signals : {&late, &clamped}) {
    signals->item_added(0, 1000);
    signals->picked(0, 5000, 0, 0);
  }
  late.picked(0, 2000, 0, 0);
  late.item_added(1, std::numeric_limits<std::int64_t>::min());
  clamped.picked(0, 5000, 0, 0);
  clamped.item_added(1, 5000);
  EXPECT_EQ(saved(late), saved(clamped));
  EXPECT_EQ(late.since_last_pick_ms(0, 2000), 0);
  EXPECT_EQ(late.age_ms(1, 0), 0);
}

TEST(Signals, TimesAtTheEndsOfTheirRangeAreSafe) {
  constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min();
  constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
  Signals signals;
  signals.item_added(0, kMin);
  signals.picked(0, kMin, 1, 1);
  signals.picked(0, kMax, 1, 1);
  EXPECT_EQ(signals.picks(0), 2U);
  EXPECT_GT(signals.age_ms(0, kMax), 0);
  Signals loaded;
  EXPECT_TRUE(load_from(loaded, saved(signals)).ok());
  EXPECT_EQ(saved(loaded), saved(signals));
}

Signals busy_signals() {
  SignalsParams params;
  params.max_sessions = 4;
  params.picks_per_session = 3;
  params.neighbours_per_item = 3;
  Signals signals(params);
  for (const Event& event : random_stream(5, 120)) {
    apply(signals, event);
  }
  return signals;
}

TEST(Signals, KnowWhatTheirListsTakeAlsoAfterLoading) {
  Signals signals;
  for (ItemIndex i = 0; i < 100; ++i) {
    signals.item_added(i, 0);
  }
  const std::size_t plain = signals.memory_bytes();
  const std::vector<ItemIndex> links = {1, 2, 3, 4, 5, 6, 7, 8};
  for (ItemIndex i = 0; i < 100; ++i) {
    signals.set_links(i, links);
    signals.set_links(i, links);  // in place of the same
  }
  const std::size_t linked = signals.memory_bytes();
  EXPECT_GE(linked, plain + 100 * 7 * sizeof(ItemIndex));
  EXPECT_LE(linked, plain + 100 * 500);
  for (ItemIndex t = 0; t < 2000; ++t) {
    signals.picked(t % 100, 1, 1 + t / 10, 1 + t % 5);
  }
  EXPECT_GE(signals.memory_bytes(), linked + 100 * 9 * 16);  // nine neighbours each
  const Result<Signals> loaded = load_signals(save_signals(signals));
  ASSERT_TRUE(loaded.ok());
  EXPECT_LE(loaded->memory_bytes(), signals.memory_bytes());
  EXPECT_GE(2 * loaded->memory_bytes(), signals.memory_bytes());
}

TEST(Signals, ATruncatedSaveIsRefusedAndNothingChanges) {
  const auto bytes = saved(busy_signals());
  Signals signals;
  signals.item_added(0, 7);
  const auto before = saved(signals);
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    const auto result = load_from(signals, std::span(bytes).first(length));
    ASSERT_FALSE(result.ok()) << length;
    ASSERT_EQ(result.error().code, ErrorCode::kCorrupt);
    ASSERT_EQ(saved(signals), before);
  }
}

// A flip may give another valid state (a count, say); whatever loads must be usable and canonical.
TEST(Signals, AFlippedSaveIsRefusedOrLoadsAValidState) {
  const auto bytes = saved(busy_signals());
  int refused = 0;
  for (std::size_t i = 0; i < bytes.size() * 8; ++i) {
    auto flipped = bytes;
    flipped[i / 8] ^= std::byte{1} << (i % 8);
    Signals signals;
    ByteReader in(flipped);
    if (!signals.load(in).ok()) {
      ++refused;
      continue;
    }
    flipped.resize(flipped.size() - in.left());  // a smaller count leaves bytes unread
    ASSERT_TRUE(saved(signals) == flipped) << "bit " << i;
    for (ItemIndex item = 0; item < signals.size(); ++item) {
      ASSERT_TRUE(std::isfinite(signals.decayed_picks(item, 0)));
      signals.picked(item, 0, 1 + item % 5, 1);
    }
    Signals again;
    ASSERT_TRUE(load_from(again, saved(signals)).ok());
  }
  EXPECT_GT(refused, 0);
}

// Where each field of a small save stands, so that the table below can break it.
constexpr std::size_t kHalfLife = 1;
constexpr std::size_t kSessionPicksLimit = 33;
constexpr std::size_t kNow = 57;
constexpr std::size_t kTotalPicks = 65;
constexpr std::size_t kItemCount = 73;
constexpr std::size_t kAdded = 81;
constexpr std::size_t kAddedAt = 89;
constexpr std::size_t kLink = 105;
constexpr std::size_t kPicks = 109;
constexpr std::size_t kLastPick = 117;
constexpr std::size_t kLastPickAt = 125;
constexpr std::size_t kFaded = 133;
constexpr std::size_t kNeighbourCount = 149;
constexpr std::size_t kNeighbour = 157;
constexpr std::size_t kNeighbourPicks = 165;
constexpr std::size_t kGroup = 177;

template <class T>
std::vector<std::byte> with(std::vector<std::byte> bytes, std::size_t at, T value) {
  std::memcpy(bytes.data() + at, &value, sizeof(T));
  return bytes;
}

TEST(Signals, EachImpossibleFieldOfASaveIsRefused) {
  Signals signals;
  signals.item_added(0, 10);
  signals.item_added(1, 10);
  signals.set_links(0, std::vector<ItemIndex>{1});
  signals.picked(0, 20, 9, 3);
  signals.picked(1, 30, 9, 0);
  const auto good = saved(signals);
  const std::size_t session_item = good.size() - 8;
  const std::size_t session_key = good.size() - 24;
  const std::vector<std::pair<const char*, std::vector<std::byte>>> table = {
      {"version", with(good, 0, std::uint8_t{9})},
      {"half-life 0", with(good, kHalfLife, std::int64_t{0})},
      {"limit beyond reason", with(good, kSessionPicksLimit, std::uint64_t{1} << 40)},
      {"limit below what is held", with(good, kSessionPicksLimit, std::uint64_t{1})},
      {"now before the last pick", with(good, kNow, std::int64_t{29})},
      {"now out of range", with(good, kNow, std::numeric_limits<std::int64_t>::max())},
      {"another number of picks", with(good, kTotalPicks, std::uint64_t{3})},
      {"added after its last pick", with(good, kAddedAt, std::uint64_t{2})},
      {"last pick after all picks", with(good, kLastPickAt, std::uint64_t{3})},
      {"more picks than there was time for", with(good, kLastPickAt, std::uint64_t{0})},
      {"link to itself", with(good, kLink, std::uint32_t{0})},
      {"link to nobody", with(good, kLink, std::uint32_t{2})},
      {"more items than bytes", with(good, kItemCount, std::uint64_t{1} << 31)},
      {"more items than indices", with(good, kItemCount, std::uint64_t{1} << 60)},
      {"fewer items than neighbours name", with(good, kItemCount, std::uint64_t{1})},
      {"added after the next item", with(good, kAdded, std::int64_t{11})},
      {"fewer picks than faded ones", with(good, kFaded, 1.5)},
      {"total that overflows", with(good, kPicks, std::numeric_limits<std::uint64_t>::max())},
      {"picked before it was added", with(good, kLastPick, std::int64_t{9})},
      {"picked in the future", with(good, kLastPick, std::int64_t{31})},
      {"NaN", with(good, kFaded, std::numeric_limits<double>::quiet_NaN())},
      {"infinity", with(good, kFaded + 8, std::numeric_limits<double>::infinity())},
      {"less than the last pick", with(good, kFaded, 0.5)},
      {"too many neighbours", with(good, kNeighbourCount, std::uint64_t{33})},
      {"unknown neighbour", with(good, kNeighbour, std::uint64_t{2})},
      {"its own neighbour", with(good, kNeighbour, std::uint64_t{0})},
      {"neighbour never picked", with(good, kNeighbourPicks, std::uint32_t{0})},
      {"group not given", with(good, kGroup, std::uint64_t{0})},
      {"session not given", with(good, session_key, std::uint64_t{0})},
      {"session of an unknown item", with(good, session_item, std::uint32_t{2})},
      {"session with an item twice", with(good, session_item, std::uint32_t{1})},
  };
  ASSERT_TRUE(load_from(signals, good).ok());
  for (const auto& [what, bytes] : table) {
    Signals other;
    EXPECT_FALSE(load_from(other, bytes).ok()) << what;
  }
}

TEST(SignalsDeathTest, UnknownIndicesAreAProgrammersMistake) {
  Signals signals;
  EXPECT_DEATH(signals.item_added(1, 0), "check failed");
  EXPECT_DEATH(signals.picked(0, 0, 0, 0), "check failed");
  EXPECT_DEATH(static_cast<void>(signals.picks(0)), "check failed");
}

TEST(Signals, ComeBackFromTheirBytesAndEveryDamageIsSeen) {
  Signals signals;
  for (ItemIndex i = 0; i < 5; ++i) {
    signals.item_added(i, i);
  }
  for (ItemIndex i = 0; i < 20; ++i) {
    signals.picked(i % 5, 100 + i, 1 + i / 4, 1 + i % 2);
  }
  std::vector<std::byte> bytes = save_signals(signals);
  const auto loaded = load_signals(bytes);
  ASSERT_TRUE(loaded.ok());
  EXPECT_EQ(save_signals(*loaded), bytes);
  EXPECT_EQ(loaded->co_picks(0, 1), signals.co_picks(0, 1));
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(load_signals(std::span(bytes).first(size)).ok()) << size;
  }
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] ^= std::byte{4};
    EXPECT_FALSE(load_signals(bytes).ok()) << i;
    bytes[i] ^= std::byte{4};
  }
}

}  // namespace
}  // namespace hindsight
