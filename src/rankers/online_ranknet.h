// Online RankNet ([Delage09] 5.1): GPER on the pairwise loss of the pick against each other
// candidate.

#pragma once

#include "hindsight/registry.h"

namespace hindsight {

RankerInfo online_ranknet_info();

}  // namespace hindsight
