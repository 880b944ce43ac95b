// Rng: counter-based random numbers with distributions of our own.
//
// Philox4x32-10 (Salmon et al., SC 2011): the i-th block of a stream is a pure function of (key,
// stream, i), so that a draw can be made again from its seed alone, on any platform and on any
// number of threads. The distributions use only +, *, / and sqrt of IEEE doubles and therefore give
// the same bits everywhere.
//
// Thread-safety: an Rng is a small value; give each thread its own.

#pragma once

#include <array>
#include <cstdint>
#include <span>

namespace hindsight {

/// Names a ranking for ever: who made it, and its number among those of the same maker.
struct DecisionId {
  std::uint64_t source = 0;  // node and boot epoch; 0 in experiments
  std::uint64_t counter = 0;

  friend bool operator==(const DecisionId&, const DecisionId&) = default;
};

/// One block of Philox4x32-10.
std::array<std::uint32_t, 4> philox4x32(std::array<std::uint32_t, 4> counter,
                                        std::array<std::uint32_t, 2> key);

class Rng {
 public:
  /// Streams of one seed are independent of each other.
  explicit Rng(std::uint64_t seed, std::uint64_t stream = 0) : seed_(seed), stream_(stream) {}

  /// The stream that belongs to one decision of a collection.
  static Rng for_decision(std::uint64_t collection_seed, const DecisionId& id);

  std::uint32_t next_u32() {
    if (used_ == 4) {
      refill();
    }
    return block_[used_++];
  }

  std::uint64_t next_u64() {
    const std::uint64_t high = next_u32();
    return (high << 32) | next_u32();
  }

  /// RETURNS: a multiple of 2^-53 in [0, 1).
  double uniform() { return static_cast<double>(next_u64() >> 11) * 0x1p-53; }

  /// RETURNS: a multiple of 2^-53 in (0, 1]; its logarithm is finite.
  double uniform_positive() { return (static_cast<double>(next_u64() >> 11) + 1.0) * 0x1p-53; }

  /// RETURNS: a draw of the exponential law of mean 1, in [0, 36.8).
  double exponential();

  /// Many draws at once, vectorised. What is left of the current block is dropped; from there on
  /// the values are those of as many calls of uniform_positive() or exponential().
  void fill_uniform_positive(std::span<double> out);
  void fill_exponential(std::span<double> out);

  /// RETURNS: a draw of the standard normal law (polar method).
  double normal();

  /// RETURNS: a uniform integer in [0, n), without bias. REQUIRES: n > 0
  std::uint64_t below(std::uint64_t n);

 private:
  void refill();

  std::uint64_t seed_;
  std::uint64_t stream_;
  std::uint64_t next_block_ = 0;
  std::array<std::uint32_t, 4> block_{};
  std::uint32_t used_ = 4;
};

}  // namespace hindsight
