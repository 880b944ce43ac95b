#include "hindsight/ranker.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "src/core/bytes.h"
#include "src/core/check.h"
#include "src/core/choice_objective.h"
#include "src/core/feature_rows.h"
#include "src/core/kernels.h"
#include "src/core/planted.h"
#include "src/core/regret.h"

namespace hindsight {
namespace {

std::string at(std::string_view list, std::size_t i) {
  return std::string(list) + "[" + std::to_string(i) + "]";
}

Error unknown_item(ItemIndex item, std::string field) {
  return {ErrorCode::kUnknownItem,
          "item " + std::to_string(item) + " is not in the library; add it first",
          std::move(field)};
}

// RETURNS: the place of the second of two equal items, or none. REQUIRES: items below `universe`
std::optional<std::size_t> find_repeat(std::span<const ItemIndex> items, std::size_t universe) {
  if (std::adjacent_find(items.begin(), items.end(), std::greater_equal<>()) == items.end()) {
    return std::nullopt;  // strictly ascending, as lists of a topic are
  }
  constexpr std::size_t kFew = 16;  // where comparing all pairs costs less than any memory
  if (items.size() <= kFew) {
    for (std::size_t i = 1; i < items.size(); ++i) {
      if (std::find(items.begin(), items.begin() + static_cast<std::ptrdiff_t>(i), items[i]) !=
          items.begin() + static_cast<std::ptrdiff_t>(i)) {
        return i;
      }
    }
    return std::nullopt;
  }
  constexpr std::size_t kSparse = 64;  // where clearing the marks would cost more than sorting
  if (universe <= kSparse * items.size()) {
    std::vector<std::uint8_t> seen(universe, 0);
    std::uint8_t repeated = 0;
    for (const ItemIndex item : items) {
      repeated |= seen[item];
      seen[item] = 1;
    }
    if (repeated == 0) {
      return std::nullopt;
    }
  }
  std::vector<std::pair<ItemIndex, std::uint32_t>> sorted(items.size());
  for (std::size_t i = 0; i < items.size(); ++i) {
    sorted[i] = {items[i], static_cast<std::uint32_t>(i)};
  }
  std::sort(sorted.begin(), sorted.end());
  for (std::size_t i = 1; i < sorted.size(); ++i) {
    if (sorted[i].first == sorted[i - 1].first) {
      return sorted[i].second;
    }
  }
  return std::nullopt;
}

/// Beyond what any score of ours can be: balls have radius alpha 2^(m/4), alpha at most 10^6.
constexpr double kMaxScore = 1e12;

bool same_items(std::span<const ItemIndex> a, std::span<const ItemIndex> b) {
  std::vector<ItemIndex> first(a.begin(), a.end());
  std::vector<ItemIndex> second(b.begin(), b.end());
  std::sort(first.begin(), first.end());
  std::sort(second.begin(), second.end());
  return first == second;
}

// RETURNS: the clicked items, each at its first click. FAILS: kItemNotShown
Result<std::vector<ItemIndex>> distinct_clicks(std::span<const ItemIndex> clicked,
                                               std::span<const ItemIndex> shown) {
  const auto not_shown = [&](std::size_t i) {
    return Error{ErrorCode::kItemNotShown,
                 "item " + std::to_string(clicked[i]) + " was not in the list that was shown",
                 at("clicked", i)};
  };
  std::vector<ItemIndex> distinct;
  distinct.reserve(std::min(clicked.size(), shown.size()));
  constexpr std::size_t kFew = 16;
  if (clicked.size() <= kFew) {  // the common case, without sorting
    for (std::size_t i = 0; i < clicked.size(); ++i) {
      if (std::find(shown.begin(), shown.end(), clicked[i]) == shown.end()) {
        return not_shown(i);
      }
      if (std::find(distinct.begin(), distinct.end(), clicked[i]) == distinct.end()) {
        distinct.push_back(clicked[i]);
      }
    }
    return distinct;
  }
  std::vector<ItemIndex> sorted(shown.begin(), shown.end());
  std::sort(sorted.begin(), sorted.end());
  std::vector<std::uint8_t> seen(sorted.size(), 0);
  for (std::size_t i = 0; i < clicked.size(); ++i) {
    const auto place = std::lower_bound(sorted.begin(), sorted.end(), clicked[i]);
    if (place == sorted.end() || *place != clicked[i]) {
      return not_shown(i);
    }
    std::uint8_t& again = seen[static_cast<std::size_t>(place - sorted.begin())];
    if (again == 0) {
      distinct.push_back(clicked[i]);
    }
    again = 1;
  }
  return distinct;
}

Error duplicate_item(ItemIndex item, std::string field) {
  return {ErrorCode::kDuplicateItem, "item " + std::to_string(item) + " stands here twice",
          std::move(field)};
}

Result<void> check_item(const Item& item, std::size_t next, const std::string& field) {
  const FeatureRows one{.dense_dim = item.dense.size(),
                        .dense = item.dense,
                        .row_begin = {0, static_cast<std::uint32_t>(item.sparse_index.size())},
                        .sparse_index = item.sparse_index,
                        .sparse_value = item.sparse_value};
  HINDSIGHT_RETURN_IF_ERROR(check_feature_rows(one, 1, field + ".features"));
  for (std::size_t j = 0; j < item.links.size(); ++j) {
    if (item.links[j] >= next) {
      return unknown_item(item.links[j], field + at(".links", j));
    }
  }
  return {};
}

Result<void> check_k(std::size_t k, std::size_t n) {
  if (k == 0 || k > n) {
    return Error{ErrorCode::kInvalidArgument,
                 "must be from 1 to the number of candidates, " + std::to_string(n), "k"};
  }
  return {};
}

Request as_listed(const Request& library, std::span<const ItemIndex> items) {
  Request listed = library;
  listed.whole_library = false;
  listed.candidates = items;
  return listed;
}

// RETURNS: where each item of the list stands among the candidates. FAILS: kUnknownItem,
// kDuplicateItem. REQUIRES: distinct candidates
Result<std::vector<std::uint32_t>> positions_of(std::span<const ItemIndex> list,
                                                std::span<const ItemIndex> candidates) {
  std::vector<std::pair<ItemIndex, std::uint32_t>> wanted(list.size());
  for (std::size_t i = 0; i < list.size(); ++i) {
    wanted[i] = {list[i], static_cast<std::uint32_t>(i)};
  }
  std::sort(wanted.begin(), wanted.end());
  for (std::size_t i = 1; i < wanted.size(); ++i) {
    if (wanted[i].first == wanted[i - 1].first) {
      return duplicate_item(wanted[i].first, at("list", wanted[i].second));
    }
  }
  constexpr auto kNowhere = std::numeric_limits<std::uint32_t>::max();
  std::vector<std::uint32_t> order(list.size(), kNowhere);
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    const auto place = std::lower_bound(wanted.begin(), wanted.end(),
                                        std::pair<ItemIndex, std::uint32_t>(candidates[i], 0));
    if (place != wanted.end() && place->first == candidates[i]) {
      order[place->second] = static_cast<std::uint32_t>(i);
    }
  }
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (order[i] == kNowhere) {
      return Error{ErrorCode::kUnknownItem,
                   "item " + std::to_string(list[i]) + " is none of the candidates", at("list", i)};
    }
  }
  return order;
}

}  // namespace

