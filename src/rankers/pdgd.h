// `pdgd`: pairwise differentiable gradient descent ([Oosterhuis18]).

#pragma once

#include "hindsight/registry.h"

namespace hindsight {

RankerInfo pdgd_info();

}  // namespace hindsight
