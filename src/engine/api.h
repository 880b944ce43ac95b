// What goes into the engine and what comes out: names and texts, as callers know them.
//
// Thread-safety: plain values.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hindsight/registry.h"
#include "hindsight/result.h"
#include "src/store/store.h"

namespace hindsight {

// Limits of one call.
inline constexpr std::size_t kMaxIdBytes = 256;     // of an item's id, a topic, a feature's name
inline constexpr std::size_t kMaxTextBytes = 4096;  // of a query
inline constexpr std::size_t kMaxCandidates = 100'000;  // in one request
inline constexpr std::size_t kMaxShown = 10'000;        // k
inline constexpr std::size_t kMaxItemsPerCall = 10'000;
inline constexpr std::size_t kMaxClicksPerCall = 1'000;
inline constexpr std::size_t kMaxFeaturesPerItem = 1'000;
inline constexpr std::size_t kMaxLinksPerItem = 10'000;
inline constexpr std::size_t kMaxTopicsPerItem = 100;
/// A page of items or lists ends with the one that brings it, as JSON, to about so many bytes.
inline constexpr std::size_t kMaxPageBytes = std::size_t{1} << 20;

/// What to do with candidates that are not in the library.
enum class OnUnknown : std::uint8_t {
  kAdd,     // the library grows by being used
  kAppend,  // last, in the caller's order
  kError,
};

/// What a new ranker does about the clicks before it.
enum class History : std::uint8_t {
  kReplay,   // learns them all, in the background
  kDiscard,  // starts anew
};

/// A ranker of the registry, and its parameters.
struct RankerChoice {
  std::string ranker;
  ParamMap params;  // completed by defaults where it is used
};

/// RETURNS: the choice with its parameters completed by defaults. FAILS: as find_ranker,
/// check_params and make_ranker
Result<RankerChoice> complete_choice(const RankerChoice& choice);
/// RETURNS: what a pick is a choice among, shown or candidates; empty for rankers that do not say.
std::string choice_set_name(const ParamMap& params);

struct CollectionConfig {
  std::string ranker = "auto";
  ParamMap params;         // completed by defaults once the collection exists
  std::uint64_t seed = 0;  // never changes
  std::int64_t window_ms = 30LL * 60 * 1000;
  OnUnknown on_unknown = OnUnknown::kAdd;
  double control = 0.0;  // the share of decisions that get the caller's order
  bool log_queries = false;
  bool log_candidates = true;  // what was not shown, too: another ranker can be judged on the log
  bool decisions_before_reply = false;  // log a decision before it is returned, not behind it
  std::uint64_t max_open = 1'000'000;   // decisions that wait for clicks
  std::uint64_t max_scan = 20'000;      // candidates that a ranker may touch one by one
  std::uint64_t memory_budget = std::uint64_t{1} << 30;  // bytes
  std::uint32_t retain_days = 0;                         // 0: events are kept for ever

