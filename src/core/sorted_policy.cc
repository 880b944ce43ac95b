#include "src/core/sorted_policy.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "src/core/check.h"
#include "src/core/det_math.h"
#include "src/core/kernels.h"
#include "src/core/packed_sort.h"
#include "src/core/plackett_luce.h"
#include "src/core/scratch.h"

namespace hindsight {
namespace {

/// Shuffles every group of equal scores of a sorted list, as far as its first k places need it.
void shuffle_ties(std::span<const double> scores, std::size_t k, Rng& rng,
                  std::span<std::uint32_t> order) {
  for (std::size_t begin = 0; begin < k;) {
    std::size_t end = begin + 1;
    while (end < order.size() && scores[order[end]] == scores[order[begin]]) {
      ++end;
    }
    const std::size_t needed = std::min(end, k);
    for (std::size_t i = begin; i < needed && i + 1 < end; ++i) {
      std::swap(order[i], order[i + rng.below(end - i)]);
    }
    begin = end;
  }
}

/// The logarithm of a product of many integers, with one logarithm for many factors.
class LogProduct {
 public:
  /// Multiplies by g (g - 1) ... (g - m + 1): the orders of m out of g.
  void multiply_orders(std::size_t g, std::size_t m) {
    for (std::size_t i = 0; i < m; ++i) {
      product_ *= static_cast<double>(g - i);
      if (product_ > 1e290) {
        log_ += det_log(product_);
        product_ = 1.0;
      }
    }
  }

  double log() const { return log_ + det_log(product_); }

 private:
  double log_ = 0.0;
  double product_ = 1.0;
};

/// ln P of `order` as the top of the sorted list of all candidates but `excluded` (which is not in
/// `order`; nullptr: none).
double log_propensity_of_sorted(std::span<const double> scores, const std::uint32_t* excluded,
                                std::span<const std::uint32_t> order) {
  constexpr double kImpossible = -std::numeric_limits<double>::infinity();
  const double last = scores[order.back()];
  std::size_t above = 0;  // candidates that must all be shown before the last group
  std::size_t equal = 0;  // size of the last group
  for (const double s : scores) {
    above += s > last ? 1 : 0;
    equal += s == last ? 1 : 0;
  }
  if (excluded != nullptr) {
    above -= scores[*excluded] > last ? 1 : 0;
    equal -= scores[*excluded] == last ? 1 : 0;
  }
  LogProduct orders;
  std::size_t shown_above = 0;
  for (std::size_t begin = 0; begin < order.size();) {
    const double score = scores[order[begin]];
    std::size_t end = begin + 1;
    while (end < order.size() && scores[order[end]] == score) {
      ++end;
    }
    if (end < order.size() && scores[order[end]] > score) {
      return kImpossible;
    }
    const std::size_t shown = end - begin;
    // A group before the last is shown whole, or `shown_above` falls short in the end.
    const std::size_t group = score == last ? equal : shown;
    shown_above += score == last ? 0 : shown;
    orders.multiply_orders(group, shown);
    begin = end;
  }
  return shown_above == above ? -orders.log() : kImpossible;
}

/// The k best positions; positions_of_smallest with ties shuffled.
std::vector<std::uint32_t> sorted_positions(std::span<const double> scores, std::size_t k,
                                            Rng& rng) {
  Scratch<std::uint64_t> scratch(scores.size());
  const std::span<std::uint64_t> keys = scratch.values();
  std::transform(scores.begin(), scores.end(), keys.begin(), descending_key);
  std::vector<std::uint32_t> order = positions_of_smallest(keys, k);
  shuffle_ties(scores, k, rng, order);
  order.resize(k);
  return order;
}

}  // namespace

Result<std::vector<std::uint32_t>> sort_with_random_ties(std::span<const double> scores,
                                                         std::size_t k, Rng& rng) {
  HINDSIGHT_RETURN_IF_ERROR(check_scores(scores, k));
  return sorted_positions(scores, k, rng);
}

Result<std::vector<std::uint32_t>> draw_first_then_sort(std::span<const double> scores,
                                                        std::size_t k, Rng& rng) {
  HINDSIGHT_RETURN_IF_ERROR(check_list_size(scores.size(), k));
  HINDSIGHT_ASSIGN_OR_RETURN(const std::vector<std::uint32_t> first,
                             draw_plackett_luce(scores, 1, rng));
  // Of a list sorted over all candidates, the order of those other than the first is that of a list
  // sorted over the others alone. One more than k - 1, since the first may be among them.
  std::vector<std::uint32_t> order = sorted_positions(scores, k, rng);
  const auto at = std::find(order.begin(), order.end(), first[0]);
  std::rotate(order.begin(), at == order.end() ? at - 1 : at, at == order.end() ? at : at + 1);
  order[0] = first[0];
  return order;
}

double log_propensity_sorted(std::span<const double> scores, std::span<const std::uint32_t> order) {
  HINDSIGHT_CHECK(!order.empty() && order.size() <= scores.size());
  return log_propensity_of_sorted(scores, nullptr, order);
}

double log_propensity_first_then_sort(std::span<const double> scores,
                                      std::span<const std::uint32_t> order) {
  HINDSIGHT_CHECK(!order.empty() && order.size() <= scores.size());
  const double first = log_propensity_plackett_luce(scores, order.first(1));
  return order.size() == 1 ? first
                           : first + log_propensity_of_sorted(scores, &order[0], order.subspan(1));
}

void sorted_first_slot_probs(std::span<const double> scores, std::span<double> out) {
  HINDSIGHT_CHECK(scores.size() == out.size());
  const double best = max_of(scores);
  const auto ties = static_cast<double>(std::count(scores.begin(), scores.end(), best));
  std::transform(scores.begin(), scores.end(), out.begin(),
                 [&](double s) { return s == best ? 1.0 / ties : 0.0; });
}

}  // namespace hindsight
