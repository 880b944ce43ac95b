#include "src/sim/choice_play.h"

#include <algorithm>
#include <numeric>

#include "src/core/check.h"
#include "src/core/order_loss.h"

namespace hindsight {

namespace {

double loss_of(OrderLearner& learner, std::span<const std::uint32_t> chosen, LossKind kind,
               Rng& rng, std::vector<double>& positions) {
  positions.resize(chosen.size());
  if (kind == LossKind::kExpected) {
    std::transform(chosen.begin(), chosen.end(), positions.begin(),
                   [&](std::uint32_t item) { return learner.mean_position(item); });
  } else {
    learner.draw_positions(chosen, rng, positions);
  }
  return std::accumulate(positions.begin(), positions.end(), 0.0);
}

/// An even number. Games of different sizes have streams of their own, so that their deviations do
/// not go together; the methods that play the same game meet the same adversary.
std::uint64_t stream_of(const ChoicePlay& play) {
  return ((play.rounds << 34U) ^ (std::uint64_t{play.items} << 10U) ^ play.chosen) << 1U;
}

}  // namespace

std::vector<ChoicePoint> play_choice_game(OrderLearner& learner, ChoiceAdversary& adversary,
                                          const ChoicePlay& play, std::uint64_t seed) {
  HINDSIGHT_CHECK(play.rounds >= 1);
  const std::uint64_t stream = stream_of(play);
  Rng adversary_coins(seed, stream);
  Rng learner_coins(seed, stream + 1);
  const std::uint64_t step = std::max<std::uint64_t>(1, play.rounds / (play.curve_points + 1));
  std::vector<double> counts(play.items, 0.0);
  std::vector<double> positions;
  std::vector<ChoicePoint> points;
  double loss = 0.0;
  for (std::uint64_t round = 1; round <= play.rounds; ++round) {
    const std::span<const std::uint32_t> chosen = adversary.choose(counts, adversary_coins);
    loss += loss_of(learner, chosen, play.loss, learner_coins, positions);
    learner.learn_choice(chosen);
    for (const std::uint32_t item : chosen) {
      counts[item] += 1.0;
    }
    if (round == play.rounds || (round % step == 0 && points.size() < play.curve_points)) {
      const double best = position_loss(best_order(counts), counts);
      points.push_back({.round = round, .loss = loss, .regret = loss - best});
    }
  }
  return points;
}

}  // namespace hindsight
