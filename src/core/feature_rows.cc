#include "src/core/feature_rows.h"

#include <algorithm>

#include "src/core/bytes.h"
#include "src/core/check.h"
#include "src/core/kernels.h"
#include "src/core/planted.h"

namespace hindsight {

Result<void> check_feature_rows(const FeatureRows& rows, std::size_t count,
                                const std::string& field) {
  const auto bad = [&](const char* why) { return Error{ErrorCode::kInvalidArgument, why, field}; };
  if (rows.dense_dim > kMaxDenseColumns) {
    return Error{ErrorCode::kTooLarge, "more than 65,536 dense features", field};
  }
  if (rows.dense.size() != rows.dense_dim * count) {
    return bad("the number of dense features is not rows times columns");
  }
  if ((!all_finite(rows.dense) || !all_finite(rows.sparse_value)) &&
      !planted(Fault::kAcceptNotFinite)) {
    return Error{ErrorCode::kNotFinite, "features must be finite numbers", field};
  }
  if (rows.sparse_index.size() != rows.sparse_value.size()) {
    return bad("sparse features need one value per index");
  }
  if (rows.row_begin.empty()) {
    return rows.sparse_index.empty() ? Result<void>() : bad("sparse features without row offsets");
  }
  if (rows.row_begin.size() != count + 1 || rows.row_begin.front() != 0 ||
      rows.row_begin.back() != rows.sparse_index.size()) {
    return bad("row offsets must be one more than the rows, from 0 to the number of values");
  }
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint32_t begin = rows.row_begin[i];
    const std::uint32_t end = rows.row_begin[i + 1];
    if (end < begin || end > rows.sparse_index.size()) {
      return bad("row offsets must not fall");
    }
    for (std::uint32_t e = begin; e < end; ++e) {
      if (rows.sparse_index[e] >= kMaxSparseColumns) {
        return Error{ErrorCode::kTooLarge, "a sparse feature's index is beyond 16,777,215", field};
      }
      if (e > begin && rows.sparse_index[e] <= rows.sparse_index[e - 1]) {
        return bad("the indices of sparse features must ascend within a row");
      }
    }
  }
  return {};
}

FeatureRows select_rows(const FeatureRows& rows, std::span<const std::uint32_t> order) {
  FeatureRows out;
  out.dense_dim = rows.dense_dim;
  out.dense.reserve(order.size() * rows.dense_dim);
  for (const std::uint32_t i : order) {
    const auto begin = rows.dense.begin() + static_cast<std::ptrdiff_t>(i * rows.dense_dim);
    out.dense.insert(out.dense.end(), begin, begin + static_cast<std::ptrdiff_t>(rows.dense_dim));
  }
  if (!rows.row_begin.empty()) {
    out.row_begin.reserve(order.size() + 1);
    out.row_begin.push_back(0);
    for (const std::uint32_t i : order) {
      for (std::uint32_t e = rows.row_begin[i]; e < rows.row_begin[i + 1]; ++e) {
        out.sparse_index.push_back(rows.sparse_index[e]);
        out.sparse_value.push_back(rows.sparse_value[e]);
      }
      out.row_begin.push_back(static_cast<std::uint32_t>(out.sparse_index.size()));
    }
  }
  return out;
}

double squared_row_norm(const FeatureRows& rows, std::size_t i) {
  const auto dense = std::span(rows.dense).subspan(i * rows.dense_dim, rows.dense_dim);
  double sum = dot(dense, dense);
  if (!rows.row_begin.empty()) {
    for (std::uint32_t e = rows.row_begin[i]; e < rows.row_begin[i + 1]; ++e) {
      sum += rows.sparse_value[e] * rows.sparse_value[e];
    }
  }
  return sum;
}

void FeatureStore::put(const Item& item) {
  HINDSIGHT_CHECK(item.index <= rows_.size());
  if (item.index == rows_.size()) {
    rows_.emplace_back();
  }
  set(item.index, {item.dense, item.sparse_index, item.sparse_value});
}

std::size_t FeatureStore::Row::memory_bytes() const {
  constexpr std::size_t kAllocation = 16;  // what the heap adds
  return sizeof(Row) + 4 * kAllocation + dense.capacity() * sizeof(double) +
         sparse_index.capacity() * sizeof(std::uint32_t) + sparse_value.capacity() * sizeof(double);
}

const FeatureStore::Row& FeatureStore::row_of(ItemIndex item) const {
  static const Row none;
  return rows_[item] == nullptr ? none : *rows_[item];
}

void FeatureStore::set(ItemIndex item, Row row) {
  row_bytes_ -= rows_[item] == nullptr ? 0 : rows_[item]->memory_bytes();
  rows_[item] = row.empty() ? nullptr : std::make_unique<const Row>(std::move(row));
  row_bytes_ += rows_[item] == nullptr ? 0 : rows_[item]->memory_bytes();
}

FeatureRows FeatureStore::rows_of(std::span<const ItemIndex> items) const {
  FeatureRows out;
  bool any_sparse = false;
  for (const ItemIndex item : items) {
    const Row& row = row_of(item);
    out.dense_dim = std::max(out.dense_dim, row.dense.size());
    any_sparse = any_sparse || !row.sparse_index.empty();
  }
  out.dense.reserve(items.size() * out.dense_dim);
  if (any_sparse) {
    out.row_begin.push_back(0);
  }
  for (std::size_t i = 0; i < items.size(); ++i) {
    const Row& row = row_of(items[i]);
    out.dense.insert(out.dense.end(), row.dense.begin(), row.dense.end());
    out.dense.resize((i + 1) * out.dense_dim, 0.0);
    if (any_sparse) {
      out.sparse_index.insert(out.sparse_index.end(), row.sparse_index.begin(),
                              row.sparse_index.end());
      out.sparse_value.insert(out.sparse_value.end(), row.sparse_value.begin(),
                              row.sparse_value.end());
      out.row_begin.push_back(static_cast<std::uint32_t>(out.sparse_index.size()));
    }
  }
  return out;
}

void FeatureStore::save(ByteWriter& out) const {
  out.put(static_cast<std::uint64_t>(rows_.size()));
  for (ItemIndex item = 0; item < rows_.size(); ++item) {
    const Row& row = row_of(item);
    out.put(row.dense);
    out.put(row.sparse_index);
    out.put(row.sparse_value);
  }
}

Result<void> FeatureStore::load(ByteReader& in) {
  std::uint64_t count = 0;
  rows_.clear();
  row_bytes_ = 0;
  in.get(count);
  for (std::uint64_t i = 0; in.ok() && i < count; ++i) {
    Row row;
    in.get(row.dense);
    in.get(row.sparse_index);
    in.get(row.sparse_value);
    HINDSIGHT_RETURN_IF_ERROR(in.check("features"));
    const FeatureRows one{.dense_dim = row.dense.size(),
                          .dense = row.dense,
                          .row_begin = {0, static_cast<std::uint32_t>(row.sparse_index.size())},
                          .sparse_index = row.sparse_index,
                          .sparse_value = row.sparse_value};
    if (!check_feature_rows(one, 1, "features").ok()) {
      return Error{ErrorCode::kCorrupt, "the saved features do not fit together", "features"};
    }
    rows_.emplace_back();
    set(static_cast<ItemIndex>(i), std::move(row));
  }
  return in.check("features");
}

}  // namespace hindsight
