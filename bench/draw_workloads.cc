#include <algorithm>
#include <cmath>
#include <memory>
#include <queue>
#include <span>
#include <utility>

#include "bench/draw_check.h"
#include "bench/simd_sum.h"
#include "bench/workload_groups.h"
#include "hindsight/random.h"
#include "src/core/check.h"
#include "src/core/kernels.h"
#include "src/core/plackett_luce.h"
#include "src/core/race.h"

namespace hindsight::bench {
namespace {

struct Draw {
  std::vector<float> weights;
  std::size_t k;
  Rng rng{1};
  DrawCheck check;
  DrawCheck baseline_check;  // where the baseline draws, too

  Draw(std::size_t n, std::size_t list)
      : weights(make_weights(n)), k(list), check(weights, list), baseline_check(weights, list) {}

  double run() {
    const auto list = draw_top_k(std::span<const float>(weights), k, rng);
    HINDSIGHT_CHECK(list.ok());
    return check.note(*list);
  }
};

Prepared against_sum(std::size_t n, std::size_t k) {
  auto draw = std::make_shared<Draw>(n, k);
  return {
      .test = [draw] { return draw->run(); },
      .baseline = [draw] { return simd_sum(draw->weights); },
      .check = [draw]() -> Result<void> {
        const double exact = sum_of(std::span<const float>(draw->weights));
        if (std::abs(simd_sum(draw->weights) - exact) > 1e-3 * exact) {
          return Error{ErrorCode::kCorrupt, "the sum is wrong", ""};
        }
        return draw->check.verdict();
      },
  };
}

/// ln w_i plus a Gumbel variable for every item, the k largest kept: what one writes first.
std::vector<std::uint32_t> gumbel_one_by_one(std::span<const float> weights, std::size_t k,
                                             Rng& rng) {
  using Keyed = std::pair<double, std::uint32_t>;
  std::priority_queue<Keyed, std::vector<Keyed>, std::greater<>> best;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const double gumbel = -std::log(-std::log(rng.uniform_positive() - 0x1p-54));
    const double key = std::log(static_cast<double>(weights[i])) + gumbel;
    if (best.size() < k) {
      best.emplace(key, static_cast<std::uint32_t>(i));
    } else if (key > best.top().first) {
      best.pop();
      best.emplace(key, static_cast<std::uint32_t>(i));
    }
  }
  std::vector<std::uint32_t> list(best.size());
  for (std::size_t j = list.size(); j-- > 0; best.pop()) {
    list[j] = best.top().second;
  }
  return list;
}

std::vector<std::uint32_t> keys_in_vectors(std::span<const float> weights, std::size_t k,
                                           Rng& rng) {
  return race_of_all(std::vector<double>(weights.begin(), weights.end()), k, rng);
}

using DrawWithKeys = std::vector<std::uint32_t> (*)(std::span<const float>, std::size_t, Rng&);

Prepared against_keys(std::size_t n, std::size_t k, DrawWithKeys draw_with_keys) {
  auto draw = std::make_shared<Draw>(n, k);
  return {
      .test = [draw] { return draw->run(); },
      .baseline =
          [draw, draw_with_keys] {
            return draw->baseline_check.note(draw_with_keys(draw->weights, draw->k, draw->rng));
          },
      .check = [draw]() -> Result<void> {
        HINDSIGHT_RETURN_IF_ERROR(draw->baseline_check.verdict());
        return draw->check.verdict();
      },
  };
}

/// Exact top-10: at most 1.5 sums at 10^6 and 10^7, 4 sums at 10^5.
std::optional<double> draw_aim(std::size_t n, std::size_t k) {
  if (k != 10 || n < 100'000) {
    return std::nullopt;
  }
  return n == 100'000 ? 4.0 : 1.5;
}

}  // namespace

std::vector<Workload> draw_workloads() {
  std::vector<Workload> workloads;
  for (const std::size_t k : {1, 10, 100}) {
    for (std::size_t n = 100; n <= 10'000'000; n *= 10) {
      workloads.push_back({.name = "draw/top" + std::to_string(k),
                           .n = n,
                           .aim = draw_aim(n, k),
                           .budget_ns = std::nullopt,
                           .prepare = [n, k] { return against_sum(n, k); }});
    }
  }
  return workloads;
}

std::vector<Workload> gumbel_workloads() {
  std::vector<Workload> workloads;
  for (std::size_t n = 100; n <= 1'000'000; n *= 10) {
    // At least 100 times faster at 10^6.
    workloads.push_back({.name = "gumbel/plain",
                         .n = n,
                         .aim = n == 1'000'000 ? std::optional(0.01) : std::nullopt,
                         .budget_ns = std::nullopt,
                         .prepare = [n] { return against_keys(n, 10, gumbel_one_by_one); }});
  }
  for (std::size_t n = 100; n <= 1'000'000; n *= 10) {
    workloads.push_back({.name = "gumbel/vector",
                         .n = n,
                         .aim = std::nullopt,
                         .budget_ns = std::nullopt,
                         .prepare = [n] { return against_keys(n, 10, keys_in_vectors); }});
  }
  return workloads;
}

}  // namespace hindsight::bench
