#include "src/rankers/recurrank.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "src/core/bytes.h"
#include "src/core/check.h"
#include "src/core/det_math.h"
#include "src/core/recur_rank.h"
#include "src/rankers/scored_ranker.h"

namespace hindsight {
namespace {

constexpr const char* kName = "recurrank";

std::vector<std::byte> write_aux(const RecurRank::Probes& probes) {
  ByteWriter out;
  for (const RecurRank::Probe& probe : probes) {
    out.put(probe.serial);
    out.put(probe.place);
    out.put(probe.support);
  }
  return out.take();
}

/// FAILS: kInvalidArgument (bytes that no decision of this ranker has)
Result<RecurRank::Probes> read_aux(const Decision& decision) {
  constexpr std::size_t kProbeBytes = 16;
  RecurRank::Probes probes;
  ByteReader in(decision.aux);
  bool sane = decision.aux.size() % kProbeBytes == 0;
  while (sane && in.left() > 0) {
    RecurRank::Probe probe;
    in.get(probe.serial);
    in.get(probe.place);
    in.get(probe.support);
    sane =
        probe.place < decision.shown_count && (probes.empty() || probe.place > probes.back().place);
    probes.push_back(probe);
  }
  if (!sane) {
    return Error{ErrorCode::kInvalidArgument, "this is not a decision of recurrank",
                 "decision.aux"};
  }
  return probes;
}

class RecurRankRanker final : public Ranker {
 public:
  explicit RecurRankRanker(const RecurRankParams& params) : machine_(params) {}

  Description describe() const override {
    Description lines = {{"items", std::to_string(items_live())},
                         {"runs begun", std::to_string(machine_.runs())},
                         {"rounds of this run", std::to_string(machine_.rounds())},
                         {"blocks", std::to_string(machine_.blocks().size())}};
    if (machine_.begun()) {
      const RecurRank::Block& last = machine_.blocks().back();
      lines.emplace_back("items of the last block", std::to_string(last.items.size()));
      lines.emplace_back("phase of the last block", std::to_string(last.phase));
    }
    return lines;
  }
  double item_score(ItemIndex item) const override { return machine_.estimate(item); }
  std::size_t memory_bytes() const override {
    return Ranker::memory_bytes() + machine_.vectors().memory_bytes();
  }

 protected:
  Result<Decision> do_rank(const Request& request, const Signals& /*signals*/,
                           Rng& rng) const override {
    const std::vector<std::uint8_t> available = availability(request);
    Decision decision;
    RecurRank::Probes probes;
    machine_.draw(available, request.k, rng, decision.items, probes);
    decision.ranker = kName;
    decision.shown_count = request.k;
    double log_prob = 0.0;
    for (const RecurRank::Probe& probe : probes) {
      log_prob += det_log(probe.share);
    }
    decision.log_propensity = std::min(log_prob, 0.0);
    for (const ItemIndex item : decision.items) {
      decision.score.push_back(machine_.estimate(item));
      decision.prob_first.push_back(machine_.first_probability(available, item));
    }
    decision.aux = write_aux(probes);
    return decision;
  }

  Result<ListProbability> do_list_probability(const Request& request, const Signals& /*signals*/,
                                              std::span<const std::uint32_t> order) const override {
    const std::vector<std::uint8_t> available = availability(request);
    std::vector<ItemIndex> list;
    for (const std::uint32_t i : order) {
      list.push_back(request.candidates[i]);
    }
    const auto log_list = machine_.log_probability(available, request.k, list);
    return ListProbability{.first = machine_.first_probability(available, list.front()),
                           .log_list = log_list.value_or(-std::numeric_limits<double>::infinity())};
  }

