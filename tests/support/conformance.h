// What every ranker must fulfil, as checks that a test can run on any of them.
//
// A check returns what is wrong, or nothing. It is a function and not a test, so that faults can be
// planted in a ranker and be seen to be caught.

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <ostream>
#include <span>
#include <string>
#include <vector>

#include "hindsight/ranker.h"
#include "tests/support/world.h"

namespace hindsight::testing {

/// A ranker to be examined.
struct Subject {
  std::string name = {};
  Learns learns = Learns::kImmediate;
  std::function<std::unique_ptr<Ranker>()> make = {};  // an empty one
  bool sublinear = false;     // draws from the whole library without a scan
  bool context_keys = false;  // learns per context key; its lives have some
  bool refuses_context_keys = false;

  friend void PrintTo(const Subject& subject, std::ostream* out) { *out << subject.name; }
};

/// What is wrong; nothing: all is well.
using Verdict = std::optional<std::string>;

// Lists and their law (conformance_law.cc).
/// Shown items are k distinct candidates; the choice set and all numbers fit; the request's fields
/// are copied.
Verdict check_lists_are_valid(const Subject& subject, std::uint64_t seed);
/// prob_first, where there is one, is at least 0 and sums to 1 over the candidates.
Verdict check_first_slots(const Subject& subject, std::uint64_t seed);
/// What the ranker says of a list that it has drawn is what it said when it drew it.
Verdict check_list_probability(const Subject& subject, std::uint64_t seed);
/// Over small sets, e^log_propensity sums to 1 over the lists, agrees with prob_first, and counted
/// draws follow both. Statistical: false alarm below 1e-6 over the whole suite for a fixed seed.
Verdict check_list_law(const Subject& subject, std::uint64_t seed);

// The whole library (conformance_library.cc).
/// The list is that of a request with every live item as a candidate, and scans have their limit;
/// where it is drawn without a scan, it shows live items and says its law exactly.
Verdict check_whole_library(const Subject& subject, std::uint64_t seed);
/// Counted draws without a scan follow the law that they say. Statistical, as check_list_law.
Verdict check_library_law(const Subject& subject, std::uint64_t seed);

// State (conformance_state.cc).
/// A ranking changes nothing: not the saved bytes, not the next ranking.
Verdict check_rank_is_pure(const Subject& subject, std::uint64_t seed);
/// Rankings on several threads are those of one thread.
Verdict check_concurrent_ranks(const Subject& subject, std::uint64_t seed);
/// The same seed and events give the same lists and the same model, on every SIMD target.
Verdict check_same_bits(const Subject& subject, std::uint64_t seed);
/// A copy made by save and load goes on exactly like the original, from any moment.
Verdict check_save_load_continue(const Subject& subject, std::uint64_t seed);
/// Truncated and prolonged saves are refused as corrupt.
Verdict check_damaged_saves(const Subject& subject, std::uint64_t seed);

// Input (conformance_input.cc).
/// Late, repeated and out-of-order feedback leaves a model of finite numbers that still ranks.
Verdict check_odd_feedback(const Subject& subject, std::uint64_t seed);
/// Items can be added at any time, removed, and added again under a new index; open decisions
/// learn.
Verdict check_growth(const Subject& subject, std::uint64_t seed);
/// Each kind of bad input gives its error and leaves the saved bytes as they were.
Verdict check_bad_input(const Subject& subject, std::uint64_t seed);

struct Check {
  const char* sentence;  // what holds
  Verdict (*run)(const Subject&, std::uint64_t seed);
  bool statistical = false;  // meant for fixed seeds only

  friend void PrintTo(const Check& check, std::ostream* out) { *out << check.sentence; }
};

std::span<const Check> conformance_checks();

// Tools of the checks.
/// RETURNS: a life that has everything in it that the ranker can do.
World life_of(const Subject& subject, std::uint64_t seed, std::size_t max_candidates = 12);
/// RETURNS: how list_probability of a drawn list differs from what its decision says.
Verdict check_own_probability(const Ranker& ranker, const Signals& signals, const Request& request,
                              const Decision& decision);
std::vector<std::byte> saved(const Ranker& ranker);
/// RETURNS: a new ranker with the state of this one; null where loading failed.
std::unique_ptr<Ranker> reloaded(const Subject& subject, const Ranker& ranker);
/// RETURNS: the first field in which the two differ, bit for bit; empty: none.
std::string difference(const Decision& a, const Decision& b);

}  // namespace hindsight::testing
