#include "src/core/quicksort_policy.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <tuple>
#include <utility>

#include "src/core/check.h"
#include "src/core/det_math.h"
#include "src/core/kernels.h"

namespace hindsight {
namespace {

/// The sorting itself, on positions in place.
class QuickSort {
 public:
  QuickSort(std::span<const double> scores, Rng& rng)
      : scores_(scores), rng_(rng), order_(scores.size()), scratch_(scores.size()), coin_(kCoins) {
    std::iota(order_.begin(), order_.end(), 0U);
    const double best = max_of(scores);
    const double worst = *std::min_element(scores.begin(), scores.end());
    if (best - worst < kWidestExp) {
      weights_.resize(scores.size());
      exp_shifted(scores, best, weights_);
    }
  }

  std::vector<std::uint32_t> run(std::size_t k) {
    std::size_t begin = 0;
    std::size_t end = order_.size();
    std::vector<std::pair<std::size_t, std::size_t>> waiting;
    while (true) {
      if (end - begin < 2 || begin >= k) {
        if (waiting.empty()) {
          break;
        }
        std::tie(begin, end) = waiting.back();
        waiting.pop_back();
        continue;
      }
      const std::size_t pivot = partition(begin, end);
      // The larger side waits, so that at most log2 n sides ever wait.
      if (pivot - begin < end - (pivot + 1)) {
        waiting.emplace_back(pivot + 1, end);
        end = pivot;
      } else {
        waiting.emplace_back(begin, pivot);
        begin = pivot + 1;
      }
    }
    order_.resize(k);
    return std::move(order_);
  }

 private:
  static constexpr std::size_t kCoins = 64;
  /// Scores within this range have weights that neither overflow nor vanish.
  static constexpr double kWidestExp = 600.0;

  double next_coin() {
    if (next_coin_ == kCoins) {
      rng_.fill_uniform_positive(coin_);
      next_coin_ = 0;
    }
    return coin_[next_coin_++];
  }

  bool goes_left(std::uint32_t item, std::uint32_t pivot) {
    const double coin = next_coin();
    if (!weights_.empty()) {
      return coin * (weights_[item] + weights_[pivot]) <= weights_[item];
    }
    return coin <= det_logistic(scores_[item] - scores_[pivot]);
  }

  /// RETURNS: where the pivot stands. [Ailon13] Alg. 2 lines 2-7; the order within a side does not
  /// matter, since what follows is symmetric in its items.
  std::size_t partition(std::size_t begin, std::size_t end) {
    std::swap(order_[begin], order_[begin + rng_.below(end - begin)]);
    const std::uint32_t pivot = order_[begin];
    std::size_t left = begin;
    std::size_t right = end;
    for (std::size_t i = begin + 1; i < end; ++i) {
      const std::uint32_t item = order_[i];
      const bool to_left = goes_left(item, pivot);
      // Written to both ends; only one of them counts it.
      scratch_[left] = item;
      scratch_[right - 1] = item;
      left += to_left ? 1 : 0;
      right -= to_left ? 0 : 1;
    }
    scratch_[left] = pivot;
    std::copy(scratch_.begin() + static_cast<std::ptrdiff_t>(begin),
              scratch_.begin() + static_cast<std::ptrdiff_t>(end),
              order_.begin() + static_cast<std::ptrdiff_t>(begin));
    return left;
  }

  std::span<const double> scores_;
  Rng& rng_;
  std::vector<std::uint32_t> order_;
  std::vector<std::uint32_t> scratch_;
  std::vector<double> weights_;  // e^(score - best), where the scores' range allows it
  std::vector<double> coin_;
  std::size_t next_coin_ = kCoins;
};

/// A square table of doubles.
class Table {
 public:
  explicit Table(std::size_t n) : n_(n), cells_(n * n, 0.0) {}
  double* row(std::size_t i) { return cells_.data() + i * n_; }

 private:
  std::size_t n_;
  std::vector<double> cells_;
};

}  // namespace

Result<std::vector<std::uint32_t>> draw_quicksort(std::span<const double> scores, std::size_t k,
                                                  Rng& rng) {
  HINDSIGHT_RETURN_IF_ERROR(check_scores(scores, k));
  return QuickSort(scores, rng).run(k);
}

// Let f(i, j) be ln P(the items at places i..j of the list, sorted alone, come out in its order):
//   e^f(i, j) = 1/(j-i+1) sum over pivots p of
//               e^(f(i, p-1) + f(p+1, j)) * prod_{v<p} P(v left of p) * prod_{v>p} P(v right of p).
std::optional<double> log_propensity_quicksort(std::span<const double> scores,
                                               std::span<const std::uint32_t> order) {
  const std::size_t n = scores.size();
  if (order.size() != n || n > kMaxQuicksortPropensity) {
    return std::nullopt;
  }
  // All tables are laid out so that the sum over p runs along rows.
  Table left_of(n);   // [i][p]: sum over v in i..p-1 of ln P(v left of p)
  Table right_of(n);  // [j][p]: sum over v in p+1..j of ln P(v right of p)
  for (std::size_t p = 0; p < n; ++p) {
    const double pivot = scores[order[p]];
    for (std::size_t i = p; i-- > 0;) {
      left_of.row(i)[p] = left_of.row(i + 1)[p] - det_log1p_exp(pivot - scores[order[i]]);
    }
    for (std::size_t j = p + 1; j < n; ++j) {
      right_of.row(j)[p] = right_of.row(j - 1)[p] - det_log1p_exp(scores[order[j]] - pivot);
    }
  }
  Table before(n + 1);  // [i][p]: f(i, p-1); f of nothing is ln 1
  Table after(n + 1);   // [j][p]: f(p+1, j)
  std::vector<double> term(n);
  std::vector<double> scratch(n);
  for (std::size_t i = n; i-- > 0;) {
    for (std::size_t j = i; j < n; ++j) {
      const std::size_t length = j - i + 1;
      for (std::size_t p = i; p <= j; ++p) {
        term[p - i] =
            (before.row(i)[p] + after.row(j)[p]) + (left_of.row(i)[p] + right_of.row(j)[p]);
      }
      const auto terms = std::span(term).first(length);
      const double best = max_of(terms);
      double f = best;
      if (best > -std::numeric_limits<double>::infinity()) {
        const double sum = exp_shifted(terms, best, std::span(scratch).first(length));
        f = best + (det_log(sum) - det_log(static_cast<double>(length)));
      }
      before.row(i)[j + 1] = f;
      if (i > 0) {
        after.row(j)[i - 1] = f;
      }
    }
  }
  return std::min(before.row(0)[n], 0.0);
}

}  // namespace hindsight
