#include "src/core/plackett_luce.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "src/core/check.h"
#include "src/core/det_math.h"
#include "src/core/kernels.h"
#include "src/core/packed_sort.h"

namespace hindsight {
namespace {

/// Appends to `order` the winners of an exponential race among `pool` (positions into `scores`),
/// up to k in all: the smallest keys E_i / w_i, E_i exponential. RETURNS: those of the pool whose
/// weight is zero once the pool's maximum is subtracted.
std::vector<std::uint32_t> race(std::span<const double> scores, std::span<const std::uint32_t> pool,
                                std::size_t k, Rng& rng, std::vector<std::uint32_t>& order) {
  std::vector<double> weight(pool.size());
  for (std::size_t i = 0; i < pool.size(); ++i) {
    weight[i] = scores[pool[i]];
  }
  exp_shifted(weight, max_of(weight), weight);
  std::vector<std::uint64_t> keys;
  std::vector<std::uint32_t> racers;
  std::vector<std::uint32_t> left;
  keys.reserve(pool.size());
  racers.reserve(pool.size());
  for (std::size_t i = 0; i < pool.size(); ++i) {
    if (weight[i] > 0.0) {
      keys.push_back(ascending_key(rng.exponential() / weight[i]));
      racers.push_back(pool[i]);
    } else {
      left.push_back(pool[i]);
    }
  }
  const std::size_t wanted = std::min(k - order.size(), racers.size());
  std::vector<std::uint32_t> winners = positions_of_smallest(keys, wanted);
  winners.resize(wanted);
  for (const std::uint32_t w : winners) {
    order.push_back(racers[w]);
  }
  return left;
}

/// Below this a sum of weights may lack terms that underflowed.
constexpr double kReliableSum = 1e-280;

/// The factors of slots `from` and later, in the log domain: slower, and right for any scores.
double log_propensity_of_tail(std::span<const double> scores, std::span<const std::uint32_t> order,
                              std::size_t from) {
  std::vector<char> is_shown(scores.size(), 0);
  for (const std::uint32_t i : order) {
    is_shown[i] = 1;
  }
  std::vector<double> unshown;
  for (std::size_t i = 0; i < scores.size(); ++i) {
    if (is_shown[i] == 0) {
      unshown.push_back(scores[i]);
    }
  }
  std::size_t j = order.size();
  double result = 0.0;
  double log_sum = 0.0;
  if (unshown.empty()) {
    log_sum = scores[order[--j]];  // the last of a full list has probability 1
  } else {
    log_sum = log_sum_exp(unshown, unshown);
  }
  while (j-- > from) {
    const double score = scores[order[j]];
    log_sum = std::max(score, log_sum) + det_log1p_exp(-std::abs(score - log_sum));
    result += score - log_sum;
  }
  return result;
}

}  // namespace

Result<std::vector<std::uint32_t>> draw_plackett_luce(std::span<const double> scores, std::size_t k,
                                                      Rng& rng) {
  HINDSIGHT_RETURN_IF_ERROR(check_scores(scores, k));
  std::vector<std::uint32_t> order;
  order.reserve(k);
  std::vector<std::uint32_t> pool(scores.size());
  std::iota(pool.begin(), pool.end(), 0U);
  while (order.size() < k) {
    pool = race(scores, pool, k, rng, order);
  }
  return order;
}

Result<std::vector<std::uint32_t>> draw_plackett_luce_reference(std::span<const double> scores,
                                                                std::size_t k, Rng& rng) {
  HINDSIGHT_RETURN_IF_ERROR(check_scores(scores, k));
  std::vector<std::uint32_t> rest(scores.size());
  std::iota(rest.begin(), rest.end(), 0U);
  std::vector<std::uint32_t> order;
  while (order.size() < k) {
    double best = scores[rest[0]];
    for (const std::uint32_t i : rest) {
      best = std::max(best, scores[i]);
    }
    double total = 0.0;
    for (const std::uint32_t i : rest) {
      total += det_exp(scores[i] - best);
    }
    // [Ailon13] Alg. 3 line 5: choose u with probability proportional to e^(w(u)).
    const double target = rng.uniform() * total;
    double passed = 0.0;
    std::size_t chosen = rest.size();
    for (std::size_t j = 0; j < rest.size(); ++j) {
      const double weight = det_exp(scores[rest[j]] - best);
      if (weight > 0.0) {
        chosen = j;  // the last positive one, if rounding leaves the target beyond the sum
        passed += weight;
        if (passed > target) {
          break;
        }
      }
    }
    order.push_back(rest[chosen]);
    rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(chosen));
  }
  return order;
}

double log_propensity_plackett_luce(std::span<const double> scores,
                                    std::span<const std::uint32_t> order) {
  const std::size_t n = scores.size();
  const std::size_t k = order.size();
  HINDSIGHT_CHECK(k >= 1 && k <= n);
  const double best = max_of(scores);
  std::vector<double> weight(n);
  exp_shifted(scores, best, weight);
  std::vector<double> suffix(k);
  for (std::size_t j = 0; j < k; ++j) {
    suffix[j] = weight[order[j]];
    weight[order[j]] = 0.0;
  }
  // What is left unshown, then the shown added backwards: sums of positive terms only, so that
  // nothing cancels.
  double sum = sum_of(weight);
  std::size_t reliable = 0;
  for (std::size_t j = k; j-- > 0;) {
    sum += suffix[j];
    suffix[j] = sum;
    if (reliable == 0 && sum >= kReliableSum) {
      reliable = j + 1;
    }
  }
  double result = reliable < k ? log_propensity_of_tail(scores, order, reliable) : 0.0;
  const auto logs = std::span(suffix).first(reliable);
  log_of(logs, logs);
  for (std::size_t j = reliable; j-- > 0;) {
    result += (scores[order[j]] - best) - logs[j];
  }
  return std::min(result, 0.0);
}

void first_slot_probs(std::span<const double> scores, std::span<double> out) {
  const double total = exp_shifted(scores, max_of(scores), out);
  for (double& p : out) {
    p /= total;
  }
}

}  // namespace hindsight
