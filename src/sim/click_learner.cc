#include "src/sim/click_learner.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <utility>

#include "src/core/check.h"
#include "src/core/recur_rank.h"
#include "src/core/ridge_estimate.h"
#include "src/core/top_rank.h"
#include "src/core/vector_set.h"
#include "src/sim/optimistic_top.h"

namespace hindsight {
namespace {

class RecurRankLearner final : public ClickLearner {
 public:
  RecurRankLearner(RecurRank machine, std::size_t positions)
      : machine_(std::move(machine)), positions_(positions) {}

  std::uint64_t choose(Rng& rng, std::vector<ItemIndex>& list) override {
    machine_.draw({}, positions_, rng, list, probes_);
    std::uint64_t wanted = 0;
    for (const RecurRank::Probe& probe : probes_) {
      wanted |= std::uint64_t{1} << probe.place;
    }
    return wanted;
  }
  void learn(std::span<const ItemIndex> /*list*/, std::uint64_t clicks) override {
    for (const RecurRank::Probe& probe : probes_) {
      machine_.observe(probe, ((clicks >> probe.place) & 1U) != 0);
    }
    machine_.end_round();
  }

 private:
  RecurRank machine_;
  std::size_t positions_;
  RecurRank::Probes probes_;
};

/// What both cascade bandits learn.
class CascadeLearner : public ClickLearner {
 public:
  void learn(std::span<const ItemIndex> list, std::uint64_t clicks) final {
    // The user has examined the list up to the first click, or all of it.
    const auto last = static_cast<std::size_t>(std::countr_zero(clicks));
    for (std::size_t k = 0; k < list.size() && k <= last; ++k) {
      estimate_.add(row(list[k]), k == last ? 1.0 : 0.0);
    }
    estimate_.refresh();
  }

 protected:
  CascadeLearner(const LinearWorld& world, std::size_t positions, double width)
      : positions_(positions), width_(width), rows_(world.features), estimate_(world.dim) {}

  std::size_t positions() const { return positions_; }
  double width() const { return width_; }
  const RidgeEstimate& estimate() const { return estimate_; }
  std::uint64_t all_places() const { return ~std::uint64_t{0} >> (64 - positions_); }

 private:
  std::span<const double> row(ItemIndex item) const {
    return std::span(rows_).subspan(item * estimate_.dim(), estimate_.dim());
  }

  std::size_t positions_;
  double width_;
  std::vector<double> rows_;
  RidgeEstimate estimate_;
};

/// Optimism in the face of uncertainty, in the cascade model.
class CascadeLinUcbLearner final : public CascadeLearner {
 public:
  CascadeLinUcbLearner(const LinearWorld& world, std::size_t positions, double width)
      : CascadeLearner(world, positions, width),
        top_(VectorSet::from_rows(world.features, world.dim), width, 1.0) {}

  std::uint64_t choose(Rng& rng, std::vector<ItemIndex>& list) override {
    top_.find(estimate(), positions(), rng.below(top_.set().count), list);
    return all_places();
  }

 private:
  OptimisticTop top_;
};

/// A draw from the posterior, in the cascade model.
class CascadeLinTsLearner final : public CascadeLearner {
 public:
  CascadeLinTsLearner(const LinearWorld& world, std::size_t positions, double width)
      : CascadeLearner(world, positions, width),
        set_(VectorSet::from_rows(world.features, world.dim)),
        scores_(world.items) {}

  std::uint64_t choose(Rng& rng, std::vector<ItemIndex>& list) override {
    products_of(set_, estimate().sample(width(), rng), scores_);
    top_k(scores_, positions(), rng.below(scores_.size()), list);
    return all_places();
  }

 private:
  VectorSet set_;
  std::vector<double> scores_;
};

class TopRankLearner final : public ClickLearner {
 public:
  TopRankLearner(std::size_t items, const ClickLearnerParams& params)
      : positions_(params.positions), machine_(params.horizon) {
    machine_.grow(items);
  }

