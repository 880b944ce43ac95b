// 2-class McRank ([Delage09] 5.1): a classifier of "picked" against "not picked", sorted by its
// probability.

#pragma once

#include "hindsight/registry.h"

namespace hindsight {

RankerInfo mcrank_info();

}  // namespace hindsight
