// FeatureSource: the features that a ranker of features alone scores with, the caller's or the
// items' own, no longer than declared.
//
// Thread-safety: const functions may run concurrently with each other, not with the others.

#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "hindsight/registry.h"
#include "hindsight/result.h"
#include "hindsight/types.h"
#include "src/core/feature_rows.h"

namespace hindsight {

class FeatureSource {
 public:
  /// No row may be longer than `bound`.
  explicit FeatureSource(double bound) : bound_(bound) {}

  /// One row per candidate: the request's, or the items' own. FAILS: kFeatureTooLong, kTooLarge
  /// (columns)
  Result<FeatureRows> collect(const Request& request) const;
  /// FAILS: kFeatureTooLong, kTooLarge
  Result<void> check_rows(const FeatureRows& rows, std::size_t count,
                          const std::string& list) const;
  Result<void> check_items(std::span<const Item> items) const;

  void put(std::span<const Item> items);
  FeatureRows rows_of(std::span<const ItemIndex> items) const { return store_.rows_of(items); }
  std::size_t size() const { return store_.size(); }
  std::size_t memory_bytes() const { return store_.memory_bytes(); }

  void save(ByteWriter& out) const { store_.save(out); }
  /// FAILS: kCorrupt (also where check_items would have refused an item)
  Result<void> load(ByteReader& in);

 private:
  Result<void> check_length(double squared, std::size_t columns, const std::string& list,
                            std::size_t i) const;

  double bound_;
  FeatureStore store_;
};

/// The parameter `feature_bound`.
ParamSpec feature_bound_spec();

}  // namespace hindsight
