// ItemVectors: the features of a library's items as short dense vectors.
//
// Algorithms that estimate a linear model keep matrices of dimension x dimension, so that the
// columns that occur, dense and sparse, are numbered as they come, and there may not be many. An
// item may have no features at all; its vector is empty then.
//
// Thread-safety: none needed; one owner at a time.

#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "hindsight/result.h"
#include "hindsight/types.h"
#include "src/core/vector_set.h"

namespace hindsight {

class ByteReader;
class ByteWriter;

/// Numbers columns as they come: the n-th dense one, or the sparse one of an index.
class ColumnNumbers {
 public:
  static constexpr std::size_t kMax = 128;

  std::size_t size() const { return numbers_.size(); }
  /// RETURNS: the number of a column, given to it now if it is new; kMax or more where there are
  /// too many.
  std::size_t number(bool sparse, std::uint32_t index);
  /// RETURNS: the number of a column, or kMax where it has none.
  std::size_t find(bool sparse, std::uint32_t index) const;

  void save(ByteWriter& out) const;
  /// FAILS: kCorrupt
  Result<void> load(ByteReader& in);

 private:
  std::map<std::pair<bool, std::uint32_t>, std::size_t> numbers_;
};

class ItemVectors {
 public:
  /// The length of a feature vector, at most: its square must be a number to reckon with.
  static constexpr double kMaxLength = 1e6;

  std::size_t size() const { return rows_.size(); }
  std::size_t dim() const { return columns_.size(); }
  std::span<const double> row(ItemIndex item) const { return rows_[item]; }
  /// At most, about.
  std::size_t memory_bytes() const {
    return rows_.capacity() * (sizeof(std::vector<double>) + dim() * sizeof(double));
  }

  /// RETURNS: whether all the items could be put. FAILS: kInvalidArgument (an item with features
  /// that are all zero), kFeatureTooLong, kTooLarge (more than 128 columns in all)
  Result<void> check(std::span<const Item> items) const;
  /// RETURNS: whether the item's features are others than before. REQUIRES: check accepted it; its
  /// index is below the size, or equal to it (then there is one more)
  bool put(const Item& item);

  /// RETURNS: the vectors of some items. REQUIRES: all are below the size
  VectorSet gather(std::span<const ItemIndex> items) const;

  void save(ByteWriter& out) const;
  /// FAILS: kCorrupt
  Result<void> load(ByteReader& in);

 private:
  ColumnNumbers columns_;
  std::vector<std::vector<double>> rows_;  // each up to its last column
};

}  // namespace hindsight
