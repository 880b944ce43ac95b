#include "src/sim/text_table.h"

#include <fmt/format.h>

#include <algorithm>

namespace hindsight {
namespace {

/// Every character here is one column wide: count all bytes but UTF-8's continuations.
std::size_t columns_of(const std::string& text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  }));
}

}  // namespace

std::string TextTable::str() const {
  std::vector<std::size_t> width(rows_.front().size(), 0);
  for (const auto& row : rows_) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      width[i] = std::max(width[i], columns_of(row[i]));
    }
  }
  std::string out;
  for (const auto& row : rows_) {
    std::string line = "  ";
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::string padding(width[i] - columns_of(row[i]), ' ');
      line += i == 0 ? row[i] + padding : padding + row[i];
      line += "  ";
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + "\n";
  }
  return out;
}

std::string format_count(double value) {
  std::string digits = fmt::format("{:.0f}", value);
  const std::size_t first = digits.front() == '-' ? 1 : 0;
  for (std::size_t at = digits.size(); at > first + 3; at -= 3) {
    digits.insert(at - 3, 1, ',');
  }
  return digits;
}

}  // namespace hindsight