Result<void> Ranker::check_items(std::span<const Item> /*items*/) const { return {}; }

Result<void> Ranker::check_request(const Request& request) const {
  if (request.whole_library) {
    return check_library_request(request);
  }
  const std::size_t n = request.candidates.size();
  if (n == 0) {
    return Error{ErrorCode::kEmptyCandidates, "there is nothing to rank; send at least one item",
                 "candidates"};
  }
  HINDSIGHT_RETURN_IF_ERROR(check_k(request.k, n));
  for (std::size_t i = 0; i < n; ++i) {
    if (!is_live(request.candidates[i])) {
      return unknown_item(request.candidates[i], at("candidates", i));
    }
  }
  if (const auto repeat = find_repeat(request.candidates, live_.size())) {
    return duplicate_item(request.candidates[*repeat], at("candidates", *repeat));
  }
  if (request.features != nullptr) {
    HINDSIGHT_RETURN_IF_ERROR(check_feature_rows(*request.features, n, "features"));
  }
  if (!request.prior.empty() && request.prior.size() != n) {
    return Error{ErrorCode::kInvalidArgument, "give one prior per candidate, or none", "prior"};
  }
  if (!all_finite(request.prior)) {
    return Error{ErrorCode::kNotFinite, "priors must be finite numbers", "prior"};
  }
  if (!all_within(request.prior, -kMaxPrior, kMaxPrior)) {
    return Error{ErrorCode::kTooLarge, "priors must lie between -1,000,000 and 1,000,000", "prior"};
  }
  return {};
}

