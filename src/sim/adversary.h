// The adversary of [Delage09] Remark 3.1: users who always want what the ranker would show last.
//
// What the adversary may know decides what is proved. One that sees the list before it picks does
// the same harm to every ranker, and tells nothing. The remark's adversary knows the algorithm and
// everything it has learned, and hence the *law* of the next list, but not the coins of the draw.
// Against a deterministic ranker that is the list itself. So:
//
//   The adversary asks the ranker to rank the same request with coins of its own (rank is pure, so
//   this is allowed and leaves no trace), reads the scores off that rehearsal, and wants the item
//   of the lowest score. For the Plackett-Luce law and for "first slot drawn, rest sorted" that is
//   the item with the smallest probability of standing first and the largest expected position; for
//   a sorted list it is the last item.
//
// Rankers that break ties at random could hide behind ties (a ranker that has learned nothing is
// Random). The requests therefore carry the caller's own order as a prior that is too small to
// change anything but ties: it makes sorted lists deterministic, and leaves the laws of the others
// as they were.
//
// What comes out: a deterministic ranker has relative click distance (n - 1) / n, an infinite K-L
// cost, and never improves. (Category Ranking's scores can come to be equal in spite of the
// prior; in those few rounds the pick may stand a little higher.) NoRegret KLRank's cost tends to
// that of the best fixed policy, which is ln n here (the adversary ends up wanting everything
// equally often), and its click distance to that of Random, about one half: no ranker can do better
// against this adversary.
//
// Thread-safety: a function of its arguments.

#pragma once

#include <cstdint>

#include "hindsight/ranker.h"
#include "hindsight/result.h"
#include "src/sim/judge.h"

namespace hindsight {

struct AdversaryParams {
  std::uint32_t items = 20;      // at least 2
  std::uint32_t queries = 8192;  // at least 1
  double tie_breaker = 1e-7;     // between neighbours in the caller's order; >= 0
  std::size_t curve_points = 64;
};

/// Plays all rounds against an empty ranker; whole lists are shown, every pick is learned at once.
/// REQUIRES: the ranker is empty. FAILS: kInvalidArgument, or as the ranker's functions
Result<ReplayResult> play_adversary(Ranker& ranker, const AdversaryParams& params,
                                    std::uint64_t seed);

}  // namespace hindsight
