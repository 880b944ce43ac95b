// PageRank ([Page99], as used in [Delage09] 5.1): how often a surfer who follows links and now and
// then restarts visits an item.

#pragma once

#include "hindsight/registry.h"

namespace hindsight {

RankerInfo pagerank_info();

}  // namespace hindsight
