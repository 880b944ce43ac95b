#include "src/rankers/random_ranker.h"

#include <algorithm>

#include "src/core/check.h"
#include "src/core/sum_tree.h"
#include "src/rankers/scored_ranker.h"

namespace hindsight {
namespace {

class RandomRanker final : public ScoredRanker {
 public:
  explicit RandomRanker(ChoiceSet choice_set)
      : ScoredRanker({.name = "random",
                      .law = ListLaw::kWholeList,
                      .choice_set = choice_set,
                      .needs_choice = false,
                      .uses_prior = false}) {}

  Description describe() const override { return {{"items", std::to_string(items_live())}}; }
  double item_score(ItemIndex /*item*/) const override { return 0.0; }

 protected:
  void score(const Request& /*request*/, const Signals& /*signals*/,
             const FeatureRows& /*features*/, std::span<double> out) const override {
    std::fill(out.begin(), out.end(), 0.0);
  }
  Result<Decision> do_rank_library(const Request& request, const Signals& signals,
                                   Rng& rng) const override {
    return options().choice_set == ChoiceSet::kShown
               ? rank_by_tree(ones_, 0.0, request, rng)
               : ScoredRanker::do_rank_library(request, signals, rng);
  }
  Result<ListProbability> do_library_probability(const Request& request, const Signals& signals,
                                                 std::span<const ItemIndex> list) const override {
    return options().choice_set == ChoiceSet::kShown
               ? probability_by_tree(ones_, request, list)
               : ScoredRanker::do_library_probability(request, signals, list);
  }
  Result<LearnReport> do_learn(const Decision& /*decision*/, const Feedback& feedback,
                               const Signals& /*signals*/) override {
    return LearnReport{.learned = 0,
                       .ignored = static_cast<std::uint32_t>(feedback.clicked.size())};
  }
  void do_add_items(std::span<const Item> /*items*/) override {
    const std::vector<float> added(items_added() - ones_.size(), 1.0F);
    HINDSIGHT_CHECK(ones_.append(added).ok());
  }
  void do_remove_items(std::span<const ItemIndex> items) override {
    for (const ItemIndex item : items) {
      HINDSIGHT_CHECK(ones_.set(item, 0.0F).ok());
    }
  }
  void do_save(ByteWriter& /*out*/) const override {}
  Result<void> do_load(ByteReader& /*in*/) override {
    std::vector<float> ones(items_added());
    for (std::size_t i = 0; i < ones.size(); ++i) {
      ones[i] = is_live(static_cast<ItemIndex>(i)) ? 1.0F : 0.0F;
    }
    HINDSIGHT_ASSIGN_OR_RETURN(ones_, SumTree::build(ones));
    return {};
  }

 private:
  SumTree ones_;  // 1 for every live item: draws from the whole library
};

}  // namespace

RankerInfo random_info() {
  return {.name = "random",
          .summary = "Every order with the same probability; learns nothing and ignores priors",
          .paper = "[Delage09] 5.1",
          .guarantee = "none; its K-L cost is the mean log of the number of candidates",
          .assumptions = "none",
          .law = ListLaw::kWholeList,
          .sublinear = true,
          .params = {choice_set_spec()},
          .make = [](const ParamMap& params) -> Result<std::unique_ptr<Ranker>> {
            return std::unique_ptr<Ranker>(std::make_unique<RandomRanker>(choice_set_of(params)));
          }};
}

}  // namespace hindsight
