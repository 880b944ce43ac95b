#include "src/rankers/online_ranknet.h"

#include "src/rankers/linear_ranker.h"

namespace hindsight {

RankerInfo online_ranknet_info() {
  return {.name = "online-ranknet",
          .summary =
              "Online RankNet: learns from the pick against each other candidate, sorts by score",
          .paper = "[Delage09] 5.1",
          .guarantee =
              "Theorem 4.4 for the pairwise loss (its gradient is no longer than 2F); none for the "
              "lists",
          .assumptions = "users behave tomorrow as they did so far",
          .law = ListLaw::kDeterministic,
          .params = linear_params(1.0),
          .make = [](const ParamMap& params) {
            return LinearRanker::make({.name = "online-ranknet",
                                       .law = ListLaw::kDeterministic,
                                       .choice_set = choice_set_of(params)},
                                      LinearRanker::Loss::kPairwise, params);
          }};
}

}  // namespace hindsight
