// OnlineRank: counts what was chosen and sorts by noisy counts ([Ailon13] Algorithm 1).
//
// A CountRanker whose lists are drawn by PlackettLuce or by QuickSort, at will (Lemma 6.1: both
// put any two items in the same order equally often, and the guarantee follows from that alone).
// Against the best fixed order in hindsight, in the sum of the positions of what was chosen, the
// expected regret over T rounds is at most n sqrt(T M log 2) (Theorem 3.1), and no method can
// promise less but for a constant.
//
// QuickSort touches every candidate, says nothing of the first slot's law, and states the
// probability of a list only where all of up to 64 candidates are shown.

#pragma once

#include "hindsight/registry.h"

namespace hindsight {

RankerInfo onlinerank_info();

}  // namespace hindsight
