// What goes into a ranker and what comes out: items, requests, decisions, feedback.
//
// Inside the engine an item is a dense integer (the n-th that was added); strings, topics' names
// and clocks live at the edges. A Request is a view that is valid during one call; a Decision owns
// all that learning from it will ever need, since the model has moved on by the time the click
// arrives.
//
// Thread-safety: plain values.

#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "hindsight/random.h"

namespace hindsight {

/// The n-th item that was added. Never used again for another item.
using ItemIndex = std::uint32_t;

/// Limits that keep one hostile number from taking all memory.
inline constexpr std::size_t kMaxItems = std::size_t{1} << 31;
inline constexpr std::size_t kMaxDenseColumns = std::size_t{1} << 16;
inline constexpr std::size_t kMaxSparseColumns = std::size_t{1} << 24;
/// A prior beyond this would drown every cost that is ever booked beside it.
inline constexpr double kMaxPrior = 1e6;

/// Features of several items, one row each: dense columns, sparse columns (CSR), or both side by
/// side.
struct FeatureRows {
  std::size_t dense_dim = 0;
  std::vector<double> dense = {};  // rows * dense_dim numbers, row after row
  std::vector<std::uint32_t> row_begin =
      {};  // rows + 1 offsets into the two below, or empty: no sparse columns
  std::vector<std::uint32_t> sparse_index = {};
  std::vector<double> sparse_value = {};

  bool empty() const { return dense_dim == 0 && row_begin.empty(); }
};

/// An item as it is added to the library, or replaced in it.
struct Item {
  ItemIndex index = 0;
  std::vector<double> dense;                // features by position
  std::vector<std::uint32_t> sparse_index;  // features by growing index, strictly ascending
  std::vector<double> sparse_value;
  /// Items that this one points to: a set. Repeats, and a link to itself, count for nothing.
  std::vector<ItemIndex> links;
};

/// Which items the user's pick is a choice among.
enum class ChoiceSet : std::uint8_t {
  kShown,       // the list that was shown: a live service
  kCandidates,  // all candidates, shown or not: replays in which the user saw everything
};

/// A wish for an order. 0 in user, session, group and context_key means "not given".
struct Request {
  DecisionId decision;
  std::int64_t time_ms = 0;
  std::span<const ItemIndex> candidates;  // distinct
  /// Choose among all items of the library that are live: `candidates` is empty then, and there are
  /// no features and no priors.
  bool whole_library = false;
  /// With whole_library: where the ranker would have to touch every item, more of them than this
  /// are refused.
  std::size_t max_scan = std::numeric_limits<std::size_t>::max();
  const FeatureRows* features =
      nullptr;  // one row per candidate, in place of the items' own features
  std::span<const double>
      prior;          // the caller's own scores, added to ours; empty or one per candidate
  std::size_t k = 0;  // how many to show, 1 to the number of candidates
  std::uint64_t user = 0;
  std::uint64_t session = 0;
  std::uint64_t group = 0;
  std::uint64_t context_key = 0;
};

/// An order that was given, with everything that learning from it needs.
struct Decision {
  static constexpr std::size_t kMaxAuxBytes = 4096;

  DecisionId id;
  std::int64_t time_ms = 0;
  std::string ranker;
  std::uint64_t model_version = 0;

  ChoiceSet choice_set = ChoiceSet::kShown;
  std::vector<ItemIndex>
      items;  // the choice set: first what was shown, in its order, then the rest (if any)
  std::size_t shown_count = 0;
  std::vector<double> score;  // of each of `items` as it was used, prior included
  /// Of each of `items`, the probability that the list would begin with it: over all candidates,
  /// or, where the ranker draws the order of the shown items again (redraw), given that these are
  /// shown. Empty where the ranker has no tractable law.
  std::vector<double> prob_first;
  std::vector<double> prior;  // of each of `items`, or empty
  FeatureRows features;       // of each of `items`, as used; or empty
  /// Log-probability of the shown list; none where the ranker has no tractable law.
  std::optional<double> log_propensity;

  std::uint64_t user = 0;
  std::uint64_t session = 0;
  std::uint64_t group = 0;
  std::uint64_t context_key = 0;
  std::vector<std::byte> aux;  // belongs to the ranker

  std::span<const ItemIndex> shown() const { return {items.data(), shown_count}; }
  /// prob_first of the i-th of `items`, or none. REQUIRES: i < items.size()
  std::optional<double> first_prob(std::size_t i) const {
    return prob_first.empty() ? std::nullopt : std::optional(prob_first[i]);
  }
};

/// What the user did with a list.
struct Feedback {
  DecisionId decision;
  std::int64_t time_ms = 0;
  std::vector<ItemIndex> clicked = {};  // in the order of the clicks; repeats of an item count once
  bool closed = false;  // the window has ended: what is not clicked by now counts as passed over
  std::vector<double> grades = {};  // optional, one per shown item
  std::vector<ItemIndex> full_order =
      {};  // optional: a whole ranking of the shown items, best first
};

}  // namespace hindsight
