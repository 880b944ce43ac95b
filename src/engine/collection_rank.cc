// Ranking: from a request in names to a logged decision.

#include <algorithm>
#include <unordered_set>

#include "src/core/check.h"
#include "src/core/feature_rows.h"
#include "src/core/planted.h"
#include "src/engine/collection.h"

namespace hindsight {
namespace {

std::string at(std::string_view list, std::size_t i) {
  return std::string(list) + "[" + std::to_string(i) + "]";
}

// The share of decisions that get the caller's order is drawn from a stream of its own.
constexpr std::uint64_t kControlStream = 0xC047801;

// The first k as they were sent: the control arm, and lists of which nothing is known.
Decision in_callers_order(const Request& request) {
  Decision decision;
  decision.id = request.decision;
  decision.time_ms = request.time_ms;
  decision.user = request.user;
  decision.session = request.session;
  decision.group = request.group;
  decision.context_key = request.context_key;
  decision.items.assign(request.candidates.begin(),
                        request.candidates.begin() + static_cast<std::ptrdiff_t>(request.k));
  decision.shown_count = request.k;
  decision.score.assign(request.k, 0.0);
  decision.prob_first.assign(request.k, 0.0);
  if (request.k > 0) {
    decision.prob_first[0] = 1.0;
  }
  decision.log_propensity = 0.0;
  return decision;
}

}  // namespace

/// A request's candidates as the model knows them.
struct Collection::Candidates {
  std::vector<ItemIndex> owned;
  std::span<const ItemIndex> items;  // `owned`, or a list of the model
  bool whole_library = false;
  std::optional<std::uint32_t> topic;  // whose items they are
  std::vector<double> priors;
  FeatureRows features;
  std::vector<std::string> appended;      // unknown, to be put last
  std::vector<ItemInput> to_add;          // unknown, to be added first
  std::vector<std::string> new_features;  // names that the collection does not know
};

CandidateSet Collection::logged_set(const Candidates& candidates, std::size_t shown) {
  CandidateSet set;
  if (candidates.whole_library) {
    set.kind = CandidateSet::Kind::kLibrary;
  } else if (candidates.priors.empty() && candidates.features.empty() &&
             shown == candidates.items.size()) {
    set.kind = CandidateSet::Kind::kShown;
  } else if (candidates.topic) {
    set.kind = CandidateSet::Kind::kTopic;
    set.topic = *candidates.topic;
  } else {
    set.kind = CandidateSet::Kind::kListed;
    set.items.assign(candidates.items.begin(), candidates.items.end());
    set.prior = candidates.priors;
    set.features = candidates.features;
  }
  return set;
}

struct Collection::Ranked {
  DecisionEvent event;
  RankReply reply;
};

Result<Collection::Candidates> Collection::find_candidates(const RankInput& input,
                                                           const Model& model) const {
  Candidates found;
  const std::uint64_t max_scan = model.config().max_scan;
  if (!input.candidates.empty()) {
    const OnUnknown on_unknown = input.on_unknown.value_or(model.config().on_unknown);
    found.owned.reserve(input.candidates.size());
    std::unordered_set<std::string_view> unknown;
    for (std::size_t i = 0; i < input.candidates.size(); ++i) {
      const CandidateInput& candidate = input.candidates[i];
      if (const std::optional<ItemIndex> item = model.find(candidate.id)) {
        found.owned.push_back(*item);
        if (input.has_prior) {
          found.priors.push_back(candidate.prior);
        }
        continue;
      }
      const std::string field = at("candidates", i);
      if (on_unknown == OnUnknown::kError) {
        return Error{ErrorCode::kUnknownItem,
                     "item \"" + candidate.id +
                         "\" is not in the library; add it first, or send "
                         "\"on_unknown\": \"add\" or \"append\"",
                     field};
      }
      if (!unknown.insert(candidate.id).second) {
        return Error{ErrorCode::kDuplicateItem, "the same id stands here twice", field};
      }
      if (on_unknown == OnUnknown::kAppend) {
        found.appended.push_back(candidate.id);
      } else {
        found.to_add.push_back({.id = candidate.id, .topics = {}, .features = {}, .links = {}});
      }
    }
    found.items = found.owned;
    HINDSIGHT_RETURN_IF_ERROR(fill_features(input, model, found));
  } else if (!input.topic.empty()) {
    found.items = model.topic(input.topic);
    found.topic = model.topic_number(input.topic);
    if (found.items.empty()) {
      return Error{ErrorCode::kEmptyCandidates, "no item of the library has this topic", "topic"};
    }
  } else if (model.ranker().items_live() == 0) {
    return Error{ErrorCode::kEmptyCandidates, "the library is empty; add items, or send candidates",
                 "candidates"};
  } else {
    found.whole_library = true;
  }
  if (found.items.size() > max_scan) {
    return Error{ErrorCode::kTooLarge,
                 std::to_string(found.items.size()) + " candidates are more than max_scan, " +
                     std::to_string(max_scan) + "; send fewer, or raise max_scan",
                 input.candidates.empty() ? "topic" : "candidates"};
  }
  return found;
}

Result<void> Collection::fill_features(const RankInput& input, const Model& model,
                                       Candidates& candidates) const {
  if (!input.has_features) {
    return {};
  }
  FeatureRows& rows = candidates.features;
  rows.row_begin.push_back(0);
  std::vector<std::pair<std::uint32_t, double>> row;
  for (std::size_t i = 0; i < input.candidates.size(); ++i) {
    const CandidateInput& candidate = input.candidates[i];
    const std::optional<ItemIndex> item = model.find(candidate.id);
    row.clear();
    for (const auto& [name, value] : candidate.features) {
      if (const auto column = model.column(name)) {
        row.emplace_back(*column, value);
      } else {
        candidates.new_features.push_back(name);
      }
    }
    if (!item) {
      continue;  // added first, or appended
    }
    if (const ItemInfo* info = model.info_of(*item);
        candidate.features.empty() && info != nullptr) {
      for (std::size_t j = 0; j < info->columns.size(); ++j) {
        row.emplace_back(info->columns[j], info->values[j]);
      }
    }
    std::sort(row.begin(), row.end());
    for (const auto& [column, value] : row) {
      rows.sparse_index.push_back(column);
      rows.sparse_value.push_back(value);
    }
    rows.row_begin.push_back(static_cast<std::uint32_t>(rows.sparse_index.size()));
  }
  return {};
}

void Collection::rank(RankInput input, Callback<RankReply> done) {
  if (input.k == 0) {
    return done(Error{ErrorCode::kInvalidArgument, "must be at least 1", "k"});
  }
  if (const Result<void> room = check_backlog(); !room.ok()) {
    return done(room.error());
  }
  if (!input.decision.empty()) {
    return next_page(input, std::move(done));
  }
  Ranked ranked;
  bool before_reply = false;
  {
    const Guard model = models_.read();
    Result<Candidates> candidates = find_candidates(input, *model);
    if (!candidates.ok()) {
      return done(candidates.error());
    }
    if (!candidates->to_add.empty() || !candidates->new_features.empty()) {
      Result<void> fits = check_before_adding(input, *model);
      if (fits.ok()) {
        fits = check_budget(*model, candidates->to_add.size() * 520);
      }
      if (!fits.ok()) {
        return done(fits.error());
      }
      const OnUnknown on_unknown = input.on_unknown.value_or(model->config().on_unknown);
      return add_unknown(std::move(input), *std::move(candidates), on_unknown, std::move(done));
    }
    Result<Ranked> result = rank_candidates(input, *model, *candidates, std::nullopt);
    if (!result.ok()) {
      return done(result.error());
    }
    before_reply = model->config().decisions_before_reply;
    ranked = *std::move(result);
    keep_for_paging(std::move(input), *std::move(candidates), ranked.event);
  }
  finish_rank(std::move(ranked), before_reply, std::move(done));
}

Result<void> Collection::check_before_adding(const RankInput& input, const Model& model) const {
  std::unordered_set<std::string_view> ids;
  for (std::size_t i = 0; i < input.candidates.size(); ++i) {
    if (!ids.insert(input.candidates[i].id).second) {
      return Error{ErrorCode::kDuplicateItem, "the same id stands here twice", at("candidates", i)};
    }
    const double prior = input.candidates[i].prior;
    if (!(prior >= -kMaxPrior && prior <= kMaxPrior)) {
      return Error{ErrorCode::kInvalidArgument, "priors must lie between -1,000,000 and 1,000,000",
                   at("candidates", i)};
    }
  }
  if (input.candidates.size() > model.config().max_scan) {
    return Error{ErrorCode::kTooLarge,
                 std::to_string(input.candidates.size()) + " candidates are more than max_scan, " +
                     std::to_string(model.config().max_scan) + "; send fewer, or raise max_scan",
                 "candidates"};
  }
  return {};
}

void Collection::add_unknown(RankInput input, Candidates candidates, OnUnknown on_unknown,
                             Callback<RankReply> done) {
  ItemsEvent event{.items = std::move(candidates.to_add),
                   .feature_names = std::move(candidates.new_features),
                   .by_use = true};
  append(make_event(std::move(event)),
         [self = shared_from_this(), input = std::move(input), on_unknown,
          done = std::move(done)](const Result<Applied>& applied) mutable {
           if (!applied.ok() || applied->error) {
             return done(applied.ok() ? *applied->error : applied.error());
           }
           // Known now; should one be gone again, that is an error and not a second round.
           input.on_unknown = on_unknown == OnUnknown::kAdd ? OnUnknown::kError : on_unknown;
           self->rank(std::move(input), std::move(done));
         });
}

Request Collection::make_request(const RankInput& input, const Model& model,
                                 const Candidates& candidates, DecisionId id) const {
  const std::size_t n =
      candidates.whole_library ? model.ranker().items_live() : candidates.items.size();
  return {.decision = id,
          .time_ms = shared_.options.clock(),
          .candidates = candidates.items,
          .whole_library = candidates.whole_library,
          .max_scan = model.config().max_scan,
          .features = candidates.features.empty() ? nullptr : &candidates.features,
          .prior = candidates.priors,
          .k = std::min(input.k, n),
          .user = tokens_.identity(Tokens::Kind::kUser, input.user),
          .session = tokens_.identity(Tokens::Kind::kSession, input.session),
          .group = tokens_.identity(Tokens::Kind::kGroup, input.group),
          .context_key = tokens_.identity(Tokens::Kind::kContext, input.context_key)};
}

Result<Explanation> Collection::explain(std::string_view id, const RankInput& wish) const {
  const Guard model = models_.read();
  const std::optional<ItemIndex> item = model->find(id);
  if (!item) {
    return Error{ErrorCode::kUnknownItem, "no such item in the library", "id"};
  }
  HINDSIGHT_ASSIGN_OR_RETURN(const Candidates candidates, find_candidates(wish, *model));
  Result<Explanation> explanation =
      model->ranker().explain(make_request(wish, *model, candidates, {}), model->signals(), *item);
  if (!explanation.ok() && explanation.error().code == ErrorCode::kUnknownItem) {
    return Error{ErrorCode::kUnknownItem, "the item does not have this topic", "topic"};
  }
  return explanation;
}

Result<Collection::Ranked> Collection::rank_candidates(const RankInput& input, const Model& model,
                                                       const Candidates& candidates,
                                                       std::optional<bool> control_list) {
  const std::size_t n =
      candidates.whole_library ? model.ranker().items_live() : candidates.items.size();
  const std::uint64_t step = planted(Fault::kReuseDecisionId) ? 0 : 1;
  const DecisionId id{.source = shared_.source,
                      .counter = shared_.next_decision.fetch_add(step, std::memory_order_relaxed)};
  const CollectionConfig& config = model.config();
  const Request request = make_request(input, model, candidates, id);
  Ranked ranked;
  DecisionEvent& event = ranked.event;
  event.drawn = !control_list && config.control > 0.0 && n > 0 && !input.candidates.empty();
  event.control =
      event.drawn ? Rng::for_decision(config.seed ^ kControlStream, id).uniform() < config.control
                  : control_list.value_or(false);
  if (event.control || n == 0) {
    event.decision = in_callers_order(request);
  } else {
    Rng rng = Rng::for_decision(config.seed, id);
    Result<Decision> decision = model.ranker().rank(request, model.signals(), rng);
    if (!decision.ok()) {
      Error error = decision.error();
      if (error.code == ErrorCode::kDuplicateItem) {
        error.message = "the same id stands here twice";  // callers know ids, not numbers
      }
      return error;
    }
    event.decision = *std::move(decision);
    if (config.log_candidates) {
      event.candidates = logged_set(candidates, event.decision.shown_count);
    }
  }
  Decision& decision = event.decision;
  decision.model_version = model.version();
  decision.ranker = event.control ? "control" : config.ranker;
  event.query = config.log_queries ? input.query : std::string();
  event.appended = candidates.appended;
  if (event.appended.size() > input.k - std::min(input.k, decision.shown_count)) {
    event.appended.resize(input.k - std::min(input.k, decision.shown_count));
  }
  RankReply& reply = ranked.reply;
  reply.decision = tokens_.decision_text(id);
  reply.items.reserve(decision.shown_count + event.appended.size());
  for (std::size_t i = 0; i < decision.shown_count; ++i) {
    reply.items.push_back({.id = std::string(model.id_of(decision.items[i])),
                           .score = decision.score[i],
                           .prob_first = decision.first_prob(i)});
  }
  for (const std::string& unknown : event.appended) {
    reply.items.push_back({.id = unknown, .score = 0.0, .prob_first = 0.0, .unknown = true});
  }
  reply.log_propensity = decision.log_propensity;
  reply.model_version = decision.model_version;
  reply.control = event.control;
  reply.candidates = n + candidates.appended.size();
  return ranked;
}

void Collection::finish_rank(Ranked ranked, bool before_reply, Callback<RankReply> done) {
  const Event event = make_event(std::move(ranked.event));
  if (!before_reply) {
    append_behind(event);
    return done(std::move(ranked.reply));
  }
  append(event, [reply = std::move(ranked.reply),
                 done = std::move(done)](const Result<Applied>& applied) mutable {
    done(applied.ok() ? Result<RankReply>(std::move(reply)) : Result<RankReply>(applied.error()));
  });
}

void Collection::keep_for_paging(RankInput input, Candidates candidates,
                                 const DecisionEvent& event) {
  const Decision& decision = event.decision;
  if (candidates.whole_library || decision.shown_count >= candidates.items.size()) {
    return;
  }
  auto list = std::make_shared<PagedList>();
  if (candidates.owned.empty()) {
    list->rest.assign(candidates.items.begin(), candidates.items.end());
  } else {
    list->rest = std::move(candidates.owned);
  }
  list->priors = std::move(candidates.priors);
  list->features = std::move(candidates.features);
  const auto shown = decision.shown();
  list->just_shown.assign(shown.begin(), shown.end());
  list->input.query = std::move(input.query);
  list->input.user = std::move(input.user);
  list->input.session = std::move(input.session);
  list->input.group = std::move(input.group);
  list->input.context_key = std::move(input.context_key);
  list->control = event.control;
  list->shown = decision.shown_count;
  pages_.put(decision.id, std::move(list));
}

namespace {

// Takes what was shown last out of what may still be shown. Put off until a page is asked for: most
// lists have one.
void forget_shown(PagedList& list) {
  std::sort(list.just_shown.begin(), list.just_shown.end());
  std::vector<std::uint32_t> kept;
  for (std::uint32_t i = 0; i < list.rest.size(); ++i) {
    if (!std::binary_search(list.just_shown.begin(), list.just_shown.end(), list.rest[i])) {
      kept.push_back(i);
    }
  }
  const auto pick = [&](auto& values) {
    if (!values.empty()) {
      for (std::size_t i = 0; i < kept.size(); ++i) {
        values[i] = values[kept[i]];
      }
      values.resize(kept.size());
    }
  };
  if (!list.features.empty()) {
    list.features = select_rows(list.features, kept);
  }
  pick(list.rest);
  pick(list.priors);
  list.just_shown.clear();
}

}  // namespace

void Collection::next_page(const RankInput& input, Callback<RankReply> done) {
  const std::optional<Tokens::Parsed> parsed = tokens_.parse_decision(input.decision);
  if (!parsed) {
    return done(Error{ErrorCode::kInvalidArgument, "must be a decision id as rank returned it",
                      "decision"});
  }
  const std::shared_ptr<PagedList> list = parsed->issued_here ? pages_.find(parsed->id) : nullptr;
  if (list == nullptr) {
    return done(Error{ErrorCode::kNotFound,
                      "this list is not kept for paging (any more), or was shown whole; rank again",
                      "decision"});
  }
  const std::lock_guard lock(list->mutex);
  const auto given = list->pages.find(input.offset);
  if (given != list->pages.end()) {
    return done(given->second);
  }
  if (input.offset != list->shown) {
    return done(Error{ErrorCode::kInvalidArgument,
                      "the next page of this list begins at " + std::to_string(list->shown),
                      "offset"});
  }
  forget_shown(*list);
  Ranked ranked;
  bool before_reply = false;
  {
    const Guard model = models_.read();
    Candidates candidates;
    std::vector<std::uint32_t> kept;  // those that were not removed since
    for (std::uint32_t i = 0; i < list->rest.size(); ++i) {
      if (model->ranker().is_live(list->rest[i])) {
        kept.push_back(i);
        candidates.owned.push_back(list->rest[i]);
        if (!list->priors.empty()) {
          candidates.priors.push_back(list->priors[i]);
        }
      }
    }
    candidates.items = candidates.owned;
    if (!list->features.empty()) {
      candidates.features = select_rows(list->features, kept);
    }
    RankInput page = list->input;
    page.k = input.k;
    if (candidates.items.empty()) {
      RankReply end;
      end.decision = input.decision;
      end.model_version = model->version();
      return done(std::move(end));
    }
    Result<Ranked> result = rank_candidates(page, *model, candidates, list->control);
    if (!result.ok()) {
      return done(result.error());
    }
    before_reply = model->config().decisions_before_reply;
    ranked = *std::move(result);
  }
  const auto shown = ranked.event.decision.shown();
  list->just_shown.assign(shown.begin(), shown.end());
  list->pages.emplace(list->shown, ranked.reply);
  list->shown += shown.size();
  finish_rank(std::move(ranked), before_reply, std::move(done));
}

}  // namespace hindsight