  Result<LearnReport> do_learn(const Decision& decision, const Feedback& feedback,
                               const Signals& /*signals*/) override {
    RecurRank::Probes probes;
    if (decision.ranker == kName) {
      HINDSIGHT_ASSIGN_OR_RETURN(probes, read_aux(decision));
    }
    for (const RecurRank::Probe& probe : probes) {
      if (machine_.fit(probe, decision.items[probe.place]) == RecurRank::Fit::kWrong) {
        return Error{ErrorCode::kInvalidArgument,
                     "no block of this ranker has put this item on this place", "decision.aux"};
      }
    }
    const auto clicks = static_cast<std::uint32_t>(feedback.clicked.size());
    if (!feedback.closed) {  // what is not clicked yet may still be
      return LearnReport{.ignored = clicks};
    }
    LearnReport report{.ignored = clicks};
    if (!machine_.begun()) {
      machine_.begin();
      return report;
    }
    for (const RecurRank::Probe& probe : probes) {
      const ItemIndex item = decision.items[probe.place];
      if (machine_.fit(probe, item) != RecurRank::Fit::kWanted) {
        continue;
      }
      const bool clicked = std::find(feedback.clicked.begin(), feedback.clicked.end(), item) !=
                           feedback.clicked.end();
      machine_.observe(probe, clicked);
      report.learned += clicked ? 1 : 0;
      report.ignored -= clicked ? 1 : 0;
    }
    if (decision.ranker == kName) {
      machine_.end_round();
    }
    return report;
  }

  Result<void> check_items(std::span<const Item> items) const override {
    return machine_.vectors().check(items);
  }
  void do_add_items(std::span<const Item> items) override {
    for (const Item& item : items) {
      machine_.add(item);
    }
  }
  void do_remove_items(std::span<const ItemIndex> items) override {
    for (const ItemIndex item : items) {
      machine_.remove(item);
    }
  }
  void do_save(ByteWriter& out) const override { machine_.save(out); }
  Result<void> do_load(ByteReader& in) override {
    HINDSIGHT_RETURN_IF_ERROR(machine_.load(in));
    bool fits = machine_.vectors().size() == items_added();
    for (std::size_t i = 0; fits && i < items_added(); ++i) {
      const auto item = static_cast<ItemIndex>(i);
      fits = machine_.is_there(item) == is_live(item);
    }
    return fits ? Result<void>()
                : Error{ErrorCode::kCorrupt, "the saved blocks do not fit the items", "blocks"};
  }

 private:
  /// A 1 for every candidate; empty where all live items are.
  std::vector<std::uint8_t> availability(const Request& request) const {
    std::vector<std::uint8_t> available;
    if (request.candidates.size() < items_live()) {
      available.resize(items_added(), 0);
      for (const ItemIndex item : request.candidates) {
        available[item] = 1;
      }
    }
    return available;
  }

  RecurRank machine_;
};

}  // namespace

RankerInfo recurrank_info() {
  return {
      .name = kName,
      .summary = "RecurRank: blocks of places that find out side by side which items they show",
      .paper = "[Li19] Algorithm 1",
      .guarantee =
          "expected regret of O(K sqrt(d T log(L T))) clicks against the most attractive "
          "items in their order (Theorem 1), up to a constant factor without a known "
          "horizon",
      .assumptions =
          "attractiveness linear in the items' features; how far a list is read depends "
          "on the set of items above only, falls along the list and is least on the "
          "best one (Assumptions 1 to 3); one order for all queries",
      .learns = Learns::kOnClose,
      .law = ListLaw::kDeterministic,
      .params = {{.name = "positions",
                  .default_value = 10.0,
                  .help = "K: the places that are learned",
                  .minimum = 1.0,
                  .maximum = static_cast<double>(RecurRank::kMaxPositions),
                  .whole_number = true},
                 horizon_spec("number of rounds to come; 0: not known, so that it is doubled"),
                 {.name = "design",
                  .default_value = std::string("g-optimal"),
                  .help = "how probes are spread: the best spread, or a volumetric spanner",
                  .words = {"g-optimal", "spanner"}},
                 {.name = "elimination",
                  .default_value = std::string("mth-best"),
                  .help = "an item goes when it lies below the m-th best, or only at a gap between "
                          "neighbours, as printed",
                  .words = {"mth-best", "printed"}}},
      .make = [](const ParamMap& params) -> Result<std::unique_ptr<Ranker>> {
        const RecurRankParams parsed{
            .positions = static_cast<std::size_t>(number(params, "positions")),
            .horizon = static_cast<std::uint64_t>(number(params, "horizon")),
            .printed_rule = word(params, "elimination") == "printed",
            .spanner = word(params, "design") == "spanner"};
        return std::unique_ptr<Ranker>(std::make_unique<RecurRankRanker>(parsed));
      }};
}

}  // namespace hindsight
