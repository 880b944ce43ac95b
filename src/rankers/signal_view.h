// SignalView: all that a learner of features sees of a choice set, computed once and shared by all
// learners; and the parameters that say which of it they may see.
//
// Learning looks at the signals as they are when the click is folded, not as they were when the
// list was made: a log that another ranker has written can be learned from, decisions stay small,
// and a second click on a list knows of the first.
//
// Thread-safety: plain values.

#pragma once

#include <span>
#include <vector>

#include "hindsight/registry.h"
#include "hindsight/signals.h"
#include "hindsight/types.h"
#include "src/core/feature_learner.h"

namespace hindsight {

/// What a learner of signals may see.
struct Sight {
  SignalUse use;
  std::size_t context_terms = 0;  // slots for pairs of a context key and an item; 0: no keys
};

struct SignalView {
  /// `key`: of the context; 0: none.
  SignalView(const Signals& log, const SignalAsker& asker, std::uint64_t key, const Sight& sight,
             std::span<const ItemIndex> choice, const FeatureRows& features);

  std::span<const ItemIndex> items;
  std::vector<double> signals;
  TermRows terms;
  std::vector<std::uint32_t> context;

  LearnerView view() const {
    return {.items = items, .signals = signals, .terms = terms, .context = context};
  }
};

/// Of a request, with the features that were collected for it.
SignalView view_of(const Request& request, const Signals& log, const Sight& sight,
                   const FeatureRows& features);
/// Of a decision, as the signals are now.
SignalView view_of(const Decision& decision, const Signals& log, const Sight& sight);

/// A ranker's own parameters, then those that learners of signals share: session, groups and links,
/// true by default; first, drawn by default; choice_set; context_terms.
std::vector<ParamSpec> signal_params(std::vector<ParamSpec> own);
/// REQUIRES: `params` holds valid values of signal_params
Sight sight_of(const ParamMap& params);
ListLaw first_law(const ParamMap& params);

/// What the learner's score of items[at] is made of, each part times `share`, added to `parts`,
/// which is empty or comes from here.
void add_parts(const FeatureLearner& learner, const SignalView& view, std::size_t at, double share,
               std::vector<Explanation::Part>& parts);

}  // namespace hindsight
