#include "src/core/ranking_svm.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "src/core/check.h"
#include "src/core/kernels.h"

namespace hindsight {
namespace {

/// Number, sum and sum of squares of the values of a set of documents.
struct Sums {
  double count = 0.0;
  double sum = 0.0;
  double squares = 0.0;

  void add(double value) {
    count += 1.0;
    sum += value;
    squares += value * value;
  }
  void add(const Sums& other) {
    count += other.count;
    sum += other.sum;
    squares += other.squares;
  }
};

/// Sums by level, and of all levels below one: a Fenwick tree.
class LevelSums {
 public:
  void clear(std::size_t levels) { tree_.assign(levels + 1, {}); }
  void add(std::size_t level, double value) {
    for (std::size_t i = level + 1; i < tree_.size(); i += i & (~i + 1)) {
      tree_[i].add(value);
    }
  }
  Sums below(std::size_t level) const {
    Sums total;
    for (std::size_t i = level; i > 0; i &= i - 1) {
      total.add(tree_[i]);
    }
    return total;
  }

 private:
  std::vector<Sums> tree_;
};

double count_pairs(std::span<const std::uint32_t> level, std::size_t levels) {
  LevelSums seen;
  seen.clear(levels);
  double pairs = 0.0;
  for (const std::uint32_t l : level) {
    seen.add(l, 0.0);
  }
  for (const std::uint32_t l : level) {
    pairs += seen.below(l).count;
  }
  return pairs;
}

}  // namespace

/// Visits, for every document of a query, the sums over its partners within the margin.
class RankingSvmObjective::Sweep {
 public:
  explicit Sweep(const RankingSvmObjective& objective) : objective_(objective) {}

  /// Calls better(i, sums) with the sums of `values` over {j worse than i: s_j > s_i - 1}, then
  /// worse(j, sums) with those over {i better than j: s_i < s_j + 1}, for all of a query.
  template <class Better, class Worse>
  void run(std::size_t query, std::span<const double> values, Better better, Worse worse) {
    const std::size_t begin = objective_.documents_.query_begin[query];
    const std::size_t end = objective_.documents_.query_begin[query + 1];
    const std::size_t levels = objective_.levels_[query];
    const std::span<const std::uint32_t> order =
        std::span(objective_.order_).subspan(begin, end - begin);
    const std::vector<double>& s = objective_.scores_;
    const std::vector<std::uint32_t>& level = objective_.level_;
    sums_.clear(levels);
    std::size_t next = 0;
    for (const std::uint32_t i : order) {  // falling scores let ever more partners in
      for (; next < order.size() && s[order[next]] > s[i] - 1.0; ++next) {
        sums_.add(level[order[next]], values[order[next]]);
      }
      better(i, sums_.below(level[i]));
    }
    sums_.clear(levels);
    next = order.size();
    for (std::size_t at = order.size(); at-- > 0;) {  // rising scores; levels turned around
      const std::uint32_t j = order[at];
      // The same comparison as above, so that both sides see the same pairs in spite of rounding.
      for (; next > 0 && s[j] > s[order[next - 1]] - 1.0; --next) {
        sums_.add(levels - 1 - level[order[next - 1]], values[order[next - 1]]);
      }
      worse(j, sums_.below(levels - 1 - level[j]));
    }
  }

