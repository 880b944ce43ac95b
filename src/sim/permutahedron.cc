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

void PermutahedronProjection::sort(std::span<const double> x) {
  if (order_.size() != x.size()) {
    order_ = best_order(x);
    return;
  }
  for (std::size_t i = 1; i < order_.size(); ++i) {
    const std::uint32_t item = order_[i];
    std::size_t place = i;
    for (; place > 0 && x[order_[place - 1]] < x[item]; --place) {
      order_[place] = order_[place - 1];
    }
    order_[place] = item;
  }
}

// For x sorted downwards the nearest point is x - y with y the falling sequence that is nearest to
// x - (n - 1, ..., 0): pools of adjacent violators get their mean.
void PermutahedronProjection::project(std::span<double> x) {
  const std::size_t n = x.size();
  sort(x);
  pools_.clear();
  for (std::size_t i = 0; i < n; ++i) {
    Pool pool{.begin = i, .size = 1.0, .total = x[order_[i]] - static_cast<double>(n - 1 - i)};
    // Where the mean of the pool before is below, without a division.
    while (!pools_.empty() && pools_.back().total * pool.size < pool.total * pools_.back().size) {
      const Pool& before = pools_.back();
      pool = {.begin = before.begin,
              .size = before.size + pool.size,
              .total = before.total + pool.total};
      pools_.pop_back();
    }
    pools_.push_back(pool);
  }
  std::size_t end = n;
  for (; !pools_.empty(); pools_.pop_back()) {
    const std::size_t begin = pools_.back().begin;
    const double mean = pools_.back().total / pools_.back().size;
    for (std::size_t i = begin; i < end; ++i) {
      x[order_[i]] -= mean;
    }
    end = begin;
  }
}

std::vector<double> project_on_permutahedron(std::span<const double> x) {
  std::vector<double> projected(x.begin(), x.end());
  PermutahedronProjection().project(projected);
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