  friend bool operator==(const CollectionConfig&, const CollectionConfig&) = default;
};

/// RETURNS: whether both have the same ranker with the same parameters.
inline bool same_ranker(const CollectionConfig& a, const CollectionConfig& b) {
  return a.ranker == b.ranker && a.params == b.params;
}

/// A wish to make or change a collection: what is not given takes its default where the collection
/// is new, and stays as it is where it is not.
struct CollectionPatch {
  std::optional<std::string> ranker;
  std::optional<ParamMap> params;  // a new ranker without params takes its defaults
  std::optional<std::uint64_t> seed;
  std::optional<std::int64_t> window_ms;
  std::optional<OnUnknown> on_unknown;
  std::optional<double> control;
  std::optional<bool> log_queries;
  std::optional<bool> log_candidates;
  std::optional<bool> decisions_before_reply;
  std::optional<std::uint64_t> max_open;
  std::optional<std::uint64_t> max_scan;
  std::optional<std::uint64_t> memory_budget;
  std::optional<std::uint32_t> retain_days;
  History history = History::kReplay;
};

enum class PutOutcome : std::uint8_t { kCreated, kChanged, kUnchanged };

struct CollectionInfo {
  std::string name;
  CollectionConfig config;
  std::uint64_t era = 0;  // how many times the ranker was changed
  bool building = false;  // a new ranker is learning the history; the old one serves
  std::optional<Error> build_error = {};  // why it could not: the old one goes on
  std::uint64_t items = 0;
};

/// Features by name.
using NamedFeatures = std::vector<std::pair<std::string, double>>;

struct ItemInput {
  std::string id;
  std::vector<std::string> topics;
  NamedFeatures features;
  std::vector<std::string> links;
};

struct ItemsReply {
  std::uint64_t added = 0;
  std::uint64_t updated = 0;
};

/// An item as it stands in the library, and what its score is made of.
struct ItemView {
  std::string id;
  std::vector<std::string> topics;
  NamedFeatures features;
  std::vector<std::string> links;
  double score = 0.0;  // of the ranker, outside any request
  std::uint64_t picks = 0;
  std::array<double, 2> decayed_picks = {};
  std::int64_t added_ms = 0;
  std::int64_t age_ms = 0;
};

struct ItemPage {
  std::vector<ItemView> items;
  std::string next_cursor;  // empty at the end
};

struct CandidateInput {
  std::string id;
  NamedFeatures features;  // in place of the item's own, when any candidate gives some
  double prior = 0.0;
};

struct RankInput {
  std::string query;
  std::vector<CandidateInput> candidates;  // these, or
  std::string topic;          // those of a topic, or, with both empty, the whole library
  bool has_features = false;  // some candidate gave features
  bool has_prior = false;     // some candidate gave a prior
  std::size_t k = 10;
  std::string user;
  std::string session;
  std::string group;
  std::string context_key;
  std::optional<OnUnknown> on_unknown;  // in place of the collection's
  std::string decision;                 // with offset: the next page of this decision's permutation
  std::size_t offset = 0;
};

struct RankedItem {
  std::string id;
  double score = 0.0;
  std::optional<double> prob_first = 0.0;  // none where the ranker's law does not tell
  bool unknown = false;                    // not in the library, appended
};

struct RankReply {
  std::string decision;
  std::vector<RankedItem> items;
  std::optional<double> log_propensity;
  std::uint64_t model_version = 0;
  bool control = false;
  std::uint64_t candidates = 0;  // how many there were to choose from
};

/// What a user did with a list: one of item, position and ranking is given.
struct ClickInput {
  std::string decision;
  std::string item = {};
  std::string event = {};                 // the client's idempotency key, or empty
  std::uint32_t position = 0;             // in the list as it was shown, from 1; 0: not given
  std::vector<std::string> ranking = {};  // every item of the list once, best first
};

struct ClicksReply {
  std::uint64_t accepted = 0;
  std::uint64_t duplicate = 0;
  std::uint64_t late = 0;
  std::uint64_t unjoined = 0;
  std::uint64_t quarantined = 0;
};

/// received = pending + learned + duplicate + late + unjoined + quarantined, always.
struct ClickCounts {
  std::uint64_t received = 0;
  std::uint64_t pending = 0;
  std::uint64_t learned = 0;
  std::uint64_t duplicate = 0;
  std::uint64_t late = 0;
  std::uint64_t unjoined = 0;
  std::uint64_t quarantined = 0;

  friend bool operator==(const ClickCounts&, const ClickCounts&) = default;
};

/// What became of decisions: of one side of a comparison between the ranker and the caller's own
/// order, for instance.
struct ArmStats {
  std::uint64_t decisions = 0;
  std::uint64_t clicks = 0;        // learned or, in the control arm, counted
  std::uint64_t first_clicks = 0;  // of them, on the first item
  double ndcg_sum = 0.0;           // of 1 / log2(1 + place)
  std::uint64_t clicked = 0;       // decisions with a click
  double ndcg_squares = 0.0;       // sum of the squares

