#include "src/sim/choice_play.h"

#include <algorithm>

#include "src/core/check.h"
#include "src/core/order_loss.h"

namespace hindsight {

std::vector<ChoicePoint> play_choice_game(OrderLearner& learner, ChoiceAdversary& adversary,
                                          const ChoicePlay& play, std::uint64_t seed) {
  HINDSIGHT_CHECK(play.rounds >= 1);
  constexpr std::uint64_t kAdversaryStream = 1;
  constexpr std::uint64_t kLearnerStream = 2;
  Rng adversary_coins(seed, kAdversaryStream);
  Rng learner_coins(seed, kLearnerStream);
  const std::uint64_t step = std::max<std::uint64_t>(1, play.rounds / (play.curve_points + 1));
  std::vector<double> counts(play.items, 0.0);
  std::vector<double> scores(play.items, 0.0);
  std::vector<ChoicePoint> points;
  double loss = 0.0;
  for (std::uint64_t round = 1; round <= play.rounds; ++round) {
    const std::vector<std::uint32_t> chosen = adversary.choose(counts, adversary_coins);
    for (const std::uint32_t item : chosen) {
      scores[item] = 1.0;
      counts[item] += 1.0;
    }
    loss += position_loss(learner.play(learner_coins), scores);
    learner.learn(scores);
    for (const std::uint32_t item : chosen) {
      scores[item] = 0.0;
    }
    if (round == play.rounds || (round % step == 0 && points.size() < play.curve_points)) {
      const double best = position_loss(best_order(counts), counts);
      points.push_back({.round = round, .loss = loss, .regret = loss - best});
    }
  }
  return points;
}

}  // namespace hindsight
