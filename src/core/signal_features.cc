#include "src/core/signal_features.h"

#include <algorithm>
#include <cmath>

#include "src/core/check.h"
#include "src/core/kernels.h"

namespace hindsight {
namespace {

// The columns of logarithms come first: one call takes all their logarithms.
enum Column : std::size_t {
  kPicks,
  kFast,
  kSlow,
  kAge,
  kSinceLast,
  kRate,
  kGroupPicks,
  kCitedBy,
  kCites,
  kLogarithms,
  kNever = kLogarithms,
  kTogether,
  kAnyTogether,
  kPopularTogether,
  kAlready,
  kFirstPicks,
  kFirstAge,
  kFirstFast,
  kAnyGroup,
  kGroupShare,
};
static_assert(kGroupShare + 1 == kSignalColumns);

constexpr double kLogBound = 16.0;  // nine million picks
constexpr double kTimeFactor = 0.25;
constexpr double kTimeBound = kTimeFactor * 44.0;
constexpr double kRatePicks = 300.0;  // the time after which an item is expected to have a pick

constexpr SignalColumn kColumns[kSignalColumns] = {
    {"picks", SignalKind::kPicks, kLogBound},
    {"recent picks", SignalKind::kPicks, kLogBound},
    {"picks of late", SignalKind::kPicks, kLogBound},
    {"age", SignalKind::kPicks, kTimeBound},
    {"time since the last pick", SignalKind::kPicks, kTimeBound},
    {"picks for its age", SignalKind::kPicks, kLogBound},
    {"picks by this group", SignalKind::kGroup, kLogBound},
    {"linked from this session's picks", SignalKind::kLinks, 4.0},
    {"links to this session's picks", SignalKind::kLinks, 4.0},
    {"never picked", SignalKind::kPicks, 1.0},
    {"picked together with this session's picks", SignalKind::kSession, 6.0},
    {"picked together with any of them", SignalKind::kSession, 1.0},
    {"picks, where picked together", SignalKind::kSession, kLogBound},
    {"already picked in this session", SignalKind::kSession, 1.0},
    {"picks, at a session's first pick", SignalKind::kSession, kLogBound},
    {"age, at a session's first pick", SignalKind::kSession, kTimeBound},
    {"recent picks, at a session's first pick", SignalKind::kSession, kLogBound},
    {"ever picked by this group", SignalKind::kGroup, 1.0},
    {"share of this group in its picks", SignalKind::kGroup, 1.0},
};

/// How often each item is linked from a session's picks: a hash table of fixed size, half empty.
class LinkCounts {
 public:
  LinkCounts() { keys_.fill(kEmpty); }

  void add(ItemIndex item) {
    const std::size_t slot = find(item);
    keys_[slot] = item;
    ++counts_[slot];
  }
  double count(ItemIndex item) const {
    const std::size_t slot = find(item);
    return keys_[slot] == item ? counts_[slot] : 0.0;
  }

 private:
  static constexpr ItemIndex kEmpty = 0xFFFFFFFF;
  static constexpr std::size_t kSlots = 2 * kSessionSeen * kLinksSeen;
  static_assert((kSlots & (kSlots - 1)) == 0);

  std::size_t find(ItemIndex item) const {
    constexpr std::uint32_t kGolden = 0x9E3779B1;
    std::size_t slot = (item * kGolden) >> 20U & (kSlots - 1);
    while (keys_[slot] != kEmpty && keys_[slot] != item) {
      slot = (slot + 1) & (kSlots - 1);
    }
    return slot;
  }

  std::array<ItemIndex, kSlots> keys_;
  std::array<std::uint8_t, kSlots> counts_{};
};
static_assert(kSessionSeen < 256);

/// The latest picks of a session, and whether an item is among them.
class SessionPicks {
 public:
  explicit SessionPicks(std::span<const ItemIndex> picks)
      : picks_(picks.last(std::min(picks.size(), kSessionSeen))) {
    for (const ItemIndex item : picks_) {
      bits_ |= bit(item);
    }
  }

  std::span<const ItemIndex> items() const { return picks_; }
  bool holds(ItemIndex item) const {
    return (bits_ & bit(item)) != 0 &&
           std::find(picks_.begin(), picks_.end(), item) != picks_.end();
  }

 private:
  static std::uint64_t bit(ItemIndex item) { return std::uint64_t{1} << (item & 63U); }

  std::span<const ItemIndex> picks_;
  std::uint64_t bits_ = 0;
};

struct Table {
  std::span<double> out;
  std::size_t n;

