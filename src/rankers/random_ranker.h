// The uniform law over lists: the yardstick of every table.

#pragma once

#include "hindsight/registry.h"

namespace hindsight {

RankerInfo random_info();

}  // namespace hindsight
