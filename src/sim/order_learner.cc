#include "src/sim/order_learner.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <numeric>
#include <utility>

#include "src/core/check.h"
#include "src/core/choice_rate.h"
#include "src/core/order_loss.h"
#include "src/core/plackett_luce.h"
#include "src/core/quicksort_policy.h"
#include "src/sim/doubly_stochastic.h"
#include "src/sim/permutahedron.h"

namespace hindsight {
namespace {

constexpr std::uint32_t kMaxAllOrders = 7;
constexpr std::uint32_t kMaxMatrix = 20;
constexpr std::uint32_t kMaxQuadratic = 2'000;

double real(std::uint64_t n) { return static_cast<double>(n); }

/// How much each item was wanted so far.
class Counts {
 public:
  explicit Counts(std::uint32_t items) : counts_(items, 0.0) {}

  void add(std::span<const double> scores) {
    HINDSIGHT_CHECK(scores.size() == counts_.size());
    for (std::size_t i = 0; i < scores.size(); ++i) {
      counts_[i] += scores[i];
    }
    ++rounds_;
  }
  std::span<const double> values() const { return counts_; }
  std::uint64_t rounds() const { return rounds_; }

 private:
  std::vector<double> counts_;
  std::uint64_t rounds_ = 0;
};

using Sort = Result<std::vector<std::uint32_t>> (*)(std::span<const double>, std::size_t, Rng&);

class OnlineRank final : public OrderLearner {
 public:
  OnlineRank(const OrderGame& game, Sort sort)
      : game_(game), sort_(sort), counts_(game.items), scores_(game.items) {}

  std::vector<std::uint32_t> play(Rng& rng) override {
    const std::uint64_t horizon =
        game_.rounds > 0 ? game_.rounds : doubled_horizon(counts_.rounds() + 1);
    const double rate = online_rank_rate(game_.items, horizon, game_.spread);
    for (std::size_t i = 0; i < scores_.size(); ++i) {
      scores_[i] = rate * counts_.values()[i];
    }
    Result<std::vector<std::uint32_t>> order = sort_(scores_, scores_.size(), rng);
    HINDSIGHT_CHECK(order.ok());
    return *std::move(order);
  }
  void learn(std::span<const double> scores) override { counts_.add(scores); }

 private:
  OrderGame game_;
  Sort sort_;
  Counts counts_;
  std::vector<double> scores_;
};

class PerturbedLeader final : public OrderLearner {
 public:
  PerturbedLeader(const OrderGame& game, std::function<double(Rng&)> noise)
      : noise_(std::move(noise)), counts_(game.items), perturbed_(game.items) {}

  std::vector<std::uint32_t> play(Rng& rng) override {
    for (std::size_t i = 0; i < perturbed_.size(); ++i) {
      perturbed_[i] = counts_.values()[i] + noise_(rng);
    }
    return best_order(perturbed_);
  }
  void learn(std::span<const double> scores) override { counts_.add(scores); }

 private:
  std::function<double(Rng&)> noise_;
  Counts counts_;
  std::vector<double> perturbed_;
};

// [KalaiVempala05], as [Ailon13] 4.1 applies it: eps = sqrt(D / (R A T)) with D the diameter of the
// permutahedron in l1, R the greatest loss of a round and A the greatest l1 norm of its scores.
std::function<double(Rng&)> uniform_noise(const OrderGame& game) {
  const double n = real(game.items);
  const double diameter = std::floor(n * n / 2.0);
  const double width = std::sqrt((n - 1.0) * game.mass * game.mass * real(game.rounds) / diameter);
  return [width](Rng& rng) { return width * rng.uniform(); };
}

std::function<double(Rng&)> gumbel_noise(const OrderGame& game) {
  const double scale = 1.0 / online_rank_rate(game.items, game.rounds, game.spread);
  return [scale](Rng& rng) {
    double wait = 0.0;
    while (wait == 0.0) {
      wait = rng.exponential();
    }
    return -scale * std::log(wait);
  };
}

class AllOrders final : public OrderLearner {
 public:
  explicit AllOrders(const OrderGame& game) {
    std::vector<std::uint32_t> order(game.items);
    std::iota(order.begin(), order.end(), 0U);
    do {
      orders_.push_back(order);
    } while (std::next_permutation(order.begin(), order.end()));
    losses_.assign(orders_.size(), 0.0);
    rate_ = std::sqrt(8.0 * std::log(real(orders_.size())) / real(game.rounds)) / game.range;
  }

  std::vector<std::uint32_t> play(Rng& rng) override {
    const double least = *std::min_element(losses_.begin(), losses_.end());
    std::vector<double> sums(losses_.size());
    double total = 0.0;
    for (std::size_t i = 0; i < losses_.size(); ++i) {
      sums[i] = total += std::exp(-rate_ * (losses_[i] - least));
    }
    const auto drawn = std::upper_bound(sums.begin(), sums.end(), total * rng.uniform());
    return orders_[std::min<std::size_t>(drawn - sums.begin(), orders_.size() - 1)];
  }
  void learn(std::span<const double> scores) override {
    for (std::size_t i = 0; i < orders_.size(); ++i) {
      losses_[i] += pairwise_loss(orders_[i], scores);
    }
  }

