#include "src/core/term_rows.h"

#include <algorithm>
#include <cmath>

#include "src/core/feature_rows.h"

namespace hindsight {

std::size_t TermRows::slots() const {
  std::size_t slots = 0;
  for (const Entry& entry : entries) {
    slots = std::max(slots, std::size_t{entry.slot} + 1);
  }
  return slots;
}

TermRows make_term_rows(const FeatureRows& rows, std::size_t n) {
  TermRows out;
  if (rows.empty()) {
    return out;
  }
  out.begin.reserve(n + 1);
  out.begin.push_back(0);
  for (std::size_t i = 0; i < n; ++i) {
    // Of a length that overflows nothing is left, in place of something that is not a number.
    const double length = std::sqrt(squared_row_norm(rows, i));
    const double scale =
        std::isfinite(length) ? kMaxRowLength / std::max(length, kMaxRowLength) : 0.0;
    const auto add = [&](std::size_t column, double value) {
      if (value * scale != 0.0) {
        out.entries.push_back({static_cast<std::uint32_t>(column % kTerms), value * scale});
      }
    };
    for (std::size_t j = 0; j < rows.dense_dim; ++j) {
      add(j, rows.dense[i * rows.dense_dim + j]);
    }
    for (std::size_t e = rows.row_begin.empty() ? 0 : rows.row_begin[i];
         !rows.row_begin.empty() && e < rows.row_begin[i + 1]; ++e) {
      add(rows.sparse_index[e], rows.sparse_value[e]);
    }
    out.begin.push_back(static_cast<std::uint32_t>(out.entries.size()));
  }
  return out;
}

}  // namespace hindsight
