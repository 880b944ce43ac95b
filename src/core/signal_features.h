// Signal features: what the log says about each candidate, as columns of numbers that a linear
// score can weigh (the features Phi_t of [Delage09] 4.2, which change while the system runs).
//
// Counts enter as ln(1 + count), times as ln(1 + picks since then) / 4. Every number lies within
// its column's bound, so that a bounded change of the weights is a bounded change of every score.
// Columns of a session or group that was not given are zero.
//
// Nothing is allocated, whatever the number of candidates; time per candidate is limited by the
// lists of the signals: at most kSessionSeen latest picks of a session count, and kLinksSeen links
// of an item.
//
// Thread-safety: pure functions.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "hindsight/signals.h"
#include "hindsight/types.h"

namespace hindsight {

/// What must be known of a request for a column to say anything.
enum class SignalKind : std::uint8_t { kPicks, kSession, kGroup, kLinks };

struct SignalColumn {
  std::string_view name;
  SignalKind kind = SignalKind::kPicks;
  double bound = 1.0;  // no number of the column is larger, nor smaller than its negative
};

inline constexpr std::size_t kSignalColumns = 19;
inline constexpr std::size_t kSessionSeen = 32;
inline constexpr std::size_t kLinksSeen = 64;

std::span<const SignalColumn, kSignalColumns> signal_columns();

/// Which kinds of columns are computed; picks always are.
struct SignalUse {
  bool session = true;
  bool group = true;
  bool links = true;
};

/// Who asks; 0: not given.
struct SignalAsker {
  std::uint64_t session = 0;
  std::uint64_t group = 0;
};

/// out[j * n + i] = column j of items[i]. An item that the signals do not know counts as added now.
/// REQUIRES: out.size() == kSignalColumns * items.size()
void signal_features(const Signals& signals, const SignalAsker& asker, const SignalUse& use,
                     std::span<const ItemIndex> items, std::span<double> out);

}  // namespace hindsight
