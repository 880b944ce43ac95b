// Plays the choice game of [Ailon13]: a learner of orders against an adversary, round by round.
//
// Thread-safety: functions of their arguments.

#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "hindsight/random.h"
#include "src/sim/choice_adversary.h"
#include "src/sim/order_learner.h"

namespace hindsight {

struct ChoicePoint {
  std::uint64_t round = 0;
  double loss = 0.0;    // position loss so far
  double regret = 0.0;  // against the best order for these rounds
};

/// What a round costs: the positions of the chosen items in an order that is drawn, or their
/// expectation over the learner's coins. The sum of the latter has the same mean and less noise,
/// and most methods know it without drawing an order.
enum class LossKind : std::uint8_t { kDrawn, kExpected };

struct ChoicePlay {
  std::uint32_t items = 2;
  std::uint32_t chosen = 1;
  std::uint64_t rounds = 1;
  std::size_t curve_points = 0;  // besides the last; evenly spread
  LossKind loss = LossKind::kDrawn;
};

/// RETURNS: points in the order of rounds, the last of them after the last round. The learner's and
/// the adversary's coins come from different streams of `seed`.
std::vector<ChoicePoint> play_choice_game(OrderLearner& learner, ChoiceAdversary& adversary,
                                          const ChoicePlay& play, std::uint64_t seed);

}  // namespace hindsight
