// What a collection's settings may be.

#include <cmath>

#include "src/core/check.h"
#include "src/engine/collection.h"

namespace hindsight {
namespace {

constexpr std::int64_t kDayMs = 24LL * 3600 * 1000;
constexpr std::int64_t kMaxWindowMs = 90 * kDayMs;

Error out_of_range(const char* field, const char* range) {
  return {ErrorCode::kInvalidArgument, std::string("must be ") + range, field};
}

Result<void> check_limits(const CollectionConfig& config) {
  if (config.window_ms < 1 || config.window_ms > kMaxWindowMs) {
    return out_of_range("window_seconds", "above 0 and at most 7776000 (90 days)");
  }
  if (!(config.control >= 0.0 && config.control <= 1.0)) {
    return out_of_range("control", "from 0 to 1");
  }
  if (config.max_open < 1 || config.max_open > 100'000'000) {
    return out_of_range("max_open", "from 1 to 100000000");
  }
  if (config.max_scan < 1 || config.max_scan > 10'000'000) {
    return out_of_range("max_scan", "from 1 to 10000000");
  }
  if (config.memory_budget < (std::uint64_t{1} << 20)) {
    return out_of_range("memory_budget", "at least 1048576 (bytes)");
  }
  if (config.retain_days != 0 &&
      static_cast<std::int64_t>(config.retain_days) * kDayMs < config.window_ms + kDayMs) {
    return out_of_range("retain_days",
                        "0 (for ever), or a day longer than the window, within which a click may "
                        "still need its decision");
  }
  return {};
}

template <class T>
void take(const std::optional<T>& given, T& value) {
  if (given) {
    value = *given;
  }
}

}  // namespace

Result<RankerChoice> complete_choice(const RankerChoice& choice) {
  RankerChoice complete = choice;
  HINDSIGHT_ASSIGN_OR_RETURN(const RankerInfo* row, find_ranker(choice.ranker));
  HINDSIGHT_ASSIGN_OR_RETURN(complete.params, check_params(*row, choice.params));
  // Some combinations only the ranker itself can judge.
  HINDSIGHT_RETURN_IF_ERROR(make_ranker(complete.ranker, complete.params));
  return complete;
}

std::string choice_set_name(const ParamMap& params) {
  const auto found = params.find("choice_set");
  return found == params.end() ? "" : to_string(found->second);
}

Result<CollectionConfig> apply_patch(const CollectionConfig& base, const CollectionPatch& patch,
                                     bool is_new) {
  CollectionConfig config = base;
  if (!is_new && patch.seed && *patch.seed != base.seed) {
    return Error{ErrorCode::kConflict, "the seed of a collection never changes", "seed"};
  }
  take(patch.seed, config.seed);
  take(patch.window_ms, config.window_ms);
  take(patch.on_unknown, config.on_unknown);
  take(patch.control, config.control);
  take(patch.log_queries, config.log_queries);
  take(patch.log_candidates, config.log_candidates);
  take(patch.decisions_before_reply, config.decisions_before_reply);
  take(patch.max_open, config.max_open);
  take(patch.max_scan, config.max_scan);
  take(patch.memory_budget, config.memory_budget);
  take(patch.retain_days, config.retain_days);
  HINDSIGHT_RETURN_IF_ERROR(check_limits(config));
  const bool other_ranker = patch.ranker && *patch.ranker != config.ranker;
  take(patch.ranker, config.ranker);
  if (patch.params) {
    config.params = *patch.params;
  } else if (other_ranker) {
    config.params.clear();
  }
  HINDSIGHT_ASSIGN_OR_RETURN(RankerChoice choice,
                             complete_choice({.ranker = config.ranker, .params = config.params}));
  config.params = std::move(choice.params);
  return config;
}

}  // namespace hindsight