Result<void> Ranker::check_library_request(const Request& request) const {
  if (!request.candidates.empty() || request.features != nullptr || !request.prior.empty()) {
    return Error{ErrorCode::kInvalidArgument,
                 "the whole library goes without candidates, features and priors; leave them out",
                 "candidates"};
  }
  if (live_count_ == 0) {
    return Error{ErrorCode::kEmptyCandidates, "the library is empty; add items first",
                 "candidates"};
  }
  return check_k(request.k, live_count_);
}

Result<std::vector<ItemIndex>> Ranker::list_library(std::size_t max_scan) const {
  if (live_count_ > max_scan) {
    return Error{ErrorCode::kTooLarge,
                 "this ranker would have to touch all " + std::to_string(live_count_) +
                     " items of the library, and may touch " + std::to_string(max_scan) +
                     "; name candidates, or take a ranker and parameters that draw without a scan",
                 "candidates"};
  }
  std::vector<ItemIndex> items;
  items.reserve(live_count_);
  for (std::size_t i = 0; i < live_.size(); ++i) {
    if (live_[i] != 0) {
      items.push_back(static_cast<ItemIndex>(i));
    }
  }
  return items;
}

Result<Decision> Ranker::do_rank_library(const Request& request, const Signals& signals,
                                         Rng& rng) const {
  HINDSIGHT_ASSIGN_OR_RETURN(const std::vector<ItemIndex> items, list_library(request.max_scan));
  return do_rank(as_listed(request, items), signals, rng);
}

Result<Decision> Ranker::rank(const Request& request, const Signals& signals, Rng& rng) const {
  HINDSIGHT_RETURN_IF_ERROR(check_request(request));
  Result<Decision> decision = request.whole_library ? do_rank_library(request, signals, rng)
                                                    : do_rank(request, signals, rng);
  if (decision.ok()) {
    HINDSIGHT_CHECK(decision->aux.size() <= Decision::kMaxAuxBytes);
    decision->id = request.decision;
    decision->time_ms = request.time_ms;
    decision->user = request.user;
    decision->session = request.session;
    decision->group = request.group;
    decision->context_key = request.context_key;
  }
  return decision;
}

Result<ListProbability> Ranker::do_list_probability(
    const Request& /*request*/, const Signals& /*signals*/,
    std::span<const std::uint32_t> /*order*/) const {
  return ListProbability{};
}

Result<ListProbability> Ranker::do_library_probability(const Request& request,
                                                       const Signals& signals,
                                                       std::span<const ItemIndex> list) const {
  HINDSIGHT_ASSIGN_OR_RETURN(const std::vector<ItemIndex> items, list_library(request.max_scan));
  HINDSIGHT_ASSIGN_OR_RETURN(const std::vector<std::uint32_t> order, positions_of(list, items));
  return do_list_probability(as_listed(request, items), signals, order);
}

Result<ListProbability> Ranker::list_probability(const Request& request, const Signals& signals,
                                                 std::span<const ItemIndex> list) const {
  HINDSIGHT_RETURN_IF_ERROR(check_request(request));
  if (list.empty() || list.size() > request.k) {
    return Error{ErrorCode::kInvalidArgument,
                 "must have from 1 to k items; k is " + std::to_string(request.k), "list"};
  }
  if (!request.whole_library) {
    HINDSIGHT_ASSIGN_OR_RETURN(const std::vector<std::uint32_t> order,
                               positions_of(list, request.candidates));
    return do_list_probability(request, signals, order);
  }
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (!is_live(list[i])) {
      return unknown_item(list[i], at("list", i));
    }
  }
  if (const auto repeat = find_repeat(list, live_.size())) {
    return duplicate_item(list[*repeat], at("list", *repeat));
  }
  return do_library_probability(request, signals, list);
}

