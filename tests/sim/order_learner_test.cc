#include "src/sim/order_learner.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "src/core/choice_rate.h"
#include "src/core/metrics.h"
#include "src/core/order_loss.h"
#include "src/core/plackett_luce.h"
#include "src/core/quicksort_policy.h"
#include "src/sim/choice_play.h"
#include "src/sim/doubly_stochastic.h"
#include "src/sim/pair_table.h"
#include "src/sim/permutahedron.h"

namespace hindsight {
namespace {

std::vector<std::uint32_t> identity(std::uint32_t n) {
  std::vector<std::uint32_t> order(n);
  std::iota(order.begin(), order.end(), 0U);
  return order;
}

std::vector<std::vector<std::uint32_t>> all_orders(std::uint32_t n) {
  std::vector<std::uint32_t> order = identity(n);
  std::vector<std::vector<std::uint32_t>> orders;
  do {
    orders.push_back(order);
  } while (std::next_permutation(order.begin(), order.end()));
  return orders;
}

/// A random point of the permutahedron: the mean of some orders.
std::vector<double> random_point(std::uint32_t n, Rng& rng) {
  std::vector<double> point(n, 0.0);
  double total = 0.0;
  for (int i = 0; i < 4; ++i) {
    std::vector<std::uint32_t> order(n);
    std::iota(order.begin(), order.end(), 0U);
    for (std::size_t j = n; j > 1; --j) {
      std::swap(order[j - 1], order[rng.below(j)]);
    }
    const double share = rng.exponential();
    total += share;
    for (std::uint32_t place = 0; place < n; ++place) {
      point[order[place]] += share * (n - 1.0 - place);
    }
  }
  for (double& x : point) {
    x /= total;
  }
  return point;
}

TEST(Permutahedron, ADrawnOrderHasThePointAsItsMean) {
  Rng rng(3);
  for (int repeat = 0; repeat < 5; ++repeat) {
    const std::vector<double> point = random_point(6, rng);
    std::vector<Mean> means(6);
    for (int i = 0; i < 40'000; ++i) {
      const auto order = draw_from_permutahedron(point, rng);
      for (std::uint32_t place = 0; place < 6; ++place) {
        means[order[place]].add(5.0 - place);
      }
    }
    for (std::uint32_t item = 0; item < 6; ++item) {
      EXPECT_NEAR(means[item].value(), point[item],
                  5.0 * means[item].standard_error().value() + 1e-9);
    }
  }
}

TEST(Permutahedron, TheProjectionIsTheNearestPoint) {
  Rng rng(4);
  for (int repeat = 0; repeat < 50; ++repeat) {
    std::vector<double> x(5);
    for (double& value : x) {
      value = 2.0 + 4.0 * rng.normal();
    }
    const std::vector<double> nearest = project_on_permutahedron(x);
    // Inside: the greatest j weights sum to no more than those of any order; all of them to as
    // much.
    std::vector<double> sorted = nearest;
    std::sort(sorted.begin(), sorted.end(), std::greater<>());
    double sum = 0.0;
    double most = 0.0;
    for (std::size_t j = 0; j < 5; ++j) {
      sum += sorted[j];
      most += 4.0 - static_cast<double>(j);
      EXPECT_LE(sum, most + 1e-9);
    }
    EXPECT_NEAR(sum, most, 1e-9);
    // Nearest: no order lies on the far side of the plane through it ([x - p] . [v - p] <= 0).
    for (const auto& order : all_orders(5)) {
      double product = 0.0;
      for (std::uint32_t place = 0; place < 5; ++place) {
        const std::uint32_t item = order[place];
        product += (x[item] - nearest[item]) * (4.0 - place - nearest[item]);
      }
      EXPECT_LE(product, 1e-9);
    }
  }
}

TEST(DoublyStochastic, BalancesAndDrawsWithTheMatrixAsMean) {
  Rng rng(5);
  SquareMatrix matrix(5);
  for (double& value : matrix.values) {
    value = std::exp(2.0 * rng.normal());
  }
  balance(matrix, 1e-12);
  for (std::size_t i = 0; i < 5; ++i) {
    double row = 0.0;
    double column = 0.0;
    for (std::size_t j = 0; j < 5; ++j) {
      row += matrix.at(i, j);
      column += matrix.at(j, i);
    }
    EXPECT_NEAR(row, 1.0, 1e-9);
    EXPECT_NEAR(column, 1.0, 1e-9);
  }
  constexpr int kDraws = 40'000;
  SquareMatrix seen(5);
  for (int i = 0; i < kDraws; ++i) {
    const auto order = draw_birkhoff(matrix, rng);
    for (std::size_t place = 0; place < 5; ++place) {
      seen.at(order[place], place) += 1.0 / kDraws;
    }
  }
  for (std::size_t i = 0; i < 25; ++i) {
    const double p = matrix.values[i];
    EXPECT_NEAR(seen.values[i], p, 5.0 * std::sqrt(p * (1.0 - p) / kDraws) + 1e-4);
  }
}

TEST(OrderLearner, PerturbingByGumbelNoiseIsPlackettLuce) {
  const OrderGame game = choice_game(4, 1, 50);
  const auto leader = *make_order_learner("fpl-gumbel", game);
  std::vector<double> counts(4, 0.0);
  for (const std::uint32_t item : {2, 2, 0, 3, 2, 2}) {
    std::vector<double> scores(4, 0.0);
    scores[item] = 1.0;
    counts[item] += 1.0;
    leader->learn(scores);
  }
  const double rate = online_rank_rate(4, 50, game.spread);
  for (double& count : counts) {
    count *= rate;
  }
  constexpr int kDraws = 100'000;
  std::map<std::vector<std::uint32_t>, int> seen;
  Rng rng(6);
  for (int i = 0; i < kDraws; ++i) {
    ++seen[leader->play(rng)];
  }
  double chi_squared = 0.0;
  for (const auto& order : all_orders(4)) {
    const double expected = kDraws * std::exp(log_propensity_plackett_luce(counts, order));
    chi_squared += (seen[order] - expected) * (seen[order] - expected) / expected;
  }
  EXPECT_LT(chi_squared, 62.0);  // 23 degrees of freedom: 1 in 50,000
}

/// The expected pairwise loss of OnlineRank in one round, from the law of pairs (Lemma 6.1).
double expected_loss(std::span<const double> weights, std::span<const double> scores) {
  double sum = 0.0;
  for (std::size_t u = 0; u < weights.size(); ++u) {
    for (std::size_t v = 0; v < weights.size(); ++v) {
      if (scores[v] > scores[u]) {
        sum += (scores[v] - scores[u]) / (1.0 + std::exp(weights[v] - weights[u]));
      }
    }
  }
  return sum;
}

TEST(OrderLearner, ExactRegretStaysBelowTheBoundsAndNearTheGroundTruth) {
  for (const std::uint32_t n : {2U, 3U, 4U, 5U}) {
    const std::uint64_t rounds = 60;
    const auto orders = all_orders(n);
    for (const std::string_view name : choice_adversary_names()) {
      const OrderGame game = choice_game(n, 1, rounds);
      const auto adversary =
          *make_choice_adversary(name, {.items = n, .chosen = 1, .rounds = rounds});
      const auto online = *make_order_learner("onlinerank", game);
      const auto all_orders_learner = *make_order_learner("mw", game);
      const double rate = online_rank_rate(n, rounds, game.spread);
      const double truth_rate = std::sqrt(8.0 * std::log(orders.size()) / rounds) / game.range;
      Rng rng(n);
      std::vector<double> counts(n, 0.0);
      std::vector<double> losses(orders.size(), 0.0);
      double paid = 0.0;
      double truth = 0.0;
      for (std::uint64_t t = 0; t < rounds; ++t) {
        const auto chosen = adversary->choose(counts, rng);
        std::vector<double> scores(n, 0.0);
        scores[chosen[0]] = 1.0;
        std::vector<double> weights = counts;
        for (double& weight : weights) {
          weight *= rate;
        }
        const double loss = expected_loss(weights, scores);
        double enumerated = 0.0;
        double total = 0.0;
        double mixed = 0.0;
        for (std::size_t i = 0; i < orders.size(); ++i) {
          const double order_loss = pairwise_loss(orders[i], scores);
          enumerated += std::exp(log_propensity_plackett_luce(weights, orders[i])) * order_loss;
          const double weight = std::exp(-truth_rate * losses[i]);
          total += weight;
          mixed += weight * order_loss;
        }
        ASSERT_NEAR(loss, enumerated, 1e-9);  // pairs have the law of the whole list
        // Of one choice the pairwise loss is its position.
        ASSERT_NEAR(online->mean_position(chosen[0]), enumerated, 1e-9);
        ASSERT_NEAR(all_orders_learner->mean_position(chosen[0]), mixed / total, 1e-9);
        online->learn_choice(chosen);
        all_orders_learner->learn_choice(chosen);
        paid += loss;
        truth += mixed / total;
        for (std::size_t i = 0; i < orders.size(); ++i) {
          losses[i] += pairwise_loss(orders[i], scores);
        }
        counts[chosen[0]] += 1.0;
      }
      const double best = *std::min_element(losses.begin(), losses.end());
      EXPECT_LE(paid - best, online_rank_bound(n, rounds, game.spread)) << name << ' ' << n;
      EXPECT_LE(truth - best, game.range * std::sqrt(rounds * std::log(orders.size()) / 2.0));
      // Two methods without regret cannot be far apart.
      EXPECT_NEAR(paid, truth, online_rank_bound(n, rounds, game.spread));
    }
  }
}

// The bounds hold for the expectation over a method's own coins, whatever was chosen: for every
// single run, once losses are expectations.
TEST(OrderLearner, EveryMethodStaysBelowItsUpperBound) {
  for (const std::string_view method : order_learner_names()) {
    for (const std::string_view name : choice_adversary_names()) {
      for (const std::uint32_t n : {2U, 3U, 6U, 7U, 12U, 40U}) {
        for (const std::uint32_t k : {1U, 3U, 5U}) {
          for (const std::uint64_t rounds : {1U, 2U, 17U, 200U, 900U}) {
            if (!order_learner_fits(method, n) || k > n / 2 || (n > 10 && rounds == 900)) {
              continue;
            }
            const OrderGame game = choice_game(n, k, rounds);
            const auto learner = *make_order_learner(method, game);
            const auto adversary =
                *make_choice_adversary(name, {.items = n, .chosen = k, .rounds = rounds});
            const ChoicePlay play{
                .items = n, .chosen = k, .rounds = rounds, .loss = LossKind::kExpected};
            EXPECT_LE(play_choice_game(*learner, *adversary, play, n + k + rounds).back().regret,
                      order_learner_bound(method, game) * (1.0 + 1e-9))
                << method << " against " << name << ", n = " << n << ", k = " << k
                << ", T = " << rounds;
          }
        }
      }
    }
  }
}

/// A method that has learned something.
std::unique_ptr<OrderLearner> learned(std::string_view method, std::uint32_t n) {
  const auto adversary = *make_choice_adversary("zipf", {.items = n, .chosen = 2, .rounds = 30});
  std::unique_ptr<OrderLearner> learner = *make_order_learner(method, choice_game(n, 2, 30));
  Rng rng(8);
  for (int t = 0; t < 20; ++t) {
    learner->learn_choice(adversary->choose({}, rng));
  }
  return learner;
}

TEST(OrderLearner, MeanPositionsAreThoseOfTheOrdersThatArePlayed) {
  constexpr std::uint32_t kItems = 6;
  constexpr int kDraws = 20'000;
  const std::vector<std::uint32_t> some = {4, 0, 3};
  for (const std::string_view method : order_learner_names()) {
    const auto learner = learned(method, kItems);
    Rng rng(9);
    std::vector<Mean> played(kItems);
    std::vector<Mean> drawn(some.size());
    std::vector<double> positions(some.size());
    for (int i = 0; i < kDraws; ++i) {
      const auto order = learner->play(rng);
      for (std::uint32_t place = 0; place < kItems; ++place) {
        played[order[place]].add(place);
      }
      learner->draw_positions(some, rng, positions);
      for (std::size_t j = 0; j < some.size(); ++j) {
        drawn[j].add(positions[j]);
      }
    }
    double sum = 0.0;
    for (std::uint32_t item = 0; item < kItems; ++item) {
      const double mean = learner->mean_position(item);
      sum += mean;
      // 5 standard errors: 1 in a million, of some seventy comparisons.
      EXPECT_NEAR(played[item].value(), mean, 5.0 * played[item].standard_error().value() + 1e-9)
          << method << ", item " << item;
    }
    EXPECT_NEAR(sum, kItems * (kItems - 1) / 2.0, 1e-6) << method;
    for (std::size_t j = 0; j < some.size(); ++j) {
      EXPECT_NEAR(drawn[j].value(), learner->mean_position(some[j]),
                  5.0 * drawn[j].standard_error().value() + 1e-9)
          << method << ", item " << some[j];
    }
  }
}

// Where two items stand, as QuickSort's places and as the whole sort would have it.
TEST(QuickSortPlaces, HaveTheLawOfTheWholeSort) {
  const std::vector<std::int64_t> counts = {0, 3, 1, 2};
  const double rate = 0.6;
  std::vector<double> scores(counts.size());
  std::transform(counts.begin(), counts.end(), scores.begin(),
                 [&](std::int64_t count) { return rate * static_cast<double>(count); });
  const std::vector<std::uint32_t> items = {2, 1};
  std::map<std::pair<double, double>, double> expected;
  for (const auto& order : all_orders(4)) {
    const auto place = [&](std::uint32_t item) {
      return static_cast<double>(std::find(order.begin(), order.end(), item) - order.begin());
    };
    expected[{place(2), place(1)}] += std::exp(log_propensity_quicksort(scores, order).value());
  }
  const PairTable before(30, [&](double d) { return 1.0 / (1.0 + std::exp(-rate * d)); });
  QuickSortPlaces places(4);
  constexpr int kDraws = 100'000;
  std::map<std::pair<double, double>, int> seen;
  Rng rng(10);
  for (int i = 0; i < kDraws; ++i) {
    double out[2];
    places.draw(before, counts, items, rng, out);
    ++seen[{out[0], out[1]}];
  }
  double chi_squared = 0.0;
  for (const auto& [at, chance] : expected) {
    chi_squared += std::pow(seen[at] - kDraws * chance, 2.0) / (kDraws * chance);
  }
  EXPECT_EQ(seen.size(), expected.size());
  EXPECT_LT(chi_squared, 45.0);  // 11 degrees of freedom: 1 in 200,000
}

TEST(PairTable, BeyondItsReachNothingChanges) {
  const PairTable table(3, [](double d) { return 0.5 + d / 10.0; });
  EXPECT_DOUBLE_EQ(table.at(-3), 0.2);
  EXPECT_DOUBLE_EQ(table.at(-4000), 0.2);
  EXPECT_DOUBLE_EQ(table.at(1'000'000'000'000), 0.8);
  const std::vector<std::int64_t> counts = {5, 7, 5, -100, 6};
  EXPECT_NEAR(table.mean_position(counts, 4), 0.4 + 0.6 + 0.4 + 0.2, 1e-12);
}

// A matrix that is nearly a permutation takes Sinkhorn's rounds by the ten thousand.
TEST(DoublyStochastic, BalancesWhatIsNearlyAPermutationInFewRounds) {
  for (const double off : {1e-2, 1e-4, 1e-7, 1e-12}) {
    SquareMatrix matrix(6, off);
    for (std::size_t i = 0; i < 6; ++i) {
      matrix.at(i, (i + 1) % 6) = 1.0;
      matrix.at(2, i) *= std::exp(-0.3 * static_cast<double>(i));
      matrix.at(4, i) *= std::exp(0.2 * static_cast<double>(i));
    }
    EXPECT_LE(balance(matrix, 1e-9), 20U) << off;
    for (std::size_t j = 0; j < 6; ++j) {
      double column = 0.0;
      for (std::size_t i = 0; i < 6; ++i) {
        column += matrix.at(i, j);
      }
      EXPECT_NEAR(column, 1.0, 1e-8);
    }
  }
}

TEST(Permutahedron, AProjectionThatKeepsItsOrderIsTheSame) {
  Rng rng(12);
  PermutahedronProjection kept;
  std::vector<double> point(9, 4.0);
  for (int step = 0; step < 200; ++step) {
    point[rng.below(9)] += 1.5 * rng.uniform();
    const std::vector<double> afresh = project_on_permutahedron(point);
    kept.project(point);
    for (std::size_t i = 0; i < 9; ++i) {
      ASSERT_NEAR(point[i], afresh[i], 1e-12);
    }
  }
}

// [Ailon13] Lemma 6.1: the two sorts differ in the law of lists, not in what they lose.
TEST(OrderLearner, BothSortsLoseTheSame) {
  for (const std::string_view name : choice_adversary_names()) {
    Mean difference;
    for (std::uint64_t run = 0; run < 40; ++run) {
      const auto loss = [&](std::string_view method, LossKind kind) {
        const auto learner = *make_order_learner(method, choice_game(20, 2, 300));
        const auto adversary =
            *make_choice_adversary(name, {.items = 20, .chosen = 2, .rounds = 300});
        const ChoicePlay play{.items = 20, .chosen = 2, .rounds = 300, .loss = kind};
        return play_choice_game(*learner, *adversary, play, run).back().loss;
      };
      difference.add(loss("onlinerank-quicksort", LossKind::kDrawn) -
                     loss("onlinerank", LossKind::kExpected));
    }
    EXPECT_NEAR(difference.value(), 0.0, 4.5 * difference.standard_error().value()) << name;
  }
}

TEST(ChoiceAdversary, TheWorstWantsWhatWasWantedLeast) {
  const auto adversary = *make_choice_adversary("worst", {.items = 7, .chosen = 3, .rounds = 50});
  std::vector<double> counts(7, 0.0);
  Rng rng(1);
  for (int t = 0; t < 50; ++t) {
    std::vector<std::uint32_t> rarest = identity(7);
    std::stable_sort(rarest.begin(), rarest.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return counts[a] < counts[b]; });
    rarest.resize(3);
    const auto chosen = adversary->choose(counts, rng);
    ASSERT_EQ(std::vector<std::uint32_t>(chosen.begin(), chosen.end()), rarest);
    for (const std::uint32_t item : chosen) {
      counts[item] += 1.0;
    }
  }
}

// On the uniform adversary no method can do better or worse than another: the regret is that of not
// knowing the future (Theorem 3.3's argument), whatever the method.
TEST(OrderLearner, TheUniformAdversaryTreatsAllAlike) {
  const std::uint32_t n = 6;
  const std::uint64_t rounds = 6000;
  for (const std::string_view method : {"onlinerank", "onlinerank-quicksort", "permutahedron"}) {
    Mean regret;
    for (std::uint64_t run = 0; run < 60; ++run) {
      const auto learner = *make_order_learner(method, choice_game(n, 1, rounds));
      const auto adversary =
          *make_choice_adversary("uniform", {.items = n, .chosen = 1, .rounds = rounds});
      regret.add(
          play_choice_game(*learner, *adversary, {.items = n, .chosen = 1, .rounds = rounds}, run)
              .back()
              .regret);
    }
    const double limit = uniform_choice_regret(n, rounds, 1);
    EXPECT_NEAR(regret.value(), limit, 4.0 * regret.standard_error().value() + 0.01 * limit)
        << method;
  }
}

TEST(OrderLearner, AnUnknownHorizonIsDoubled) {
  OrderGame game = choice_game(10, 2, 0);
  Mean regret;
  const std::uint64_t rounds = 700;
  for (std::uint64_t run = 0; run < 20; ++run) {
    const auto learner = *make_order_learner("onlinerank", game);
    const auto adversary =
        *make_choice_adversary("worst", {.items = 10, .chosen = 2, .rounds = rounds});
    regret.add(
        play_choice_game(*learner, *adversary, {.items = 10, .chosen = 2, .rounds = rounds}, run)
            .back()
            .regret);
  }
  EXPECT_LE(regret.value(), kDoublingFactor * online_rank_bound(10, rounds, game.spread));
}

TEST(OrderLearner, RefusesWhatItCannotPlay) {
  EXPECT_EQ(make_order_learner("nobody", choice_game(4, 1, 10)).error().code,
            ErrorCode::kUnknownName);
  EXPECT_EQ(make_order_learner("mw", choice_game(8, 1, 10)).error().code, ErrorCode::kTooLarge);
  EXPECT_EQ(make_order_learner("mw", choice_game(4, 1, 0)).error().code, ErrorCode::kUnsupported);
  OrderGame one = choice_game(4, 1, 10);
  one.items = 1;
  EXPECT_EQ(make_order_learner("onlinerank", one).error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(make_choice_adversary("uniform", {.items = 4, .chosen = 5, .rounds = 1}).error().code,
            ErrorCode::kInvalidArgument);
  EXPECT_EQ(make_choice_adversary("uniform", {.items = 4, .chosen = 0, .rounds = 1}).error().code,
            ErrorCode::kInvalidArgument);
}

}  // namespace
}  // namespace hindsight
