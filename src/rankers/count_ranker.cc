#include "src/rankers/count_ranker.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "src/core/bytes.h"
#include "src/core/check.h"
#include "src/core/choice_rate.h"
#include "src/core/kernels.h"

namespace hindsight {

CountRanker::CountRanker(ListOptions list, const CountOptions& counting)
    : ScoredRanker(std::move(list)), counting_(counting) {
  HINDSIGHT_CHECK(counting.rate != nullptr && counting.bound != nullptr && counting.choices > 0);
}

Description CountRanker::describe() const {
  const std::uint64_t n = std::max<std::size_t>(items_live(), 1);
  const double best = counting_.rate(n, 1, spread(n));
  const std::uint64_t size = rate_size(items_added());
  const double factor =
      best > 0.0 ? rate_factor(counting_.rate(size, 1, spread(size)) / best, knows_horizon()) : 1.0;
  return {{"items", std::to_string(items_live())},
          {"rounds learned", std::to_string(rounds_)},
          {"learning rate", pretty(rate_)},
          {"bound on the expected regret in positions, these items in every list",
           pretty(factor *
                  counting_.bound(n, knows_horizon() ? counting_.horizon : rounds_, spread(n)))}};
}

void CountRanker::score(const Request& request, const Signals& /*signals*/,
                        const FeatureRows& /*features*/, std::span<double> out) const {
  gather_scaled(counts_, request.candidates, rate_, out);
}

bool CountRanker::draws_from_tree() const {
  return options().choice_set == ChoiceSet::kShown && options().sort == ListSort::kPlackettLuce;
}

Result<Decision> CountRanker::do_rank_library(const Request& request, const Signals& signals,
                                              Rng& rng) const {
  return draws_from_tree() ? rank_by_tree(law_.tree(), law_.shift(), request, rng)
                           : ScoredRanker::do_rank_library(request, signals, rng);
}

Result<ListProbability> CountRanker::do_library_probability(const Request& request,
                                                            const Signals& signals,
                                                            std::span<const ItemIndex> list) const {
  return draws_from_tree() ? probability_by_tree(law_.tree(), request, list)
                           : ScoredRanker::do_library_probability(request, signals, list);
}

Result<LearnReport> CountRanker::do_learn(const Decision& /*decision*/, const Feedback& feedback,
                                          const Signals& /*signals*/) {
  if (counting_.rankings && !feedback.full_order.empty()) {
    return learn_ranking(feedback.full_order);
  }
  const std::span<const ItemIndex> clicked = feedback.clicked;
  for (std::size_t begin = 0; begin < clicked.size(); begin += counting_.choices) {
    for (const ItemIndex item :
         clicked.subspan(begin, std::min<std::size_t>(counting_.choices, clicked.size() - begin))) {
      want(item, 1.0);
    }
    end_round();
  }
  return LearnReport{.learned = static_cast<std::uint32_t>(clicked.size())};
}

LearnReport CountRanker::learn_ranking(std::span<const ItemIndex> order) {
  // A lower rank number is better; Corollary 5.1 prints the ranks themselves.
  for (std::size_t i = 0; i < order.size(); ++i) {
    want(order[i], static_cast<double>(order.size() - 1 - i));
  }
  end_round();
  return LearnReport{.learned = 1};
}

void CountRanker::do_add_items(std::span<const Item> /*items*/) {
  counts_.resize(items_added(), 0.0);
  law_.grow(items_added());
  follow_rate();
}

void CountRanker::do_remove_items(std::span<const ItemIndex> items) {
  for (const ItemIndex item : items) {
    law_.remove(item);
  }
}

void CountRanker::do_save(ByteWriter& out) const {
  out.put(counts_);
  out.put(rounds_);
  out.put(law_.shift());
}

Result<void> CountRanker::do_load(ByteReader& in) {
  double shift = 0.0;
  in.get(counts_);
  in.get(rounds_);
  in.get(shift);
  HINDSIGHT_RETURN_IF_ERROR(in.check("counts"));
  const double most =
      static_cast<double>(rounds_) * (counting_.rankings ? static_cast<double>(kMaxItems) : 1.0);
  const bool sane = counts_.size() == items_added() && rounds_ <= kMaxCount &&
                    std::all_of(counts_.begin(), counts_.end(),
                                [most](double count) { return count >= 0.0 && count <= most; });
  if (!sane) {
    return Error{ErrorCode::kCorrupt, "the saved counts do not fit the items", "counts"};
  }
  rate_ = rate();
  return law_.load(shift, rate_, counts_, [this](ItemIndex item) { return is_live(item); });
}

double CountRanker::spread(std::uint64_t n) const {
  return counting_.rankings ? ranking_spread(n) : choice_spread(n, std::min(counting_.choices, n));
}

double CountRanker::rate() const {
  const std::uint64_t n = rate_size(items_added());
  const std::uint64_t next = rounds_ + 1;
  const bool known = counting_.horizon >= next;
  return counting_.rate(n, known ? counting_.horizon : doubled_horizon(next), spread(n));
}

void CountRanker::want(ItemIndex item, double score) {
  counts_[item] += score;
  law_.set(item, counts_[item], counts_);
}

void CountRanker::end_round() {
  count_up(rounds_);
  follow_rate();
}

void CountRanker::follow_rate() {
  const double now = rate();
  if (now != rate_) {
    rate_ = now;
    law_.rescale(rate_, counts_);
  }
}

std::vector<ParamSpec> count_params(ParamSpec own) {
  return {std::move(own),
          {.name = "feedback",
           .default_value = std::string("choices"),
           .help = "what a round brings: chosen items, or also whole rankings of the list",
           .words = {"choices", "rankings"}},
          {.name = "choices",
           .default_value = 1.0,
           .help = "k: at most so many items are chosen in a round",
           .minimum = 1.0,
           .maximum = 1e6,
           .whole_number = true},
          horizon_spec("number of rounds to come; 0: not known, so that it is doubled"),
          choice_set_spec()};
}

CountOptions count_options(const ParamMap& params) {
  return {.rankings = word(params, "feedback") == "rankings",
          .horizon = static_cast<std::uint64_t>(number(params, "horizon")),
          .choices = static_cast<std::uint64_t>(number(params, "choices"))};
}

}  // namespace hindsight
