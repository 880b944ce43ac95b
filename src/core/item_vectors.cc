#include "src/core/item_vectors.h"

#include <algorithm>
#include <cmath>

#include "src/core/bytes.h"
#include "src/core/check.h"
#include "src/core/kernels.h"

namespace hindsight {
namespace {

/// Calls visit(sparse, index, value) for every feature of the item that is not zero.
template <class Visit>
void for_features(const Item& item, Visit visit) {
  for (std::size_t c = 0; c < item.dense.size(); ++c) {
    if (item.dense[c] != 0.0) {
      visit(false, static_cast<std::uint32_t>(c), item.dense[c]);
    }
  }
  for (std::size_t i = 0; i < item.sparse_index.size(); ++i) {
    if (item.sparse_value[i] != 0.0) {
      visit(true, item.sparse_index[i], item.sparse_value[i]);
    }
  }
}

}  // namespace

std::size_t ColumnNumbers::number(bool sparse, std::uint32_t index) {
  return numbers_.emplace(std::pair(sparse, index), numbers_.size()).first->second;
}

std::size_t ColumnNumbers::find(bool sparse, std::uint32_t index) const {
  const auto found = numbers_.find({sparse, index});
  return found == numbers_.end() ? kMax : found->second;
}

void ColumnNumbers::save(ByteWriter& out) const {
  std::vector<std::uint64_t> columns(numbers_.size());
  for (const auto& [column, number] : numbers_) {
    columns[number] = (std::uint64_t{column.first} << 32) | column.second;
  }
  out.put(columns);
}

Result<void> ColumnNumbers::load(ByteReader& in) {
  std::vector<std::uint64_t> columns;
  in.get(columns);
  HINDSIGHT_RETURN_IF_ERROR(in.check("columns"));
  numbers_.clear();
  bool sane = columns.size() <= kMax;
  for (std::size_t i = 0; sane && i < columns.size(); ++i) {
    sane = columns[i] >> 33 == 0 &&
           number(columns[i] >> 32 == 1, static_cast<std::uint32_t>(columns[i])) == i;
  }
  return sane ? Result<void>()
              : Error{ErrorCode::kCorrupt, "the saved columns are damaged", "columns"};
}

Result<void> ItemVectors::check(std::span<const Item> items) const {
  ColumnNumbers columns = columns_;
  for (std::size_t i = 0; i < items.size(); ++i) {
    const std::string field = "items[" + std::to_string(i) + "].features";
    double squared = 0.0;
    std::size_t highest = 0;
    for_features(items[i], [&](bool sparse, std::uint32_t index, double value) {
      squared += value * value;
      if (columns.size() <= ColumnNumbers::kMax) {
        highest = std::max(highest, columns.number(sparse, index));
      }
    });
    if (squared == 0.0 && !(items[i].dense.empty() && items[i].sparse_index.empty())) {
      return Error{
          ErrorCode::kInvalidArgument,
          "features that are all zero say nothing of an item: give one that is not, or none",
          field};
    }
    if (!(squared <= kMaxLength * kMaxLength)) {
      return Error{ErrorCode::kFeatureTooLong, "the length must be at most 1000000; scale them",
                   field};
    }
    if (highest >= ColumnNumbers::kMax) {
      return Error{ErrorCode::kTooLarge,
                   "this ranker takes at most 128 different features over all items", field};
    }
  }
  return {};
}

bool ItemVectors::put(const Item& item) {
  std::vector<double> row;
  for_features(item, [&](bool sparse, std::uint32_t index, double value) {
    const std::size_t column = columns_.number(sparse, index);
    HINDSIGHT_CHECK(column < ColumnNumbers::kMax);
    row.resize(std::max(row.size(), column + 1), 0.0);
    row[column] = value;
  });
  if (item.index >= rows_.size()) {
    rows_.resize(item.index + std::size_t{1});
  }
  const bool changed = rows_[item.index] != row;
  rows_[item.index] = std::move(row);
  return changed;
}

VectorSet ItemVectors::gather(std::span<const ItemIndex> items) const {
  VectorSet set(items.size(), dim());
  for (std::size_t i = 0; i < items.size(); ++i) {
    const std::span<const double> x = row(items[i]);
    for (std::size_t c = 0; c < x.size(); ++c) {
      set.at(i, c) = x[c];
    }
  }
  return set;
}

void ItemVectors::save(ByteWriter& out) const {
  columns_.save(out);
  out.put(static_cast<std::uint64_t>(rows_.size()));
  for (const std::vector<double>& x : rows_) {
    out.put(x);
  }
}

Result<void> ItemVectors::load(ByteReader& in) {
  HINDSIGHT_RETURN_IF_ERROR(columns_.load(in));
  std::uint64_t count = 0;
  in.get(count);
  rows_.clear();
  bool sane = true;
  for (std::uint64_t i = 0; sane && i < count; ++i) {
    std::vector<double> x;
    if (!in.get(x)) {
      break;
    }
    sane = x.size() <= dim() && all_within(x, -kMaxLength, kMaxLength) &&
           (x.empty() || x.back() != 0.0);
    rows_.push_back(std::move(x));
  }
  HINDSIGHT_RETURN_IF_ERROR(in.check("features"));
  return sane ? Result<void>()
              : Error{ErrorCode::kCorrupt, "the saved features are damaged", "features"};
}

}  // namespace hindsight
