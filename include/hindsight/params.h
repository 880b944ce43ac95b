// Parameters of a ranker: values by name.
//
// Thread-safety: plain values.

#pragma once

#include <functional>
#include <map>
#include <string>
#include <variant>

namespace hindsight {

/// A parameter's value: a number, a word or a switch.
using ParamValue = std::variant<double, std::string, bool>;

/// Values by name; what is not given takes its default.
using ParamMap = std::map<std::string, ParamValue, std::less<>>;

/// "3", "warm", "true": as a person would write it.
std::string to_string(const ParamValue& value);

}  // namespace hindsight
