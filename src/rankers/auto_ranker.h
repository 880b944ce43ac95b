// auto: a mixture of learners that nobody has to tune. Its total K-L cost is at most ln N above
// that of the best of its N experts, for every sequence of picks.

#pragma once

#include "hindsight/registry.h"

namespace hindsight {

RankerInfo auto_info();

}  // namespace hindsight
