#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "bench/workload_groups.h"
#include "hindsight/registry.h"
#include "hindsight/signals.h"
#include "src/core/check.h"

namespace hindsight::bench {
namespace {

constexpr std::size_t kDocuments = 20;
constexpr std::size_t kFeatures = 46;
constexpr std::size_t kShown = 10;
constexpr double kBudgetNs = 3'000.0;

/// One query's documents, of which every fourth is relevant; a user clicks the relevant ones.
struct Interaction {
  std::unique_ptr<Ranker> ranker;
  std::vector<ItemIndex> candidates = std::vector<ItemIndex>(kDocuments);
  Signals signals;
  std::uint64_t lists = 0;
  std::uint64_t clicked = 0;
  std::uint64_t learned = 0;
  bool whole = true;  // every list had kShown items

  explicit Interaction(const char* name) : ranker(*make_ranker(name)) {
    std::iota(candidates.begin(), candidates.end(), 0U);
    std::vector<Item> items(kDocuments);
    Rng rng(1);
    for (ItemIndex i = 0; i < kDocuments; ++i) {
      items[i].index = i;
      for (std::size_t j = 0; j < kFeatures; ++j) {
        items[i].dense.push_back(j == 0 && i % 4 == 0 ? 1.0 : rng.uniform());
      }
    }
    HINDSIGHT_CHECK(ranker->add_items(items).ok());
  }

  double run() {
    Request request;
    request.decision = {.source = 0, .counter = ++lists};
    request.candidates = candidates;
    request.k = kShown;
    Rng rng = Rng::for_decision(1, request.decision);
    const Result<Decision> decision = ranker->rank(request, signals, rng);
    HINDSIGHT_CHECK(decision.ok());
    whole = whole && decision->shown_count == kShown;
    Feedback feedback;
    feedback.decision = decision->id;
    feedback.closed = true;
    for (const ItemIndex item : decision->shown()) {
      if (item % 4 == 0) {
        feedback.clicked.push_back(item);
      }
    }
    clicked += feedback.clicked.size();
    const Result<LearnReport> report = ranker->learn(*decision, feedback, signals);
    HINDSIGHT_CHECK(report.ok());
    learned += report->learned;
    return decision->score[0];
  }

  Result<void> check() const {
    return whole && learned == clicked
               ? Result<void>()
               : Error{ErrorCode::kCorrupt, "lists were cut, or clicks were lost", ""};
  }
};

}  // namespace

std::vector<Workload> duel_workloads() {
  std::vector<Workload> workloads;
  for (const char* name : {"dbgd", "pdgd"}) {
    workloads.push_back({.name = std::string("duel/") + name,
                         .n = kDocuments,
                         .aim = 1.0,
                         .budget_ns = kBudgetNs,
                         .prepare = [name]() -> Prepared {
                           auto work = std::make_shared<Interaction>(name);
                           return {.test = [work] { return work->run(); },
                                   .baseline = {},
                                   .check = [work] { return work->check(); }};
                         }});
  }
  return workloads;
}

}  // namespace hindsight::bench
