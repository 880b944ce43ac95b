#include "src/rankers/duel_ranker.h"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "src/core/bytes.h"
#include "src/core/check.h"
#include "src/core/duel_step.h"
#include "src/core/feature_weights.h"
#include "src/core/interleaving.h"
#include "src/core/kernels.h"
#include "src/core/scratch.h"
#include "src/core/sorted_policy.h"
#include "src/core/unit_vector.h"
#include "src/rankers/feature_source.h"
#include "src/rankers/scored_ranker.h"

namespace hindsight {
namespace {

enum class Interleaving : std::uint8_t { kTeamDraft, kBalanced, kProbabilistic };

struct DuelParams {
  std::string name;
  ChoiceSet choice_set = ChoiceSet::kShown;
  WeightSpace space;
  DuelSteps steps;
  std::size_t rivals = 1;
  std::uint64_t samples = 1;  // lists that are compared before an update
  Interleaving interleaving = Interleaving::kTeamDraft;
  double feature_bound = 1.0;
};

/// What a decision remembers of its duel.
struct DuelAux {
  std::uint64_t seed = 0;   // of the directions
  std::uint64_t batch = 0;  // updates before the list was made
  std::uint64_t next_seed = 0;
  ColumnCounts columns = {};
  std::vector<std::uint8_t> team = {};  // of each place; 0: the current weights
  /// Balanced interleaving: the ranks of each place's item in both orders.
  std::array<std::vector<std::uint16_t>, 2> ranks = {};

  std::vector<std::byte> bytes() const {
    ByteWriter out;
    out.reserve(size(team.size(), !ranks[0].empty()));
    out.put(seed);
    out.put(batch);
    out.put(next_seed);
    out.put(static_cast<std::uint32_t>(columns.dense));
    out.put(static_cast<std::uint32_t>(columns.sparse));
    out.put(team);
    if (!ranks[0].empty()) {
      out.put(ranks[0]);
      out.put(ranks[1]);
    }
    return out.take();
  }
  static constexpr std::size_t size(std::size_t shown, bool balanced) {
    constexpr std::size_t kFixedBytes = 3 * 8 + 2 * 4 + 8;
    return kFixedBytes + shown + (balanced ? 2 * (8 + 2 * shown) : 0);
  }
};

constexpr const char* kForeignAux = "aux is not that of a list of this ranker";

/// The longest list whose aux a decision can hold.
constexpr std::size_t max_shown(bool balanced) {
  const std::size_t left = Decision::kMaxAuxBytes - DuelAux::size(0, balanced);
  return left / (DuelAux::size(1, balanced) - DuelAux::size(0, balanced));
}

class DuelRanker final : public Ranker {
 public:
  explicit DuelRanker(DuelParams params)
      : params_(std::move(params)), source_(params_.feature_bound), lead_(params_.rivals, 0) {}

  Description describe() const override {
    return {{"items", std::to_string(items_live())},
            {"feature columns", std::to_string(weights_.columns().total())},
            {"lists compared", std::to_string(compared_)},
            {"updates", std::to_string(updates_)},
            {"steps taken", std::to_string(steps_)},
            {"length of the weights", pretty(weights_.norm())}};
  }
  std::size_t memory_bytes() const override {
    return Ranker::memory_bytes() + source_.memory_bytes();
  }
  double item_score(ItemIndex item) const override {
    double score = 0.0;
    weights_.scores(source_.rows_of(std::span(&item, 1)), std::span(&score, 1));
    return score;
  }

 protected:
  Result<Decision> do_rank(const Request& request, const Signals& /*signals*/,
                           Rng& rng) const override {
    if (const std::size_t most = max_shown(balanced()); request.k > most) {
      return Error{ErrorCode::kTooLarge,
                   "this ranker shows at most " + std::to_string(most) + " items", "k"};
    }
    HINDSIGHT_ASSIGN_OR_RETURN(const FeatureRows features, source_.collect(request));
    DuelAux aux{.batch = updates_, .next_seed = rng.next_u64(), .team = {}};
    aux.seed = params_.samples == 1 ? aux.next_seed : batch_seed_;
    FeatureWeights grown;
    const ColumnCounts columns = columns_of(features);
    const bool enough = weights_.holds(columns);
    if (!enough) {
      grown = weights_;
      grown.grow(columns);
    }
    const FeatureWeights& current = enough ? weights_ : grown;
    aux.columns = current.columns();
    Scratch<double> scratch(request.candidates.size());
    const std::span<double> scores = scratch.values();
    HINDSIGHT_ASSIGN_OR_RETURN(const std::vector<DocumentOrder> rankings,
                               rank_all(request, features, current, aux.seed, scores, rng));
    Interleaved made = interleave(rankings, request.k, rng);
    aux.team = std::move(made.team);
    if (balanced()) {
      aux.ranks = {ranks_of_list(rankings[0], made.list), ranks_of_list(rankings[1], made.list)};
    }
    return decide(request, features, scores, std::move(made.list), aux);
  }

