// How good a list was, once it is known what the user picked or how the documents are graded.
//
// Positions count from 1. Each function judges one list; Mean collects many.
//
// Thread-safety: pure functions and plain values.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace hindsight {

/// K-L cost of a pick: -ln of the probability that the list would begin with it; infinite where
/// that is 0 ([Delage09] 3.2). REQUIRES: 0 <= prob_first <= 1
double kl_cost(double prob_first);

/// (position - 1) / n: the share of the list that stands above the pick ([Delage09] 5.2).
/// REQUIRES: 1 <= position <= n
double relative_click_distance(std::size_t position, std::size_t n);

/// ln 2 / ln(1 + position): NDCG of a list with one relevant item ([Delage09] 5.2). REQUIRES:
/// position >= 1
double click_ndcg(std::size_t position);

/// NDCG of the first k, gain 2^grade - 1, discount log2(1 + position), ideal order from all grades.
/// RETURNS: nothing where no grade is positive: such a list cannot be judged. REQUIRES: k >= 1;
/// 0 <= grade <= 1000
std::optional<double> ndcg_at(std::span<const double> grades_as_listed, std::size_t k);

/// 1 / the position of the first document with a positive grade; 0 where there is none.
double reciprocal_rank(std::span<const double> grades_as_listed);

/// How many of the first k have a positive grade, divided by k, also where the list is shorter.
/// REQUIRES: k >= 1
double precision_at(std::span<const double> grades_as_listed, std::size_t k);

/// Mean and standard error of numbers that come one by one (Welford's recurrence: no cancellation).
/// One infinite number makes the mean infinite.
class Mean {
 public:
  /// REQUIRES: x is not NaN and not -infinity
  void add(double x);

  std::uint64_t count() const { return count_; }
  /// RETURNS: 0 of no numbers.
  double value() const;
  /// Standard deviation / sqrt(count), unbiased variance. RETURNS: nothing of fewer than two
  /// numbers, or where one was infinite.
  std::optional<double> standard_error() const;

 private:
  std::uint64_t count_ = 0;
  bool infinite_ = false;
  double mean_ = 0.0;     // of the finite ones
  double squares_ = 0.0;  // sum of squared distances from the mean
};

/// The four columns of [Delage09] Table 2.
struct ClickMetrics {
  Mean kl_cost;
  Mean rel_distance;
  Mean first_rate;
  Mean ndcg;

  /// A list of n whose item at `position` was picked. REQUIRES: as the functions above
  void add(std::size_t position, std::size_t n, double prob_first);
};

}  // namespace hindsight
