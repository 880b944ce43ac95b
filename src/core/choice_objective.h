// ChoiceObjective: the total K-L cost of a list of choices as a function of the weights ([Delage09]
// Problem (1)).
//
// The weights of the four kinds of features stand behind each other: items, dense columns, sparse
// columns, context terms.
//
// Thread-safety: none; one owner at a time.

#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "hindsight/types.h"
#include "src/core/newton.h"

namespace hindsight {

/// One pick and what it was a choice among.
struct Choice {
  std::vector<ItemIndex> items = {};        // e_i of each; empty: not used
  FeatureRows rows = {};                    // features of each; empty: not used
  std::vector<double> prior = {};           // added to each score; empty: none
  std::vector<std::uint32_t> context = {};  // a context term of each; empty: not used
  double factor = 1.0;                      // what all of Phi is multiplied by
  std::size_t n = 0;
  std::size_t picked = 0;
};

class ChoiceObjective final : public ConvexObjective {
 public:
  struct Sizes {
    std::size_t items = 0;
    std::size_t dense = 0;
    std::size_t sparse = 0;
    std::size_t context = 0;
  };

  /// Every choice counts `weight` times. `choices` must outlive the objective. REQUIRES: every
  /// index is within the sizes, picked < n
  ChoiceObjective(std::span<const Choice> choices, const Sizes& sizes, double weight = 1.0);

  std::size_t dim() const override {
    return sizes_.items + sizes_.dense + sizes_.sparse + sizes_.context;
  }
  double evaluate(std::span<const double> theta, std::span<double> gradient) override;
  void hessian_times(std::span<const double> v, std::span<double> out) const override;

  /// out[i] = the cost of the i-th choice, without its weight. REQUIRES: one place per choice
  void costs(std::span<const double> theta, std::span<double> out) const;

 private:
  /// out = Phi theta + prior
  void scores_of(const Choice& choice, std::span<const double> theta, std::span<double> out) const;
  /// out = Phi x
  void apply(const Choice& choice, std::span<const double> x, std::span<double> out) const;
  /// out += Phi^T c
  void apply_transposed(const Choice& choice, std::span<const double> c,
                        std::span<double> out) const;

  std::span<const Choice> choices_;
  Sizes sizes_;
  double weight_;
  std::size_t largest_ = 0;
  std::vector<double> probs_;  // of every choice, one behind the other, at the last theta
};

}  // namespace hindsight
