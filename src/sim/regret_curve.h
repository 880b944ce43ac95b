// The regret of a replay against the best fixed policy in hindsight, checkpoint by checkpoint.
//
// Thread-safety: a function of its arguments.

#pragma once

#include <functional>
#include <span>
#include <vector>

#include "src/core/regret_meter.h"
#include "src/sim/growing_library.h"

namespace hindsight {

/// RETURNS: one bracket per account, in their order. REQUIRES: accounts of a ranker with one weight
/// per item that learned the stream's queries in order under the K-L cost; ascending clicks, balls
/// of radius at most 300. `progress` is called after each iteration of the solver; it may be empty
std::vector<RegretBracket> regret_curve(
    const PrefixStream& stream, std::span<const RegretAccount> accounts,
    const std::function<void(const NewtonStatus&)>& progress = {});

}  // namespace hindsight
