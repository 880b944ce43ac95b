// Category Ranking ([CrammerSinger05], as used in [Delage09] 5.1): after a pick, the smallest
// change of the weights that makes the picked item lead every other candidate by a margin.

#pragma once

#include <span>

#include "hindsight/registry.h"

namespace hindsight {

/// The projection of w on { v : v[picked] >= v[i] + margin for every other i }, exact, for one
/// weight per item. RETURNS: in `change` what is added to each weight. REQUIRES: equal sizes,
/// picked < size, margin > 0
void category_projection(std::span<const double> w, std::size_t picked, double margin,
                         std::span<double> change);

RankerInfo category_ranking_info();

}  // namespace hindsight
