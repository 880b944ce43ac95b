// RetrievalSet: judged queries made ready for being ranked and judged many times.
//
// NDCG@10 is that of [Yue09] 5.2: gain 2^grade - 1, discount 1 / log(1 + place), divided by the
// best that the query allows. Documents with equal scores share their places: the value is the mean
// over all orders of them, so that it does not depend on the order in a file. Where a query has no
// relevant document NDCG is not defined; such queries are left out of every mean.
//
// Thread-safety: constant after it was made.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "hindsight/result.h"
#include "src/core/ranking_svm.h"
#include "src/sim/letor.h"

namespace hindsight {

class RetrievalSet {
 public:
  static constexpr std::size_t kDepth = 10;

  /// FAILS: kInvalidArgument (no query with a relevant document; grades that are no whole numbers)
  static Result<RetrievalSet> make(const JudgedSet& set);

  std::size_t dim() const { return dim_; }
  std::size_t queries() const { return begin_.size() - 1; }
  std::size_t documents() const { return grades_.size(); }
  std::size_t max_grade() const { return max_grade_; }

  std::size_t begin(std::size_t query) const { return begin_[query]; }
  std::size_t size(std::size_t query) const { return begin_[query + 1] - begin_[query]; }
  std::span<const double> grades(std::size_t query) const {
    return std::span(grades_).subspan(begin_[query], size(query));
  }
  std::span<const double> row(std::size_t document) const {
    return std::span(features_).subspan(document * dim_, dim_);
  }
  /// The queries that have a relevant document.
  std::span<const std::uint32_t> judged() const { return judged_; }
  GradedDocuments view() const { return {dim_, features_, grades_, begin_}; }

  /// RETURNS: NDCG@10 of the query's documents sorted by score. REQUIRES: one score per document;
  /// the query is one of judged()
  double ndcg(std::size_t query, std::span<const double> scores) const;
  /// The same, with the scores of linear weights. `scratch` is overwritten. REQUIRES: likewise;
  /// scratch holds size(query) numbers
  double ndcg_of_weights(std::size_t query, std::span<const double> weights,
                         std::vector<double>& scratch) const;
  /// RETURNS: NDCG@10 of each of judged(), in that order.
  std::vector<double> ndcg_by_query(std::span<const double> weights) const;
  double mean_ndcg(std::span<const double> weights) const;

 private:
  RetrievalSet() = default;

  std::size_t dim_ = 0;
  std::size_t max_grade_ = 0;
  std::vector<double> features_;
  std::vector<double> grades_;
  std::vector<double> gains_;
  std::vector<std::size_t> begin_ = {0};
  std::vector<double> ideal_;            // of each query: the best discounted gain
  std::vector<std::uint32_t> relevant_;  // documents with a gain, query by query
  std::vector<std::size_t> relevant_begin_ = {0};
  std::vector<std::uint32_t> judged_;
  std::vector<double> discount_;              // of the first kDepth places
  std::vector<double> discount_sum_ = {0.0};  // of the places before each
};

}  // namespace hindsight
