// FeatureLearner: scores that are linear in what the log says of an item, in the caller's features
// and in a term of each item's own, learned click by click on the K-L cost of [Delage09] 3.2. Under
// a context key an item has one more term (src/core/context_terms.h).
//
// The few weights of signal columns are shared by all items and are moved either by AdaGrad steps
// ([Duchi11]: rate * gradient / root of the sum of its squares, for each coordinate) or by online
// Newton steps ([Hazan07]; the matrix is the sum of the cost's Hessians, which are the covariances
// of the features, and not of the gradients' outer products). The caller's features and the items'
// own terms always take AdaGrad steps.
//
// Bounded influence: one event moves the score of no item by more than max_move, whatever its
// features: the step is shortened where the sum of |change| * bound over its weights would be more.
// No weight leaves [-kMaxWeight, kMaxWeight].
//
// Thread-safety: const functions may run concurrently with each other, not with the others.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "hindsight/result.h"
#include "hindsight/types.h"
#include "src/core/signal_features.h"
#include "src/core/term_rows.h"

namespace hindsight {

class ByteReader;
class ByteWriter;

/// Phi of a choice set: a view.
struct LearnerView {
  std::span<const ItemIndex> items;
  std::span<const double> signals;              // signal_features of the items
  const TermRows& terms;                        // of the items
  std::span<const std::uint32_t> context = {};  // a slot for each, perhaps shared; empty: no key
};

struct FeatureLearnerParams {
  double rate = 0.5;       // of signal columns and of the caller's features
  double item_rate = 1.0;  // 0: items have no terms of their own, under no key either
  bool newton = false;     // on signal columns
  double max_move = 8.0;
  SignalUse use = {};  // columns of other kinds have weight zero
  std::size_t context_terms = 0;
};

class FeatureLearner {
 public:
  static constexpr double kMaxWeight = 32.0;

  explicit FeatureLearner(const FeatureLearnerParams& params);

  const FeatureLearnerParams& params() const { return params_; }
  void grow_items(std::size_t count);

  /// out = Phi theta. REQUIRES: view.items.size() == out.size(), items known, slots below
  /// context_terms
  void scores(const LearnerView& view, std::span<double> out) const;

  /// One step. `probs` is the softmax of the scores (priors included) under which the cost was
  /// taken. REQUIRES: sizes fit, picked < size
  void learn(const LearnerView& view, std::span<const double> probs, std::size_t picked);

  double weight(std::size_t column) const { return weights_[column]; }
  double item_term(ItemIndex item) const { return item < items_.size() ? items_[item].weight : 0; }
  double term(std::uint32_t slot) const { return slot < terms_.size() ? terms_[slot].weight : 0; }
  double context_term(std::uint32_t slot) const {
    return slot < context_.size() ? context_[slot].weight : 0;
  }
  std::size_t memory_bytes() const;

  void save(ByteWriter& out) const;
  /// FAILS: kCorrupt
  Result<void> load(ByteReader& in, std::size_t item_count);

 private:
  /// A weight that takes AdaGrad steps.
  struct Term {
    float weight = 0.0F;
    float squares = 0.0F;  // of its gradients, summed
  };
  using Columns = std::array<double, kSignalColumns>;
  using Packed = std::array<double, kSignalColumns*(kSignalColumns + 1) / 2>;

  bool uses(std::size_t column) const;
  Columns column_step(const LearnerView& view, std::span<const double> probs,
                      const Columns& gradient);
  Columns newton_step(const LearnerView& view, std::span<const double> probs,
                      const Columns& gradient);
  /// The step of an item's own term, or of that under a key.
  void step_own(Term& term, double gradient, double shortened) const;
  static void put_terms(ByteWriter& out, const std::vector<Term>& terms, std::uint64_t flags = 0);
  static bool get_terms(ByteReader& in, std::vector<Term>& terms, std::uint64_t* flags = nullptr);

  FeatureLearnerParams params_;
  Columns weights_{};
  Columns squares_{};  // of AdaGrad
  Packed hessian_{};   // of Newton, its lower half
  std::vector<Term> terms_;
  std::vector<Term> items_;
  std::vector<Term> context_;  // made when the first click under a key is learned
  std::vector<double> slope_;  // scratch of learn
  std::vector<double> term_gradient_;
};

}  // namespace hindsight
