#include "src/core/plackett_luce.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>

#include "src/core/check.h"
#include "src/core/det_math.h"
#include "src/core/kernels.h"
#include "src/core/race.h"
#include "src/core/scratch.h"

namespace hindsight {
namespace {

/// Where a finishing time for every item is cheaper than jumps: a contender costs as much as this
/// many items (measured).
constexpr std::size_t kItemsPerContender = 16;

bool race_all(std::size_t n, std::size_t k) { return n / kItemsPerContender < k; }

Result<std::vector<std::uint32_t>> draw_by_weight(std::span<const double> weights, std::size_t k,
                                                  Rng& rng) {
  if (race_all(weights.size(), k)) {
    return race_of_all(weights, k, rng);
  }
  return race_with_jumps(weights, k, rng);
}

/// Positions (from `pool`, or all of `weights` if it is empty) whose weight is zero.
std::vector<std::uint32_t> zero_weights(std::span<const double> weights,
                                        std::span<const std::uint32_t> pool) {
  std::vector<std::uint32_t> zeros;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    if (weights[i] == 0.0) {
      zeros.push_back(pool.empty() ? static_cast<std::uint32_t>(i) : pool[i]);
    }
  }
  return zeros;
}

template <class T>
Result<std::vector<std::uint32_t>> draw_checked(std::span<const T> weights, std::size_t k,
                                                Rng& rng) {
  HINDSIGHT_RETURN_IF_ERROR(check_list_size(weights.size(), k));
  std::vector<std::uint32_t> order;
  if (race_all(weights.size(), k)) {
    HINDSIGHT_RETURN_IF_ERROR(check_weights(weights));
    order = race_of_all(std::vector<double>(weights.begin(), weights.end()), k, rng);
  } else {
    HINDSIGHT_ASSIGN_OR_RETURN(order, race_with_jumps(weights, k, rng));
  }
  if (order.size() < k) {
    return Error{ErrorCode::kInvalidArgument,
                 "k is " + std::to_string(k) + ", but only " + std::to_string(order.size()) +
                     " weights are positive",
                 "k"};
  }
  return order;
}

/// Below this a sum of weights may lack terms that underflowed.
constexpr double kReliableSum = 1e-280;

/// The factors of slots `from` and later: slower, and right for any scores. The sum of the weights
/// of what is left is kept as e^best * sum, with `best` the largest score in it.
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
  double best = unshown.empty() ? scores[order.back()] : max_of(unshown);
  double sum = exp_shifted(unshown, best, unshown);
  double result = 0.0;
  for (std::size_t j = order.size(); j-- > from;) {
    const double score = scores[order[j]];
    if (score <= best) {
      sum += det_exp(score - best);
    } else {
      sum = 1.0 + sum * det_exp(best - score);
      best = score;
    }
    result += (score - best) - det_log(sum);
  }
  return result;
}

}  // namespace

Result<std::vector<std::uint32_t>> draw_plackett_luce(std::span<const double> scores, std::size_t k,
                                                      Rng& rng) {
  HINDSIGHT_RETURN_IF_ERROR(check_scores(scores, k));
  Scratch<double> scratch(scores.size());
  std::span<double> weights = scratch.values();
  exp_shifted(scores, max_of(scores), weights);
  HINDSIGHT_ASSIGN_OR_RETURN(std::vector<std::uint32_t> order, draw_by_weight(weights, k, rng));
  std::vector<std::uint32_t> pool;  // positions that `weights` stands for; empty: all
  while (order.size() < k) {
    // All positive weights are used up. The others go on among themselves.
    pool = zero_weights(weights, pool);
    weights = weights.first(pool.size());
    for (std::size_t i = 0; i < pool.size(); ++i) {
      weights[i] = scores[pool[i]];
    }
    exp_shifted(weights, max_of(weights), weights);
    HINDSIGHT_ASSIGN_OR_RETURN(const std::vector<std::uint32_t> next,
                               draw_by_weight(weights, k - order.size(), rng));
    for (const std::uint32_t i : next) {
      order.push_back(pool[i]);
    }
  }
  return order;
}

Result<std::vector<std::uint32_t>> draw_top_k(std::span<const float> weights, std::size_t k,
                                              Rng& rng) {
  return draw_checked(weights, k, rng);
}

Result<std::vector<std::uint32_t>> draw_top_k(std::span<const double> weights, std::size_t k,
                                              Rng& rng) {
  return draw_checked(weights, k, rng);
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
  Scratch<double> weights(n);
  const std::span<double> weight = weights.values();
  exp_shifted(scores, best, weight);
  Scratch<double> suffixes(k);
  const std::span<double> suffix = suffixes.values();
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
  const auto logs = suffix.first(reliable);
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
