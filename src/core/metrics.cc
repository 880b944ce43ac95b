#include "src/core/metrics.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <vector>

#include "src/core/check.h"
#include "src/core/det_math.h"

namespace hindsight {
namespace {

double discount(std::size_t position) {
  return 1.0 / std::log2(1.0 + static_cast<double>(position));
}

double gain(double grade) {
  HINDSIGHT_CHECK(grade >= 0.0 && grade <= 1000.0);
  return std::exp2(grade) - 1.0;
}

double discounted_gain(std::span<const double> grades) {
  double sum = 0.0;
  for (std::size_t i = 0; i < grades.size(); ++i) {
    sum += gain(grades[i]) * discount(i + 1);
  }
  return sum;
}

}  // namespace

double kl_cost(double prob_first) {
  HINDSIGHT_CHECK(prob_first >= 0.0 && prob_first <= 1.0);
  if (prob_first == 0.0) {
    return std::numeric_limits<double>::infinity();
  }
  if (prob_first < std::numeric_limits<double>::min()) {  // det_log wants normal numbers
    return -std::log(prob_first);
  }
  const double log_prob = det_log(prob_first);
  return log_prob == 0.0 ? 0.0 : -log_prob;  // no negative zero
}

double relative_click_distance(std::size_t position, std::size_t n) {
  HINDSIGHT_CHECK(position >= 1 && position <= n);
  return static_cast<double>(position - 1) / static_cast<double>(n);
}

double click_ndcg(std::size_t position) {
  HINDSIGHT_CHECK(position >= 1);
  return discount(position);
}

std::optional<double> ndcg_at(std::span<const double> grades_as_listed, std::size_t k) {
  HINDSIGHT_CHECK(k >= 1);
  const std::size_t depth = std::min(k, grades_as_listed.size());
  std::vector<double> ideal(grades_as_listed.begin(), grades_as_listed.end());
  std::partial_sort(ideal.begin(), ideal.begin() + static_cast<std::ptrdiff_t>(depth), ideal.end(),
                    std::greater<>());
  if (ideal.empty() || ideal.front() <= 0.0) {
    return std::nullopt;
  }
  return discounted_gain(grades_as_listed.first(depth)) /
         discounted_gain(std::span(ideal).first(depth));
}

double reciprocal_rank(std::span<const double> grades_as_listed) {
  const auto first = std::find_if(grades_as_listed.begin(), grades_as_listed.end(),
                                  [](double grade) { return grade > 0.0; });
  return first == grades_as_listed.end()
             ? 0.0
             : 1.0 / static_cast<double>(first - grades_as_listed.begin() + 1);
}

double precision_at(std::span<const double> grades_as_listed, std::size_t k) {
  HINDSIGHT_CHECK(k >= 1);
  const auto top = grades_as_listed.first(std::min(k, grades_as_listed.size()));
  const auto hits = std::count_if(top.begin(), top.end(), [](double grade) { return grade > 0.0; });
  return static_cast<double>(hits) / static_cast<double>(k);
}

void Mean::add(double x) {
  HINDSIGHT_CHECK(x > -std::numeric_limits<double>::infinity());
  ++count_;
  if (x == std::numeric_limits<double>::infinity()) {
    infinite_ = true;
    return;
  }
  const double distance = x - mean_;
  mean_ += distance / static_cast<double>(count_);
  squares_ += distance * (x - mean_);
}

double Mean::value() const { return infinite_ ? std::numeric_limits<double>::infinity() : mean_; }

std::optional<double> Mean::standard_error() const {
  if (count_ < 2 || infinite_) {
    return std::nullopt;
  }
  const auto n = static_cast<double>(count_);
  return std::sqrt(squares_ / (n - 1.0) / n);
}

void ClickMetrics::add(std::size_t position, std::size_t n, double prob_first) {
  kl_cost.add(hindsight::kl_cost(prob_first));
  rel_distance.add(relative_click_distance(position, n));
  first_rate.add(position == 1 ? 1.0 : 0.0);
  ndcg.add(click_ndcg(position));
}

}  // namespace hindsight
