#include "src/rankers/klrank.h"

#include "src/rankers/linear_ranker.h"

namespace hindsight {
namespace {

constexpr double kDefaultAlpha = 3.0;

template <ListLaw law>
Result<std::unique_ptr<Ranker>> make_klrank(const char* name, const ParamMap& params) {
  ListOptions options{.name = name, .law = law, .choice_set = choice_set_of(params)};
  if constexpr (law != ListLaw::kDeterministic) {
    options.redraw = flag(params, "redraw");
  }
  return LinearRanker::make(std::move(options), LinearRanker::Loss::kKl, params);
}

std::vector<ParamSpec> drawn_params() {
  std::vector<ParamSpec> params = linear_params(kDefaultAlpha);
  params.push_back(redraw_spec());
  return params;
}

}  // namespace

RankerInfo noregret_klrank_info() {
  std::vector<ParamSpec> specs = drawn_params();
  specs.push_back(library_spec());
  return {
      .name = "noregret-klrank",
      .summary = "NoRegret KLRank: draws the whole list from a softmax policy learned by GPER",
      .paper = "[Delage09] 3.1, 4.2, Table 1",
      .guarantee =
          "K-L cost at most 10K(T^(3/4) + 1), K = 2 alpha, above the best fixed policy in the "
          "growing balls (Theorem 4.4), for any sequence of users",
      .assumptions =
          "costs are those at the moment of learning; with k below the number of candidates, of "
          "the choice among the shown items; add items more slowly than the square root of the "
          "clicks",
      .law = ListLaw::kWholeList,
      .sublinear = true,
      .params = std::move(specs),
      .make = [](const ParamMap& params) {
        return make_klrank<ListLaw::kWholeList>("noregret-klrank", params);
      }};
}

RankerInfo greedy_klrank_info() {
  return {
      .name = "greedy-klrank",
      .summary = "Greedy KLRank: sorts by the scores that NoRegret KLRank would draw from",
      .paper = "[Delage09] 5.1",
      .guarantee =
          "Theorem 4.4 for the fit of the scores (the loss); none for the lists, whose K-L cost is "
          "infinite",
      .assumptions =
          "users behave tomorrow as they did so far; an adversary can make every list bad "
          "(Remark 3.1)",
      .law = ListLaw::kDeterministic,
      .params = linear_params(kDefaultAlpha),
      .make = [](const ParamMap& params) {
        return make_klrank<ListLaw::kDeterministic>("greedy-klrank", params);
      }};
}

RankerInfo klrank_info() {
  return {
      .name = "klrank",
      .summary =
          "KLRank with the first slot drawn and the rest sorted: the guarantee of NoRegret KLRank, "
          "nearly the lists of Greedy KLRank",
      .paper = "[Delage09] 3.2, 4.2",
      .guarantee =
          "K-L cost at most 10K(T^(3/4) + 1), K = 2 alpha, above the best fixed policy in the "
          "growing balls (Theorem 4.4: the cost depends on the first slot alone)",
      .assumptions =
          "as noregret-klrank; gives up Proposition A.1 and the protection of Remark 3.1 below "
          "the first slot, and its logs support estimates of the first slot only",
      .law = ListLaw::kFirstSlot,
      .params = drawn_params(),
      .make = [](const ParamMap& params) {
        return make_klrank<ListLaw::kFirstSlot>("klrank", params);
      }};
}

}  // namespace hindsight
