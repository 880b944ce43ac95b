// TopRank ([Lattimore18]) behind the interface of every ranker; the algorithm is in
// src/core/top_rank.h.
//
// It ranks one library for all queries and uses no features and no priors. Where all items are
// candidates, what is not shown counts as not clicked, as in the paper; where only some are, or
// where blocks have changed since the list was shown, shown items are compared with each other
// alone. New items begin in the first block. Decisions of other rankers, whose lists are not random
// inside a block, teach it nothing. Beyond 20,000 items it does not rank.

#pragma once

#include "hindsight/registry.h"

namespace hindsight {

RankerInfo toprank_info();

}  // namespace hindsight
