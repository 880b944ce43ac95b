// FoldObserver: whoever wants to see what a fold meets, beside the model that comes out of it.
//
// Thread-safety: called by the fold's owner, one call at a time, in log order.

#pragma once

#include <cstddef>
#include <span>

#include "src/engine/event.h"
#include "src/store/store.h"

namespace hindsight {

class Model;

class FoldObserver {
 public:
  virtual ~FoldObserver() = default;

  /// A decision has come; the model has learned what came before it. Its candidates are there
  /// during this call only. FAILS: the fold ends with this error
  virtual Result<void> decided(const DecisionEvent& event, const Model& model) = 0;
  /// A click within its window on what was shown at `place`, from 0. The same place may come twice.
  virtual void clicked(const DecisionId& id, std::size_t place) = 0;
  /// The model is about to learn from clicks on these items.
  virtual void learning(const DecisionEvent& event, std::span<const ItemIndex> clicked,
                        const Model& model) = 0;
  /// No further click of the decision counts.
  virtual void closed(const DecisionId& id) = 0;
  /// Items came, changed or went.
  virtual void items_changed(Position position) = 0;
};

}  // namespace hindsight
