// Measured rows as people and programs read them.
//
// Thread-safety: pure functions.

#pragma once

#include <string>
#include <vector>

#include "bench/runner.h"

namespace hindsight::bench {

/// A table for a terminal.
std::string format_table(const std::vector<Row>& rows);

/// {"benchmarks":[{"name":…,"n":…,"ns":…,"ratio":…,"aim":…}]}; what does not exist is null.
std::string format_json(const std::vector<Row>& rows);

}  // namespace hindsight::bench
