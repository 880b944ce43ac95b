// Pairwise differentiable gradient descent: what clicks in a Plackett-Luce list say of pairs of its
// documents, freed from the position bias of the list ([Oosterhuis18]).
//
// A clicked document d_k is preferred to each document d_l that was seen and not clicked; seen are
// those above the lowest click, and the one after it. Each such pair votes for
//   grad P(d_k before d_l) = P (1 - P) (grad s_k - grad s_l),   P = e^s_k / (e^s_k + e^s_l),
// with the weight
//   rho(d_k, d_l) = P(R*) / (P(R) + P(R*)),   R the list, R* the list with the two exchanged:
// a preference that the list made likely to be seen counts less than its reverse would have
// ([Oosterhuis18] Eq. (8) to (10)).
//
// Thread-safety: pure functions.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace hindsight {

/// The law of a list that was shown: its documents' scores, and what the others had together.
struct ShownLaw {
  std::span<const double> scores;  // of the shown documents, in their order
  double shift = 0.0;              // at least the largest score of any candidate
  double rest = 0.0;               // sum of e^(score - shift) over candidates that were not shown
};

/// RETURNS: rho for the documents at two places of the list. REQUIRES: places differ, below
/// scores.size(); finite; rest >= 0
double reversed_pair_weight(const ShownLaw& law, std::size_t k, std::size_t l);

/// RETURNS: the slope of each shown document's score: the gradient of the weights is
/// sum_i slope[i] * features of i. All zero where nothing, or everything that was seen, is clicked.
/// `scores` are those of the model that learns, `law` is that of the list as it was drawn.
/// REQUIRES: equal sizes; places ascending and below the size
std::vector<double> preference_slopes(const ShownLaw& law, std::span<const double> scores,
                                      std::span<const std::uint32_t> clicked_places);

}  // namespace hindsight
