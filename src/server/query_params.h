// The part of an address behind '?', read as strictly as a body.
//
// Thread-safety: pure functions.

#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hindsight/result.h"

namespace hindsight {

/// RETURNS: the decoded value of each known parameter, in the order of `known`.
/// FAILS: kInvalidArgument (unknown, given twice, broken percent-encoding, not UTF-8)
Result<std::vector<std::optional<std::string>>> parse_query(
    std::string_view query, std::span<const std::string_view> known);

/// FAILS: kInvalidArgument
Result<std::size_t> whole_param(std::string_view text, std::string_view name, std::size_t minimum,
                                std::size_t maximum);

}  // namespace hindsight
