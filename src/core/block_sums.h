// Sums over blocks of weights: how an exponential race jumps over what cannot win.
//
// An array of weights is cut into blocks of 256, each 16 rows of 16 lanes. Passing a block takes
// one vectorised sum in the weights' own precision, raised to an upper bound of the exact one; only
// a block in which a jump ends is summed again in double, lane by lane.
//
// Same bits everywhere: as src/core/kernels.h, with one fixed tree for every vector width.
//
// Thread-safety: pure functions.

#pragma once

#include <cstddef>

namespace hindsight {

inline constexpr std::size_t kBlockLanes = 16;
inline constexpr std::size_t kBlockRows = 16;
inline constexpr std::size_t kBlockSize = kBlockLanes * kBlockRows;

/// Distances are weights times this power of two, so that they keep their precision where doubles
/// lie below the normal range.
template <class T>
inline constexpr double kDistancePerWeight = sizeof(T) == sizeof(float) ? 1.0 : 0x1p300;

struct BlockSkip {
  std::size_t passed = 0;  // blocks passed over: all, or the next one is where the distance ends
  double left = 0.0;       // distance that remains at the start of that block
  double total = 0.0;      // length of the blocks passed and of the one where it ends, as rounded
  bool sign = false;       // a weight with a minus sign was among them: negative, or -0.0
};

/// Passes over blocks while the remaining distance is at least the block's length, that is its
/// weight as a distance. It counts as slightly more than it is, never as less: by at most a factor
/// 1 + 2^-17. A block whose
/// sum is not a number, or infinite, is never passed. REQUIRES: blocks * kBlockSize weights
BlockSkip skip_blocks(const float* weights, std::size_t blocks, double distance);
BlockSkip skip_blocks(const double* weights, std::size_t blocks, double distance);

/// lanes[j] = the sum of weights[16 i + j] over the rows i, in double. REQUIRES: kBlockSize
/// weights, kBlockLanes lanes
void lane_sums(const float* weights, double* lanes);
void lane_sums(const double* weights, double* lanes);

}  // namespace hindsight
