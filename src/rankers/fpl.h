// Follow the perturbed leader [KalaiVempala05]: counts what was chosen and sorts by the counts
// plus noise that is drawn anew for every list.
//
// A CountRanker. With uniform noise in [0, 1/eps] the expected regret over T rounds, in the sum of
// the positions of what was chosen, is at most 2 sqrt(n (n-1) T M / 6) (src/core/choice_rate.h);
// the law of a list is a piecewise polynomial in n dimensions, and is not stated. With Gumbel
// noise of scale 1/eta it is OnlineRank with PlackettLuce ([Ailon13] section 8), and has all that
// OnlineRank has. A prior is added to the count times the rate, where the uniform noise has the
// range 1 and the Gumbel noise the scale 1.

#pragma once

#include "hindsight/registry.h"

namespace hindsight {

RankerInfo fpl_info();

}  // namespace hindsight