  double& at(std::size_t column, std::size_t i) const { return out[column * n + i]; }
  std::span<double> column(std::size_t j) const { return out.subspan(j * n, n); }
};

double count(std::uint64_t number) { return static_cast<double>(number); }

void fill_picks(const Signals& signals, std::span<const ItemIndex> items, const Table& table) {
  for (std::size_t i = 0; i < items.size(); ++i) {
    const ItemIndex item = items[i];
    const bool known = item < signals.size();
    const double picks = known ? count(signals.picks(item)) : 0.0;
    const double age = known ? count(signals.picks_since_added(item)) : 0.0;
    table.at(kPicks, i) = 1.0 + picks;
    table.at(kFast, i) = 1.0 + (picks > 0.0 ? signals.decayed_picks(item, 0) : 0.0);
    table.at(kSlow, i) = 1.0 + (picks > 0.0 ? signals.decayed_picks(item, 1) : 0.0);
    table.at(kAge, i) = 1.0 + age;
    table.at(kSinceLast, i) = picks > 0.0 ? 1.0 + count(signals.picks_since_last(item)) : 1.0;
    table.at(kRate, i) = 1.0 + age / kRatePicks;
    table.at(kNever, i) = picks > 0.0 ? 0.0 : 1.0;
  }
}

void fill_group(const Signals& signals, std::uint64_t group, std::span<const ItemIndex> items,
                const Table& table) {
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (items[i] >= signals.size()) {
      continue;
    }
    const double picks = count(signals.group_picks(items[i], group));
    table.at(kGroupPicks, i) = 1.0 + picks;
    table.at(kAnyGroup, i) = picks > 0.0 ? 1.0 : 0.0;
    table.at(kGroupShare, i) = picks / (1.0 + count(signals.picks(items[i])));
  }
}

void fill_links(const Signals& signals, const SessionPicks& session,
                std::span<const ItemIndex> items, const Table& table) {
  LinkCounts linked;
  const auto seen = [&signals](ItemIndex item) {
    const auto links = signals.links(item);
    return links.first(std::min(links.size(), kLinksSeen));
  };
  for (const ItemIndex pick : session.items()) {
    for (const ItemIndex item : seen(pick)) {
      linked.add(item);
    }
  }
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (items[i] >= signals.size()) {
      continue;
    }
    const auto links = seen(items[i]);
    table.at(kCitedBy, i) = 1.0 + linked.count(items[i]);
    table.at(kCites, i) =
        1.0 + static_cast<double>(std::count_if(
                  links.begin(), links.end(), [&](ItemIndex item) { return session.holds(item); }));
  }
}

// After the logarithms.
void fill_session(const Signals& signals, const SessionPicks& session,
                  std::span<const ItemIndex> items, const Table& table) {
  const double scale = 1.0 / std::sqrt(static_cast<double>(session.items().size()));
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (items[i] >= signals.size()) {
      continue;
    }
    double together = 0.0;
    for (const Signals::Count& other : signals.neighbours(items[i])) {
      const auto pick = static_cast<ItemIndex>(other.key);
      if (session.holds(pick)) {
        together += other.count / std::sqrt((1.0 + count(signals.picks(pick))) *
                                            (1.0 + count(signals.picks(items[i]))));
      }
    }
    table.at(kTogether, i) = scale * together;
    table.at(kAnyTogether, i) = together > 0.0 ? 1.0 : 0.0;
    table.at(kPopularTogether, i) = together > 0.0 ? table.at(kPicks, i) : 0.0;
    table.at(kAlready, i) = session.holds(items[i]) ? 1.0 : 0.0;
  }
}

void copy_column(const Table& table, std::size_t from, std::size_t to) {
  const auto source = table.column(from);
  std::copy(source.begin(), source.end(), table.column(to).begin());
}

}  // namespace

std::span<const SignalColumn, kSignalColumns> signal_columns() { return kColumns; }

void signal_features(const Signals& signals, const SignalAsker& asker, const SignalUse& use,
                     std::span<const ItemIndex> items, std::span<double> out) {
  HINDSIGHT_CHECK(out.size() == kSignalColumns * items.size());
  const Table table{out, items.size()};
  const std::size_t logarithms = kLogarithms * items.size();
  std::fill_n(out.begin(), logarithms, 1.0);
  std::fill(out.begin() + static_cast<std::ptrdiff_t>(logarithms), out.end(), 0.0);
  const SessionPicks session(use.session ? signals.session_picks(asker.session)
                                         : std::span<const ItemIndex>());
  fill_picks(signals, items, table);
  if (use.group && asker.group != 0) {
    fill_group(signals, asker.group, items, table);
  }
  if (use.links && !session.items().empty()) {
    fill_links(signals, session, items, table);
  }
  log_of(out.first(logarithms), out.first(logarithms));
  for (std::size_t i = 0; i < items.size(); ++i) {
    table.at(kAge, i) *= kTimeFactor;
    table.at(kSinceLast, i) *= kTimeFactor;
    table.at(kRate, i) = table.at(kPicks, i) - table.at(kRate, i);
  }
  if (!session.items().empty()) {
    fill_session(signals, session, items, table);
  } else if (use.session && asker.session != 0) {
    copy_column(table, kPicks, kFirstPicks);
    copy_column(table, kAge, kFirstAge);
    copy_column(table, kFast, kFirstFast);
  }
  for (std::size_t j = 0; j < kSignalColumns; ++j) {
    for (double& x : table.column(j)) {
      x = std::clamp(x, -kColumns[j].bound, kColumns[j].bound);
    }
  }
}

}  // namespace hindsight
