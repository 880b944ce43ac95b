// The one table of ranking algorithms: name, parameters, paper, guarantee, assumptions, and how to
// make one.
//
// The command line's help, the HTTP listing, the docs' table, the conformance tests and the
// benchmarks are made from this table; adding an algorithm means adding its row
// (src/rankers/registry.cc).
//
// Thread-safety: the table is constant.

#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "hindsight/ranker.h"
#include "hindsight/result.h"

namespace hindsight {

/// A parameter's value: a number, a word or a switch.
using ParamValue = std::variant<double, std::string, bool>;

/// Values by name; what is not given takes its default.
using ParamMap = std::map<std::string, ParamValue, std::less<>>;

/// "3", "warm", "true": as a person would write it.
std::string to_string(const ParamValue& value);

/// What a parameter may be. The type is that of `default_value`.
struct ParamSpec {
  std::string_view name;
  ParamValue default_value;
  std::string_view help = {};
  double minimum = 0.0;  // of a number
  bool minimum_excluded = false;
  double maximum = 0.0;
  bool whole_number = false;
  std::vector<std::string_view> words = {};  // of a word: the values it may take
};

/// How much of a list is drawn at random: what its logs can later tell about other rankers.
enum class ListLaw : std::uint8_t {
  kWholeList,      // every order of the candidates has a known, positive probability
  kFirstSlot,      // the first item is drawn, the rest sorted
  kDeterministic,  // sorted; only ties are drawn
};

struct RankerInfo {
  std::string_view name;
  std::string_view summary;
  std::string_view paper;  // key of docs/references.md, and section
  std::string_view guarantee;
  std::string_view assumptions;
  Learns learns = Learns::kImmediate;
  ListLaw law = ListLaw::kDeterministic;
  bool sublinear = false;  // can draw from a whole library without touching every item
  std::vector<ParamSpec> params = {};
  /// REQUIRES: `params` holds a valid value for every spec of the row.
  Result<std::unique_ptr<Ranker>> (*make)(const ParamMap& params) = nullptr;
};

/// RETURNS: every ranker, in the order of the docs.
std::span<const RankerInfo> ranker_registry();

/// FAILS: kUnknownName
Result<const RankerInfo*> find_ranker(std::string_view name);

/// RETURNS: `given` completed by defaults. FAILS: kUnknownName, kInvalidArgument, kNotFinite
Result<ParamMap> check_params(const RankerInfo& info, const ParamMap& given);

/// Makes an empty ranker. FAILS: as find_ranker and check_params; kUnsupported for combinations
/// that make no sense
Result<std::unique_ptr<Ranker>> make_ranker(std::string_view name, const ParamMap& params = {});

/// A ranker together with the name and parameters that it was made from.
struct NamedRanker {
  std::string name;
  ParamMap params;
  std::unique_ptr<Ranker> ranker;
};

/// The save format (docs/save-format.md): versioned, checksummed, little-endian on every machine.
/// REQUIRES: name and params are those that the ranker was made from, completed by check_params
std::vector<std::byte> save_ranker(std::string_view name, const ParamMap& params,
                                   const Ranker& ranker);

/// FAILS: kCorrupt (truncated, flipped, inconsistent), kNewerVersion; as make_ranker where the
/// saved name or parameters do not fit the registry
Result<NamedRanker> load_ranker(std::span<const std::byte> bytes);

/// 128 bits in hex of everything that a save would hold: equal models have equal hashes.
std::string model_hash(const Ranker& ranker);

}  // namespace hindsight
