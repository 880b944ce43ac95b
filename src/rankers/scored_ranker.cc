#include "src/rankers/scored_ranker.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <numeric>
#include <optional>

#include "src/core/check.h"
#include "src/core/context_terms.h"
#include "src/core/det_math.h"
#include "src/core/feature_rows.h"
#include "src/core/kernels.h"
#include "src/core/plackett_luce.h"
#include "src/core/quicksort_policy.h"
#include "src/core/sorted_policy.h"
#include "src/core/sum_tree.h"

namespace hindsight {

/// A list as positions among the candidates, with its law.
struct ScoredRanker::Drawn {
  std::vector<std::uint32_t> order;
  std::vector<double> prob_first;  // of every candidate, or empty
  std::optional<double> log_propensity;
};

struct ScoredRanker::Scored {
  FeatureRows features;
  std::vector<double> scores;
  bool with_prior = false;
};

Result<FeatureRows> ScoredRanker::collect_features(const Request& /*request*/) const {
  return FeatureRows{};
}

std::vector<std::byte> ScoredRanker::aux_of(std::span<const double> /*scores*/,
                                            std::span<const std::uint32_t> /*shown*/) const {
  return {};
}

namespace {

// The propensity of a list of n takes O(n^3): a fraction of a millisecond up to here.
constexpr std::size_t kMaxQuicksortList = 64;

std::optional<double> quicksort_propensity(std::span<const double> scores,
                                           std::span<const std::uint32_t> order) {
  return scores.size() <= kMaxQuicksortList ? log_propensity_quicksort(scores, order)
                                            : std::nullopt;
}

}  // namespace

Result<ScoredRanker::Drawn> ScoredRanker::draw_without_first_law(std::span<const double> scores,
                                                                 std::size_t k, Rng& rng) const {
  Drawn drawn;
  if (options_.sort == ListSort::kQuickSort) {
    HINDSIGHT_ASSIGN_OR_RETURN(drawn.order, draw_quicksort(scores, k, rng));
    drawn.log_propensity = quicksort_propensity(scores, drawn.order);
    return drawn;
  }
  std::vector<double> noisy(scores.size());
  rng.fill_uniform_positive(noisy);
  for (std::size_t i = 0; i < noisy.size(); ++i) {
    noisy[i] += scores[i];
  }
  HINDSIGHT_ASSIGN_OR_RETURN(drawn.order, sort_with_random_ties(noisy, k, rng));
  return drawn;
}

Result<ScoredRanker::Drawn> ScoredRanker::draw(std::span<const double> scores, std::size_t k,
                                               Rng& rng) const {
  if (options_.sort != ListSort::kPlackettLuce) {
    return draw_without_first_law(scores, k, rng);
  }
  Drawn drawn;
  drawn.prob_first.resize(scores.size());
  if (options_.law == ListLaw::kDeterministic) {
    HINDSIGHT_ASSIGN_OR_RETURN(drawn.order, sort_with_random_ties(scores, k, rng));
    drawn.log_propensity = log_propensity_sorted(scores, drawn.order);
    sorted_first_slot_probs(scores, drawn.prob_first);
    return drawn;
  }
  const bool whole = options_.law == ListLaw::kWholeList;
  HINDSIGHT_ASSIGN_OR_RETURN(drawn.order, whole ? draw_plackett_luce(scores, k, rng)
                                                : draw_first_then_sort(scores, k, rng));
  if (redraws(k, scores.size())) {
    HINDSIGHT_RETURN_IF_ERROR(redraw(scores, drawn, rng));
    return drawn;
  }
  drawn.log_propensity = whole ? log_propensity_plackett_luce(scores, drawn.order)
                               : log_propensity_first_then_sort(scores, drawn.order);
  first_slot_probs(scores, drawn.prob_first);
  return drawn;
}

// The set that is shown stays; its order is drawn again from the softmax over it alone. The law of
// the set is a sum over all its orders, so that no propensity of the list is given, and prob_first
// is the law given the set.
Result<void> ScoredRanker::redraw(std::span<const double> scores, Drawn& drawn, Rng& rng) const {
  const std::size_t k = drawn.order.size();
  std::vector<double> shown(k);
  for (std::size_t i = 0; i < k; ++i) {
    shown[i] = scores[drawn.order[i]];
  }
  HINDSIGHT_ASSIGN_OR_RETURN(const std::vector<std::uint32_t> again,
                             options_.law == ListLaw::kWholeList
                                 ? draw_plackett_luce(shown, k, rng)
                                 : draw_first_then_sort(shown, k, rng));
  std::vector<double> probs(k);
  first_slot_probs(shown, probs);
  const std::vector<std::uint32_t> before = drawn.order;
  for (std::size_t i = 0; i < k; ++i) {
    drawn.order[i] = before[again[i]];
    drawn.prob_first[drawn.order[i]] = probs[again[i]];
  }
  return {};
}

Result<void> ScoredRanker::check_choice(std::size_t k, std::size_t n) const {
  if (options_.needs_choice && options_.choice_set == ChoiceSet::kShown && k == 1 && n > 1) {
    return Error{ErrorCode::kUnsupported,
                 "a pick from a list of one teaches nothing; show at least 2 items", "k"};
  }
  return {};
}

Result<Decision> ScoredRanker::rank_by_tree(const SumTree& tree, double shift,
                                            const Request& request, Rng& rng) const {
  HINDSIGHT_CHECK(options_.sort == ListSort::kPlackettLuce &&
                  options_.choice_set == ChoiceSet::kShown);
  HINDSIGHT_RETURN_IF_ERROR(check_choice(request.k, tree.positive()));
  HINDSIGHT_ASSIGN_OR_RETURN(const DrawnList list, tree.draw_top_k(request.k, rng));
  const double total = tree.total();
  Decision decision;
  decision.ranker = options_.name;
  decision.choice_set = options_.choice_set;
  decision.shown_count = request.k;
  decision.log_propensity = std::min(*list.log_propensity, 0.0);
  decision.items.assign(list.order.begin(), list.order.end());
  decision.score.reserve(request.k);
  decision.prob_first.reserve(request.k);
  for (const ItemIndex item : decision.items) {
    const double weight = tree.weight(item);
    decision.score.push_back(det_log(weight) + shift);
    decision.prob_first.push_back(weight / total);
  }
  if (redraws(request.k, tree.positive())) {
    Drawn drawn{.order = {}, .prob_first = decision.prob_first, .log_propensity = std::nullopt};
    drawn.order.resize(request.k);
    std::iota(drawn.order.begin(), drawn.order.end(), 0U);
    const std::vector<double> scores = decision.score;
    HINDSIGHT_RETURN_IF_ERROR(redraw(scores, drawn, rng));
    for (std::size_t i = 0; i < request.k; ++i) {
      decision.items[i] = list.order[drawn.order[i]];
      decision.score[i] = scores[drawn.order[i]];
      decision.prob_first[i] = drawn.prob_first[drawn.order[i]];
    }
    decision.log_propensity.reset();
  }
  return decision;
}

Result<ListProbability> ScoredRanker::probability_by_tree(const SumTree& tree,
                                                          const Request& request,
                                                          std::span<const ItemIndex> list) const {
  HINDSIGHT_RETURN_IF_ERROR(check_choice(request.k, tree.positive()));
  if (redraws(request.k, tree.positive())) {
    return ListProbability{};
  }
  return ListProbability{.first = tree.weight(list.front()) / tree.total(),
                         .log_list = tree.log_propensity(list)};
}

Result<ScoredRanker::Scored> ScoredRanker::score_candidates(const Request& request,
                                                            const Signals& signals) const {
  const std::size_t n = request.candidates.size();
  HINDSIGHT_RETURN_IF_ERROR(check_choice(request.k, n));
  Scored scored;
  HINDSIGHT_ASSIGN_OR_RETURN(scored.features, collect_features(request));
  scored.scores.resize(n);
  score(request, signals, scored.features, scored.scores);
  scored.with_prior = options_.uses_prior && !request.prior.empty();
  if (scored.with_prior) {
    add_prior(request.prior, scored.scores);
    if (!all_finite(scored.scores)) {
      return Error{ErrorCode::kNotFinite, "a prior is too large to be added to a score", "prior"};
    }
  }
  return scored;
}

Result<ListProbability> ScoredRanker::do_list_probability(
    const Request& request, const Signals& signals, std::span<const std::uint32_t> order) const {
  HINDSIGHT_ASSIGN_OR_RETURN(const Scored scored, score_candidates(request, signals));
  const std::span<const double> scores = scored.scores;
  if (redraws(request.k, scores.size())) {
    return ListProbability{};
  }
  if (options_.sort == ListSort::kQuickSort) {
    return ListProbability{.first = {}, .log_list = quicksort_propensity(scores, order)};
  }
  std::vector<double> prob_first(scores.size());
  ListProbability probability;
  switch (options_.law) {
    case ListLaw::kWholeList:
      first_slot_probs(scores, prob_first);
      probability.log_list = log_propensity_plackett_luce(scores, order);
      break;
    case ListLaw::kFirstSlot:
      first_slot_probs(scores, prob_first);
      probability.log_list = log_propensity_first_then_sort(scores, order);
      break;
    case ListLaw::kNotStated:
      return probability;
    case ListLaw::kDeterministic:
      sorted_first_slot_probs(scores, prob_first);
      probability.log_list = log_propensity_sorted(scores, order);
      break;
  }
  probability.first = prob_first[order.front()];
  return probability;
}

Result<Decision> ScoredRanker::do_rank(const Request& request, const Signals& signals,
                                       Rng& rng) const {
  const std::size_t n = request.candidates.size();
  HINDSIGHT_ASSIGN_OR_RETURN(const Scored scored, score_candidates(request, signals));
  const std::vector<double>& scores = scored.scores;
  HINDSIGHT_ASSIGN_OR_RETURN(Drawn drawn, draw(scores, request.k, rng));

  Decision decision;
  decision.ranker = options_.name;
  decision.choice_set = options_.choice_set;
  decision.shown_count = request.k;
  decision.log_propensity = drawn.log_propensity;
  decision.aux = aux_of(scores, drawn.order);
  std::vector<std::uint32_t> order = std::move(drawn.order);
  if (options_.choice_set == ChoiceSet::kCandidates && request.k < n) {
    append_the_rest(order, n);
  }
  write_candidates(request, scores, scored.features, scored.with_prior, order, decision);
  if (!drawn.prob_first.empty()) {
    decision.prob_first.reserve(order.size());
    for (const std::uint32_t i : order) {
      decision.prob_first.push_back(drawn.prob_first[i]);
    }
  }
  return decision;
}

void append_the_rest(std::vector<std::uint32_t>& order, std::size_t n) {
  std::vector<std::uint8_t> shown(n, 0);
  for (const std::uint32_t i : order) {
    shown[i] = 1;
  }
  for (std::uint32_t i = 0; i < n; ++i) {
    if (shown[i] == 0) {
      order.push_back(i);
    }
  }
}

void write_candidates(const Request& request, std::span<const double> scores,
                      const FeatureRows& features, bool with_prior,
                      std::span<const std::uint32_t> order, Decision& decision) {
  decision.items.reserve(order.size());
  decision.score.reserve(order.size());
  for (const std::uint32_t i : order) {
    decision.items.push_back(request.candidates[i]);
    decision.score.push_back(scores[i]);
    if (with_prior) {
      decision.prior.push_back(request.prior[i]);
    }
  }
  if (!features.empty()) {
    decision.features = select_rows(features, order);
  }
}

void add_prior(std::span<const double> prior, std::span<double> scores) {
  for (std::size_t i = 0; i < scores.size() && !prior.empty(); ++i) {
    scores[i] += prior[i];
  }
}

std::size_t place_of(const Decision& decision, ItemIndex item) {
  const auto shown = decision.shown();
  const auto place = std::find(shown.begin(), shown.end(), item);
  HINDSIGHT_CHECK(place != shown.end());
  return static_cast<std::size_t>(place - shown.begin());
}

std::vector<std::uint32_t> places_of(const Decision& decision, std::span<const ItemIndex> items) {
  std::vector<std::uint32_t> places;
  places.reserve(items.size());
  for (const ItemIndex item : items) {
    places.push_back(static_cast<std::uint32_t>(place_of(decision, item)));
  }
  return places;
}

ParamSpec horizon_spec(std::string_view help) {
  return {.name = "horizon",
          .default_value = 0.0,
          .help = help,
          .minimum = 0.0,
          .maximum = 1e15,
          .whole_number = true};
}

ParamSpec choice_set_spec() {
  return {.name = "choice_set",
          .default_value = std::string("shown"),
          .help = "what a pick is a choice among: the items shown, or all candidates (replays)",
          .words = {"shown", "candidates"}};
}

ChoiceSet choice_set_of(const ParamMap& params) {
  return word(params, "choice_set") == "candidates" ? ChoiceSet::kCandidates : ChoiceSet::kShown;
}

ParamSpec context_terms_spec() {
  return {.name = "context_terms",
          .default_value = 65536.0,
          .help =
              "weights shared by hashing among pairs of a context key and an item, made when the "
              "first click with a key is learned; 0: keys are refused",
          .minimum = 0.0,
          .maximum = static_cast<double>(kMaxContextTerms),
          .whole_number = true};
}

std::size_t context_terms_of(const ParamMap& params) {
  return static_cast<std::size_t>(number(params, "context_terms"));
}

Result<void> check_context_key(const Request& request, std::size_t context_terms,
                               std::string_view hint) {
  if (request.context_key != 0 && context_terms == 0) {
    return Error{ErrorCode::kUnsupported,
                 "with these parameters this ranker has no weights for context keys; see " +
                     std::string(hint),
                 "context_key"};
  }
  return {};
}

double number(const ParamMap& params, std::string_view name) {
  return std::get<double>(params.find(name)->second);
}

const std::string& word(const ParamMap& params, std::string_view name) {
  return std::get<std::string>(params.find(name)->second);
}

bool flag(const ParamMap& params, std::string_view name) {
  return std::get<bool>(params.find(name)->second);
}

std::string pretty(double value) {
  std::array<char, 64> buffer{};
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value,
                                 std::chars_format::general, 6);
  return {buffer.data(), end.ptr};
}

}  // namespace hindsight
