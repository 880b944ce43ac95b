// For crash tests: HINDSIGHT_KILL_AT=POINT[:N] makes the process kill itself, as `kill -9` would,
// when it passes a named point for the N-th time.
//
// Thread-safety: the function that is returned may be called from any thread.

#pragma once

#include <functional>
#include <string_view>

#include "hindsight/result.h"

namespace hindsight::cli {

/// RETURNS: what to call at every point; empty for an empty text. FAILS: kInvalidArgument
Result<std::function<void(std::string_view)>> kill_point(std::string_view text);

}  // namespace hindsight::cli
