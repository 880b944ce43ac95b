// HITS ([Kleinberg99], as used in [Delage09] 5.1): authority is being pointed to by good hubs, a
// hub points to authorities.

#pragma once

#include "hindsight/registry.h"

namespace hindsight {

RankerInfo hits_info();

}  // namespace hindsight