  Result<LearnReport> do_learn(const Decision& decision, const Feedback& feedback,
                               const Signals& /*signals*/) override {
    const auto clicks = static_cast<std::uint32_t>(feedback.clicked.size());
    if (decision.ranker != params_.name) {  // a list in which nobody has duelled
      return LearnReport{.learned = 0, .ignored = clicks};
    }
    HINDSIGHT_ASSIGN_OR_RETURN(const DuelAux aux, read_aux(decision));
    const bool too_late = params_.samples > 1 && aux.batch != updates_;
    if (!feedback.closed || too_late) {
      return LearnReport{.learned = 0, .ignored = clicks};
    }
    compare(aux, places_of(decision, feedback.clicked));
    count_up(compared_);
    if (++in_batch_ >= params_.samples) {
      update(aux);
    }
    return LearnReport{.learned = clicks};
  }

  Result<void> check_items(std::span<const Item> items) const override {
    return source_.check_items(items);
  }
  void do_add_items(std::span<const Item> items) override { source_.put(items); }

  void do_save(ByteWriter& out) const override {
    weights_.save(out);
    source_.save(out);
    out.put(lead_);
    for (const std::uint64_t count : {batch_seed_, in_batch_, compared_, updates_, steps_}) {
      out.put(count);
    }
  }
  Result<void> do_load(ByteReader& in) override {
    HINDSIGHT_RETURN_IF_ERROR(weights_.load(in));
    HINDSIGHT_RETURN_IF_ERROR(source_.load(in));
    in.get(lead_);
    for (std::uint64_t* count : {&batch_seed_, &in_batch_, &compared_, &updates_, &steps_}) {
      in.get(*count);
    }
    HINDSIGHT_RETURN_IF_ERROR(in.check("counts"));
    const auto most = static_cast<std::int64_t>(in_batch_);
    const bool fits =
        source_.size() == items_added() && lead_.size() == params_.rivals &&
        in_batch_ < params_.samples && compared_ <= kMaxCount && updates_ <= kMaxCount &&
        steps_ <= updates_ && weights_.norm() <= 2.0 * params_.space.radius &&
        std::all_of(lead_.begin(), lead_.end(),
                    [most](std::int64_t lead) { return lead >= -most && lead <= most; });
    if (!fits) {
      return Error{ErrorCode::kCorrupt, "the saved model's parts do not fit together", ""};
    }
    return {};
  }

 private:
  bool balanced() const { return params_.interleaving == Interleaving::kBalanced; }

  Interleaved interleave(const std::vector<DocumentOrder>& rankings, std::size_t k,
                         Rng& rng) const {
    switch (params_.interleaving) {
      case Interleaving::kTeamDraft:
        break;
      case Interleaving::kBalanced:
        return balanced_interleaving(rankings[0], rankings[1], k, rng);
      case Interleaving::kProbabilistic:
        return probabilistic_interleaving(rankings[0], rankings[1], k, rng);
    }
    return team_draft(rankings, k, rng);
  }

  /// Books who won the list; a tie counts for nobody.
  void compare(const DuelAux& aux, std::span<const std::uint32_t> clicked_places) {
    const auto book = [](auto current, auto rival, std::int64_t& lead) {
      lead += rival > current ? 1 : rival < current ? -1 : 0;
    };
    if (balanced()) {
      const auto credit = balanced_credit(aux.ranks[0], aux.ranks[1], clicked_places);
      book(credit[0], credit[1], lead_[0]);
      return;
    }
    const auto credit = team_credit(aux.team, clicked_places, params_.rivals + 1);
    for (std::size_t i = 0; i < params_.rivals; ++i) {
      book(credit[0], credit[i + 1], lead_[i]);
    }
  }