 private:
  const RankingSvmObjective& objective_;
  LevelSums sums_;
};

RankingSvmObjective::RankingSvmObjective(const GradedDocuments& documents, double c)
    : documents_(documents),
      c_(c),
      level_(documents.grades.size()),
      scores_(documents.grades.size()),
      order_(documents.grades.size()) {
  HINDSIGHT_CHECK(documents.features.size() == documents.grades.size() * documents.dim);
  std::vector<double> distinct;
  for (std::size_t q = 0; q + 1 < documents.query_begin.size(); ++q) {
    const std::size_t begin = documents.query_begin[q];
    const std::size_t end = documents.query_begin[q + 1];
    distinct.assign(documents.grades.begin() + static_cast<std::ptrdiff_t>(begin),
                    documents.grades.begin() + static_cast<std::ptrdiff_t>(end));
    std::sort(distinct.begin(), distinct.end());
    distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
    for (std::size_t i = begin; i < end; ++i) {
      level_[i] = static_cast<std::uint32_t>(
          std::lower_bound(distinct.begin(), distinct.end(), documents.grades[i]) -
          distinct.begin());
    }
    levels_.push_back(static_cast<std::uint32_t>(distinct.size()));
    pairs_ += count_pairs(std::span(level_).subspan(begin, end - begin), distinct.size());
  }
}

void RankingSvmObjective::scores(std::span<const double> v, std::span<double> out) const {
  for (std::size_t i = 0; i < out.size(); ++i) {
    out[i] = dot(documents_.features.subspan(i * documents_.dim, documents_.dim), v);
  }
}

void RankingSvmObjective::add_back(std::span<const double> c, std::span<double> out) const {
  for (std::size_t i = 0; i < c.size(); ++i) {
    if (c[i] != 0.0) {
      const double* row = documents_.features.data() + i * documents_.dim;
      for (std::size_t j = 0; j < documents_.dim; ++j) {
        out[j] += c[i] * row[j];
      }
    }
  }
}

double RankingSvmObjective::evaluate(std::span<const double> theta, std::span<double> gradient) {
  scores(theta, scores_);
  std::iota(order_.begin(), order_.end(), 0U);
  double loss = 0.0;
  std::vector<double> slope(scores_.size(), 0.0);
  Sweep sweep(*this);
  for (std::size_t q = 0; q < levels_.size(); ++q) {
    const auto at = [&](std::size_t query) {
      return order_.begin() + static_cast<std::ptrdiff_t>(documents_.query_begin[query]);
    };
    std::sort(at(q), at(q + 1), [&](std::uint32_t a, std::uint32_t b) {
      return scores_[a] != scores_[b] ? scores_[a] > scores_[b] : a < b;
    });
    sweep.run(
        q, scores_,
        [&](std::uint32_t i, const Sums& worse) {
          const double a = 1.0 - scores_[i];
          loss += worse.count * a * a + 2.0 * a * worse.sum + worse.squares;
          slope[i] -= 2.0 * c_ * (worse.count * a + worse.sum);
        },
        [&](std::uint32_t j, const Sums& better) {
          slope[j] += 2.0 * c_ * (better.count * (1.0 + scores_[j]) - better.sum);
        });
  }
  std::copy(theta.begin(), theta.end(), gradient.begin());
  add_back(slope, gradient);
  return 0.5 * dot(theta, theta) + c_ * loss;
}

void RankingSvmObjective::hessian_times(std::span<const double> v, std::span<double> out) const {
  std::vector<double> u(scores_.size());
  scores(v, u);
  std::vector<double> slope(u.size(), 0.0);
  Sweep sweep(*this);
  const auto partner = [&](std::uint32_t i, const Sums& sums) {
    slope[i] += 2.0 * c_ * (sums.count * u[i] - sums.sum);
  };
  for (std::size_t q = 0; q < levels_.size(); ++q) {
    sweep.run(q, u, partner, partner);
  }
  std::copy(v.begin(), v.end(), out.begin());
  add_back(slope, out);
}

Result<NewtonResult> train_ranking_svm(const GradedDocuments& documents, double c) {
  const auto refused = [](const char* sentence, const char* field) {
    return Error{ErrorCode::kInvalidArgument, sentence, field};
  };
  const std::size_t n = documents.grades.size();
  if (documents.dim == 0 || n == 0 || documents.features.size() != n * documents.dim ||
      documents.query_begin.size() < 2 || documents.query_begin.front() != 0 ||
      documents.query_begin.back() != n ||
      !std::is_sorted(documents.query_begin.begin(), documents.query_begin.end())) {
    return refused("documents, features and queries do not fit together", "documents");
  }
  if (!(c > 0.0) || !std::isfinite(c)) {
    return refused("must be a finite number above 0", "c");
  }
  if (!all_finite(documents.features) || !all_finite(documents.grades)) {
    return Error{ErrorCode::kNotFinite, "features and grades must be finite", "documents"};
  }
  RankingSvmObjective objective(documents, c);
  if (objective.pairs() == 0.0) {
    return refused("no query has documents of different grades: there is nothing to learn",
                   "documents");
  }
  // f(0) = C pairs bounds 1/2 ||w||^2 at the minimum, so that the ball never binds.
  return minimize_in_ball(objective, {.radius = std::sqrt(2.0 * c * objective.pairs()) + 1.0});
}

}  // namespace hindsight