Result<Explanation> Ranker::do_explain(const Request& request, const Signals& signals,
                                       std::size_t at) const {
  const auto position = static_cast<std::uint32_t>(at);
  HINDSIGHT_ASSIGN_OR_RETURN(const ListProbability law,
                             do_list_probability(request, signals, std::span(&position, 1)));
  Explanation explanation;
  explanation.prob_first = law.first;
  const double own = item_score(request.candidates[at]);
  const double prior = request.prior.empty() ? 0.0 : request.prior[at];
  explanation.score = own + prior;
  explanation.parts.push_back(
      {.name = "item's own score", .value = 1.0, .weight = own, .contribution = own});
  if (prior != 0.0) {
    explanation.parts.push_back(
        {.name = "prior", .value = prior, .weight = 1.0, .contribution = prior});
  }
  return explanation;
}

Result<Explanation> Ranker::explain(const Request& request, const Signals& signals,
                                    ItemIndex item) const {
  HINDSIGHT_RETURN_IF_ERROR(check_request(request));
  std::vector<ItemIndex> items;
  Request listed = request;
  if (request.whole_library) {
    HINDSIGHT_ASSIGN_OR_RETURN(items, list_library(request.max_scan));
    listed = as_listed(request, items);
  }
  const auto place = std::find(listed.candidates.begin(), listed.candidates.end(), item);
  if (place == listed.candidates.end()) {
    return Error{ErrorCode::kUnknownItem,
                 "item " + std::to_string(item) + " is none of the candidates", "item"};
  }
  return do_explain(listed, signals, static_cast<std::size_t>(place - listed.candidates.begin()));
}

Result<void> Ranker::check_decision(const Decision& decision) const {
  const std::size_t n = decision.items.size();
  const bool fits = n > 0 && decision.shown_count > 0 && decision.shown_count <= n &&
                    (decision.choice_set == ChoiceSet::kCandidates ||
                     (decision.choice_set == ChoiceSet::kShown && decision.shown_count == n)) &&
                    decision.score.size() == n &&
                    (decision.prob_first.empty() || decision.prob_first.size() == n) &&
                    (decision.prior.empty() || decision.prior.size() == n) &&
                    decision.aux.size() <= Decision::kMaxAuxBytes;
  if (!fits) {
    return Error{ErrorCode::kInvalidArgument, "the decision's parts do not fit together",
                 "decision"};
  }
  for (std::size_t i = 0; i < n; ++i) {
    if (decision.items[i] >= live_.size()) {
      return unknown_item(decision.items[i], at("decision.items", i));
    }
  }
  if (const auto repeat = find_repeat(decision.items, live_.size())) {
    return duplicate_item(decision.items[*repeat], at("decision.items", *repeat));
  }
  constexpr double kRounding = 1e-9;
  const bool possible = all_within(decision.score, -kMaxScore, kMaxScore) &&
                        all_within(decision.prior, -kMaxPrior, kMaxPrior) &&
                        all_within(decision.prob_first, 0.0, 1.0 + kRounding) &&
                        (!decision.log_propensity || (std::isfinite(*decision.log_propensity) &&
                                                      *decision.log_propensity <= kRounding));
  if (!possible && !planted(Fault::kLearnNotFinite)) {
    const bool finite =
        all_finite(decision.score) && all_finite(decision.prior) && all_finite(decision.prob_first);
    return finite
               ? Error{ErrorCode::kInvalidArgument,
                       "scores, priors or probabilities are out of range", "decision"}
               : Error{ErrorCode::kNotFinite, "the decision's numbers must be finite", "decision"};
  }
  return decision.features.empty() ? Result<void>()
                                   : check_feature_rows(decision.features, n, "decision.features");
}

