#include "src/core/losses.h"

#include "src/core/check.h"
#include "src/core/det_math.h"
#include "src/core/kernels.h"

namespace hindsight {

LossSlope kl_cost(std::span<const double> scores, double max_score, std::size_t picked,
                  std::span<double> raw) {
  HINDSIGHT_CHECK(picked < scores.size());
  const double picked_score = scores[picked];
  const double sum = exp_shifted(scores, max_score, raw);
  return {
      .loss = (max_score - picked_score) + det_log(sum), .factor = 1.0 / sum, .picked_extra = -1.0};
}

double kl_cost_value(std::span<const double> scores, std::size_t picked,
                     std::span<double> scratch) {
  return kl_cost(scores, max_of(scores), picked, scratch).loss;
}

void kl_hessian_slope(std::span<const double> probs, std::span<const double> u,
                      std::span<double> c) {
  HINDSIGHT_CHECK(probs.size() == u.size() && u.size() == c.size());
  const double mean = dot(probs, u);
  for (std::size_t i = 0; i < u.size(); ++i) {
    c[i] = probs[i] * (u[i] - mean);
  }
}

LossSlope pairwise_cost(std::span<const double> scores, std::size_t picked, std::span<double> raw) {
  HINDSIGHT_CHECK(picked < scores.size() && raw.size() == scores.size());
  if (scores.size() == 1) {
    raw[0] = 0.0;
    return {};
  }
  // d/ds_i of log(1 + e^d), d = s_i - s_picked, is sigma(d) = e^d / (1 + e^d); log(1 + e^d) =
  // -log(1 - sigma(d)).
  const double picked_score = scores[picked];
  double loss = 0.0;
  double total = 0.0;
  for (std::size_t i = 0; i < scores.size(); ++i) {
    if (i == picked) {
      raw[i] = 0.0;
      continue;
    }
    const double d = scores[i] - picked_score;
    raw[i] = det_logistic(d);
    loss += det_log1p_exp(d);
    total += raw[i];
  }
  const double weight = 1.0 / static_cast<double>(scores.size() - 1);
  return {.loss = loss * weight, .factor = weight, .picked_extra = -total * weight};
}

LossSlope two_class_cost(std::span<const double> scores, std::size_t picked,
                         std::span<double> raw) {
  HINDSIGHT_CHECK(picked < scores.size() && raw.size() == scores.size());
  double loss = -scores[picked];  // log(1 + e^-s) = log(1 + e^s) - s
  for (std::size_t i = 0; i < scores.size(); ++i) {
    raw[i] = det_logistic(scores[i]);
    loss += det_log1p_exp(scores[i]);
  }
  return {.loss = loss, .factor = 1.0, .picked_extra = -1.0};
}

}  // namespace hindsight
