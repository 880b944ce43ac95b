#include <algorithm>
#include <memory>
#include <vector>

#include "bench/workload_groups.h"
#include "hindsight/registry.h"
#include "hindsight/signals.h"
#include "src/core/check.h"

namespace hindsight::bench {
namespace {

/// Two rankers that have seen the same sessions, and now rank the same candidates.
struct Beside {
  static constexpr std::uint64_t kClicks = 2000;
  static constexpr std::size_t kShown = 10;

  std::unique_ptr<Ranker> mixed = *make_ranker("auto");
  std::unique_ptr<Ranker> plain = *make_ranker("klrank");
  Signals signals;
  std::vector<ItemIndex> candidates;
  std::vector<Decision> decisions;  // that clicks are learned of again and again
  std::uint64_t calls = 0;
  double prob_sum = 0.0;

  explicit Beside(std::size_t n) {
    std::vector<Item> items(2 * n);
    for (std::size_t i = 0; i < items.size(); ++i) {
      items[i].index = static_cast<ItemIndex>(i);
      for (std::size_t j = 1; j <= std::min<std::size_t>(i, 8); ++j) {
        items[i].links.push_back(static_cast<ItemIndex>(i - j));
      }
      signals.item_added(items[i].index, 0);
      signals.set_links(items[i].index, items[i].links);
    }
    HINDSIGHT_CHECK(mixed->add_items(items).ok() && plain->add_items(items).ok());
    for (std::size_t i = 0; i < n; ++i) {
      candidates.push_back(static_cast<ItemIndex>(2 * i));
    }
    for (std::uint64_t t = 0; t < kClicks; ++t) {
      learn(t);
    }
  }

  Request request(std::uint64_t counter) const {
    Request request;
    request.decision = {0, counter};
    request.candidates = candidates;
    request.k = kShown;
    request.session = 1 + counter / 5;
    request.group = 1 + counter % 3;
    return request;
  }

  void learn(std::uint64_t t) {
    const Request wish = request(t);
    Rng rng = Rng::for_decision(1, wish.decision);
    const Decision decision = *mixed->rank(wish, signals, rng);
    const ItemIndex item = decision.items[t * t % kShown];
    const Feedback feedback{.decision = decision.id, .clicked = {item}};
    HINDSIGHT_CHECK(mixed->learn(decision, feedback, signals).ok() &&
                    plain->learn(decision, feedback, signals).ok());
    signals.picked(item, 0, wish.session, wish.group);
  }

  double rank(const Ranker& ranker) {
    const Request wish = request(kClicks + ++calls % 50);
    Rng rng = Rng::for_decision(1, wish.decision);
    const Decision decision = *ranker.rank(wish, signals, rng);
    prob_sum += decision.prob_first[0];
    return decision.score[0];
  }

  /// A click on one of `shown` items.
  double learn_again(Ranker& ranker, std::size_t shown) {
    constexpr std::uint64_t kDecisions = 50;
    for (std::uint64_t t = decisions.size(); t < kDecisions; ++t) {
      Request wish = request(kClicks + t);
      wish.k = shown;
      Rng rng = Rng::for_decision(1, wish.decision);
      decisions.push_back(*mixed->rank(wish, signals, rng));
    }
    const Decision& decision = decisions[++calls % kDecisions];
    const Feedback feedback{.decision = decision.id, .clicked = {decision.items[calls % shown]}};
    const Result<LearnReport> report = ranker.learn(decision, feedback, signals);
    prob_sum += report.ok() ? 1.0 : 0.0;
    return static_cast<double>(report->learned);
  }

  Result<void> check() const {
    return prob_sum > 0.0 && prob_sum <= static_cast<double>(calls)
               ? Result<void>()
               : Error{ErrorCode::kCorrupt, "the probabilities are none", ""};
  }
};

constexpr double kBudgetNs = 40'000.0;  // of a list from 100 candidates

Prepared beside_klrank(std::size_t n) {
  auto work = std::make_shared<Beside>(n);
  return {.test = [work] { return work->rank(*work->mixed); },
          .baseline = [work] { return work->rank(*work->plain); },
          .check = [work] { return work->check(); }};
}

Prepared learn_beside_klrank(std::size_t shown) {
  auto work = std::make_shared<Beside>(shown);
  return {.test = [work, shown] { return work->learn_again(*work->mixed, shown); },
          .baseline = [work, shown] { return work->learn_again(*work->plain, shown); },
          .check = [work] { return work->check(); }};
}

Prepared alone(std::size_t n) {
  Prepared prepared = beside_klrank(n);
  prepared.baseline = nullptr;
  return prepared;
}

}  // namespace

std::vector<Workload> auto_workloads() {
  std::vector<Workload> workloads;
  workloads.push_back(
      {.name = "auto/rank", .n = 100, .aim = 1.0, .budget_ns = kBudgetNs, .prepare = [] {
         return alone(100);
       }});
  for (const std::size_t n : {100, 1000}) {
    workloads.push_back({.name = "auto/rank-over-klrank",
                         .n = n,
                         .aim = std::nullopt,
                         .budget_ns = std::nullopt,
                         .prepare = [n] { return beside_klrank(n); }});
  }
  for (const std::size_t n : {10, 100}) {
    workloads.push_back({.name = "auto/click-over-klrank",
                         .n = n,
                         .aim = std::nullopt,
                         .budget_ns = std::nullopt,
                         .prepare = [n] { return learn_beside_klrank(n); }});
  }
  return workloads;
}

}  // namespace hindsight::bench
