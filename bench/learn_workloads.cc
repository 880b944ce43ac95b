#include <cmath>
#include <memory>
#include <numeric>
#include <vector>

#include "bench/workload_groups.h"
#include "hindsight/registry.h"
#include "hindsight/signals.h"
#include "src/core/ball_weights.h"
#include "src/core/check.h"
#include "src/core/kernels.h"
#include "src/core/losses.h"
#include "src/core/regret.h"

namespace hindsight::bench {
namespace {

Error wrong(const char* what) { return {ErrorCode::kCorrupt, what, ""}; }

/// A library of twice as many items as a list has candidates: every second one is a candidate.
std::vector<ItemIndex> every_second(std::size_t n) {
  std::vector<ItemIndex> items(n);
  for (std::size_t i = 0; i < n; ++i) {
    items[i] = static_cast<ItemIndex>(2 * i);
  }
  return items;
}

struct Pass {
  std::vector<double> in;
  std::vector<double> out;

  explicit Pass(std::size_t n) : in(n, 0.25), out(n) {}
  double run() { return exp_shifted(in, 0.5, out); }
  bool right() {
    const double exact = static_cast<double>(in.size()) * std::exp(-0.25);
    return std::abs(run() - exact) < 1e-9 * exact;
  }
};

/// The step alone: scores, cost and gradient step of one click, as the ranker takes it.
struct Step {
  std::vector<ItemIndex> items;
  BallWeights weights;
  std::vector<double> scores;
  std::vector<double> raw;
  Pass pass;
  std::size_t clicks = 0;

  explicit Step(std::size_t n) : items(every_second(n)), scores(n), raw(n), pass(n) {
    weights.grow_items(2 * n);
  }

  double run() {
    const std::size_t picked = ++clicks % 10;
    const ChoiceFeatures features{.items = items, .n = items.size()};
    const double top = weights.scores(features, scores);
    const LossSlope slope = kl_cost(scores, top, picked, raw);
    weights.step(features, raw, picked, slope, 0.01, 10.0);
    return slope.loss;
  }

  // Only the first ten are ever picked: the latest must lead the others by now.
  Result<void> check() {
    const bool learned = weights.item(items[clicks % 10]) > weights.item(items[11]);
    return learned && pass.right() ? Result<void>() : wrong("the step did not learn");
  }
};

/// The whole call: Ranker::learn with its checks and its account of costs.
struct Learn {
  std::unique_ptr<Ranker> ranker;
  Decision decision;
  Feedback feedback;
  Signals signals;
  Pass pass;
  std::uint64_t clicks = 0;

  explicit Learn(std::size_t n) : pass(n) {
    ranker = *make_ranker("klrank", {{"choice_set", std::string("candidates")}});
    std::vector<Item> items(2 * n);
    for (std::size_t i = 0; i < items.size(); ++i) {
      items[i].index = static_cast<ItemIndex>(i);
    }
    HINDSIGHT_CHECK(ranker->add_items(items).ok());
    const std::vector<ItemIndex> candidates = every_second(n);
    Request request;
    request.candidates = candidates;
    request.k = n;
    Rng rng(1);
    decision = *ranker->rank(request, signals, rng);
    feedback.decision = decision.id;
  }

  double run() {
    feedback.clicked = {decision.items[++clicks % 10]};
    HINDSIGHT_CHECK(ranker->learn(decision, feedback, signals).ok());
    return ranker->regret()->learned_cost();
  }

  Result<void> check() {
    const bool learned = ranker->regret()->clicks() == clicks &&
                         ranker->item_score(decision.items[clicks % 10]) >
                             ranker->item_score(decision.items[decision.items.size() - 1]);
    return learned && pass.right() ? Result<void>() : wrong("the ranker did not learn");
  }
};

template <class Work>
Prepared against_pass(std::size_t n) {
  auto work = std::make_shared<Work>(n);
  return {.test = [work] { return work->run(); },
          .baseline = [work] { return work->pass.run(); },
          .check = [work] { return work->check(); }};
}

/// A log of decisions with ten items each and one click, folded again and again into one model.
struct Log {
  static constexpr std::size_t kShown = 10;
  static constexpr std::size_t kDecisions = 4096;

  std::unique_ptr<Ranker> ranker = *make_ranker("klrank");
  std::vector<Decision> decisions;
  std::vector<Feedback> feedback;
  Signals signals;
  std::uint64_t events = 0;

  explicit Log(std::size_t n) {
    std::vector<Item> items(n);
    for (std::size_t i = 0; i < n; ++i) {
      items[i].index = static_cast<ItemIndex>(i);
    }
    HINDSIGHT_CHECK(ranker->add_items(items).ok());
    Rng rng(1);
    for (std::uint64_t t = 0; t < kDecisions; ++t) {
      std::vector<ItemIndex> candidates(kShown);
      const ItemIndex start = static_cast<ItemIndex>(rng.below(n - 100));
      for (std::size_t i = 0; i < kShown; ++i) {
        candidates[i] = static_cast<ItemIndex>(start + 10 * i);
      }
      Request request;
      request.decision = {0, t};
      request.candidates = candidates;
      request.k = kShown;
      decisions.push_back(*ranker->rank(request, signals, rng));
      Feedback click;
      click.decision = decisions.back().id;
      click.clicked = {decisions.back().items[rng.below(kShown)]};
      feedback.push_back(click);
    }
  }

  double run() {
    const std::size_t i = events++ % kDecisions;
    HINDSIGHT_CHECK(ranker->learn(decisions[i], feedback[i], signals).ok());
    return static_cast<double>(ranker->regret()->clicks());
  }

  Result<void> check() const {
    return ranker->regret()->clicks() == events ? Result<void>() : wrong("events were lost");
  }
};

}  // namespace

std::vector<Workload> learn_workloads() {
  std::vector<Workload> workloads;
  for (std::size_t n = 100; n <= 1'000'000; n *= 10) {
    const auto aim = n == 10'000 ? std::optional(3.0) : std::nullopt;
    workloads.push_back({.name = "learn/klrank-step",
                         .n = n,
                         .aim = aim,
                         .budget_ns = std::nullopt,
                         .prepare = [n] { return against_pass<Step>(n); }});
    workloads.push_back(
        {.name = "learn/klrank", .n = n, .aim = aim, .budget_ns = std::nullopt, .prepare = [n] {
           return against_pass<Learn>(n);
         }});
  }
  return workloads;
}

std::vector<Workload> replay_workloads() {
  std::vector<Workload> workloads;
  for (std::size_t n = 1'000; n <= 1'000'000; n *= 10) {
    workloads.push_back({.name = "replay/klrank",
                         .n = n,
                         .aim = 1.0,
                         .budget_ns = 1'000.0,
                         .prepare = [n]() -> Prepared {
                           auto log = std::make_shared<Log>(n);
                           return {.test = [log] { return log->run(); },
                                   .baseline = {},
                                   .check = [log] { return log->check(); }};
                         }});
  }
  return workloads;
}

}  // namespace hindsight::bench
