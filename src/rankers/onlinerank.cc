#include "src/rankers/onlinerank.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <vector>

#include "src/core/bytes.h"
#include "src/core/check.h"
#include "src/core/choice_rate.h"
#include "src/core/count_law.h"
#include "src/core/kernels.h"
#include "src/rankers/scored_ranker.h"

namespace hindsight {
namespace {

struct OnlineRankParams {
  bool rankings = false;
  std::uint64_t horizon = 0;
  std::uint64_t choices = 1;
};

class OnlineRank final : public ScoredRanker {
 public:
  OnlineRank(ChoiceSet choice_set, const OnlineRankParams& params)
      : ScoredRanker({.name = "onlinerank", .law = ListLaw::kWholeList, .choice_set = choice_set}),
        params_(params) {}

  Description describe() const override {
    const std::uint64_t n = std::max<std::size_t>(items_live(), 1);
    const double factor = knows_horizon() ? 1.0 : kDoublingFactor;
    return {{"items", std::to_string(items_live())},
            {"rounds learned", std::to_string(rounds_)},
            {"learning rate", pretty(rate_)},
            {"bound on the expected regret in positions, these items in every list",
             pretty(factor * online_rank_bound(n, rounds_, spread(n)))}};
  }
  double item_score(ItemIndex item) const override { return rate_ * counts_[item]; }

 protected:
  void score(const Request& request, const Signals& /*signals*/, const FeatureRows& /*features*/,
             std::span<double> out) const override {
    gather_scaled(counts_, request.candidates, rate_, out);
  }
  Result<Decision> do_rank_library(const Request& request, const Signals& signals,
                                   Rng& rng) const override {
    return draws_from_tree() ? rank_by_tree(law_.tree(), law_.shift(), request, rng)
                             : ScoredRanker::do_rank_library(request, signals, rng);
  }
  Result<ListProbability> do_library_probability(const Request& request, const Signals& signals,
                                                 std::span<const ItemIndex> list) const override {
    return draws_from_tree() ? probability_by_tree(law_.tree(), request, list)
                             : ScoredRanker::do_library_probability(request, signals, list);
  }

  Result<LearnReport> do_learn(const Decision& /*decision*/, const Feedback& feedback,
                               const Signals& /*signals*/) override {
    if (params_.rankings && !feedback.full_order.empty()) {
      return learn_ranking(feedback.full_order);
    }
    const std::span<const ItemIndex> clicked = feedback.clicked;
    for (std::size_t begin = 0; begin < clicked.size(); begin += params_.choices) {
      for (const ItemIndex item :
           clicked.subspan(begin, std::min<std::size_t>(params_.choices, clicked.size() - begin))) {
        want(item, 1.0);
      }
      end_round();
    }
    return LearnReport{.learned = static_cast<std::uint32_t>(clicked.size())};
  }

  void do_add_items(std::span<const Item> /*items*/) override {
    counts_.resize(items_added(), 0.0);
    law_.grow(items_added());
    follow_rate();
  }
  void do_remove_items(std::span<const ItemIndex> items) override {
    for (const ItemIndex item : items) {
      law_.remove(item);
    }
  }
  void do_save(ByteWriter& out) const override {
    out.put(counts_);
    out.put(rounds_);
    out.put(law_.shift());
  }
  Result<void> do_load(ByteReader& in) override {
    double shift = 0.0;
    in.get(counts_);
    in.get(rounds_);
    in.get(shift);
    HINDSIGHT_RETURN_IF_ERROR(in.check("counts"));
    const double most =
        static_cast<double>(rounds_) * (params_.rankings ? static_cast<double>(kMaxItems) : 1.0);
    const bool sane = counts_.size() == items_added() && rounds_ <= kMaxCount &&
                      std::all_of(counts_.begin(), counts_.end(),
                                  [most](double count) { return count >= 0.0 && count <= most; });
    if (!sane) {
      return Error{ErrorCode::kCorrupt, "the saved counts do not fit the items", "counts"};
    }
    rate_ = rate();
    return law_.load(shift, rate_, counts_, [this](ItemIndex item) { return is_live(item); });
  }

 private:
  bool draws_from_tree() const { return options().choice_set == ChoiceSet::kShown; }
  bool knows_horizon() const { return params_.horizon > 0 && rounds_ <= params_.horizon; }

  double spread(std::uint64_t n) const {
    return params_.rankings ? ranking_spread(n) : choice_spread(n, std::min(params_.choices, n));
  }
  double rate() const {
    const std::uint64_t n = std::bit_ceil(std::max<std::uint64_t>(items_added(), 2));
    const std::uint64_t next = rounds_ + 1;
    const bool known = params_.horizon >= next;
    return online_rank_rate(n, known ? params_.horizon : doubled_horizon(next), spread(n));
  }

  void want(ItemIndex item, double score) {
    counts_[item] += score;
    law_.set(item, counts_[item], counts_);
  }
  void end_round() {
    count_up(rounds_);
    follow_rate();
  }
  void follow_rate() {
    const double now = rate();
    if (now != rate_) {
      rate_ = now;
      law_.rescale(rate_, counts_);
    }
  }

  LearnReport learn_ranking(std::span<const ItemIndex> order) {
    // A lower rank number is better; Corollary 5.1 prints the ranks themselves.
    for (std::size_t i = 0; i < order.size(); ++i) {
      want(order[i], static_cast<double>(order.size() - 1 - i));
    }
    end_round();
    return LearnReport{.learned = 1};
  }

  OnlineRankParams params_;
  std::vector<double> counts_;  // whole numbers
  std::uint64_t rounds_ = 0;
  double rate_ = 0.0;  // follows from the others
  CountLaw law_;
};

}  // namespace

RankerInfo onlinerank_info() {
  return {
      .name = "onlinerank",
      .summary = "OnlineRank: counts what was chosen and sorts by noisy counts",
      .paper = "[Ailon13] Algorithm 1",
      .guarantee =
          "expected regret, in the sum of the positions of what was chosen, of at most n sqrt(T M "
          "log 2) against the best fixed order (Theorem 3.1); 1.57 times that without a known "
          "horizon",
      .assumptions =
          "one order for all queries; every item is in every list, and all of the list is seen",
      .law = ListLaw::kWholeList,
      .sublinear = true,
      .params = {{.name = "feedback",
                  .default_value = std::string("choices"),
                  .help = "what a round brings: chosen items, or also whole rankings of the list",
                  .words = {"choices", "rankings"}},
                 {.name = "choices",
                  .default_value = 1.0,
                  .help = "k: at most so many items are chosen in a round",
                  .minimum = 1.0,
                  .maximum = 1e6,
                  .whole_number = true},
                 {.name = "horizon",
                  .default_value = 0.0,
                  .help = "number of rounds to come; 0: not known, so that it is doubled",
                  .minimum = 0.0,
                  .maximum = 1e15,
                  .whole_number = true},
                 choice_set_spec()},
      .make = [](const ParamMap& params) -> Result<std::unique_ptr<Ranker>> {
        const OnlineRankParams parsed{
            .rankings = word(params, "feedback") == "rankings",
            .horizon = static_cast<std::uint64_t>(number(params, "horizon")),
            .choices = static_cast<std::uint64_t>(number(params, "choices"))};
        return std::unique_ptr<Ranker>(std::make_unique<OnlineRank>(choice_set_of(params), parsed));
      }};
}

}  // namespace hindsight
