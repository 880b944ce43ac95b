#include "tests/support/probe_ranker.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "src/core/bytes.h"
#include "src/core/check.h"

namespace hindsight::testing {

Description ProbeRanker::describe() const { return {{"phase", std::to_string(phase_)}}; }

double ProbeRanker::rate(ItemIndex item) const {
  return (wins_[item] + 1.0) / (probes_[item] + 2.0);
}

std::size_t ProbeRanker::draw_probe(std::size_t n, Rng& rng) const {
  if (fault_ == Fault::kDrawsUnlikeItsLaw) {
    return std::min(static_cast<std::size_t>(rng.below(n + 1)), n - 1);
  }
  const auto drawn = static_cast<std::size_t>(rng.below(n));
  return fault_ == Fault::kRemembersRanks ? (drawn + ranks_++) % n : drawn;
}

Result<Decision> ProbeRanker::do_rank(const Request& request, const Signals& /*signals*/,
                                      Rng& rng) const {
  const std::size_t n = request.candidates.size();
  ranks_ += fault_ == Fault::kCountsRanks ? 1 : 0;
  std::vector<double> scores(n);
  for (std::size_t i = 0; i < n; ++i) {
    scores[i] = rate(request.candidates[i]) + (request.prior.empty() ? 0.0 : request.prior[i]);
  }
  std::vector<std::size_t> order(n);
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto probe = order.begin() + static_cast<std::ptrdiff_t>(draw_probe(n, rng));
  std::rotate(order.begin(), probe, probe + 1);
  std::sort(order.begin() + 1, order.end(), [&](std::size_t a, std::size_t b) {
    return scores[a] != scores[b] ? scores[a] > scores[b]
                                  : request.candidates[a] < request.candidates[b];
  });
  Decision decision;
  decision.ranker = "probe";
  decision.shown_count = request.k;
  const double too_much = fault_ == Fault::kProbabilitiesSumTo101 ? 1.01 : 1.0;
  for (std::size_t i = 0; i < request.k; ++i) {
    decision.items.push_back(request.candidates[order[i]]);
    decision.score.push_back(scores[order[i]]);
    decision.prob_first.push_back(too_much / static_cast<double>(n));
    if (!request.prior.empty()) {
      decision.prior.push_back(request.prior[order[i]]);
    }
  }
  decision.log_propensity = -std::log(static_cast<double>(n)) +
                            (fault_ == Fault::kPropensityOffBy101 ? std::log(1.01) : 0.0);
  ByteWriter aux;
  aux.put(phase_);
  aux.put(decision.items[0]);
  decision.aux = aux.take();
  return decision;
}

Result<ProbeRanker::Probe> ProbeRanker::read_aux(const Decision& decision) const {
  Probe probe;
  ByteReader in(decision.aux);
  in.get(probe.phase);
  in.get(probe.item);
  if (!in.ok() || in.left() != 0 || probe.phase > phase_ || probe.item != decision.items[0]) {
    return Error{ErrorCode::kInvalidArgument, "this aux was not written by this ranker", "aux"};
  }
  return probe;
}

Result<LearnReport> ProbeRanker::do_learn(const Decision& decision, const Feedback& feedback,
                                          const Signals& /*signals*/) {
  const auto clicks = static_cast<std::uint32_t>(feedback.clicked.size());
  if (fault_ == Fault::kLearnsBeforeChecking) {
    ++closed_in_phase_;
  }
  const auto probe = read_aux(decision);
  if (!probe.ok()) {
    return probe.error();
  }
  growing_ *= fault_ == Fault::kOverflows ? 2.0 : 1.0;
  if (!feedback.closed || probe->phase != phase_) {
    return LearnReport{.learned = 0, .ignored = clicks};
  }
  const bool won = std::find(feedback.clicked.begin(), feedback.clicked.end(), probe->item) !=
                   feedback.clicked.end();
  ++probes_[probe->item];
  wins_[probe->item] += won ? 1 : 0;
  constexpr std::uint32_t kPhaseLength = 8;
  if (++closed_in_phase_ >= kPhaseLength) {
    ++phase_;
    closed_in_phase_ = 0;
  }
  return LearnReport{.learned = clicks > 0 ? 1U : 0U, .ignored = clicks > 0 ? clicks - 1 : 0};
}

void ProbeRanker::do_add_items(std::span<const Item> /*items*/) {
  probes_.resize(items_added(), 0);
  wins_.resize(items_added(), 0);
}

void ProbeRanker::do_save(ByteWriter& out) const {
  out.put(phase_);
  out.put(closed_in_phase_);
  out.put(probes_);
  out.put(fault_ == Fault::kLosesWins ? std::vector<std::uint32_t>(wins_.size(), 0) : wins_);
  out.put(growing_);
  if (fault_ == Fault::kCountsRanks) {
    out.put(ranks_.load());
  }
}

Result<void> ProbeRanker::do_load(ByteReader& in) {
  in.get(phase_);
  in.get(closed_in_phase_);
  in.get(probes_);
  in.get(wins_);
  in.get(growing_);
  if (fault_ == Fault::kCountsRanks) {
    std::uint32_t ranks = 0;
    in.get(ranks);
    ranks_ = ranks;
  }
  if (fault_ == Fault::kAcceptsCutSaves) {
    probes_.resize(items_added(), 0);
    wins_.resize(items_added(), 0);
    growing_ = 1.0;
    return {};
  }
  HINDSIGHT_RETURN_IF_ERROR(in.check("probe ranker"));
  const bool fits =
      probes_.size() == items_added() && wins_.size() == items_added() && std::isfinite(growing_);
  return fits ? Result<void>()
              : Error{ErrorCode::kCorrupt, "the saved counts do not fit the items", ""};
}

}  // namespace hindsight::testing
