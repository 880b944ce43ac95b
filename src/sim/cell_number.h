// Numbers in the cells of tables.
//
// Thread-safety: pure functions.

#pragma once

#include <charconv>
#include <optional>
#include <string_view>
#include <system_error>

namespace hindsight {

/// RETURNS: the number that the whole cell is, where it is in range.
template <class T>
std::optional<T> number_in(std::string_view cell, T least, T most) {
  T value{};
  const auto [end, problem] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
  const bool whole = problem == std::errc() && end == cell.data() + cell.size();
  return whole && value >= least && value <= most ? std::optional(value) : std::nullopt;
}

}  // namespace hindsight
