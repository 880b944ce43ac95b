#include "src/cli/aggregation.h"

#include <numeric>
#include <string>

#include "hindsight/registry.h"
#include "src/core/check.h"
#include "src/core/choice_rate.h"
#include "src/core/order_loss.h"

namespace hindsight::cli {

Aggregation::Aggregation(std::size_t items, std::uint64_t seed)
    : seed_(seed),
      ranker_(*make_ranker("onlinerank", {{"feedback", std::string("rankings")}})),
      all_(items),
      totals_(items, 0.0),
      scores_(items, 0.0) {
  HINDSIGHT_CHECK(items >= 2);
  std::iota(all_.begin(), all_.end(), 0U);
  std::vector<Item> added(items);
  for (const ItemIndex item : all_) {
    added[item].index = item;
  }
  HINDSIGHT_CHECK(ranker_->add_items(added).ok());
}

Result<void> Aggregation::add(std::span<const ItemIndex> ranking) {
  HINDSIGHT_CHECK(ranking.size() == all_.size());
  Request request;
  request.decision = {.source = 1, .counter = rankings_ + 1};
  request.candidates = all_;
  request.k = all_.size();
  Rng rng = Rng::for_decision(seed_, request.decision);
  HINDSIGHT_ASSIGN_OR_RETURN(const Decision list, ranker_->rank(request, signals_, rng));
  for (std::size_t i = 0; i < ranking.size(); ++i) {
    scores_[ranking[i]] = static_cast<double>(ranking.size() - 1 - i);
  }
  Feedback feedback;
  feedback.decision = list.id;
  feedback.full_order.assign(ranking.begin(), ranking.end());
  HINDSIGHT_RETURN_IF_ERROR(ranker_->learn(list, feedback, signals_));
  loss_ += position_loss(list.items, scores_);
  for (std::size_t i = 0; i < totals_.size(); ++i) {
    totals_[i] += scores_[i];
  }
  ++rankings_;
  return {};
}

// With positions p and q from 0, both permutations: rho = 1 - 6 sum (p - q)^2 / (n (n^2 - 1)), and
// the loss is the sum of p (n - 1 - q).
double Aggregation::spearman(double mean_loss) const {
  const auto n = static_cast<double>(all_.size());
  const double squares = (n - 1.0) * n * (2.0 * n - 1.0) / 6.0;
  const double products = (n - 1.0) * n * (n - 1.0) / 2.0 - mean_loss;
  return 1.0 - 12.0 * (squares - products) / (n * (n * n - 1.0));
}

Standing Aggregation::standing() const {
  HINDSIGHT_CHECK(rankings_ > 0);
  const auto rounds = static_cast<double>(rankings_);
  const std::uint64_t n = all_.size();
  const std::uint64_t size = rate_size(n);
  const double best = position_loss(best_order(totals_), totals_);
  const double off =
      online_rank_rate(size, 1, ranking_spread(size)) / online_rank_rate(n, 1, ranking_spread(n));
  return {.rankings = rankings_,
          .online = spearman(loss_ / rounds),
          .best = spearman(best / rounds),
          .regret = loss_ - best,
          .bound = rate_factor(off, false) * online_rank_bound(n, rankings_, ranking_spread(n))};
}

std::vector<ItemIndex> Aggregation::consensus() const { return best_order(totals_); }

double Aggregation::mean_rank(ItemIndex item) const {
  return static_cast<double>(all_.size()) - totals_[item] / static_cast<double>(rankings_);
}

}  // namespace hindsight::cli
