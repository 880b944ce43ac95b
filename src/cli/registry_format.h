// The registry of rankers as people and programs read it.
//
// Thread-safety: pure functions.

#pragma once

#include <span>
#include <string>

#include "hindsight/registry.h"

namespace hindsight::cli {

/// For a terminal: a paragraph per ranker, lines of at most 100 columns.
std::string registry_as_text(std::span<const RankerInfo> rankers);

/// {"rankers":[{"name":…, "params":[…], …}]}; a bound that does not exist is null.
std::string registry_as_json(std::span<const RankerInfo> rankers);

/// docs/rankers.md, whole.
std::string registry_as_markdown(std::span<const RankerInfo> rankers);

}  // namespace hindsight::cli
