// Ranking SVM: the linear scores that put better graded documents of a query above the others by a
// margin ([Joachims02]; with the squared hinge, so that Newton's method applies).
//
//   f(w) = 1/2 ||w||^2 + C sum over pairs with grade_i > grade_j of max(0, 1 - (s_i - s_j))^2,
//   s = X w, pairs within a query
//
// Value, gradient and Hessian products take O(n log n) per query of n documents, though there are
// O(n^2) pairs: documents are visited by score, and those within the margin are kept in a tree by
// grade.
//
// Thread-safety: a function of its arguments; an objective has one owner at a time.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "hindsight/result.h"
#include "src/core/newton.h"

namespace hindsight {

/// Documents of several queries. The spans must outlive their users.
struct GradedDocuments {
  std::size_t dim = 0;
  std::span<const double> features;          // documents * dim numbers
  std::span<const double> grades;            // one per document
  std::span<const std::size_t> query_begin;  // queries + 1 offsets into the documents
};

class RankingSvmObjective final : public ConvexObjective {
 public:
  /// REQUIRES: sizes fit, numbers are finite, C > 0
  RankingSvmObjective(const GradedDocuments& documents, double c);

  std::size_t dim() const override { return documents_.dim; }
  double evaluate(std::span<const double> theta, std::span<double> gradient) override;
  void hessian_times(std::span<const double> v, std::span<double> out) const override;

  /// How many pairs have different grades.
  double pairs() const { return pairs_; }

 private:
  class Sweep;
  /// out = X v
  void scores(std::span<const double> v, std::span<double> out) const;
  /// out += X^T c
  void add_back(std::span<const double> c, std::span<double> out) const;

  GradedDocuments documents_;
  double c_;
  double pairs_ = 0.0;
  std::vector<std::uint32_t>
      level_;  // of each document: the rank of its grade in its query, from 0
  std::vector<std::uint32_t> levels_;  // of each query
  std::vector<double> scores_;         // at the last theta
  std::vector<std::uint32_t> order_;   // documents of each query by score there, best first
};

/// RETURNS: the weights, with what the solver says of them. FAILS: kInvalidArgument (no documents,
/// sizes that do not fit, C not positive, no pair of different grades), kNotFinite
Result<NewtonResult> train_ranking_svm(const GradedDocuments& documents, double c);

}  // namespace hindsight
