#include "src/rankers/fpl.h"

#include <string>

#include "src/core/choice_rate.h"
#include "src/rankers/count_ranker.h"

namespace hindsight {
namespace {

Result<std::unique_ptr<Ranker>> make_fpl(const ParamMap& params) {
  const bool gumbel = word(params, "noise") == "gumbel";
  CountOptions counting = count_options(params);
  counting.rate = gumbel ? online_rank_rate : perturbed_leader_rate;
  counting.bound = gumbel ? online_rank_bound : perturbed_leader_bound;
  const ListOptions list{.name = "fpl",
                         .law = gumbel ? ListLaw::kWholeList : ListLaw::kNotStated,
                         .sort = gumbel ? ListSort::kPlackettLuce : ListSort::kUniformNoise,
                         .choice_set = choice_set_of(params)};
  return std::unique_ptr<Ranker>(std::make_unique<CountRanker>(list, counting));
}

}  // namespace

RankerInfo fpl_info() {
  return {
      .name = "fpl",
      .summary = "Follow the perturbed leader: sorts by counts plus fresh noise",
      .paper = "[KalaiVempala05]; [Ailon13] sections 4 and 8",
      .guarantee =
          "expected regret, in the sum of the positions of what was chosen, of at most "
          "2 sqrt(n (n-1) T M / 6) against the best fixed order; with Gumbel noise that of "
          "onlinerank; 1.57 times that without a known horizon; up to 1.1 times that, or 1.25 with "
          "rankings, where n is no power of two",
      .assumptions =
          "one order for all queries; every item is in every list from the beginning, and all of "
          "the "
          "list is seen",
      .law = ListLaw::kNotStated,
      .sublinear = true,
      .params = count_params({.name = "noise",
                              .default_value = std::string("uniform"),
                              .help = "what is added to the counts: uniform, of which no "
                                      "probabilities are known, or gumbel, which is onlinerank",
                              .words = {"uniform", "gumbel"}}),
      .make = make_fpl};
}

}  // namespace hindsight
