// Random choice sets over any mix of per-item, dense and sparse features, for tests of losses and
// solvers.

#pragma once

#include <algorithm>
#include <vector>

#include "hindsight/random.h"
#include "src/core/choice_objective.h"

namespace hindsight::testing {

struct ChoiceShape {
  bool items = true;
  bool dense = false;
  bool sparse = false;
  bool prior = false;
};

inline constexpr ChoiceObjective::Sizes kChoiceSizes{.items = 12, .dense = 3, .sparse = 9};

inline ChoiceObjective::Sizes sizes_of(const ChoiceShape& shape) {
  return {.items = shape.items ? kChoiceSizes.items : 0,
          .dense = shape.dense ? kChoiceSizes.dense : 0,
          .sparse = shape.sparse ? kChoiceSizes.sparse : 0};
}

/// A choice among 1 to 8 of 12 items.
inline Choice random_choice(const ChoiceShape& shape, Rng& rng) {
  Choice choice;
  choice.n = 1 + rng.below(8);
  choice.picked = rng.below(choice.n);
  if (shape.items) {
    std::vector<ItemIndex> all(kChoiceSizes.items);
    for (std::size_t i = 0; i < all.size(); ++i) {
      all[i] = static_cast<ItemIndex>(i);
      std::swap(all[i], all[rng.below(i + 1)]);
    }
    choice.items.assign(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(choice.n));
  }
  if (shape.dense) {
    choice.rows.dense_dim = kChoiceSizes.dense;
    for (std::size_t i = 0; i < choice.n * kChoiceSizes.dense; ++i) {
      choice.rows.dense.push_back(rng.normal());
    }
  }
  if (shape.sparse) {
    choice.rows.row_begin.push_back(0);
    for (std::size_t i = 0; i < choice.n; ++i) {
      for (std::uint32_t j = 0; j < kChoiceSizes.sparse; ++j) {
        if (rng.below(3) == 0) {
          choice.rows.sparse_index.push_back(j);
          choice.rows.sparse_value.push_back(rng.normal());
        }
      }
      choice.rows.row_begin.push_back(static_cast<std::uint32_t>(choice.rows.sparse_index.size()));
    }
  }
  if (shape.prior) {
    for (std::size_t i = 0; i < choice.n; ++i) {
      choice.prior.push_back(rng.normal());
    }
  }
  return choice;
}

inline const std::vector<ChoiceShape>& all_shapes() {
  static const std::vector<ChoiceShape> shapes = {
      {.items = true},
      {.items = false, .dense = true},
      {.items = false, .sparse = true},
      {.items = true, .dense = true, .sparse = true},
      {.items = true, .dense = true, .sparse = true, .prior = true},
  };
  return shapes;
}

inline std::vector<double> random_vector(std::size_t n, Rng& rng) {
  std::vector<double> x(n);
  for (double& value : x) {
    value = rng.normal();
  }
  return x;
}

}  // namespace hindsight::testing