  /// The orders of the current weights and of each rival; `scores` become those of the current.
  Result<std::vector<DocumentOrder>> rank_all(const Request& request, const FeatureRows& features,
                                              const FeatureWeights& current, std::uint64_t seed,
                                              std::span<double> scores, Rng& rng) const {
    const std::size_t n = request.candidates.size();
    std::vector<DocumentOrder> rankings;
    rankings.reserve(params_.rivals + 1);
    const auto add = [&](const FeatureWeights& weights, std::span<double> out) -> Result<void> {
      weights.scores(features, out);
      add_prior(request.prior, out);
      HINDSIGHT_ASSIGN_OR_RETURN(DocumentOrder order, sort_with_random_ties(out, n, rng));
      rankings.push_back(std::move(order));
      return {};
    };
    HINDSIGHT_RETURN_IF_ERROR(add(current, scores));
    Scratch<double> rival_scores(n);
    Scratch<double> scratch(current.columns().total());
    const std::span<double> direction = scratch.values();
    Rng directions(seed);
    for (std::size_t i = 0; i < params_.rivals; ++i) {
      FeatureWeights rival = current;
      if (!direction.empty()) {
        draw_unit_vector(directions, direction);
        rival.move(params_.space, direction, params_.steps.probe);
      }
      HINDSIGHT_RETURN_IF_ERROR(add(rival, rival_scores.values()));
    }
    return rankings;
  }

  Decision decide(const Request& request, const FeatureRows& features,
                  std::span<const double> scores, DocumentOrder order, const DuelAux& aux) const {
    Decision decision;
    decision.ranker = params_.name;
    decision.choice_set = params_.choice_set;
    decision.shown_count = request.k;
    decision.aux = aux.bytes();
    if (params_.choice_set == ChoiceSet::kCandidates) {
      append_the_rest(order, request.candidates.size());
    }
    write_candidates(request, scores, features, !request.prior.empty(), order, decision);
    return decision;
  }

  /// FAILS: kInvalidArgument (aux that does not fit the decision)
  Result<DuelAux> read_aux(const Decision& decision) const {
    ByteReader in(decision.aux);
    DuelAux aux;
    std::uint32_t dense = 0;
    std::uint32_t sparse = 0;
    in.get(aux.seed);
    in.get(aux.batch);
    in.get(aux.next_seed);
    in.get(dense);
    in.get(sparse);
    in.get(aux.team);
    aux.columns = {dense, sparse};
    for (std::vector<std::uint16_t>& ranks : aux.ranks) {
      if (balanced() && (!in.get(ranks) || !ranks_fit(ranks, decision.shown_count))) {
        return Error{ErrorCode::kInvalidArgument, kForeignAux, "decision.aux"};
      }
    }
    const bool fits = in.ok() && in.left() == 0 && aux.team.size() == decision.shown_count &&
                      aux.columns.dense <= kMaxDenseColumns &&
                      aux.columns.sparse <= kMaxDenseColumns &&
                      std::all_of(aux.team.begin(), aux.team.end(),
                                  [this](std::uint8_t team) { return team <= params_.rivals; });
    if (!fits) {
      return Error{ErrorCode::kInvalidArgument, kForeignAux, "decision.aux"};
    }
    return aux;
  }

  static bool ranks_fit(std::span<const std::uint16_t> ranks, std::size_t shown) {
    return ranks.size() == shown && std::all_of(ranks.begin(), ranks.end(),
                                                [&](std::uint16_t rank) { return rank <= shown; });
  }

  /// [Schuth16] MGD-M: a step along the mean direction of the rivals that won; of one rival,
  /// [Yue09] Algorithm 1 line 7.
  void update(const DuelAux& aux) {
    const auto winners =
        std::count_if(lead_.begin(), lead_.end(), [](std::int64_t lead) { return lead > 0; });
    if (winners > 0 && aux.columns.total() > 0) {
      step_towards_winners(aux, static_cast<double>(winners));
      count_up(steps_);
    }
    std::fill(lead_.begin(), lead_.end(), 0);
    in_batch_ = 0;
    batch_seed_ = aux.next_seed;
    count_up(updates_);
  }

  void step_towards_winners(const DuelAux& aux, double winners) {
    weights_.grow(aux.columns);
    const ColumnCounts now = weights_.columns();
    std::vector<double> direction(aux.columns.total());
    std::vector<double> mean(now.total(), 0.0);
    Rng directions(aux.seed);
    for (const std::int64_t lead : lead_) {
      draw_unit_vector(directions, direction);
      for (std::size_t j = 0; j < direction.size() && lead > 0; ++j) {
        // Columns may have come since the list was made: dense ones stand before the sparse.
        const std::size_t column = j < aux.columns.dense ? j : j - aux.columns.dense + now.dense;
        mean[column] += direction[j] / winners;
      }
    }
    weights_.move(params_.space, mean, params_.steps.step);
  }

