// RecurRank: blocks of places that find out, side by side, which items belong to them ([Li19]
// Algorithm 1), as a machine that is fed by what was shown and clicked.
//
//   l            phase           of a block; its accuracy is Delta = 2^-l
//   A, K         items, places   of a block; only the last block has more items than places
//   pi           the design      over the items, src/core/optimal_design.h
//   T(a)         wanted          how often item a is put on the block's first place in this phase:
//                                ceil(g pi(a) / (2 Delta^2) log(|A| / delta_l)), Eq. (6), with the
//                                design's certificate g in place of d
//   delta_l      delta / (2 K l (l + 1)), delta = 1 / sqrt T
//
// A list is drawn with one probe per block on its first place, in proportion to what is still
// needed; the block's other items follow in the order of the last estimate. Only a probe's own
// click is read, and only `observe` counts, so that lists may be in flight, and answers late, out
// of order, or missing. A phase ends with exactly T(a) observations of every item of the design;
// what comes beyond, or from an earlier phase, is ignored.
//
// Departs from [Li19] Alg. 1 line 7: as printed, a block is cut only where two neighbours differ by
// 2 Delta. Many items that lie densely are then never cut. The proof of Lemma 3 needs more: of the
// last block every item is dropped whose estimate lies 2 Delta below that of the m-th best, m the
// block's number of places. Lemma 1 stays true, since m items are surely better then.
// printed_rule = true is the rule as printed.
//
// Items may come and go. One that arrives waits, behind all others, until the last block begins its
// next phase, and joins it there. When one leaves, its block and those below begin their phase
// anew, since the items above a place decide how often it is read; when too few are left to fill
// the places, everything begins anew. An item whose features change leaves and arrives. Of an item
// without features nothing can be learned: it stays behind all others.
//
// An unknown horizon is doubled: after 1024, 2048, ... rounds everything begins anew.
//
// Thread-safety: const functions may run concurrently with each other, not with the others.

#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "hindsight/random.h"
#include "hindsight/result.h"
#include "hindsight/types.h"
#include "src/core/item_vectors.h"

namespace hindsight {

class ByteReader;
class ByteWriter;

struct RecurRankParams {
  std::size_t positions = 10;  // K
  std::uint64_t horizon = 0;   // T; 0: not known
  bool printed_rule = false;
  bool spanner = false;   // a volumetric spanner in place of the G-optimal design
  double epsilon = 0.01;  // of the design
};

class RecurRank {
 public:
  static constexpr std::size_t kMaxPositions = 64;

  struct Block {
    std::uint64_t serial = 0;  // names block and phase, never used again
    std::uint32_t phase = 1;
    std::uint32_t first = 0;  // place
    std::uint32_t places = 0;
    std::vector<ItemIndex> items = {};       // best first, by the last estimate
    std::vector<ItemIndex> support = {};     // of the design; empty: there is nothing to find out
    std::vector<std::uint64_t> wanted = {};  // T(a) of each of these
    std::vector<std::uint64_t> needed = {};  // what of it has not been observed yet
    std::vector<std::uint64_t> clicks = {};
    std::uint64_t needed_total = 0;
  };

  /// An item of the design on the first place of its block.
  struct Probe {
    std::uint64_t serial = 0;
    std::uint32_t place = 0;
    std::uint32_t support = 0;  // which of the block's design
    double share = 1.0;         // the probability with which it was drawn
  };
  using Probes = std::vector<Probe>;

  /// What becomes of an observation.
  enum class Fit : std::uint8_t {
    kWanted,
    kPast,   // of an earlier phase, or beyond what was wanted
    kWrong,  // no such probe can have been drawn
  };

  explicit RecurRank(const RecurRankParams& params) : params_(params) {}

  /// One that is ready, over items given as rows of numbers. FAILS: kInvalidArgument (d = 0, K = 0,
  /// K > L, a row of zeros, all rows equal), kTooLarge (d, K), kFeatureTooLong, kNotFinite
  static Result<RecurRank> make(const RecurRankParams& params, std::span<const double> rows,
                                std::size_t dim);

  const ItemVectors& vectors() const { return vectors_; }
  const std::vector<Block>& blocks() const { return blocks_; }
  std::uint64_t rounds() const { return rounds_; }
  std::uint64_t runs() const { return runs_; }
  bool begun() const { return !blocks_.empty(); }
  /// Whether the item was added and has not left.
  bool is_there(ItemIndex item) const { return item < there_.size() && there_[item] != 0; }
  /// The last estimate of an item's attractiveness times the examination of its block; 0 before.
  double estimate(ItemIndex item) const { return estimate_[item]; }

  /// REQUIRES: vectors().check accepted it
  void add(const Item& item);
  /// REQUIRES: the item is there
  void remove(ItemIndex item);
  /// Begins with the items that are there; does nothing where none has features.
  void begin();

  /// The first k of the candidates: `available` has a 1 for each, or is empty: all items are
  /// candidates. A probe is drawn for every block that stands where it would with all items.
  /// REQUIRES: k candidates or more
  void draw(std::span<const std::uint8_t> available, std::size_t k, Rng& rng,
            std::vector<ItemIndex>& list, Probes& probes) const;
  /// The natural logarithm of the probability that `draw` makes a list that begins with this one;
  /// none: it cannot. REQUIRES: as draw; at most k items
  std::optional<double> log_probability(std::span<const std::uint8_t> available, std::size_t k,
                                        std::span<const ItemIndex> list) const;
  /// The probability that the list begins with an item. REQUIRES: as draw
  double first_probability(std::span<const std::uint8_t> available, ItemIndex item) const;

  Fit fit(const Probe& probe, ItemIndex item) const;
  /// REQUIRES: fit says kWanted
  void observe(const Probe& probe, bool clicked);
  /// A list has been answered: every observation of it was made. REQUIRES: begun()
  void end_round();

  void save(ByteWriter& out) const;
  /// Loads a state of the same parameters. FAILS: kCorrupt
  Result<void> load(ByteReader& in);

 private:
  template <class Choose>
  void build(std::span<const std::uint8_t> available, std::size_t k, Choose choose,
             std::vector<ItemIndex>& list) const;
  void append_rest(std::span<const std::uint8_t> available, std::size_t k,
                   std::vector<ItemIndex>& list) const;
  std::optional<std::uint32_t> find_block(std::uint64_t serial) const;
  /// What of a block's needs can be met by the candidates.
  std::uint64_t open_needs(const Block& block, std::span<const std::uint8_t> available) const;

  /// Whether something can be learned of the item.
  bool is_known(std::size_t item) const {
    return there_[item] != 0 && !vectors_.row(static_cast<ItemIndex>(item)).empty();
  }
  double log_inverse_delta(const Block& block) const;
  void start(Block& block);
  void restart(Block& block);
  void finish_phase(std::size_t at);
  std::vector<Block> split(const Block& block, bool last) const;
  void take_waiting(Block& block);
  void leave(ItemIndex item);
  void place_blocks();

  RecurRankParams params_;
  ItemVectors vectors_;
  std::vector<std::uint8_t> there_;  // of each item: 1 where it has not left
  std::vector<double> estimate_;
  std::vector<std::uint8_t> in_block_;
  std::vector<ItemIndex> waiting_;
  std::vector<Block> blocks_;
  std::uint64_t next_serial_ = 1;
  std::uint64_t rounds_ = 0;  // of this run
  std::uint64_t runs_ = 0;
};

}  // namespace hindsight
