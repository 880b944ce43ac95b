// The bodies of requests, read strictly: every field is known, stands once, and is in its range.
//
// What is refused comes with the place ("candidates[3].id") and with what would be right. Limits
// are those of src/engine/api.h and the ones below; docs/openapi.yaml repeats them.
//
// Thread-safety: pure functions.

#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "hindsight/result.h"
#include "src/engine/api.h"

namespace hindsight {

inline constexpr double kMinWindowSeconds = 0.001;
inline constexpr double kMaxWindowSeconds = 90.0 * 24 * 60 * 60;
inline constexpr std::uint64_t kMaxOpenLimit = 100'000'000;
inline constexpr std::uint64_t kMaxScanLimit = 10'000'000;
inline constexpr std::uint64_t kMinMemoryBudget = std::uint64_t{1} << 20;
inline constexpr std::uint64_t kMaxMemoryBudget = std::uint64_t{1} << 50;
inline constexpr std::uint64_t kMaxRetainDays = 36'500;
inline constexpr std::size_t kMaxParams = 64;
inline constexpr std::size_t kMaxNameBytes = 64;  // of a collection

// FAILS, all of them: kParse (not JSON, not UTF-8, too deep), kInvalidArgument, kTooLarge (more
// entries than allowed), kOverloaded (no memory).

/// Also kEmptyCandidates: an empty list of candidates is no wish for the whole library.
Result<RankInput> parse_rank(std::string_view body);
Result<std::vector<ClickInput>> parse_clicks(std::string_view body);
Result<std::vector<ItemInput>> parse_items(std::string_view body);
/// An empty body is a wish for the defaults.
Result<CollectionPatch> parse_collection(std::string_view body);

/// {"ranker":"random","params":{…}}; the ranker has to be named.
Result<RankerChoice> parse_evaluation(std::string_view body);

/// [a-z0-9_-]{1,64}
bool is_collection_name(std::string_view name);
/// The rule of item ids, users and decisions that come in a path: 1 to 256 bytes of UTF-8 without
/// control characters. FAILS: kInvalidArgument
Result<void> check_path_id(std::string_view id, std::string_view field);

/// "add", "append", "error", as they stand in JSON.
std::string_view on_unknown_name(OnUnknown value);

}  // namespace hindsight
