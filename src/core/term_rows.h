// TermRows: the caller's features of a choice set as entries of one bounded table of weights.
//
// Dense column j and sparse column c have the slots j and c modulo kTerms: up to so many columns
// each has a weight of its own, beyond that they share. A row that is longer than kMaxRowLength is
// scaled down to it, in place of being refused: a year or a price among the features is no reason
// for an error, and no row can move a score further than its length allows.
//
// Thread-safety: plain values.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "hindsight/types.h"

namespace hindsight {

inline constexpr std::size_t kTerms = 4096;
inline constexpr double kMaxRowLength = 4.0;

struct TermRows {
  struct Entry {
    std::uint32_t slot = 0;
    double value = 0.0;
  };
  std::vector<std::uint32_t> begin;  // of each row, and the end; empty: no row has any
  std::vector<Entry> entries;

  bool empty() const { return entries.empty(); }
  std::span<const Entry> row(std::size_t i) const {
    return std::span(entries).subspan(begin[i], begin[i + 1] - begin[i]);
  }
  /// One more than the highest slot.
  std::size_t slots() const;
};

/// REQUIRES: rows passed check_feature_rows for n rows, or are empty
TermRows make_term_rows(const FeatureRows& rows, std::size_t n);

}  // namespace hindsight
