#include "src/rankers/signal_view.h"

#include <iterator>

#include "src/core/context_terms.h"
#include "src/core/signal_features.h"
#include "src/rankers/scored_ranker.h"

namespace hindsight {

SignalView::SignalView(const Signals& log, const SignalAsker& asker, std::uint64_t key,
                       const Sight& sight, std::span<const ItemIndex> choice,
                       const FeatureRows& features)
    : items(choice),
      signals(kSignalColumns * choice.size()),
      terms(make_term_rows(features, choice.size())),
      context(context_slots(key, choice, sight.context_terms)) {
  signal_features(log, asker, sight.use, choice, signals);
}

SignalView view_of(const Request& request, const Signals& log, const Sight& sight,
                   const FeatureRows& features) {
  return {log,
          {.session = request.session, .group = request.group},
          request.context_key,
          sight,
          request.candidates,
          features};
}

SignalView view_of(const Decision& decision, const Signals& log, const Sight& sight) {
  return {log,
          {.session = decision.session, .group = decision.group},
          decision.context_key,
          sight,
          decision.items,
          decision.features};
}

std::vector<ParamSpec> signal_params(std::vector<ParamSpec> own) {
  const ParamSpec shared[] = {
      {.name = "session",
       .default_value = true,
       .help = "use what the request's session has picked so far"},
      {.name = "groups", .default_value = true, .help = "use what the request's group has picked"},
      {.name = "links",
       .default_value = true,
       .help = "use links between candidates and what the session has picked"},
      {.name = "first",
       .default_value = std::string("drawn"),
       .help = "the first item: drawn from the law (the rest is sorted), or sorted like the "
               "rest",
       .words = {"drawn", "sorted"}},
      choice_set_spec(),
      context_terms_spec()};
  own.insert(own.end(), std::begin(shared), std::end(shared));
  return own;
}

Sight sight_of(const ParamMap& params) {
  return {.use = {.session = flag(params, "session"),
                  .group = flag(params, "groups"),
                  .links = flag(params, "links")},
          .context_terms = context_terms_of(params)};
}

ListLaw first_law(const ParamMap& params) {
  return word(params, "first") == "drawn" ? ListLaw::kFirstSlot : ListLaw::kDeterministic;
}

void add_parts(const FeatureLearner& learner, const SignalView& view, std::size_t at, double share,
               std::vector<Explanation::Part>& parts) {
  constexpr std::size_t kOwn = kSignalColumns;
  constexpr std::size_t kCallers = kSignalColumns + 1;
  constexpr std::size_t kUnderKey = kSignalColumns + 2;
  if (parts.empty()) {
    for (std::size_t j = 0; j < kSignalColumns; ++j) {
      parts.push_back({.name = std::string(signal_columns()[j].name),
                       .value = view.signals[j * view.items.size() + at]});
    }
    parts.push_back({.name = "the item itself", .value = 1.0});
    parts.push_back({.name = "the caller's features", .value = 1.0});
    parts.push_back(
        {.name = "the item under this context key", .value = view.context.empty() ? 0.0 : 1.0});
  }
  const auto add = [&](std::size_t j, double weight) {
    parts[j].weight += share * weight;
    parts[j].contribution += share * weight * parts[j].value;
  };
  for (std::size_t j = 0; j < kSignalColumns; ++j) {
    add(j, learner.weight(j));
  }
  add(kOwn, learner.item_term(view.items[at]));
  double callers = 0.0;
  if (!view.terms.empty()) {
    for (const TermRows::Entry& entry : view.terms.row(at)) {
      callers += learner.term(entry.slot) * entry.value;
    }
  }
  add(kCallers, callers);
  add(kUnderKey, view.context.empty() ? 0.0 : learner.context_term(view.context[at]));
}

}  // namespace hindsight
