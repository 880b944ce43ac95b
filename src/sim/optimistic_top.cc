#include "src/sim/optimistic_top.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "src/core/check.h"

namespace hindsight {
namespace {

constexpr std::size_t kChunk = 64;
// A look at all items sorts them, too, which costs about as much as ten looks without.
constexpr std::size_t kLooksPerSort = 10;
// More than rounding can make of a bound.
constexpr double kSlack = 1e-9;

double distance(const std::vector<double>& a, const std::vector<double>& b) {
  double squared = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    squared += (a[i] - b[i]) * (a[i] - b[i]);
  }
  return std::sqrt(squared);
}

}  // namespace

OptimisticTop::OptimisticTop(VectorSet set, double width, double cap)
    : set_(std::move(set)), width_(width), cap_(cap) {
  for (std::size_t i = 0; i < set_.count; ++i) {
    const std::vector<double> row = set_.row(i);
    longest_ =
        std::max(longest_, std::sqrt(std::inner_product(row.begin(), row.end(), row.begin(), 0.0)));
  }
}

void OptimisticTop::look_at_all(const RidgeEstimate& estimate) {
  scores_.resize(set_.count);
  upper_bounds_of(set_, estimate.theta(), estimate.whitening(), width_,
                  std::numeric_limits<double>::infinity(), scores_);
  std::vector<ItemIndex> order(set_.count);
  std::iota(order.begin(), order.end(), 0U);
  std::sort(order.begin(), order.end(),
            [&](ItemIndex a, ItemIndex b) { return scores_[a] > scores_[b]; });
  chunks_.clear();
  for (std::size_t begin = 0; begin < order.size(); begin += kChunk) {
    const std::size_t size = std::min(kChunk, order.size() - begin);
    Chunk chunk{.set = VectorSet(size, set_.dim), .items = {}, .bound = scores_[order[begin]]};
    for (std::size_t i = 0; i < size; ++i) {
      const ItemIndex item = order[begin + i];
      chunk.items.push_back(item);
      for (std::size_t c = 0; c < set_.dim; ++c) {
        chunk.set.at(i, c) = set_.at(item, c);
      }
    }
    chunks_.push_back(std::move(chunk));
  }
  theta_ = estimate.theta();
  looked_ = 0;
}

void OptimisticTop::offer(const Best& one, std::size_t k) {
  const auto before = [](const Best& a, const Best& b) {
    return a.score != b.score ? a.score > b.score : a.turn < b.turn;
  };
  if (best_.size() == k) {
    if (!before(one, best_.back())) {
      return;
    }
    best_.pop_back();
  }
  best_.insert(std::upper_bound(best_.begin(), best_.end(), one, before), one);
}

void OptimisticTop::find(const RidgeEstimate& estimate, std::size_t k, std::size_t start,
                         std::vector<ItemIndex>& out) {
  HINDSIGHT_CHECK(k >= 1 && k <= set_.count && start < set_.count);
  if (chunks_.empty() || looked_ > kLooksPerSort * set_.count) {
    look_at_all(estimate);
  }
  const double moved = longest_ * distance(estimate.theta(), theta_) + kSlack;
  best_.clear();
  std::size_t looked = 0;
  for (const Chunk& chunk : chunks_) {
    // At the cap, too, an item can be among the best by its place.
    if (best_.size() == k && std::min(chunk.bound + moved, cap_) < best_.back().score) {
      break;
    }
    scores_.resize(chunk.items.size());
    upper_bounds_of(chunk.set, estimate.theta(), estimate.whitening(), width_, cap_, scores_);
    for (std::size_t i = 0; i < chunk.items.size(); ++i) {
      const ItemIndex item = chunk.items[i];
      if (best_.size() < k || scores_[i] >= best_.back().score) {
        const std::size_t turn = item >= start ? item - start : item + set_.count - start;
        offer({.score = scores_[i], .turn = turn, .item = item}, k);
      }
    }
    looked += chunk.items.size();
  }
  looked_ += looked - std::min(looked, kChunk);
  out.clear();
  for (const Best& one : best_) {
    out.push_back(one.item);
  }
}

}  // namespace hindsight
