#include "src/core/order_loss.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "src/core/check.h"

namespace hindsight {

double position_loss(std::span<const std::uint32_t> order, std::span<const double> scores) {
  HINDSIGHT_CHECK(order.size() == scores.size());
  double sum = 0.0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    sum += static_cast<double>(i) * scores[order[i]];
  }
  return sum;
}

double pairwise_loss(std::span<const std::uint32_t> order, std::span<const double> scores) {
  HINDSIGHT_CHECK(order.size() == scores.size());
  double sum = 0.0;
  for (std::size_t above = 0; above < order.size(); ++above) {
    for (std::size_t below = above + 1; below < order.size(); ++below) {
      sum += std::max(scores[order[below]] - scores[order[above]], 0.0);
    }
  }
  return sum;
}

double loss_difference(std::span<const double> scores) {
  double sum = 0.0;
  for (std::size_t u = 0; u < scores.size(); ++u) {
    for (std::size_t v = u + 1; v < scores.size(); ++v) {
      sum += std::min(scores[u], scores[v]);
    }
  }
  return sum;
}

PositionWeights polynomial_weights(std::span<const double> coefficients, std::size_t n) {
  PositionWeights weights(n);
  for (std::size_t i = 0; i < n; ++i) {
    double value = 0.0;
    for (std::size_t j = coefficients.size(); j-- > 0;) {
      HINDSIGHT_CHECK(j == 0 || coefficients[j] >= 0.0);
      value = value * static_cast<double>(i + 1) + coefficients[j];
    }
    weights[i] = value;
  }
  return weights;
}

PositionWeights ndcg_weights(std::size_t n) {
  PositionWeights weights(n);
  for (std::size_t i = 0; i < n; ++i) {
    weights[i] = 1.0 - 1.0 / std::log2(static_cast<double>(i) + 2.0);
  }
  return weights;
}

double weighted_loss(std::span<const std::uint32_t> order, std::span<const double> scores,
                     const PositionWeights& weights) {
  HINDSIGHT_CHECK(order.size() == scores.size() && weights.size() == order.size());
  double sum = 0.0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    sum += weights[i] * scores[order[i]];
  }
  return sum;
}

std::vector<std::uint32_t> best_order(std::span<const double> scores) {
  std::vector<std::uint32_t> order(scores.size());
  std::iota(order.begin(), order.end(), 0U);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return scores[a] > scores[b]; });
  return order;
}

}  // namespace hindsight
