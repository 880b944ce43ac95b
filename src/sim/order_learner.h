// OrderLearner: the game of [Ailon13]. In each round a method plays an order of n items, then sees
// how much each was wanted, and pays the positions of what was.
//
//   onlinerank   scores w += eta s, then a randomized sort: PlackettLuce or QuickSort; or
//                PlackettLuce with a number of rounds that is not known beforehand (doubling)
//   fpl          follow the perturbed leader [KalaiVempala05]: sort counts plus noise that is drawn
//                anew in every round, uniform in [0, 1/eps] or Gumbel of scale 1/eta (which is
//                PlackettLuce in law)
//   mw           multiplicative weights over all n! orders: the ground truth, for n <= 7
//   permelearn   [HelmboldWarmuth09]: a doubly stochastic matrix, exponentiated and balanced again
//   permutahedron  [Suehiro12]: a point of the permutahedron, moved and projected back
//
// Thread-safety: none; one owner at a time.

#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "hindsight/random.h"
#include "hindsight/result.h"

namespace hindsight {

class OrderLearner {
 public:
  virtual ~OrderLearner() = default;
  OrderLearner(const OrderLearner&) = delete;
  OrderLearner& operator=(const OrderLearner&) = delete;

  /// RETURNS: an order of all items, best first, drawn from the method's present law.
  virtual std::vector<std::uint32_t> play(Rng& rng) = 0;
  /// RETURNS: the expected position of an item, from 0, in the order that play would draw: exact
  /// but for rounding, without a coin.
  virtual double mean_position(std::uint32_t item) = 0;
  /// out[i] = the position of items[i] in an order drawn as by play; the rest of the order is not
  /// drawn where the method can do without. REQUIRES: distinct items; equal sizes
  virtual void draw_positions(std::span<const std::uint32_t> items, Rng& rng,
                              std::span<double> out);

  /// Takes in how much each item was wanted in this round. REQUIRES: one whole number per item
  void learn(std::span<const double> scores);
  /// The same for a score of 1 for each of these, and 0 for the others. REQUIRES: distinct items
  void learn_choice(std::span<const std::uint32_t> chosen);

 protected:
  OrderLearner() = default;

  /// One item's score in this round, where it is not 0; then the end of the round.
  virtual void want(std::uint32_t item, double score) = 0;
  virtual void end_round() = 0;
};

/// What a method is told before the first round: the size of the game, and limits that the scores
/// of every round keep. Scores are not negative.
struct OrderGame {
  std::uint32_t items = 2;
  std::uint64_t rounds = 1;   // the horizon T; 0: not known
  double spread = 1.0;        // M of (2.3): the sum over pairs of squared differences
  double range = 1.0;         // the pairwise loss (2.2) of the worst order
  double mass = 1.0;          // the sum of the scores
  double largest = 1.0;       // the largest of them
  double squared_norm = 1.0;  // the sum of their squares
};

/// A game in which k of n items are wanted in each round. REQUIRES: 1 <= k <= n / 2
OrderGame choice_game(std::uint32_t items, std::uint32_t chosen, std::uint64_t rounds);
/// A game in which a ranking of all items comes in each round; the scores are n - 1 for its first
/// item, and 0 for its last. (Corollary 5.1 prints the ranks themselves; a lower rank is better.)
OrderGame ranking_game(std::uint32_t items, std::uint64_t rounds);

/// The methods' names, in the order above; the forms of the first two stand side by side.
std::span<const std::string_view> order_learner_names();

/// RETURNS: whether a method can be played with so many items in reasonable time and memory.
bool order_learner_fits(std::string_view name, std::uint32_t items);

/// FAILS: kUnknownName, kInvalidArgument (fewer than two items; no spread or mass), kTooLarge,
/// kUnsupported (a horizon that is not known, for methods other than onlinerank)
Result<std::unique_ptr<OrderLearner>> make_order_learner(std::string_view name,
                                                         const OrderGame& game);

/// RETURNS: what the method promises: its expected regret after game.rounds rounds is no more.
/// Theorem 3.1 for OnlineRank and what equals it in law; its own theorem for each other method.
/// REQUIRES: a name of order_learner_names(); rounds >= 1
double order_learner_bound(std::string_view name, const OrderGame& game);

}  // namespace hindsight
