// The workloads, by name. `x / y` is the ratio that is taken; the aims are DESIGN's.
//
//   draw/top1, draw/top10, draw/top100   exact Plackett-Luce draw of the first k of n float weights
//                                        / a SIMD sum of the same array         n = 10^2 ... 10^7
//   gumbel/plain     the draw of the first 10 / a Gumbel key for every item, one by one
//   gumbel/vector    the draw of the first 10 / a key for every item, vectorised  n = 10^2 ... 10^6
//   tree/top10-click the first 10 of a sum tree, and one weight changed by a click
//                    / 5 us                                                      n = 10^4 ... 10^7
//   slope/draw, slope/tree               the exponent of the cost in n, fitted to the rows above
//
// Learning and replay belong here as well:
//   learn/klrank     KLRank's step on one click / one read-exp-write pass (exp_shifted) over the
//   same
//                    number of candidates                                        n = 10^4, aim 3
//   replay/klrank    folding logged events / 1 us an event                                aim 1
// each as a function that returns workloads, in a file of its own beside bench/draw_workloads.cc,
// declared in bench/workload_groups.h and called below.

#include <iterator>
#include <utility>

#include "bench/workload.h"
#include "bench/workload_groups.h"

namespace hindsight::bench {

std::vector<Workload> all_workloads() {
  std::vector<Workload> all;
  for (auto group : {draw_workloads, gumbel_workloads, tree_workloads}) {
    std::vector<Workload> more = group();
    std::move(more.begin(), more.end(), std::back_inserter(all));
  }
  return all;
}

}  // namespace hindsight::bench