  std::uint64_t choose(Rng& rng, std::vector<ItemIndex>& list) override {
    machine_.draw(positions_, rng, list);
    return ~std::uint64_t{0} >> (64 - positions_);
  }
  void learn(std::span<const ItemIndex> list, std::uint64_t clicks) override {
    clicked_.clear();
    for (; clicks != 0; clicks &= clicks - 1) {
      clicked_.push_back(list[static_cast<std::size_t>(std::countr_zero(clicks))]);
    }
    machine_.learn(clicked_);
    machine_.settle();
  }

 private:
  std::size_t positions_;
  TopRank machine_;
  std::vector<ItemIndex> clicked_;
};

}  // namespace

void top_k(std::span<const double> scores, std::size_t k, std::size_t start,
           std::vector<ItemIndex>& out) {
  HINDSIGHT_CHECK(k >= 1 && k <= scores.size() && start < scores.size());
  out.clear();
  double least = -std::numeric_limits<double>::infinity();
  const auto offer = [&](std::size_t i) {
    if (out.size() == k) {
      if (!(scores[i] > least)) {
        return;
      }
      out.pop_back();
    }
    auto place = out.end();
    while (place != out.begin() && scores[*(place - 1)] < scores[i]) {
      --place;
    }
    out.insert(place, static_cast<ItemIndex>(i));
    if (out.size() == k) {
      least = scores[out.back()];
    }
  };
  for (std::size_t i = start; i < scores.size(); ++i) {
    offer(i);
  }
  for (std::size_t i = 0; i < start; ++i) {
    offer(i);
  }
}

std::span<const std::string> click_learner_names() {
  static const std::vector<std::string> names = {"recurrank",      "recurrank-printed",
                                                 "cascade-linucb", "cascade-linucb-proven",
                                                 "cascade-lints",  "toprank"};
  return names;
}

Result<void> check_click_learner_name(const std::string& name) {
  std::string known;
  for (const std::string& other : click_learner_names()) {
    if (name == other) {
      return {};
    }
    known += (known.empty() ? "" : ", ") + other;
  }
  return Error{ErrorCode::kUnknownName, "there is no '" + name + "' here; there are: " + known,
               "rankers"};
}

Result<std::unique_ptr<ClickLearner>> make_click_learner(const std::string& name,
                                                         const LinearWorld& world,
                                                         const ClickLearnerParams& params) {
  HINDSIGHT_RETURN_IF_ERROR(check_click_learner_name(name));
  if (params.positions == 0 || params.positions > world.items || params.positions > 64) {
    return Error{ErrorCode::kInvalidArgument, "a list needs from 1 to 64 places, and as many items",
                 "positions"};
  }
  if (params.horizon == 0) {
    return Error{ErrorCode::kInvalidArgument, "an experiment has at least one round", "rounds"};
  }
  if (name == "recurrank" || name == "recurrank-printed") {
    const RecurRankParams recur{.positions = params.positions,
                                .horizon = params.horizon,
                                .printed_rule = name != "recurrank"};
    HINDSIGHT_ASSIGN_OR_RETURN(RecurRank machine,
                               RecurRank::make(recur, world.features, world.dim));
    return std::unique_ptr<ClickLearner>(
        std::make_unique<RecurRankLearner>(std::move(machine), params.positions));
  }
  if (name == "cascade-linucb" || name == "cascade-linucb-proven") {
    const double width = name == "cascade-linucb" ? 1.0 : proven_width(world.dim, params.horizon);
    return std::unique_ptr<ClickLearner>(
        std::make_unique<CascadeLinUcbLearner>(world, params.positions, width));
  }
  if (name == "cascade-lints") {
    return std::unique_ptr<ClickLearner>(
        std::make_unique<CascadeLinTsLearner>(world, params.positions, 1.0));
  }
  if (world.items > TopRank::kMaxItems) {
    return Error{ErrorCode::kTooLarge, "toprank compares pairs of at most 20000 items", "items"};
  }
  return std::unique_ptr<ClickLearner>(std::make_unique<TopRankLearner>(world.items, params));
}

}  // namespace hindsight
