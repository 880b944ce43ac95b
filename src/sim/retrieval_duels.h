// Learning to rank judged documents online: DBGD through the link of [Yue09] 5.2, and any ranker
// through simulated users.
//
//   link     two weights are compared on a random query; the rival wins with probability
//            sigma(10 (NDCG@10 of the rival - NDCG@10 of the current)). Nobody clicks.
//   clicks   a user of src/sim/graded_clicks.h sees the ranker's list of ten for a random query
//
// Thread-safety: functions of their arguments.

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "hindsight/params.h"
#include "hindsight/ranker.h"
#include "hindsight/result.h"
#include "src/core/duel_step.h"
#include "src/sim/graded_clicks.h"
#include "src/sim/retrieval_set.h"

namespace hindsight {

/// Rounds that are done, from any thread. May be empty.
using RoundsDone = std::function<void(std::uint64_t)>;

struct LinkDuelParams {
  DuelSteps steps = {.probe = 1.0, .step = 0.01};
  std::uint64_t samples = 100;  // queries compared before an update
  std::uint64_t rounds = 0;     // queries in all
  std::uint64_t seed = 1;
  std::uint64_t stream = 0;
};

struct LinkDuelResult {
  std::vector<double> weights;
  double average_ndcg = 0.0;  // of the current weights on the queries that came
};

/// DBGD on the unit sphere, from a random point of it. A batch that ends in a tie moves nothing.
/// Queries are drawn from those that have a relevant document. FAILS: kInvalidArgument (sizes)
Result<LinkDuelResult> run_link_duels(const RetrievalSet& train, const LinkDuelParams& params,
                                      const RoundsDone& progress = {});

struct ClickRunParams {
  UserKind user = UserKind::kPerfect;
  std::uint64_t rounds = 0;  // lists that are shown
  std::uint64_t seed = 1;
  std::uint64_t stream = 0;
  std::vector<std::uint64_t> points = {};  // rounds after which to judge, ascending
};

struct ClickRunResult {
  std::vector<double> test_ndcg;  // at each of the points
  double train_ndcg = 0.0;        // in the end
  double final_ndcg = 0.0;        // on the test set, in the end
};

/// Sends an empty ranker of features through the users of one training set.
/// FAILS: as the ranker and GradedClicks::make; kInvalidArgument (sets of different columns)
Result<ClickRunResult> run_clicks(Ranker& ranker, const RetrievalSet& train,
                                  const RetrievalSet& test, const ClickRunParams& params,
                                  const RoundsDone& progress = {});

}  // namespace hindsight
