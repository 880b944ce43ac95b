// TextTable: a table for a terminal.
//
// Thread-safety: one owner at a time.

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

}  // namespace hindsight
