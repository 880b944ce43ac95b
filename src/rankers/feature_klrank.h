// feature-klrank: the K-L cost of [Delage09] on features that the engine computes from its own log,
// the caller's features, and a term for each item.

#pragma once

#include "hindsight/registry.h"

namespace hindsight {

RankerInfo feature_klrank_info();

}  // namespace hindsight