Result<LearnReport> Ranker::learn(const Decision& decision, const Feedback& feedback,
                                  const Signals& signals) {
  if (feedback.decision != decision.id) {
    return Error{ErrorCode::kInvalidArgument, "this is the feedback of another decision",
                 "feedback.decision"};
  }
  HINDSIGHT_RETURN_IF_ERROR(check_decision(decision));
  const auto shown = decision.shown();
  Feedback checked{.decision = feedback.decision,
                   .time_ms = feedback.time_ms,
                   .closed = feedback.closed,
                   .grades = feedback.grades,
                   .full_order = feedback.full_order};
  HINDSIGHT_ASSIGN_OR_RETURN(checked.clicked, distinct_clicks(feedback.clicked, shown));
  if (!checked.grades.empty() && checked.grades.size() != shown.size()) {
    return Error{ErrorCode::kInvalidArgument, "give one grade per shown item, or none", "grades"};
  }
  if (!all_finite(checked.grades)) {
    return Error{ErrorCode::kNotFinite, "grades must be finite numbers", "grades"};
  }
  if (!checked.full_order.empty() && !same_items(checked.full_order, shown)) {
    return Error{ErrorCode::kInvalidArgument, "must hold each shown item once", "full_order"};
  }
  return do_learn(decision, checked, signals);
}

Result<void> Ranker::check_add_items(std::span<const Item> items) const {
  std::size_t next = live_.size();
  for (std::size_t i = 0; i < items.size(); ++i) {
    const ItemIndex index = items[i].index;
    const std::string field = at("items", i);
    if (index > next || index >= kMaxItems) {
      return Error{ErrorCode::kInvalidArgument,
                   "indices are dense: the next new item is " + std::to_string(next), field};
    }
    if (index < live_.size() && live_[index] == 0) {
      return Error{ErrorCode::kUnknownItem,
                   "item " + std::to_string(index) + " was removed; add it under a new index",
                   field};
    }
    next = std::max(next, std::size_t{index} + 1);
    HINDSIGHT_RETURN_IF_ERROR(check_item(items[i], next, field));
  }
  return check_items(items);
}

Result<void> Ranker::add_items(std::span<const Item> items) {
  HINDSIGHT_RETURN_IF_ERROR(check_add_items(items));
  std::size_t next = live_.size();
  for (const Item& item : items) {
    next = std::max(next, std::size_t{item.index} + 1);
  }
  live_count_ += next - live_.size();
  live_.resize(next, 1);
  do_add_items(items);
  return {};
}

Result<void> Ranker::remove_items(std::span<const ItemIndex> items) {
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (!is_live(items[i])) {
      return unknown_item(items[i], at("items", i));
    }
  }
  if (const auto repeat = find_repeat(items, live_.size())) {
    return duplicate_item(items[*repeat], at("items", *repeat));
  }
  for (const ItemIndex item : items) {
    live_[item] = 0;
  }
  live_count_ -= items.size();
  do_remove_items(items);
  return {};
}

std::optional<Choice> Ranker::choice_of(const Decision& /*decision*/, ItemIndex /*clicked*/) const {
  return std::nullopt;
}

std::size_t Ranker::memory_bytes() const { return live_.size() * (1 + 2 * sizeof(double)); }

std::optional<RegretSummary> Ranker::regret_summary() const {
  const RegretAccount* account = regret();
  if (account == nullptr) {
    return std::nullopt;
  }
  return RegretSummary{.clicks = account->clicks(),
                       .learned_cost = account->learned_cost(),
                       .served_cost = account->served_cost(),
                       .theorem_bound = account->theorem_bound(),
                       .data_bound = account->data_bound()};
}

void Ranker::save(ByteWriter& out) const {
  out.put(live_);
  do_save(out);
}

Result<void> Ranker::load(ByteReader& in) {
  in.get(live_);
  HINDSIGHT_RETURN_IF_ERROR(in.check("list of items"));
  live_count_ = 0;
  for (const std::uint8_t live : live_) {
    if (live > 1) {
      return Error{ErrorCode::kCorrupt, "the saved list of items is damaged", "items"};
    }
    live_count_ += live;
  }
  HINDSIGHT_RETURN_IF_ERROR(do_load(in));
  if (in.left() != 0) {
    return Error{ErrorCode::kCorrupt, "the saved model has bytes after its end", ""};
  }
  return {};
}

}  // namespace hindsight
