// ClickLearner: the click bandits as an experiment of many million rounds plays them.
//
// The rankers of the registry answer requests with decisions that hold all that learning needs.
// An experiment needs none of that, and these play the same state machines (src/core/recur_rank.h,
// ridge_estimate.h, top_rank.h) directly. tests/sim/click_learner_test.cc holds RecurRank and
// TopRank against their rankers, list by list, and CascadeLinUCB up to ties, which it breaks in
// another way than its ranker.
//
// Thread-safety: one owner at a time.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "hindsight/random.h"
#include "hindsight/result.h"
#include "hindsight/types.h"
#include "src/sim/linear_world.h"

namespace hindsight {

class ClickLearner {
 public:
  virtual ~ClickLearner() = default;
  ClickLearner(const ClickLearner&) = delete;
  ClickLearner& operator=(const ClickLearner&) = delete;

  /// Chooses the list of the next round. RETURNS: the places whose clicks it wants to see, as bits
  virtual std::uint64_t choose(Rng& rng, std::vector<ItemIndex>& list) = 0;
  /// The clicks on that list, as bits, at the wanted places.
  virtual void learn(std::span<const ItemIndex> list, std::uint64_t clicks) = 0;

 protected:
  ClickLearner() = default;
};

struct ClickLearnerParams {
  std::size_t positions = 10;
  std::uint64_t horizon = 0;
};

/// Names of learners, in the order of tables: recurrank, recurrank-printed (line 7 of Algorithm 1
/// as printed), cascade-linucb (c = 1), cascade-linucb-proven (the c of the regret bound),
/// cascade-lints, toprank.
std::span<const std::string> click_learner_names();

/// FAILS: kUnknownName (a name that is not among these)
Result<void> check_click_learner_name(const std::string& name);

/// FAILS: kUnknownName; kInvalidArgument and others, as the algorithms refuse
Result<std::unique_ptr<ClickLearner>> make_click_learner(const std::string& name,
                                                         const LinearWorld& world,
                                                         const ClickLearnerParams& params);

/// The indices of the k largest, best first. Of equals those come first that stand first, counted
/// from `start` on and around. REQUIRES: k <= scores.size(), start < scores.size()
void top_k(std::span<const double> scores, std::size_t k, std::size_t start,
           std::vector<ItemIndex>& out);

}  // namespace hindsight
