// ClickSample: a uniform sample, of bounded size, of the clicks that a ranker has learned.
//
// Every click has a random key, a function of the collection's seed and the click's number; kept
// are those with the smallest keys. So equal logs give equal samples, all clicks are in it as long
// as they are few, and its first n in the order of the keys are a uniform sample of n.
//
// Thread-safety: const functions may run concurrently with each other, not with the others.

#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "hindsight/types.h"
#include "src/core/bytes.h"
#include "src/store/store.h"

namespace hindsight {

/// A learned click.
struct SampledClick {
  std::uint64_t key = 0;
  std::uint64_t click = 0;    // its number among all that were learned, from 1
  Position decision = 0;      // where its decision stands in the log
  ItemIndex item = 0;         // what was clicked
  float learned_cost = 0.0F;  // as it was booked

  friend bool operator==(const SampledClick&, const SampledClick&) = default;
};

class ClickSample {
 public:
  static constexpr std::size_t kLimit = 50'000;

  /// The next click. REQUIRES: it has a place in the log
  void add(std::uint64_t seed, Position decision, ItemIndex item, double learned_cost);
  void clear();

  /// How many clicks there were.
  std::uint64_t seen() const { return seen_; }
  /// The place of the oldest decision among all of them, in the sample or not; 0 for none.
  Position oldest() const { return oldest_; }
  /// In no order.
  const std::vector<SampledClick>& clicks() const { return clicks_; }
  std::uint64_t memory_bytes() const { return clicks_.capacity() * sizeof(SampledClick); }

  void save(ByteWriter& out) const;
  /// RETURNS: false for bytes that make no sense.
  bool load(ByteReader& in, std::uint64_t seed);

 private:
  std::uint64_t seen_ = 0;
  Position oldest_ = 0;
  std::vector<SampledClick> clicks_;  // once full, a heap with the greatest key on top
};

/// The order of the keys.
bool smaller_key(const SampledClick& a, const SampledClick& b);

}  // namespace hindsight
