// Saving and loading of RecurRank.

#include <algorithm>
#include <cmath>

#include "src/core/bytes.h"
#include "src/core/check.h"
#include "src/core/kernels.h"
#include "src/core/recur_rank.h"

namespace hindsight {
namespace {

/// Estimates are products with vectors of bounded length.
constexpr double kMaxEstimate = 1e100;

void save_block(const RecurRank::Block& block, ByteWriter& out) {
  out.put(block.serial);
  out.put(block.phase);
  out.put(block.items);
  out.put(block.support);
  out.put(block.wanted);
  out.put(block.needed);
  out.put(block.clicks);
}

bool load_block(ByteReader& in, RecurRank::Block& block) {
  in.get(block.serial);
  in.get(block.phase);
  in.get(block.items);
  in.get(block.support);
  in.get(block.wanted);
  in.get(block.needed);
  return in.get(block.clicks);
}

bool is_sane(const RecurRank::Block& block) {
  const std::size_t n = block.support.size();
  bool sane = block.phase >= 1 && block.phase <= 64 && !block.items.empty() &&
              block.wanted.size() == n && block.needed.size() == n && block.clicks.size() == n;
  std::uint64_t total = 0;
  for (std::size_t i = 0; sane && i < n; ++i) {
    sane =
        block.wanted[i] >= 1 && block.wanted[i] <= kMaxCount / 1024 &&
        block.needed[i] <= block.wanted[i] &&
        block.clicks[i] <= block.wanted[i] - block.needed[i] &&
        std::find(block.items.begin(), block.items.end(), block.support[i]) != block.items.end() &&
        std::count(block.support.begin(), block.support.end(), block.support[i]) == 1;
    total += block.needed[i];
  }
  return sane && n <= 128 * 129 / 2 && (n == 0 || total > 0);
}

}  // namespace

void RecurRank::save(ByteWriter& out) const {
  vectors_.save(out);
  out.put(there_);
  out.put(estimate_);
  out.put(waiting_);
  out.put(static_cast<std::uint64_t>(blocks_.size()));
  for (const Block& block : blocks_) {
    save_block(block, out);
  }
  out.put(next_serial_);
  out.put(rounds_);
  out.put(runs_);
}

Result<void> RecurRank::load(ByteReader& in) {
  const Error damaged{ErrorCode::kCorrupt, "the saved blocks are damaged", "blocks"};
  HINDSIGHT_RETURN_IF_ERROR(vectors_.load(in));
  std::uint64_t count = 0;
  in.get(there_);
  in.get(estimate_);
  in.get(waiting_);
  in.get(count);
  HINDSIGHT_RETURN_IF_ERROR(in.check("items"));
  const std::size_t n = vectors_.size();
  if (there_.size() != n || estimate_.size() != n || count > params_.positions ||
      !all_within(estimate_, -kMaxEstimate, kMaxEstimate) ||
      std::any_of(there_.begin(), there_.end(), [](std::uint8_t x) { return x > 1; })) {
    return damaged;
  }
  blocks_.resize(count);
  for (Block& block : blocks_) {
    load_block(in, block);
  }
  in.get(next_serial_);
  in.get(rounds_);
  in.get(runs_);
  HINDSIGHT_RETURN_IF_ERROR(in.check("blocks"));
  in_block_.assign(n, 0);
  std::vector<std::uint8_t> seen(n, 0);
  const auto take = [&](ItemIndex item) { return item < n && is_known(item) && seen[item]++ == 0; };
  bool sane = next_serial_ >= 1 && next_serial_ <= kMaxCount && rounds_ <= kMaxCount &&
              runs_ <= kMaxCount && (blocks_.empty() || runs_ >= 1) &&
              std::all_of(waiting_.begin(), waiting_.end(), take);
  std::size_t above = 0;
  for (Block& block : blocks_) {
    sane = sane && above < params_.positions && is_sane(block) && block.serial >= 1 &&
           (block.serial < next_serial_ || next_serial_ == kMaxCount) &&
           std::all_of(block.items.begin(), block.items.end(), take);
    if (!sane) {
      return damaged;
    }
    for (const ItemIndex item : block.items) {
      in_block_[item] = 1;
    }
    above += block.items.size();
    block.needed_total = 0;
    for (const std::uint64_t needed : block.needed) {
      block.needed_total += needed;
    }
  }
  if (!sane) {
    return damaged;
  }
  place_blocks();
  return {};
}

}  // namespace hindsight
