// TextTable: a table for a terminal, and numbers as people read them.
//
// Thread-safety: one owner at a time; a pure function.

#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace hindsight {

/// Its first column is left-aligned, the others right-aligned, each as wide as its cells.
class TextTable {
 public:
  explicit TextTable(std::vector<std::string> heads) { rows_.push_back(std::move(heads)); }
  /// REQUIRES: as many cells as heads
  void add(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }

  std::string str() const;

 private:
  std::vector<std::vector<std::string>> rows_;
};

/// RETURNS: a number without its fraction, with commas: 4,576.
std::string format_count(double value);

}  // namespace hindsight
