#include "src/core/recur_rank.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "src/core/bytes.h"
#include "src/core/check.h"
#include "src/core/det_math.h"
#include "src/core/optimal_design.h"
#include "src/core/span_basis.h"

namespace hindsight {
namespace {

/// Beyond this phase no number of rounds suffices.
constexpr std::uint32_t kLastPhase = 25;
constexpr std::uint64_t kFirstRun = 1024;  // rounds, where the horizon is not known
constexpr std::uint64_t kShuffleSeed = 0x5265637572;

bool is_available(std::span<const std::uint8_t> available, ItemIndex item) {
  return available.empty() || available[item] != 0;
}

double accuracy(std::uint32_t phase) { return std::ldexp(1.0, -static_cast<int>(phase)); }

}  // namespace

Result<RecurRank> RecurRank::make(const RecurRankParams& params, std::span<const double> rows,
                                  std::size_t dim) {
  if (dim == 0 || rows.empty() || rows.size() % dim != 0) {
    return Error{ErrorCode::kInvalidArgument, "there must be items, of at least one feature each",
                 "features"};
  }
  const std::size_t count = rows.size() / dim;
  if (params.positions == 0 || params.positions > count || params.positions > kMaxPositions) {
    return Error{
        params.positions > kMaxPositions ? ErrorCode::kTooLarge : ErrorCode::kInvalidArgument,
        "a list needs from 1 to " + std::to_string(std::min(count, kMaxPositions)) +
            " places: there are " + std::to_string(count) + " items",
        "positions"};
  }
  std::vector<Item> items(count);
  bool all_equal = true;
  for (std::size_t i = 0; i < count; ++i) {
    const std::span<const double> row = rows.subspan(i * dim, dim);
    items[i].index = static_cast<ItemIndex>(i);
    items[i].dense.assign(row.begin(), row.end());
    if (!std::all_of(row.begin(), row.end(), [](double x) { return std::isfinite(x); })) {
      return Error{ErrorCode::kNotFinite, "features must be finite numbers",
                   "features[" + std::to_string(i) + "]"};
    }
    all_equal = all_equal && items[i].dense == items[0].dense;
  }
  if (all_equal) {
    return Error{ErrorCode::kInvalidArgument,
                 "all items have the same features: there is nothing to learn", "features"};
  }
  RecurRank made(params);
  HINDSIGHT_RETURN_IF_ERROR(made.vectors_.check(items));
  for (const Item& item : items) {
    made.add(item);
  }
  made.begin();
  return made;
}

void RecurRank::add(const Item& item) {
  const bool is_new = item.index >= there_.size();
  if (is_new) {
    there_.resize(item.index + std::size_t{1}, 1);
    estimate_.resize(there_.size(), 0.0);
    in_block_.resize(there_.size(), 0);
  }
  if (!vectors_.put(item) || !begun()) {
    return;
  }
  if (!is_new) {
    std::erase(waiting_, item.index);
    leave(item.index);
    estimate_[item.index] = 0.0;
  }
  if (is_known(item.index) && in_block_[item.index] == 0 &&
      std::find(waiting_.begin(), waiting_.end(), item.index) == waiting_.end()) {
    waiting_.push_back(item.index);
  }
  if (begun() && !waiting_.empty() && blocks_.back().support.empty()) {  // no phase would end
    take_waiting(blocks_.back());
    start(blocks_.back());
  }
}

void RecurRank::remove(ItemIndex item) {
  there_[item] = 0;
  std::erase(waiting_, item);
  leave(item);
}

/// Takes the item out of its block, if it is in one.
void RecurRank::leave(ItemIndex item) {
  if (in_block_[item] == 0) {
    return;
  }
  in_block_[item] = 0;
  std::size_t at = 0;
  while (std::erase(blocks_[at].items, item) == 0) {
    ++at;
  }
  const bool whole = !blocks_[at].items.empty();
  if (!whole) {
    blocks_.erase(blocks_.begin() + static_cast<std::ptrdiff_t>(at));
  }
  std::size_t left = 0;
  for (const Block& block : blocks_) {
    left += block.items.size();
  }
  std::size_t known = 0;
  for (std::size_t i = 0; i < there_.size(); ++i) {
    known += is_known(i) ? 1 : 0;
  }
  if (left < std::min(params_.positions, known - waiting_.size())) {
    blocks_.clear();
    begin();
    return;
  }
  place_blocks();
  for (std::size_t i = at; i < blocks_.size(); ++i) {
    if (i == at && whole) {
      start(blocks_[i]);
    } else {
      restart(blocks_[i]);
    }
  }
}

void RecurRank::place_blocks() {
  std::size_t first = 0;
  for (Block& block : blocks_) {
    block.first = static_cast<std::uint32_t>(first);
    block.places =
        static_cast<std::uint32_t>(std::min(params_.positions - first, block.items.size()));
    first += block.places;
  }
}

void RecurRank::begin() {
  Block block;
  for (std::size_t i = 0; i < there_.size(); ++i) {
    in_block_[i] = is_known(i) ? 1 : 0;
    if (in_block_[i] != 0) {
      block.items.push_back(static_cast<ItemIndex>(i));
    }
  }
  waiting_.clear();
  blocks_.clear();
  rounds_ = 0;
  if (block.items.empty()) {
    return;
  }
  // The first order is random ([Li19] section 3), the same in every fold of the same log.
  count_up(runs_);
  Rng rng(kShuffleSeed, runs_);
  for (std::size_t i = block.items.size(); i > 1; --i) {
    std::swap(block.items[i - 1], block.items[rng.below(i)]);
  }
  blocks_.push_back(std::move(block));
  place_blocks();
  start(blocks_.back());
}

// log(|A| / delta_l)
double RecurRank::log_inverse_delta(const Block& block) const {
  const std::uint64_t horizon =
      params_.horizon > 0 ? params_.horizon : kFirstRun << std::min<std::uint64_t>(runs_ - 1, 40);
  const auto l = static_cast<double>(block.phase);
  const double inverse_delta = std::sqrt(static_cast<double>(horizon)) * 2.0 *
                               static_cast<double>(params_.positions) * l * (l + 1.0);
  return det_log(static_cast<double>(block.items.size()) * inverse_delta);
}

/// A new phase, with a new design.
void RecurRank::start(Block& block) {
  block.support.clear();
  block.wanted.clear();
  if (block.items.size() > 1 && block.phase <= kLastPhase) {
    const VectorSet set = vectors_.gather(block.items);
    const Result<Design> found =
        params_.spanner ? volumetric_spanner(set) : g_optimal_design(set, params_.epsilon);
    HINDSIGHT_CHECK(found.ok());
    const double delta = accuracy(block.phase);
    const double rounds = found->largest / (2.0 * delta * delta) * log_inverse_delta(block);
    for (std::size_t i = 0; i < found->support.size(); ++i) {
      block.support.push_back(block.items[found->support[i]]);
      block.wanted.push_back(
          static_cast<std::uint64_t>(std::ceil(found->weight[i] * rounds)));  // Eq. (6)
    }
  }
  restart(block);
}

/// The phase from its beginning, with the design that it has.
void RecurRank::restart(Block& block) {
  block.serial = next_serial_;
  count_up(next_serial_);
  block.needed = block.wanted;
  block.clicks.assign(block.wanted.size(), 0);
  block.needed_total = std::accumulate(block.needed.begin(), block.needed.end(), std::uint64_t{0});
}

void RecurRank::take_waiting(Block& block) {
  for (const ItemIndex item : waiting_) {
    block.items.push_back(item);
    in_block_[item] = 1;
  }
  waiting_.clear();
  place_blocks();
}

std::uint64_t RecurRank::open_needs(const Block& block,
                                    std::span<const std::uint8_t> available) const {
  if (available.empty()) {
    return block.needed_total;
  }
  std::uint64_t needs = 0;
  for (std::size_t i = 0; i < block.support.size(); ++i) {
    needs += is_available(available, block.support[i]) ? block.needed[i] : 0;
  }
  return needs;
}

// `choose(block, place)` names the item that is put on the block's first place, or none. It is
// asked only where all items above are those of the blocks above, so that the examination of the
// place is what it would be with all items (Assumption 1).
template <class Choose>
void RecurRank::build(std::span<const std::uint8_t> available, std::size_t k, Choose choose,
                      std::vector<ItemIndex>& list) const {
  constexpr ItemIndex kNone = std::numeric_limits<ItemIndex>::max();
  list.clear();
  bool aligned = true;
  for (const Block& block : blocks_) {
    const std::size_t begin = list.size();
    if (begin >= k) {
      return;
    }
    ItemIndex probe = kNone;
    if (aligned && !block.support.empty()) {
      probe = choose(block).value_or(kNone);
    }
    if (probe != kNone) {
      list.push_back(probe);
    }
    for (std::size_t i = 0; i < block.items.size() && list.size() < k; ++i) {
      if (block.items[i] != probe && is_available(available, block.items[i])) {
        list.push_back(block.items[i]);
      }
    }
    aligned = aligned && list.size() - begin == block.places;
  }
  if (list.size() < k) {
    append_rest(available, k, list);
  }
}

// What is in no block: dropped, or waiting. By the last estimate, and then as they came.
void RecurRank::append_rest(std::span<const std::uint8_t> available, std::size_t k,
                            std::vector<ItemIndex>& list) const {
  std::vector<ItemIndex> rest;
  for (std::size_t i = 0; i < there_.size(); ++i) {
    const auto item = static_cast<ItemIndex>(i);
    if (there_[i] != 0 && in_block_[i] == 0 && is_available(available, item)) {
      rest.push_back(item);
    }
  }
  const std::size_t wanted = std::min(rest.size(), k - list.size());
  std::partial_sort(rest.begin(), rest.begin() + static_cast<std::ptrdiff_t>(wanted), rest.end(),
                    [this](ItemIndex a, ItemIndex b) {
                      return estimate_[a] != estimate_[b] ? estimate_[a] > estimate_[b] : a < b;
                    });
  list.insert(list.end(), rest.begin(), rest.begin() + static_cast<std::ptrdiff_t>(wanted));
}

void RecurRank::draw(std::span<const std::uint8_t> available, std::size_t k, Rng& rng,
                     std::vector<ItemIndex>& list, Probes& probes) const {
  probes.clear();
  build(
      available, k,
      [&](const Block& block) -> std::optional<ItemIndex> {
        const std::uint64_t needs = open_needs(block, available);
        if (needs == 0) {
          return std::nullopt;
        }
        std::uint64_t at = rng.below(needs);
        std::uint32_t i = 0;
        while (true) {
          if (is_available(available, block.support[i])) {
            if (at < block.needed[i]) {
              break;
            }
            at -= block.needed[i];
          }
          ++i;
        }
        probes.push_back(
            {.serial = block.serial,
             .place = block.first,
             .support = i,
             .share = static_cast<double>(block.needed[i]) / static_cast<double>(needs)});
        return block.support[i];
      },
      list);
}

std::optional<double> RecurRank::log_probability(std::span<const std::uint8_t> available,
                                                 std::size_t k,
                                                 std::span<const ItemIndex> list) const {
  double log_prob = 0.0;
  bool possible = true;
  std::vector<ItemIndex> built;
  build(
      available, k,
      [&](const Block& block) -> std::optional<ItemIndex> {
        const std::uint64_t needs = open_needs(block, available);
        if (needs == 0 || block.first >= list.size()) {
          return std::nullopt;
        }
        const auto found = std::find(block.support.begin(), block.support.end(), list[block.first]);
        const auto i = static_cast<std::size_t>(found - block.support.begin());
        if (found == block.support.end() || block.needed[i] == 0) {
          possible = false;
          return std::nullopt;
        }
        log_prob += det_log(static_cast<double>(block.needed[i]) / static_cast<double>(needs));
        return list[block.first];
      },
      built);
  possible = possible && std::equal(list.begin(), list.end(), built.begin());
  return possible ? std::optional(std::min(log_prob, 0.0)) : std::nullopt;
}

double RecurRank::first_probability(std::span<const std::uint8_t> available, ItemIndex item) const {
  const std::optional<double> log_prob = log_probability(available, 1, std::span(&item, 1));
  return log_prob ? det_exp(*log_prob) : 0.0;
}

std::optional<std::uint32_t> RecurRank::find_block(std::uint64_t serial) const {
  for (std::uint32_t i = 0; i < blocks_.size(); ++i) {
    if (blocks_[i].serial == serial) {
      return i;
    }
  }
  return std::nullopt;
}

RecurRank::Fit RecurRank::fit(const Probe& probe, ItemIndex item) const {
  if (probe.serial == 0 || probe.serial >= next_serial_) {
    return Fit::kWrong;
  }
  const auto at = find_block(probe.serial);
  if (!at) {
    return Fit::kPast;
  }
  const Block& block = blocks_[*at];
  if (probe.place != block.first || probe.support >= block.support.size() ||
      block.support[probe.support] != item) {
    return Fit::kWrong;
  }
  return block.needed[probe.support] > 0 ? Fit::kWanted : Fit::kPast;
}

void RecurRank::observe(const Probe& probe, bool clicked) {
  const auto at = find_block(probe.serial);
  HINDSIGHT_CHECK(at.has_value());
  Block& block = blocks_[*at];
  HINDSIGHT_CHECK(probe.support < block.support.size() && block.needed[probe.support] > 0);
  block.clicks[probe.support] += clicked ? 1 : 0;
  --block.needed[probe.support];
  if (--block.needed_total == 0) {
    finish_phase(*at);
  }
}

void RecurRank::end_round() {
  count_up(rounds_);
  if (params_.horizon == 0 && rounds_ >= kFirstRun << std::min<std::uint64_t>(runs_ - 1, 40)) {
    begin();
  }
}

void RecurRank::finish_phase(std::size_t at) {
  const Block block = std::move(blocks_[at]);
  std::vector<double> counts(block.wanted.begin(), block.wanted.end());
  std::vector<double> sums(block.clicks.begin(), block.clicks.end());
  const std::vector<double> theta =
      least_squares(vectors_.gather(block.support), counts, sums);  // Eq. (7)
  const VectorSet set = vectors_.gather(block.items);
  std::vector<double> said(block.items.size());
  products_of(set, theta, said);
  for (std::size_t i = 0; i < block.items.size(); ++i) {
    estimate_[block.items[i]] = said[i];
    in_block_[block.items[i]] = 0;
  }
  const bool last = at + 1 == blocks_.size();
  std::vector<Block> children = split(block, last);
  for (const Block& child : children) {
    for (const ItemIndex item : child.items) {
      in_block_[item] = 1;
    }
  }
  const std::size_t count = children.size();
  blocks_.erase(blocks_.begin() + static_cast<std::ptrdiff_t>(at));
  blocks_.insert(blocks_.begin() + static_cast<std::ptrdiff_t>(at),
                 std::make_move_iterator(children.begin()),
                 std::make_move_iterator(children.end()));
  if (last) {
    take_waiting(blocks_.back());
  }
  for (std::size_t i = at; i < at + count; ++i) {
    start(blocks_[i]);
  }
}

// Lines 6 to 8.
std::vector<RecurRank::Block> RecurRank::split(const Block& block, bool last) const {
  const double gap = 2.0 * accuracy(block.phase);
  std::vector<ItemIndex> order = block.items;
  std::stable_sort(order.begin(), order.end(),
                   [this](ItemIndex a, ItemIndex b) { return estimate_[a] > estimate_[b]; });
  if (last && !params_.printed_rule) {
    // Departs from line 7, see the header: against the m-th best.
    const double line = estimate_[order[block.places - 1]] - gap;
    order.erase(std::find_if(order.begin() + block.places, order.end(),
                             [&](ItemIndex item) { return estimate_[item] <= line; }),
                order.end());
  }
  std::vector<Block> children;
  std::uint32_t first = block.first;
  for (std::size_t i = 0; i < order.size() && first < block.first + block.places; ++i) {
    if (i == 0 || estimate_[order[i - 1]] - estimate_[order[i]] >= gap) {
      if (i > 0) {
        first += static_cast<std::uint32_t>(children.back().items.size());
      }
      if (first >= block.first + block.places) {
        break;  // no place is left for the rest
      }
      children.push_back({.serial = 0,
                          .phase = block.phase + 1,
                          .first = first,
                          .places = block.first + block.places - first});
    }
    children.back().items.push_back(order[i]);
    children.back().places = static_cast<std::uint32_t>(
        std::min<std::size_t>(block.first + block.places - first, children.back().items.size()));
  }
  return children;
}

}  // namespace hindsight
