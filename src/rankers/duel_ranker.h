// `dbgd` and `mgd`: weights of features, learned from duels inside the lists that users see.
//
// A list is interleaved from the order of the current weights and that of one rival (dbgd) or
// several (mgd), each a probe away in a random direction; the clicks say who wins, and the weights
// step towards the winners ([Yue09] Algorithm 1; [Schuth16]).
//
// rank draws a seed, makes the directions from it, and writes seed, batch, columns and the team of
// each place into the decision's aux; learn makes the same directions again, however late. With
// several samples per update the lists of a batch share their directions: those of the seed that
// the model holds, which changes with every update. Clicks of an earlier batch come too late.
// Decisions of other rankers teach nothing.
//
// Thread-safety: as Ranker.

#pragma once

#include "hindsight/registry.h"

namespace hindsight {

RankerInfo dbgd_info();
RankerInfo mgd_info();

}  // namespace hindsight
