#include "src/rankers/feature_source.h"

#include <algorithm>
#include <cmath>

#include "src/core/check.h"
#include "src/core/feature_weights.h"
#include "src/core/kernels.h"
#include "src/rankers/scored_ranker.h"

namespace hindsight {
namespace {

// A direction has a number for every column, in every ranking.
constexpr std::size_t kMaxColumns = std::size_t{1} << 16;

std::string at(const std::string& list, std::size_t i) {
  return list + "[" + std::to_string(i) + "].features";
}

}  // namespace

Result<void> FeatureSource::check_length(double squared, std::size_t columns,
                                         const std::string& list, std::size_t i) const {
  if (!(std::sqrt(squared) <= bound_)) {
    return Error{ErrorCode::kFeatureTooLong,
                 "the feature vector has length " + pretty(std::sqrt(squared)) +
                     ", beyond the declared feature_bound " + pretty(bound_) +
                     "; scale the features or declare a larger bound",
                 at(list, i)};
  }
  if (columns > kMaxColumns) {
    return Error{ErrorCode::kTooLarge,
                 "this ranker learns a weight for at most " + std::to_string(kMaxColumns) +
                     " feature columns",
                 at(list, i)};
  }
  return {};
}

Result<void> FeatureSource::check_rows(const FeatureRows& rows, std::size_t count,
                                       const std::string& list) const {
  const std::size_t columns = columns_of(rows).total();
  for (std::size_t i = 0; i < count; ++i) {
    HINDSIGHT_RETURN_IF_ERROR(check_length(squared_row_norm(rows, i), columns, list, i));
  }
  return {};
}

Result<FeatureRows> FeatureSource::collect(const Request& request) const {
  if (request.features == nullptr) {
    return store_.rows_of(request.candidates);
  }
  HINDSIGHT_RETURN_IF_ERROR(check_rows(*request.features, request.candidates.size(), "candidates"));
  return *request.features;
}

Result<void> FeatureSource::check_items(std::span<const Item> items) const {
  for (std::size_t i = 0; i < items.size(); ++i) {
    const Item& item = items[i];
    const std::size_t sparse =
        item.sparse_index.empty() ? 0 : static_cast<std::size_t>(item.sparse_index.back()) + 1;
    HINDSIGHT_RETURN_IF_ERROR(
        check_length(dot(item.dense, item.dense) + dot(item.sparse_value, item.sparse_value),
                     item.dense.size() + sparse, "items", i));
  }
  return {};
}

void FeatureSource::put(std::span<const Item> items) {
  for (const Item& item : items) {
    store_.put(item);
  }
}

Result<void> FeatureSource::load(ByteReader& in) {
  HINDSIGHT_RETURN_IF_ERROR(store_.load(in));
  for (std::size_t i = 0; i < store_.size(); ++i) {
    const auto item = static_cast<ItemIndex>(i);
    if (!check_rows(store_.rows_of(std::span(&item, 1)), 1, "items").ok()) {
      return Error{ErrorCode::kCorrupt, "saved features beyond their limits", at("items", i)};
    }
  }
  return {};
}

ParamSpec feature_bound_spec() {
  return {.name = "feature_bound",
          .default_value = 10.0,
          .help = "no feature vector may be longer",
          .minimum = 0.0,
          .minimum_excluded = true,
          .maximum = 1e6};
}

}  // namespace hindsight
