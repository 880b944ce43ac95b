// Checks and small operations on FeatureRows.
//
// Thread-safety: pure functions.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "hindsight/result.h"
#include "hindsight/types.h"

namespace hindsight {

class ByteReader;
class ByteWriter;

/// FAILS: kInvalidArgument (sizes do not fit together, columns not ascending), kTooLarge,
/// kNotFinite
Result<void> check_feature_rows(const FeatureRows& rows, std::size_t count,
                                const std::string& field);

/// RETURNS: the chosen rows, in the order of `order`. REQUIRES: rows passed check_feature_rows
FeatureRows select_rows(const FeatureRows& rows, std::span<const std::uint32_t> order);

/// RETURNS: the squared Euclidean length of row i.
double squared_row_norm(const FeatureRows& rows, std::size_t i);

/// The features of the items of a library, as they were last given.
class FeatureStore {
 public:
  /// REQUIRES: item.index is below the size, or equal to it (then the store grows)
  void put(const Item& item);
  std::size_t size() const { return rows_.size(); }
  /// About what the features take.
  std::size_t memory_bytes() const { return rows_.capacity() * sizeof(rows_[0]) + row_bytes_; }

  /// RETURNS: one row per item, padded with zeros to the longest.
  FeatureRows rows_of(std::span<const ItemIndex> items) const;

  void save(ByteWriter& out) const;
  /// FAILS: kCorrupt
  Result<void> load(ByteReader& in);

 private:
  struct Row {
    std::vector<double> dense;
    std::vector<std::uint32_t> sparse_index;
    std::vector<double> sparse_value;

    bool empty() const { return dense.empty() && sparse_index.empty(); }
    std::size_t memory_bytes() const;
  };
  /// RETURNS: an empty row for an item without features.
  const Row& row_of(ItemIndex item) const;
  /// REQUIRES: item < size()
  void set(ItemIndex item, Row row);

  std::vector<std::unique_ptr<const Row>> rows_;  // null: no features
  std::size_t row_bytes_ = 0;
};

}  // namespace hindsight