  DuelParams params_;
  FeatureSource source_;
  FeatureWeights weights_;
  std::vector<std::int64_t> lead_;  // of each rival over the current weights, in this batch
  std::uint64_t batch_seed_ = 1;    // of the directions, where lists share them
  std::uint64_t in_batch_ = 0;
  std::uint64_t compared_ = 0;
  std::uint64_t updates_ = 0;
  std::uint64_t steps_ = 0;
};

std::vector<ParamSpec> duel_params() {
  return {{.name = "delta",
           .default_value = 1.0,
           .help = "how far from the current weights a rival is tried",
           .minimum = 0.0,
           .minimum_excluded = true,
           .maximum = 1e6},
          {.name = "gamma",
           .default_value = 0.01,
           .help = "how far the weights move towards rivals that won",
           .minimum = 0.0,
           .minimum_excluded = true,
           .maximum = 1e6},
          {.name = "space",
           .default_value = std::string("sphere"),
           .help = "where the weights live: on the unit sphere, or in the ball of that radius",
           .words = {"sphere", "ball"}},
          {.name = "radius",
           .default_value = 10.0,
           .help = "R: of the ball",
           .minimum = 0.0,
           .minimum_excluded = true,
           .maximum = 1e4},
          feature_bound_spec(),
          choice_set_spec()};
}

DuelParams parse(const char* name, const ParamMap& params) {
  const bool ball = word(params, "space") == "ball";
  return {.name = name,
          .choice_set = choice_set_of(params),
          .space = {.kind = ball ? WeightSpace::Kind::kBall : WeightSpace::Kind::kSphere,
                    .radius = ball ? number(params, "radius") : 1.0},
          .steps = {.probe = number(params, "delta"), .step = number(params, "gamma")},
          .feature_bound = number(params, "feature_bound")};
}

constexpr const char* kAssumptions =
    "comparisons follow a smooth link of a strictly concave value of the weights, in a ball; "
    "linear scores that are sorted break this: the value of an order jumps, and is the same along "
    "a ray ([Yue09] 5.2; [Oosterhuis19] shows that no common ranking model meets it)";

}  // namespace

RankerInfo dbgd_info() {
  std::vector<ParamSpec> specs = duel_params();
  specs.push_back({.name = "samples",
                   .default_value = 1.0,
                   .help = "lists that are compared before an update; they share a rival",
                   .minimum = 1.0,
                   .maximum = 1e6,
                   .whole_number = true});
  specs.push_back({.name = "interleaving",
                   .default_value = std::string("team-draft"),
                   .help = "how a list is made of two orders",
                   .words = {"team-draft", "balanced", "probabilistic"}});
  return {.name = "dbgd",
          .summary =
              "Dueling bandit gradient descent: interleaves its order with a rival's, and "
              "moves the features' weights towards the rival if that gets more clicks",
          .paper = "[Yue09] Algorithm 1",
          .guarantee =
              "expected regret of at most 2 lambda_T T^(3/4) sqrt(26 R d L) in duels lost to the "
              "best fixed weights (Theorem 2), with its step sizes and under its assumptions; none "
              "for lists in general",
          .assumptions = kAssumptions,
          .learns = Learns::kOnClose,
          .law = ListLaw::kNotStated,
          .params = std::move(specs),
          .make = [](const ParamMap& params) -> Result<std::unique_ptr<Ranker>> {
            DuelParams parsed = parse("dbgd", params);
            parsed.samples = static_cast<std::uint64_t>(number(params, "samples"));
            const std::string& way = word(params, "interleaving");
            parsed.interleaving = way == "balanced"        ? Interleaving::kBalanced
                                  : way == "probabilistic" ? Interleaving::kProbabilistic
                                                           : Interleaving::kTeamDraft;
            return std::unique_ptr<Ranker>(std::make_unique<DuelRanker>(std::move(parsed)));
          }};
}

RankerInfo mgd_info() {
  std::vector<ParamSpec> specs = duel_params();
  specs.push_back({.name = "rivals",
                   .default_value = 9.0,
                   .help = "orders that are compared with the current one in every list",
                   .minimum = 1.0,
                   .maximum = static_cast<double>(kMaxTeams - 1),
                   .whole_number = true});
  return {.name = "mgd",
          .summary =
              "Multileave gradient descent: one list of the current order and several "
              "rivals', and a step towards the mean of those with more clicks",
          .paper = "[Schuth16] Algorithm 1 (MGD-M)",
          .guarantee = "none",
          .assumptions = kAssumptions,
          .learns = Learns::kOnClose,
          .law = ListLaw::kNotStated,
          .params = std::move(specs),
          .make = [](const ParamMap& params) -> Result<std::unique_ptr<Ranker>> {
            DuelParams parsed = parse("mgd", params);
            parsed.rivals = static_cast<std::size_t>(number(params, "rivals"));
            return std::unique_ptr<Ranker>(std::make_unique<DuelRanker>(std::move(parsed)));
          }};
}

}  // namespace hindsight
