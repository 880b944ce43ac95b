#include "src/sim/retrieval_set.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <utility>

#include "src/core/check.h"
#include "src/core/kernels.h"
#include "src/core/row_kernels.h"

namespace hindsight {
namespace {

constexpr std::size_t kDepth = RetrievalSet::kDepth;

double best_gain(std::span<const double> gains, std::span<const double> discount) {
  std::vector<double> sorted(gains.begin(), gains.end());
  std::sort(sorted.begin(), sorted.end(), std::greater<>());
  double sum = 0.0;
  for (std::size_t i = 0; i < std::min(kDepth, sorted.size()); ++i) {
    sum += sorted[i] * discount[i];
  }
  return sum;
}

}  // namespace

Result<RetrievalSet> RetrievalSet::make(const JudgedSet& set) {
  RetrievalSet made;
  made.dim_ = set.dim;
  for (std::size_t i = 0; i < kDepth; ++i) {
    made.discount_.push_back(1.0 / std::log2(static_cast<double>(i + 2)));
    made.discount_sum_.push_back(made.discount_sum_.back() + made.discount_.back());
  }
  for (std::size_t q = 0; q < set.queries.size(); ++q) {
    const JudgedQuery& query = set.queries[q];
    made.features_.insert(made.features_.end(), query.features.begin(), query.features.end());
    for (const double grade : query.grades) {
      if (grade != std::floor(grade)) {
        return Error{ErrorCode::kInvalidArgument,
                     "query '" + query.name + "' has a grade that is no whole number", "grades"};
      }
      made.max_grade_ = std::max(made.max_grade_, static_cast<std::size_t>(grade));
      made.grades_.push_back(grade);
      made.gains_.push_back(std::exp2(grade) - 1.0);
      if (made.gains_.back() > 0.0) {
        made.relevant_.push_back(static_cast<std::uint32_t>(made.gains_.size() - 1));
      }
    }
    made.relevant_begin_.push_back(made.relevant_.size());
    const std::size_t begin = made.begin_.back();
    made.begin_.push_back(made.grades_.size());
    made.ideal_.push_back(best_gain(std::span(made.gains_).subspan(begin), made.discount_));
    if (query.has_relevant()) {
      made.judged_.push_back(static_cast<std::uint32_t>(q));
    }
  }
  if (made.judged_.empty()) {
    return Error{ErrorCode::kInvalidArgument, "no query has a relevant document", "queries"};
  }
  return made;
}

double RetrievalSet::ndcg(std::size_t query, std::span<const double> scores) const {
  const std::size_t n = size(query);
  HINDSIGHT_CHECK(scores.size() == n && ideal_[query] > 0.0);
  double sum = 0.0;
  for (std::size_t r = relevant_begin_[query]; r < relevant_begin_[query + 1]; ++r) {
    const double score = scores[relevant_[r] - begin_[query]];
    std::size_t above = 0;
    std::size_t equal = 0;  // with itself
    for (const double other : scores) {
      above += other > score ? 1 : 0;
      equal += other == score ? 1 : 0;
    }
    if (above < kDepth) {  // the mean over the places that it shares
      const double shared =
          equal == 1 ? discount_[above]
                     : (discount_sum_[std::min(above + equal, kDepth)] - discount_sum_[above]) /
                           static_cast<double>(equal);
      sum += gains_[relevant_[r]] * shared;
    }
  }
  return sum / ideal_[query];
}

double RetrievalSet::ndcg_of_weights(std::size_t query, std::span<const double> weights,
                                     std::vector<double>& scratch) const {
  scratch.resize(size(query));
  dot_rows(std::span(features_).subspan(begin_[query] * dim_, scratch.size() * dim_), dim_, weights,
           scratch);
  return ndcg(query, scratch);
}

std::vector<double> RetrievalSet::ndcg_by_query(std::span<const double> weights) const {
  std::vector<double> scratch;
  std::vector<double> values;
  for (const std::uint32_t query : judged_) {
    values.push_back(ndcg_of_weights(query, weights, scratch));
  }
  return values;
}

double RetrievalSet::mean_ndcg(std::span<const double> weights) const {
  const std::vector<double> values = ndcg_by_query(weights);
  return sum_of(values) / static_cast<double>(values.size());
}

}  // namespace hindsight
