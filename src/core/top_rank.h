// TopRank: which of two items is clicked more often, until it is certain ([Lattimore18]).
//
//   W_ij    wins      how often i was clicked and j was not, in one block (shown or not)
//   S_ij    W_ij - W_ji
//   N_ij    W_ij + W_ji
//   G       relation  j is worse than i once S_ij >= sqrt(2 N_ij log(c sqrt(N_ij) / delta)),
//                     c = 3.43, delta = 1 / sqrt T
//
// Blocks are the levels of G: first the items to which nothing is known to be better, then those
// to which nothing else but these is, and so on. Inside a block the order is random.
//
// c is [Lattimore18]'s as printed; its formula 4 sqrt(2 / pi) / erf(sqrt 2) is 3.344.
//
// One answer touches only the rows of the items that were clicked, and there one 16-bit number per
// item: the row counts down to the next win at which the relation could change, were the other
// item never to win again. Only there the other row is looked at. A row is made when its item is
// first clicked: 6 bytes per pair at most, 600 MB for 10^4 items that were all clicked.
//
// Thread-safety: const functions may run concurrently with each other, not with the others.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "hindsight/random.h"
#include "hindsight/result.h"
#include "hindsight/types.h"

namespace hindsight {

class ByteReader;
class ByteWriter;

class TopRank {
 public:
  /// More are kept, but not compared: a row for each would not fit into memory.
  static constexpr std::size_t kMaxItems = 20'000;
  static constexpr std::uint16_t kGone = 0xFFFF;

  /// REQUIRES: horizon >= 1
  explicit TopRank(std::uint64_t horizon);

  std::size_t size() const { return level_.size(); }
  /// Changes whenever a block does.
  std::uint64_t version() const { return version_; }
  /// From 0, the best, on; kGone for items that were removed.
  std::uint16_t level(ItemIndex item) const { return level_[item]; }
  const std::vector<std::vector<ItemIndex>>& blocks() const { return blocks_; }
  std::uint64_t wins(ItemIndex item, ItemIndex over) const;
  std::uint64_t relations() const;

  /// More items, in the first block.
  void grow(std::size_t size);
  void remove(ItemIndex item);

  /// The first k of a list of all items. REQUIRES: k items are there
  void draw(std::size_t k, Rng& rng, std::vector<ItemIndex>& list) const;

  /// Every clicked item has won over every other item of its block that was not.
  /// REQUIRES: distinct items, none of which is gone; at most kMaxItems in all
  void learn(std::span<const ItemIndex> clicked);
  /// One has won over another, where only those that were shown can be compared. REQUIRES: they
  /// are distinct, in one block
  void learn_pair(ItemIndex winner, ItemIndex loser);
  /// Blocks follow what was learned: to be called after the calls of one answer, all of which is
  /// counted in the blocks as they were.
  void settle();

  /// About: of pairs of items above all.
  std::size_t memory_bytes() const;

  void save(ByteWriter& out) const;
  /// FAILS: kCorrupt
  Result<void> load(ByteReader& in);

 private:
  struct Row {
    std::vector<std::uint32_t> next;       // wins at which the pair is looked at again
    std::vector<std::uint16_t> countdown;  // wins until then, at least 1
  };

  Row& row_of(ItemIndex item);
  void look_at(ItemIndex winner, ItemIndex loser);
  /// S and N are enough.
  bool is_certain(std::uint64_t wins, std::uint64_t losses) const;
  /// The least number of wins that would be certain against so many losses.
  std::uint64_t certain_from(std::uint64_t wins, std::uint64_t losses) const;
  /// The same for any number of wins below it, from a table that grows.
  std::uint64_t least_certain(std::uint64_t losses);
  void find_levels();
  void raise(ItemIndex item, std::size_t level);

  double log_inverse_delta_;
  std::uint32_t first_look_;
  std::vector<std::uint64_t> least_;  // certain_from(0, losses), by losses
  std::vector<Row> rows_;
  std::vector<std::vector<ItemIndex>> worse_;  // G, by the better item
  std::vector<std::uint16_t> level_;
  std::vector<std::vector<ItemIndex>> blocks_;
  std::uint64_t version_ = 0;
  std::vector<std::pair<ItemIndex, ItemIndex>> found_;  // since the last settle: better, worse
  bool changed_ = false;
};

}  // namespace hindsight
