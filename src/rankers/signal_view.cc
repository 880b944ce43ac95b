#include "src/rankers/signal_view.h"

#include <iterator>

#include "src/core/signal_features.h"
#include "src/rankers/scored_ranker.h"

namespace hindsight {

SignalView::SignalView(const Signals& log, const SignalAsker& asker, const SignalUse& use,
                       std::span<const ItemIndex> choice, const FeatureRows& features)
    : items(choice),
      signals(kSignalColumns * choice.size()),
      terms(make_term_rows(features, choice.size())) {
  signal_features(log, asker, use, choice, signals);
}

SignalView view_of(const Request& request, const Signals& log, const SignalUse& use,
                   const FeatureRows& features) {
  return {
      log, {.session = request.session, .group = request.group}, use, request.candidates, features};
}

SignalView view_of(const Decision& decision, const Signals& log, const SignalUse& use) {
  return {log,
          {.session = decision.session, .group = decision.group},
          use,
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
      choice_set_spec()};
  own.insert(own.end(), std::begin(shared), std::end(shared));
  return own;
}

SignalUse signal_use(const ParamMap& params) {
  return {.session = flag(params, "session"),
          .group = flag(params, "groups"),
          .links = flag(params, "links")};
}

ListLaw first_law(const ParamMap& params) {
  return word(params, "first") == "drawn" ? ListLaw::kFirstSlot : ListLaw::kDeterministic;
}

void add_parts(const FeatureLearner& learner, const SignalView& view, std::size_t at, double share,
               std::vector<Explanation::Part>& parts) {
  constexpr std::size_t kOwn = kSignalColumns;
  constexpr std::size_t kCallers = kSignalColumns + 1;
  if (parts.empty()) {
    for (std::size_t j = 0; j < kSignalColumns; ++j) {
      parts.push_back({.name = std::string(signal_columns()[j].name),
                       .value = view.signals[j * view.items.size() + at]});
    }
    parts.push_back({.name = "the item itself", .value = 1.0});
    parts.push_back({.name = "the caller's features", .value = 1.0});
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
}

}  // namespace hindsight
