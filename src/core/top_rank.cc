#include "src/core/top_rank.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "src/core/bytes.h"
#include "src/core/check.h"
#include "src/core/det_math.h"

namespace hindsight {
namespace {

constexpr double kC = 3.43;
constexpr std::uint64_t kMostWins = 0xFFFF'0000;

/// Takes 1 from every number whose level is the given one. RETURNS: whether one has become 0
bool count_down(std::span<std::uint16_t> countdown, std::span<const std::uint16_t> levels,
                std::uint16_t level) {
  std::uint16_t any = 0;
  for (std::size_t j = 0; j < countdown.size(); ++j) {
    const auto left = static_cast<std::uint16_t>(countdown[j] - (levels[j] == level ? 1 : 0));
    countdown[j] = left;
    any = static_cast<std::uint16_t>(any | (left == 0 ? 1 : 0));
  }
  return any != 0;
}

}  // namespace

TopRank::TopRank(std::uint64_t horizon)
    : log_inverse_delta_(0.5 * det_log(static_cast<double>(horizon))), first_look_(0) {
  first_look_ = static_cast<std::uint32_t>(certain_from(0, 0));
}

bool TopRank::is_certain(std::uint64_t wins, std::uint64_t losses) const {
  if (wins <= losses) {
    return false;
  }
  const auto s = static_cast<double>(wins - losses);
  const auto n = static_cast<double>(wins + losses);
  return s * s >= 2.0 * n * (det_log(kC) + 0.5 * det_log(n) + log_inverse_delta_);
}

std::uint64_t TopRank::certain_from(std::uint64_t wins, std::uint64_t losses) const {
  std::uint64_t low = std::max(wins, losses);  // not enough
  std::uint64_t step = 1;
  while (!is_certain(low + step, losses)) {
    low += step;
    step *= 2;
  }
  std::uint64_t high = low + step;
  while (high - low > 1) {
    const std::uint64_t middle = low + (high - low) / 2;
    (is_certain(middle, losses) ? high : low) = middle;
  }
  return high;
}

// For given losses S^2 / N grows in the wins faster than the logarithm, so that there is one least
// number, whatever the search starts from. All pairs of a row are looked at together at first.
std::uint64_t TopRank::least_certain(std::uint64_t losses) {
  constexpr std::uint64_t kTable = std::uint64_t{1} << 20;
  if (losses >= kTable) {
    return certain_from(0, losses);
  }
  while (least_.size() <= losses) {
    least_.push_back(certain_from(0, least_.size()));
  }
  return least_[losses];
}

std::uint64_t TopRank::wins(ItemIndex item, ItemIndex over) const {
  const Row& row = rows_[item];
  return row.next.empty() ? 0 : std::uint64_t{row.next[over]} - row.countdown[over];
}

std::uint64_t TopRank::relations() const {
  std::uint64_t count = 0;
  for (const auto& worse : worse_) {
    count += worse.size();
  }
  return count;
}

void TopRank::grow(std::size_t size) {
  for (Row& row : rows_) {
    if (!row.next.empty()) {
      row.next.resize(size, first_look_);
      row.countdown.resize(size, static_cast<std::uint16_t>(first_look_));
    }
  }
  blocks_.resize(std::max<std::size_t>(blocks_.size(), 1));
  for (std::size_t i = level_.size(); i < size; ++i) {
    blocks_[0].push_back(static_cast<ItemIndex>(i));
  }
  rows_.resize(size);
  worse_.resize(size);
  level_.resize(size, 0);
  count_up(version_);
}

void TopRank::remove(ItemIndex item) {
  level_[item] = kGone;
  worse_[item].clear();
  rows_[item] = {};
  for (auto& worse : worse_) {
    std::erase(worse, item);
  }
  find_levels();
  changed_ = true;
  settle();
}

TopRank::Row& TopRank::row_of(ItemIndex item) {
  Row& row = rows_[item];
  if (row.next.empty()) {
    row.next.assign(size(), first_look_);
    row.countdown.assign(size(), static_cast<std::uint16_t>(first_look_));
  }
  return row;
}

void TopRank::look_at(ItemIndex winner, ItemIndex loser) {
  Row& row = rows_[winner];
  const std::uint64_t won = row.next[loser];
  const std::uint64_t lost = wins(loser, winner);
  std::uint64_t again = won + 0xFFFF;
  const std::uint64_t enough = least_certain(lost);
  if (won >= enough) {
    found_.emplace_back(winner, loser);
  } else {
    again = std::min(again, enough);
  }
  row.next[loser] = static_cast<std::uint32_t>(std::min(again, kMostWins + 1));
  row.countdown[loser] = static_cast<std::uint16_t>(
      std::min<std::uint64_t>(std::max<std::uint64_t>(again - won, 1), 0xFFFF));
  if (won >= kMostWins) {  // stays where it is: enough for 136 years of a win per second
    row.next[loser] = static_cast<std::uint32_t>(kMostWins + 1);
    row.countdown[loser] = 1;
  }
}

void TopRank::learn(std::span<const ItemIndex> clicked) {
  for (const ItemIndex winner : clicked) {
    const std::uint16_t level = level_[winner];
    Row& row = row_of(winner);
    // Those that were clicked themselves get back beforehand what is taken from all.
    for (const ItemIndex other : clicked) {
      row.countdown[other] =
          static_cast<std::uint16_t>(row.countdown[other] + (level_[other] == level ? 1 : 0));
    }
    if (!count_down(row.countdown, level_, level)) {
      continue;
    }
    for (std::size_t j = 0; j < row.countdown.size(); ++j) {
      if (row.countdown[j] == 0) {
        look_at(winner, static_cast<ItemIndex>(j));
      }
    }
  }
}

void TopRank::learn_pair(ItemIndex winner, ItemIndex loser) {
  Row& row = row_of(winner);
  if (--row.countdown[loser] == 0) {
    look_at(winner, loser);
  }
}

// Items that are known to be worse than one whose level has grown go down with it.
void TopRank::raise(ItemIndex item, std::size_t level) {
  std::vector<std::pair<ItemIndex, std::size_t>> open = {{item, level}};
  while (!open.empty()) {
    const auto [at, wanted] = open.back();
    open.pop_back();
    if (level_[at] == kGone || level_[at] >= wanted) {
      continue;
    }
    HINDSIGHT_CHECK(wanted < size() && wanted < kGone);  // G has no circle
    level_[at] = static_cast<std::uint16_t>(wanted);
    for (const ItemIndex worse : worse_[at]) {
      open.emplace_back(worse, wanted + 1);
    }
  }
}

void TopRank::find_levels() {
  for (std::uint16_t& level : level_) {
    level = level == kGone ? kGone : 0;
  }
  for (std::size_t i = 0; i < worse_.size(); ++i) {
    for (const ItemIndex worse : worse_[i]) {
      raise(worse, std::size_t{level_[i]} + 1);
    }
  }
}

void TopRank::settle() {
  for (const auto& [better, worse] : found_) {
    worse_[better].push_back(worse);
    raise(worse, std::size_t{level_[better]} + 1);
    changed_ = true;
  }
  found_.clear();
  if (!changed_) {
    return;
  }
  changed_ = false;
  count_up(version_);
  blocks_.clear();
  for (std::size_t i = 0; i < level_.size(); ++i) {
    if (level_[i] != kGone) {
      blocks_.resize(std::max<std::size_t>(blocks_.size(), level_[i] + std::size_t{1}));
      blocks_[level_[i]].push_back(static_cast<ItemIndex>(i));
    }
  }
}

void TopRank::draw(std::size_t k, Rng& rng, std::vector<ItemIndex>& list) const {
  list.clear();
  for (const std::vector<ItemIndex>& block : blocks_) {
    const std::size_t begin = list.size();
    const std::size_t wanted = std::min(k - begin, block.size());
    if (block.size() < 4 * wanted) {
      list.insert(list.end(), block.begin(), block.end());
      for (std::size_t i = 0; i < wanted; ++i) {
        std::swap(list[begin + i], list[begin + i + rng.below(block.size() - i)]);
      }
      list.resize(begin + wanted);
    } else {
      while (list.size() < begin + wanted) {  // few of many: try until it is a new one
        const ItemIndex item = block[rng.below(block.size())];
        if (std::find(list.begin() + static_cast<std::ptrdiff_t>(begin), list.end(), item) ==
            list.end()) {
          list.push_back(item);
        }
      }
    }
    if (list.size() == k) {
      return;
    }
  }
}

std::size_t TopRank::memory_bytes() const {
  std::size_t bytes = least_.capacity() * sizeof(least_[0]);
  for (const Row& row : rows_) {
    bytes += sizeof(row) + row.next.capacity() * sizeof(row.next[0]) +
             row.countdown.capacity() * sizeof(row.countdown[0]);
  }
  for (const auto* lists : {&worse_, &blocks_}) {
    for (const std::vector<ItemIndex>& list : *lists) {
      bytes += sizeof(std::vector<ItemIndex>) + list.capacity() * sizeof(ItemIndex);
    }
  }
  return bytes;
}

void TopRank::save(ByteWriter& out) const {
  out.put(static_cast<std::uint64_t>(size()));
  out.put(version_);
  out.put(level_);
  for (std::size_t i = 0; i < size(); ++i) {
    out.put(rows_[i].next);
    out.put(rows_[i].countdown);
    out.put(worse_[i]);
  }
}

Result<void> TopRank::load(ByteReader& in) {
  const Error damaged{ErrorCode::kCorrupt, "the saved wins are damaged", "wins"};
  std::uint64_t count = 0;
  in.get(count);
  in.get(version_);
  in.get(level_);
  HINDSIGHT_RETURN_IF_ERROR(in.check("levels"));
  if (level_.size() != count || version_ > kMaxCount) {
    return damaged;
  }
  rows_.assign(count, {});
  worse_.assign(count, {});
  for (std::size_t i = 0; i < count; ++i) {
    in.get(rows_[i].next);
    in.get(rows_[i].countdown);
    in.get(worse_[i]);
    HINDSIGHT_RETURN_IF_ERROR(in.check("wins"));
    const Row& row = rows_[i];
    bool sane =
        (row.next.empty() || row.next.size() == count) && row.countdown.size() == row.next.size();
    for (std::size_t j = 0; sane && j < row.next.size(); ++j) {
      sane =
          row.countdown[j] >= 1 && row.countdown[j] <= row.next[j] && row.next[j] <= kMostWins + 1;
    }
    for (const ItemIndex worse : worse_[i]) {
      // A relation leads from a level to a higher one, so that there is no circle.
      sane = sane && worse < count && level_[i] < level_[worse] && level_[worse] != kGone;
    }
    if (!sane) {
      return damaged;
    }
  }
  const std::vector<std::uint16_t> saved = level_;
  find_levels();
  if (level_ != saved) {
    return damaged;
  }
  const std::uint64_t version = version_;
  changed_ = true;
  settle();
  version_ = version;
  return {};
}

}  // namespace hindsight
