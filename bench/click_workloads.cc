#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bench/workload_groups.h"
#include "hindsight/random.h"
#include "src/core/check.h"
#include "src/core/optimal_design.h"
#include "src/sim/click_learner.h"
#include "src/sim/click_model.h"
#include "src/sim/linear_world.h"

namespace hindsight::bench {
namespace {

constexpr std::size_t kItems = 10'000;
constexpr std::size_t kPlaces = 10;
constexpr std::size_t kDimensions = 5;
constexpr std::uint64_t kHorizon = 5'000'000;

/// A bandit and users whose clicks depend on the position: [Li19] section 5.
struct ClickRounds {
  ClickModel model;
  std::unique_ptr<ClickLearner> learner;
  Rng lists{1, 1};
  Rng users{1, 2};
  std::vector<ItemIndex> list = {};
  bool whole = true;  // every list had all its places

  double run() {
    const std::uint64_t wanted = learner->choose(lists, list);
    whole = whole && list.size() == kPlaces;
    learner->learn(list, model.draw(list, wanted, users));
    return static_cast<double>(list.front());
  }

  Result<void> check() const {
    return whole ? Result<void>() : Error{ErrorCode::kCorrupt, "lists were cut", ""};
  }
};

std::shared_ptr<ClickRounds> click_rounds(const std::string& name) {
  Rng rng(1);
  const LinearWorld world = *make_linear_world(kItems, kDimensions, rng);
  std::vector<double> bias;
  for (std::size_t k = 1; k <= kPlaces; ++k) {
    bias.push_back(1.0 / static_cast<double>(k));
  }
  ClickModel model = *ClickModel::make({.kind = ClickKind::kPosition,
                                        .positions = kPlaces,
                                        .attraction = world.attraction,
                                        .bias = std::move(bias)});
  auto learner = *make_click_learner(name, world, {.positions = kPlaces, .horizon = kHorizon});
  return std::make_shared<ClickRounds>(
      ClickRounds{.model = std::move(model), .learner = std::move(learner)});
}

Workload click_workload(const char* name, double budget_ns) {
  return {.name = std::string("click/") + name,
          .n = kItems,
          .aim = 1.0,
          .budget_ns = budget_ns,
          .prepare = [name]() -> Prepared {
            auto work = click_rounds(name);
            return {.test = [work] { return work->run(); },
                    .baseline = {},
                    .check = [work] { return work->check(); }};
          }};
}

constexpr std::size_t kVectors = 100'000;
constexpr std::size_t kLength = 32;
constexpr double kAccuracy = 0.05;

struct DesignOfMany {
  VectorSet set;
  double largest = 0.0;

  double run() {
    const Result<Design> design = g_optimal_design(set, kAccuracy);
    HINDSIGHT_CHECK(design.ok());
    largest = design->largest;
    return largest;
  }

  Result<void> check() const {
    return largest <= (1.0 + kAccuracy) * static_cast<double>(kLength)
               ? Result<void>()
               : Error{ErrorCode::kCorrupt, "the design is not as good as it claims", ""};
  }
};

Prepared prepare_design() {
  Rng rng(1);
  std::vector<double> rows(kVectors * kLength);
  for (double& one : rows) {
    one = rng.normal();
  }
  auto work =
      std::make_shared<DesignOfMany>(DesignOfMany{.set = VectorSet::from_rows(rows, kLength)});
  return {.test = [work] { return work->run(); },
          .baseline = {},
          .check = [work] { return work->check(); }};
}

}  // namespace

std::vector<Workload> click_workloads() {
  return {click_workload("recurrank", 100.0), click_workload("cascade-linucb", 40'000.0),
          click_workload("toprank", 60'000.0),
          Workload{.name = "design/g-optimal",
                   .n = kVectors,
                   .aim = 1.0,
                   .budget_ns = 1e9,
                   .prepare = prepare_design}};
}

}  // namespace hindsight::bench
