#include "src/rankers/onlinerank.h"

#include <string>

#include "src/core/choice_rate.h"
#include "src/rankers/count_ranker.h"

namespace hindsight {
namespace {

Result<std::unique_ptr<Ranker>> make_onlinerank(const ParamMap& params) {
  CountOptions counting = count_options(params);
  counting.rate = online_rank_rate;
  counting.bound = online_rank_bound;
  const ListOptions list{
      .name = "onlinerank",
      .law = ListLaw::kWholeList,
      .sort = word(params, "sort") == "quicksort" ? ListSort::kQuickSort : ListSort::kPlackettLuce,
      .choice_set = choice_set_of(params)};
  return std::unique_ptr<Ranker>(std::make_unique<CountRanker>(list, counting));
}

}  // namespace

RankerInfo onlinerank_info() {
  return {
      .name = "onlinerank",
      .summary = "OnlineRank: counts what was chosen and sorts by noisy counts",
      .paper = "[Ailon13] Algorithm 1",
      .guarantee =
          "expected regret, in the sum of the positions of what was chosen, of at most n sqrt(T M "
          "log 2) against the best fixed order (Theorem 3.1); 1.57 times that without a known "
          "horizon; up to 1.1 times that, or 1.25 with rankings, where n is no power of two",
      .assumptions =
          "one order for all queries; every item is in every list, and all of the list is seen; an "
          "item that comes later counts as there from the beginning, not wanted, and the bound for "
          "all items in the end has a factor of 1.18 then, or 1.88 without a known horizon",
      .law = ListLaw::kWholeList,
      .sublinear = true,
      .params = count_params(
          {.name = "sort",
           .default_value = std::string("plackett-luce"),
           .help = "how a list is drawn from the scores; quicksort has the same law of pairs, "
                   "touches every candidate, and logs no probability of the first item",
           .words = {"plackett-luce", "quicksort"}}),
      .make = make_onlinerank};
}

}  // namespace hindsight
