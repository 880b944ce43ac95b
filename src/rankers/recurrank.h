// RecurRank ([Li19] Algorithm 1) behind the interface of every ranker; the algorithm, and where it
// departs from what is printed, is in src/core/recur_rank.h.
//
// It ranks one library for all queries: features are those of the items, and what a request says
// of features and priors is not used. A request need not have all items as candidates, nor ask for
// exactly `positions` of them; what is learned of it is the click on the first place of each block
// that stands where it would with all items. Phase, block and probe travel in the decision's aux.
// The run begins with the first feedback: lists before it are in the order of arrival. Items
// without features can be shown, behind all others. Decisions of other rankers teach it nothing.

#pragma once

#include "hindsight/registry.h"

namespace hindsight {

RankerInfo recurrank_info();

}  // namespace hindsight
