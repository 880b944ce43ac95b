// The workloads, by name. `x / y` is the ratio that is taken; an aim is a ratio not to exceed.
//
//   draw/top1, draw/top10, draw/top100   exact Plackett-Luce draw of the first k of n float weights
//                                        / a SIMD sum of the same array         n = 10^2 ... 10^7
//   gumbel/plain     the draw of the first 10 / a Gumbel key for every item, one by one
//   gumbel/vector    the draw of the first 10 / a key for every item, vectorised  n = 10^2 ... 10^6
//   tree/top10-click the first 10 of a sum tree, and one weight changed by a click
//                    / 5 us                                                      n = 10^4 ... 10^7
//   library/top10-click  Ranker::rank, the first 10 of the whole library, and Ranker::learn of one
//                    click; a call in which the tree is rebuilt takes far longer, and the median
//                    does not see it / 5 us                                      n = 10^4 ... 10^7
//   onlinerank/top10-click  the same of OnlineRank, whose click changes one count, with a horizon
//                    of 10^9 rounds / 6 us
//   onlinerank/early-click  the same with an unknown horizon and far fewer clicks than items: one
//                    click outweighs all items that have none, and scores soon outgrow the tree
//   sort/plackett-luce  a whole order of n items drawn by Plackett-Luce
//                    / std::sort of the scores as floats                         n = 10^3 ... 10^6
//   slope/draw, slope/tree, slope/onlinerank   the exponent of the cost in n, fitted to the rows
//                    above
//   learn/klrank-step  scores, cost and gradient step of one click on n candidates
//                    / one read-exp-write pass over as many doubles             n = 10^2 ... 10^6
//   learn/klrank     the whole of Ranker::learn, its checks and its account included
//                    / the same pass
//   auto/rank        Ranker::rank of auto, ten of n candidates, in sessions, with groups and links,
//                    after 2,000 clicks / 40 us                                  n = 100
//   auto/rank-over-klrank  the same / that of klrank                             n = 100, 1000
//   duel/dbgd, duel/pdgd  Ranker::rank of 20 documents with 46 features, ten shown, and
//                    Ranker::learn of its clicks / 3 us
//   click/recurrank, click/cascade-linucb, click/toprank  a round of the click bandits' experiment,
//   10
//                    places, 5 features, users by position / 100 ns, 40 us, 60 us
//   design/g-optimal  where to measure, of n vectors with 32 numbers / 1 s
//   replay/klrank    one logged click of a list of ten, library of n items / 1 us

#include <iterator>
#include <utility>

#include "bench/workload.h"
#include "bench/workload_groups.h"

namespace hindsight::bench {

std::vector<Workload> all_workloads() {
  std::vector<Workload> all;
  for (auto group : {draw_workloads, gumbel_workloads, tree_workloads, library_workloads,
                     onlinerank_workloads, sort_workloads, learn_workloads, auto_workloads,
                     duel_workloads, click_workloads, replay_workloads}) {
    std::vector<Workload> more = group();
    std::move(more.begin(), more.end(), std::back_inserter(all));
  }
  return all;
}

}  // namespace hindsight::bench
