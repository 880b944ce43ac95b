// OnlineRank: counts what was chosen and sorts by noisy counts ([Ailon13] Algorithm 1).
//
// The score of an item is eta times how much it was wanted, and the list is drawn by PlackettLuce
// from the scores. Against the best fixed order in hindsight, in the sum of the positions of what
// was chosen, the expected regret over T rounds is at most n sqrt(T M log 2) (Theorem 3.1;
// src/core/choice_rate.h has M, eta, and what an unknown T costs), and no method can promise less
// but for a constant.
//
//   rounds   each call of `learn` is a round, of at most `choices` items (more are further rounds)
//   n        grows with the library; eta is that of the next power of two, so that it changes
//            seldom: within a factor of sqrt 2 of the best, which costs 6% of the bound at most
//   T        `horizon`, where it is known and not yet over; otherwise doubled
//
// A click changes one weight of a sum tree, O(log n), and k items are drawn from it in O(k log n);
// the paper states O(n log n) for both. When eta changes the tree is built again, O(n), which
// happens some log2(T n) times in all.

#pragma once

#include "hindsight/registry.h"

namespace hindsight {

RankerInfo onlinerank_info();

}  // namespace hindsight
