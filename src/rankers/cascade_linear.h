// CascadeLinUCB and CascadeLinTS: linear bandits for users who read down to the first click
// ([Li16], [Zong16]).
//
// The attractiveness of an item is estimated by ridge regression over what was examined: all items
// down to the first click, or the whole list. The first ranks by the most that an item may be
// worth, theta x + c ||x||, capped at 1 ([Zong16] prints the bonus without the square root); the
// second by a theta that is drawn anew for every list.
//
// Features are those of the request, where it has some, or of the items; columns are numbered as
// they come, at most 128 in all.

#pragma once

#include "hindsight/registry.h"

namespace hindsight {

RankerInfo cascade_linucb_info();
RankerInfo cascade_lints_info();

}  // namespace hindsight
