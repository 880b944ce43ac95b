#include "src/sim/permutahedron.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "src/core/check.h"
#include "src/core/order_loss.h"

namespace hindsight {
namespace {

/// Neighbours of the same value in a falling sequence: [begin, end).
struct Block {
  std::size_t begin = 0;
  std::size_t end = 0;
  double value = 0.0;

  std::size_t size() const { return end - begin; }
};

/// The mean weight of the places [begin, end) of n.
double centre(const Block& block, std::size_t n) {
  return static_cast<double>(n) - 1.0 - 0.5 * static_cast<double>(block.begin + block.end - 1);
}

void shuffle(std::span<std::uint32_t> items, Rng& rng) {
  for (std::size_t i = items.size(); i > 1; --i) {
    std::swap(items[i - 1], items[rng.below(i)]);
  }
}

}  // namespace

// For x sorted downwards the nearest point is x - y with y the falling sequence that is nearest to
// x - (n - 1, ..., 0): pools of adjacent violators get their mean.
std::vector<double> project_on_permutahedron(std::span<const double> x) {
  const std::size_t n = x.size();
  const std::vector<std::uint32_t> order = best_order(x);
  std::vector<Block> pools;
  for (std::size_t i = 0; i < n; ++i) {
    const Block here{.begin = i, .end = i + 1, .value = 0.0};
    Block pool{.begin = i, .end = i + 1, .value = x[order[i]] - centre(here, n)};
    while (!pools.empty() && pools.back().value < pool.value) {
      const Block& before = pools.back();
      const double total = before.value * static_cast<double>(before.size()) +
                           pool.value * static_cast<double>(pool.size());
      pool.begin = before.begin;
      pool.value = total / static_cast<double>(pool.size());
      pools.pop_back();
    }
    pools.push_back(pool);
  }
  std::vector<double> projected(n);
  for (const Block& pool : pools) {
    for (std::size_t i = pool.begin; i < pool.end; ++i) {
      projected[order[i]] = x[order[i]] - pool.value;
    }
  }
  return projected;
}

std::vector<std::uint32_t> draw_from_permutahedron(std::span<const double> x, Rng& rng) {
  const std::size_t n = x.size();
  HINDSIGHT_CHECK(n > 0);
  std::vector<std::uint32_t> order = best_order(x);
  std::vector<Block> blocks(n);
  for (std::size_t i = 0; i < n; ++i) {
    blocks[i] = {.begin = i, .end = i + 1, .value = x[order[i]]};
  }
  // One of the mixture's points is taken, with the probability of its share.
  double left = rng.uniform();
  while (blocks.size() > 1) {
    double share = 1.0;
    for (std::size_t b = 0; b + 1 < blocks.size(); ++b) {
      const double step = centre(blocks[b], n) - centre(blocks[b + 1], n);
      share = std::min(share, std::max(blocks[b].value - blocks[b + 1].value, 0.0) / step);
    }
    if (left < share) {
      break;
    }
    left -= share;
    std::vector<Block> merged;
    for (Block block : blocks) {
      block.value -= share * centre(block, n);
      // What is equal up to rounding is one block from now on; at least one pair is.
      constexpr double kRounding = 1e-12;
      const double slack = kRounding * static_cast<double>(n);
      if (!merged.empty() && merged.back().value - block.value <= slack) {
        merged.back().end = block.end;
      } else {
        merged.push_back(block);
      }
    }
    HINDSIGHT_CHECK(merged.size() < blocks.size());
    blocks = std::move(merged);
  }
  for (const Block& block : blocks) {
    shuffle(std::span(order).subspan(block.begin, block.size()), rng);
  }
  return order;
}

}  // namespace hindsight
