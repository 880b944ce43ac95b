// The one table of ranking algorithms: name, parameters, paper, guarantee, assumptions, and how to
// make one.
//
// The command line's help, the HTTP listing, the docs' table, the conformance tests and the
// benchmarks are made from this table; adding an algorithm means adding its row
// (src/rankers/registry.cc).
//
// Thread-safety: the table is constant.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hindsight/params.h"
#include "hindsight/ranker.h"
#include "hindsight/result.h"

namespace hindsight {

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
  kNotStated,      // drawn, but nobody can say how likely a list was
};

struct RankerInfo {
  std::string_view name;
  std::string_view summary;
  std::string_view paper;  // key of docs/references.md, and section
  std::string_view guarantee;
  std::string_view assumptions;
  Learns learns = Learns::kImmediate;
  ListLaw law = ListLaw::kDeterministic;
  /// Can draw from a whole library without touching every item: with choice_set=shown and, where
  /// there are such parameters, with library=true, sort=plackett-luce, noise=gumbel.
  bool sublinear = false;
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

/// Makes an empty ranker, which knows its name and its parameters, completed by defaults.
/// FAILS: as find_ranker and check_params; kUnsupported for combinations that make no sense
Result<std::unique_ptr<Ranker>> make_ranker(std::string_view name, const ParamMap& params = {});

/// The save format (docs/save-format.md): versioned, checksummed, little-endian on every machine.
/// REQUIRES: the ranker comes from make_ranker or load_ranker
std::vector<std::byte> save_ranker(const Ranker& ranker);

/// FAILS: kCorrupt (truncated, flipped, inconsistent), kNewerVersion; as make_ranker where the
/// saved name or parameters do not fit the registry
Result<std::unique_ptr<Ranker>> load_ranker(std::span<const std::byte> bytes);

/// 128 bits in hex of everything that a save would hold: equal models have equal hashes.
std::string model_hash(const Ranker& ranker);

}  // namespace hindsight
