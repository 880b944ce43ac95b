#include <memory>
#include <utility>

#include "bench/draw_check.h"
#include "bench/workload_groups.h"
#include "hindsight/random.h"
#include "src/core/check.h"
#include "src/core/sum_tree.h"

namespace hindsight::bench {
namespace {

constexpr double kBudgetNs = 5'000.0;
constexpr std::size_t kList = 10;

/// A library's weights in a tree. Clicks make a weight 1% heavier and the next one gives that back,
/// so that the law stays within 1% of the one that is checked.
struct Library {
  std::vector<float> weights;
  SumTree tree;
  Rng rng{1};
  DrawCheck check;
  std::size_t clicked;  // what the last click changed; size: it is given back

  explicit Library(std::size_t n) : weights(make_weights(n)), check(weights, kList), clicked(n) {
    auto built = SumTree::build(weights);
    HINDSIGHT_CHECK(built.ok());
    tree = *std::move(built);
  }

  void click(std::size_t leaf, float factor) {
    HINDSIGHT_CHECK(tree.set(leaf, weights[leaf] * factor).ok());
  }

  double draw_and_click() {
    const auto list = tree.draw_top_k(kList, rng);
    HINDSIGHT_CHECK(list.ok());
    // Every second click undoes the one before: one change of a weight a round.
    if (clicked == weights.size()) {
      clicked = list->order[3];
      click(clicked, 1.01F);
    } else {
      click(clicked, 1.0F);
      clicked = weights.size();
    }
    return check.note(list->order);
  }
};

}  // namespace

std::vector<Workload> tree_workloads() {
  std::vector<Workload> workloads;
  for (std::size_t n = 10'000; n <= 10'000'000; n *= 10) {
    workloads.push_back({.name = "tree/top10-click",
                         .n = n,
                         .aim = n == 10'000'000 ? std::optional(1.0) : std::nullopt,
                         .budget_ns = kBudgetNs,
                         .prepare = [n]() -> Prepared {
                           auto library = std::make_shared<Library>(n);
                           return {.test = [library] { return library->draw_and_click(); },
                                   .baseline = {},
                                   .check = [library] { return library->check.verdict(); }};
                         }});
  }
  return workloads;
}

}  // namespace hindsight::bench
