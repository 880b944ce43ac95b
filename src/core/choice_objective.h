// ChoiceObjective: the total K-L cost of a list of choices as a function of the weights ([Delage09]
// Problem (1)).
//
// The weights of the three kinds of features stand behind each other: items, dense columns, sparse
// columns.
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
  std::vector<ItemIndex> items = {};  // e_i of each; empty: not used
  FeatureRows rows = {};              // features of each; empty: not used
  std::vector<double> prior = {};     // added to each score; empty: none
  std::size_t n = 0;
  std::size_t picked = 0;
};

class ChoiceObjective final : public ConvexObjective {
 public:
  struct Sizes {
    std::size_t items = 0;
    std::size_t dense = 0;
    std::size_t sparse = 0;
  };

  /// `choices` must outlive the objective. REQUIRES: every index is within the sizes, picked < n
  ChoiceObjective(std::span<const Choice> choices, const Sizes& sizes);

  std::size_t dim() const override { return sizes_.items + sizes_.dense + sizes_.sparse; }
  double evaluate(std::span<const double> theta, std::span<double> gradient) override;
  void hessian_times(std::span<const double> v, std::span<double> out) const override;

 private:
  /// out = Phi x
  void apply(const Choice& choice, std::span<const double> x, std::span<double> out) const;
  /// out += Phi^T c
  void apply_transposed(const Choice& choice, std::span<const double> c,
                        std::span<double> out) const;

  std::span<const Choice> choices_;
  Sizes sizes_;
  std::size_t largest_ = 0;
  std::vector<double> probs_;  // of every choice, one behind the other, at the last theta
};

}  // namespace hindsight