 private:
  std::vector<std::vector<std::uint32_t>> orders_;
  std::vector<double> losses_;
  double rate_ = 0.0;
};

// [HelmboldWarmuth09]: the loss of item i at place j is s(i) j / (n - 1), at most 1 for single
// choices; eta from the bound of Theorem 6 there with the loss of a mean order as the estimate.
class PermELearn final : public OrderLearner {
 public:
  explicit PermELearn(const OrderGame& game) : matrix_(game.items, 1.0 / real(game.items)) {
    const double n = real(game.items);
    const double estimate = real(game.rounds) * game.mass / 2.0;
    rate_ = std::log1p(std::sqrt(2.0 * n * std::log(n) / estimate));
  }

  std::vector<std::uint32_t> play(Rng& rng) override { return draw_birkhoff(matrix_, rng); }
  void learn(std::span<const double> scores) override {
    const std::size_t n = matrix_.n;
    for (std::size_t item = 0; item < n; ++item) {
      for (std::size_t place = 0; place < n; ++place) {
        const double loss = scores[item] * real(place) / real(n - 1);
        // Never quite impossible: what is zero once could not come back.
        constexpr double kLeast = 1e-200;
        matrix_.at(item, place) =
            std::max(matrix_.at(item, place) * std::exp(-rate_ * loss), kLeast);
      }
    }
    constexpr double kTolerance = 1e-9;
    balance(matrix_, kTolerance);
  }

 private:
  SquareMatrix matrix_;
  double rate_ = 0.0;
};

// [Suehiro12]: gradient steps in the permutahedron; eta = diameter / (largest gradient * sqrt(T)).
class Permutahedron final : public OrderLearner {
 public:
  explicit Permutahedron(const OrderGame& game)
      : point_(game.items, (real(game.items) - 1.0) / 2.0) {
    const double n = real(game.items);
    const double diameter = std::sqrt(n * (n * n - 1.0) / 3.0);
    rate_ = diameter / std::sqrt(game.squared_norm * real(game.rounds));
  }

  std::vector<std::uint32_t> play(Rng& rng) override {
    return draw_from_permutahedron(point_, rng);
  }
  void learn(std::span<const double> scores) override {
    for (std::size_t i = 0; i < point_.size(); ++i) {
      point_[i] += rate_ * scores[i];
    }
    point_ = project_on_permutahedron(point_);
  }

 private:
  std::vector<double> point_;
  double rate_ = 0.0;
};

using Learner = std::unique_ptr<OrderLearner>;

struct Method {
  std::string_view name;
  std::uint32_t max_items;
  bool needs_horizon;
  Learner (*make)(const OrderGame&);
};

constexpr std::uint32_t kAny = 100'000'000;
constexpr std::array<Method, 7> kMethods = {{
    {"onlinerank", kAny, false,
     [](const OrderGame& game) -> Learner {
       return std::make_unique<OnlineRank>(game, draw_plackett_luce);
     }},
    {"onlinerank-quicksort", kAny, false,
     [](const OrderGame& game) -> Learner {
       return std::make_unique<OnlineRank>(game, draw_quicksort);
     }},
    {"fpl-uniform", kAny, true,
     [](const OrderGame& game) -> Learner {
       return std::make_unique<PerturbedLeader>(game, uniform_noise(game));
     }},
    {"fpl-gumbel", kAny, true,
     [](const OrderGame& game) -> Learner {
       return std::make_unique<PerturbedLeader>(game, gumbel_noise(game));
     }},
    {"mw", kMaxAllOrders, true,
     [](const OrderGame& game) -> Learner { return std::make_unique<AllOrders>(game); }},
    {"permelearn", kMaxMatrix, true,
     [](const OrderGame& game) -> Learner { return std::make_unique<PermELearn>(game); }},
    {"permutahedron", kMaxQuadratic, true,
     [](const OrderGame& game) -> Learner { return std::make_unique<Permutahedron>(game); }},
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

OrderGame choice_game(std::uint32_t items, std::uint32_t chosen, std::uint64_t rounds) {
  HINDSIGHT_CHECK(chosen >= 1 && chosen <= items / 2);
  const double spread = choice_spread(items, chosen);
  return {.items = items,
          .rounds = rounds,
          .spread = spread,
          .range = spread,
          .mass = real(chosen),
          .squared_norm = real(chosen)};
}

OrderGame ranking_game(std::uint32_t items, std::uint64_t rounds) {
  const double n = real(items);
  return {.items = items,
          .rounds = rounds,
          .spread = ranking_spread(items),
          .range = n * (n * n - 1.0) / 6.0,
          .mass = n * (n - 1.0) / 2.0,
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
                        game.squared_norm > 0.0 && std::isfinite(game.spread);
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

}  // namespace hindsight