  friend bool operator==(const ArmStats&, const ArmStats&) = default;
};

/// What the best fixed policy in hindsight would have paid for the clicks that were learned.
struct Hindsight {
  double cost = 0.0;          // each click charged at the policy's projection on that click's ball
  double error = 0.0;         // 95% of the sampling, or what the solver left open
  double regret_upper = 0.0;  // learned cost minus the sum of each cycle's own minimum
  std::uint64_t sample = 0;   // clicks that were looked at

  friend bool operator==(const Hindsight&, const Hindsight&) = default;
};

/// A moment in the life of a collection.
struct CurvePoint {
  std::uint64_t era = 0;
  std::int64_t time_ms = 0;
  Position position = 0;
  std::optional<RegretSummary> cost = {};   // of the era; none without a bound
  std::optional<Hindsight> hindsight = {};  // only where it was measured
  ArmStats ranker_arm = {};                 // every decision since the collection was made
  ArmStats control_arm = {};                // that is not, or that is, in the caller's order
  std::string choice_set = {};              // of the era; empty where it has none, or not known
  std::vector<float> expert_weights = {};   // Ranker::expert_weights; empty where it was measured

  /// RETURNS: how much more was paid, at the moments of learning, than the best fixed policy would
  /// have; none where it was not measured.
  std::optional<double> regret() const {
    return cost && hindsight ? std::optional(cost->learned_cost - hindsight->cost) : std::nullopt;
  }

  friend bool operator==(const CurvePoint&, const CurvePoint&) = default;
};

/// Whether the best fixed policy in hindsight is looked for again and again.
enum class HindsightRefresh : std::uint8_t {
  kOn,
  kOff,          // insight_share is 0
  kDropped,      // decisions of this era are no longer kept
  kUnsupported,  // the ranker books no K-L cost
};

struct CollectionStats {
  ClickCounts clicks;
  std::uint64_t decisions = 0;
  std::uint64_t lost_decisions = 0;  // since the start: shown, but the log did not take them
  std::uint64_t open_decisions = 0;
  std::uint64_t closed_early = 0;  // because more than max_open were open
  std::uint64_t items = 0;
  std::uint64_t era = 0;
  bool building = false;
  std::optional<Error> build_error = {};  // as in CollectionInfo
  ArmStats ranker_arm;                    // every decision since the collection was made
  ArmStats control_arm;                   // that is not, or that is, in the caller's order
  /// Of both, those whose arm was drawn: lists alike, but for the draw.
  ArmStats drawn_ranker_arm;
  ArmStats drawn_control_arm;
  ArmStats era_arm;  // of the ranker's decisions, those since it began to learn
  std::vector<std::pair<std::string, std::uint64_t>> quarantine_reasons;
  std::optional<RegretSummary> regret;
  std::string choice_set;              // what a pick is a choice among: shown or candidates
  std::optional<CurvePoint> measured;  // the last one of this era
  HindsightRefresh refresh = HindsightRefresh::kOn;
  std::string model_hash;  // empty unless asked for
  Position position = 0;   // of the last event in the model
  Position head = 0;       // of the last durable event known
  std::uint64_t snapshot_position = 0;
  std::uint64_t memory_bytes = 0;  // estimated
  Description model;               // the ranker's state in words
};

/// What was ranked then.
struct DecisionView {
  std::string decision;
  std::int64_t time_ms = 0;
  std::string ranker;
  std::uint64_t model_version = 0;
  std::string query;  // empty unless the collection logs queries
  std::vector<RankedItem> items;
  std::optional<double> log_propensity;
  bool control = false;
  bool open = false;
  std::vector<std::string> clicked;  // ids of the clicked items, in the order of the clicks
};

}  // namespace hindsight
