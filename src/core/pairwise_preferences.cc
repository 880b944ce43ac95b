#include "src/core/pairwise_preferences.h"

#include <algorithm>
#include <cmath>

#include "src/core/check.h"
#include "src/core/det_math.h"
#include "src/core/kernels.h"
#include "src/core/scratch.h"

namespace hindsight {
namespace {

/// Weights of the shown documents, and at each place the weight of all that are still to come.
class LawTable {
 public:
  explicit LawTable(const ShownLaw& law)
      : weights_(law.scores.size()),
        lefts_(law.scores.size()),
        weight_(weights_.values()),
        left_(lefts_.values()) {
    exp_shifted(law.scores, law.shift, weight_);
    double sum = law.rest;
    for (std::size_t i = weight_.size(); i-- > 0;) {
      sum += weight_[i];
      left_[i] = sum;
    }
  }

  // P(R*) / P(R): the numerators are the same; of the denominators only those after the first of
  // the two places and up to the second differ, by the exchange of their weights.
  double weight_of(std::size_t k, std::size_t l) const {
    const std::size_t first = std::min(k, l);
    const std::size_t second = std::max(k, l);
    const double gone = weight_[second];
    const double stays = weight_[first];
    double ratio = 1.0;
    for (std::size_t p = first + 1; p <= second; ++p) {
      const double exchanged = std::max(left_[p] - gone, 0.0) + stays;
      if (exchanged == 0.0) {  // both underflow: the places say nothing
        continue;
      }
      ratio *= left_[p] / exchanged;
      ratio = std::min(ratio, 1e300);
    }
    return ratio / (1.0 + ratio);
  }

 private:
  Scratch<double> weights_;
  Scratch<double> lefts_;
  std::span<double> weight_;
  std::span<double> left_;
};

}  // namespace

double reversed_pair_weight(const ShownLaw& law, std::size_t k, std::size_t l) {
  HINDSIGHT_CHECK(k != l && k < law.scores.size() && l < law.scores.size());
  return LawTable(law).weight_of(k, l);
}

std::vector<double> preference_slopes(const ShownLaw& law, std::span<const double> scores,
                                      std::span<const std::uint32_t> clicked_places) {
  const std::size_t n = scores.size();
  HINDSIGHT_CHECK(law.scores.size() == n);
  std::vector<double> slope(n, 0.0);
  if (clicked_places.empty()) {
    return slope;
  }
  const LawTable table(law);
  const std::size_t seen = std::min<std::size_t>(n, clicked_places.back() + std::size_t{2});
  std::size_t next_click = 0;
  for (std::size_t l = 0; l < seen; ++l) {
    if (next_click < clicked_places.size() && clicked_places[next_click] == l) {
      ++next_click;
      continue;
    }
    for (const std::uint32_t k : clicked_places) {
      const double before = det_logistic(scores[k] - scores[l]);
      const double vote = table.weight_of(k, l) * before * (1.0 - before);
      slope[k] += vote;
      slope[l] -= vote;
    }
  }
  return slope;
}

}  // namespace hindsight
