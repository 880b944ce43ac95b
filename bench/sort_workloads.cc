#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <vector>

#include "bench/draw_check.h"
#include "bench/workload_groups.h"
#include "hindsight/random.h"
#include "src/core/check.h"
#include "src/core/plackett_luce.h"

namespace hindsight::bench {
namespace {

/// Scores of a library, to be put into an order: by Plackett-Luce, or as they are.
struct Sorting {
  std::vector<float> weights;
  std::vector<double> scores;
  std::vector<float> plain;
  std::vector<float> sorted;
  Rng rng{1};
  DrawCheck check;

  explicit Sorting(std::size_t n) : weights(make_weights(n)), check(weights, n) {
    for (const float weight : weights) {
      scores.push_back(std::log(static_cast<double>(weight)));
      plain.push_back(static_cast<float>(scores.back()));
    }
  }

  double draw() {
    const auto order = draw_plackett_luce(scores, scores.size(), rng);
    HINDSIGHT_CHECK(order.ok());
    return check.note(*order);
  }

  double sort_plain() {
    sorted = plain;
    std::sort(sorted.begin(), sorted.end());
    return sorted.front();
  }

  Result<void> verdict() const {
    if (!std::is_sorted(sorted.begin(), sorted.end())) {
      return Error{ErrorCode::kCorrupt, "what was sorted is not in order", ""};
    }
    return check.verdict();
  }
};

}  // namespace

std::vector<Workload> sort_workloads() {
  std::vector<Workload> workloads;
  for (std::size_t n = 1'000; n <= 1'000'000; n *= 10) {
    workloads.push_back({.name = "sort/plackett-luce",
                         .n = n,
                         .aim = n == 100'000 ? std::optional(3.0) : std::nullopt,
                         .budget_ns = std::nullopt,
                         .prepare = [n]() -> Prepared {
                           auto sorting = std::make_shared<Sorting>(n);
                           return {.test = [sorting] { return sorting->draw(); },
                                   .baseline = [sorting] { return sorting->sort_plain(); },
                                   .check = [sorting] { return sorting->verdict(); }};
                         }});
  }
  return workloads;
}

}  // namespace hindsight::bench
