#include <algorithm>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bench/workload_groups.h"
#include "hindsight/registry.h"
#include "hindsight/signals.h"
#include "src/core/check.h"
#include "src/core/regret.h"

namespace hindsight::bench {
namespace {

constexpr std::size_t kList = 10;
/// Before the clock runs: the large first steps of the learner, which change every score, are over.
constexpr std::uint64_t kClicksBefore = 20'000;

/// A ranker that draws from its whole library, is clicked, and learns.
struct LibraryRanker {
  std::unique_ptr<Ranker> ranker;
  Signals signals;
  Rng rng{1};
  std::uint64_t clicks = 0;
  bool valid = true;

  LibraryRanker(const std::string& name, const ParamMap& params, std::size_t n)
      : ranker(*make_ranker(name, params)) {
    constexpr std::size_t kBatch = 10'000;
    for (std::size_t begin = 0; begin < n; begin += kBatch) {
      std::vector<Item> items(std::min(kBatch, n - begin));
      for (std::size_t i = 0; i < items.size(); ++i) {
        items[i].index = static_cast<ItemIndex>(begin + i);
      }
      HINDSIGHT_CHECK(ranker->add_items(items).ok());
    }
    while (clicks < kClicksBefore) {
      rank_and_click();
    }
  }

  double rank_and_click() {
    Request request;
    request.decision = {0, ++clicks};
    request.whole_library = true;
    request.max_scan = 0;
    request.k = kList;
    const auto decision = ranker->rank(request, signals, rng);
    HINDSIGHT_CHECK(decision.ok());
    const Feedback feedback{.decision = decision->id,
                            .clicked = {decision->items[rng.below(kList)]}};
    HINDSIGHT_CHECK(ranker->learn(*decision, feedback, signals).ok());
    valid = valid && decision->items.size() == kList && ranker->is_live(decision->items.back()) &&
            decision->items.front() != decision->items.back();
    return *decision->log_propensity;
  }

  Result<void> check() const {
    const bool lost = ranker->regret() != nullptr && ranker->regret()->clicks() != clicks;
    return valid && !lost
               ? Result<void>()
               : Error{ErrorCode::kCorrupt, "a list was not valid, or a click was lost", ""};
  }
};

std::vector<Workload> workloads_of(const std::string& workload, const std::string& ranker,
                                   const ParamMap& params, double budget_ns, std::size_t aim_from) {
  std::vector<Workload> workloads;
  for (std::size_t n = 10'000; n <= 10'000'000; n *= 10) {
    workloads.push_back({.name = workload,
                         .n = n,
                         .aim = n >= aim_from ? std::optional(1.0) : std::nullopt,
                         .budget_ns = budget_ns,
                         .prepare = [=]() -> Prepared {
                           auto library = std::make_shared<LibraryRanker>(ranker, params, n);
                           return {.test = [library] { return library->rank_and_click(); },
                                   .baseline = {},
                                   .check = [library] { return library->check(); }};
                         }});
  }
  return workloads;
}

}  // namespace

std::vector<Workload> library_workloads() {
  return workloads_of("library/top10-click", "noregret-klrank", {{"library", true}}, 5'000.0,
                      1'000'000);
}

std::vector<Workload> onlinerank_workloads() {
  constexpr double kBudgetNs = 6'000.0;
  std::vector<Workload> workloads = workloads_of("onlinerank/top10-click", "onlinerank",
                                                 {{"horizon", 1e9}}, kBudgetNs, 10'000'000);
  std::vector<Workload> early =
      workloads_of("onlinerank/early-click", "onlinerank", {}, kBudgetNs, 10'000'000);
  std::move(early.begin(), early.end(), std::back_inserter(workloads));
  return workloads;
}

}  // namespace hindsight::bench
