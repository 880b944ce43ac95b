#include "src/sim/order_learner.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "src/core/check.h"
#include "src/core/choice_rate.h"
#include "src/sim/count_learners.h"
#include "src/sim/mean_learners.h"

namespace hindsight {
namespace {

constexpr std::uint32_t kMaxAllOrders = 7;
constexpr std::uint32_t kMaxMatrix = 20;
constexpr std::uint32_t kMaxQuadratic = 2'000;

double real(std::uint64_t n) { return static_cast<double>(n); }

using Learner = std::unique_ptr<OrderLearner>;

// Theorem 3.1 of [Ailon13], and its form without a known horizon.
double theorem_bound(const OrderGame& game) {
  return online_rank_bound(game.items, game.rounds, game.spread);
}
double doubling_bound(const OrderGame& game) { return kDoublingFactor * theorem_bound(game); }

// [KalaiVempala05] Theorem 1.1: 2 sqrt(D R A T) = 2 R A T eps.
double uniform_leader_bound(const OrderGame& game) {
  return 2.0 * real(game.items - 1) * game.mass * game.mass * real(game.rounds) /
         uniform_noise_width(game);
}

struct Method {
  std::string_view name;
  std::uint32_t max_items;
  bool needs_horizon;
  Learner (*make)(const OrderGame&);
  double (*bound)(const OrderGame&);
};

constexpr std::uint32_t kAny = 100'000'000;
constexpr std::array<Method, 8> kMethods = {{
    {"onlinerank", kAny, false,
     [](const OrderGame& game) { return make_online_rank(game, SortProc::kPlackettLuce, false); },
     theorem_bound},
    {"onlinerank-quicksort", kAny, false,
     [](const OrderGame& game) { return make_online_rank(game, SortProc::kQuickSort, false); },
     theorem_bound},
    {"onlinerank-doubling", kAny, false,
     [](const OrderGame& game) { return make_online_rank(game, SortProc::kPlackettLuce, true); },
     doubling_bound},
    {"fpl-uniform", kAny, true, make_uniform_leader, uniform_leader_bound},
    {"fpl-gumbel", kAny, true, make_gumbel_leader, theorem_bound},
    {"mw", kMaxAllOrders, true, make_all_orders, all_orders_bound},
    {"permelearn", kMaxMatrix, true, make_permelearn, permelearn_bound},
    {"permutahedron", kMaxQuadratic, true, make_permutahedron, permutahedron_bound},
}};

constexpr auto kNames = [] {
  std::array<std::string_view, kMethods.size()> names;
  for (std::size_t i = 0; i < names.size(); ++i) {
    names[i] = kMethods[i].name;
  }
  return names;
}();

const Method* find_method(std::string_view name) {
  const auto* found = std::find_if(kMethods.begin(), kMethods.end(),
                                   [&](const Method& method) { return method.name == name; });
  return found == kMethods.end() ? nullptr : found;
}

}  // namespace

void OrderLearner::draw_positions(std::span<const std::uint32_t> items, Rng& rng,
                                  std::span<double> out) {
  HINDSIGHT_CHECK(items.size() == out.size());
  const std::vector<std::uint32_t> order = play(rng);
  std::vector<double> place_of(order.size());
  for (std::size_t place = 0; place < order.size(); ++place) {
    place_of[order[place]] = real(place);
  }
  for (std::size_t i = 0; i < items.size(); ++i) {
    out[i] = place_of[items[i]];
  }
}

void OrderLearner::learn(std::span<const double> scores) {
  for (std::uint32_t item = 0; item < scores.size(); ++item) {
    if (scores[item] != 0.0) {
      want(item, scores[item]);
    }
  }
  end_round();
}

void OrderLearner::learn_choice(std::span<const std::uint32_t> chosen) {
  for (const std::uint32_t item : chosen) {
    want(item, 1.0);
  }
  end_round();
}

OrderGame choice_game(std::uint32_t items, std::uint32_t chosen, std::uint64_t rounds) {
  HINDSIGHT_CHECK(chosen >= 1 && chosen <= items / 2);
  const double spread = choice_spread(items, chosen);
  return {.items = items,
          .rounds = rounds,
          .spread = spread,
          .range = spread,
          .mass = real(chosen),
          .largest = 1.0,
          .squared_norm = real(chosen)};
}

OrderGame ranking_game(std::uint32_t items, std::uint64_t rounds) {
  const double n = real(items);
  return {.items = items,
          .rounds = rounds,
          .spread = ranking_spread(items),
          .range = n * (n * n - 1.0) / 6.0,
          .mass = n * (n - 1.0) / 2.0,
          .largest = n - 1.0,
          .squared_norm = n * (n - 1.0) * (2.0 * n - 1.0) / 6.0};
}

std::span<const std::string_view> order_learner_names() { return kNames; }

bool order_learner_fits(std::string_view name, std::uint32_t items) {
  const Method* method = find_method(name);
  return method != nullptr && items <= method->max_items;
}

Result<std::unique_ptr<OrderLearner>> make_order_learner(std::string_view name,
                                                         const OrderGame& game) {
  const Method* method = find_method(name);
  if (method == nullptr) {
    return Error{ErrorCode::kUnknownName, "no such method of learning orders", "method"};
  }
  if (game.items < 2) {
    return Error{ErrorCode::kInvalidArgument, "an order needs at least two items", "items"};
  }
  const bool positive = game.spread > 0.0 && game.range > 0.0 && game.mass > 0.0 &&
                        game.largest > 0.0 && game.squared_norm > 0.0 && std::isfinite(game.spread);
  if (!positive) {
    return Error{ErrorCode::kInvalidArgument, "the limits of the scores must be positive",
                 "spread"};
  }
  if (game.items > method->max_items) {
    return Error{ErrorCode::kTooLarge,
                 "this method is for at most " + std::to_string(method->max_items) + " items",
                 "items"};
  }
  if (game.rounds == 0 && method->needs_horizon) {
    return Error{ErrorCode::kUnsupported, "this method needs to know the number of rounds",
                 "rounds"};
  }
  return method->make(game);
}

double order_learner_bound(std::string_view name, const OrderGame& game) {
  const Method* method = find_method(name);
  HINDSIGHT_CHECK(method != nullptr && game.rounds >= 1);
  return method->bound(game);
}

}  // namespace hindsight
