// Losses of a pick, as functions of the candidates' scores.
//
// Every loss here is convex in the scores, and the scores are linear in the weights (s = Phi
// theta), so that a loss only has to say its value and its derivative c_i = d loss / d s_i; the
// gradient in theta is Phi^T c.
//
// The derivative is handed back as `c_i = factor * raw_i + picked_extra [i = picked]`: the large
// pass over the candidates writes `raw` once and nobody normalises it in a pass of its own.
//
// Thread-safety: pure functions.

#pragma once

#include <cstddef>
#include <span>

namespace hindsight {

struct LossSlope {
  double loss = 0.0;
  double factor = 0.0;
  double picked_extra = 0.0;
};

/// [Delage09] 3.2: cost = -s(picked) + log sum_i e^s_i, in nats; c = softmax(s) - 1[picked].
/// `max_score` is the largest of `scores`. REQUIRES: not empty, finite, raw of the same size,
/// picked < size
LossSlope kl_cost(std::span<const double> scores, double max_score, std::size_t picked,
                  std::span<double> raw);

/// The value alone. `scratch` is overwritten.
double kl_cost_value(std::span<const double> scores, std::size_t picked, std::span<double> scratch);

/// The Hessian of kl_cost is the covariance of Phi under the softmax ([Delage09] 3.2). With u = Phi
/// v, the product H v is Phi^T c where c_i = p_i (u_i - sum_j p_j u_j). REQUIRES: equal sizes; c
/// may be u
void kl_hessian_slope(std::span<const double> probs, std::span<const double> u,
                      std::span<double> c);

/// [Delage09] 5.1, Online RankNet: the mean over the other candidates of log(1 + e^(s_i -
/// s_picked)). A single candidate has nobody to beat: loss 0.
LossSlope pairwise_cost(std::span<const double> scores, std::size_t picked, std::span<double> raw);

/// [Delage09] 5.1, 2-class McRank: -log sigma(s_picked) - sum over the others of log(1 -
/// sigma(s_i)).
LossSlope two_class_cost(std::span<const double> scores, std::size_t picked, std::span<double> raw);

}  // namespace hindsight
