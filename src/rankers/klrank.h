// The KLRank family of [Delage09]: one learner (GPER on the K-L cost), three ways to make a list of
// it.

#pragma once

#include "hindsight/registry.h"

namespace hindsight {

/// [Delage09] 3.1 and 4.2: the whole list is drawn from the Plackett-Luce policy.
RankerInfo noregret_klrank_info();

/// [Delage09] 5.1: sorted by score.
RankerInfo greedy_klrank_info();

/// The first slot drawn, the rest sorted. The K-L cost depends on the law of the first slot alone
/// (3.2), so Theorem 4.4 holds unchanged, while the list below is as good as the greedy one.
RankerInfo klrank_info();

}  // namespace hindsight
