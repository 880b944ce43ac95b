#include "src/rankers/hits.h"

#include "src/rankers/graph_ranker.h"

namespace hindsight {
namespace {

class Hits final : public GraphRanker {
 public:
  Hits(ChoiceSet choice_set, const GraphParams& params)
      : GraphRanker({.name = "hits",
                     .law = ListLaw::kDeterministic,
                     .choice_set = choice_set,
                     .needs_choice = false},
                    params) {}

 protected:
  // [Delage09] 5.1: x is the leading eigenvector of A^T A, x >= 0, by power iteration.
  void refresh_scores(const EdgeList& edges, std::vector<double>& scores) const override {
    const std::size_t n = edges.nodes();
    // Items that were unknown or unreached so far must be able to gain authority.
    for (double& value : scores) {
      value += 1.0 / static_cast<double>(n);
    }
    std::vector<double> next(n);
    for (int iteration = 0; iteration < params().max_iterations; ++iteration) {
      next.assign(n, 0.0);
      for (std::size_t i = 0; i < n; ++i) {
        double hub = 0.0;  // (A x)_i
        for (std::uint64_t e = edges.begin[i]; e < edges.begin[i + 1]; ++e) {
          hub += edges.weight[e] * scores[edges.target[e]];
        }
        if (!params().links) {
          // The hubs are the sessions: with one row of A for each, A^T A is the matrix of co-picks
          // with the picks on its diagonal (those outside a session count as sessions of their
          // own).
          next[i] = hub;
          continue;
        }
        for (std::uint64_t e = edges.begin[i]; e < edges.begin[i + 1]; ++e) {
          next[edges.target[e]] += edges.weight[e] * hub;  // (A^T A x)_j
        }
      }
      if (!scale_to_one(next)) {
        return;
      }
      const double change = sum_of_changes(next, scores);
      scores.swap(next);
      if (change < params().tolerance) {
        return;
      }
    }
  }
};

}  // namespace

RankerInfo hits_info() {
  return {.name = "hits",
          .summary = "HITS: sorts by authority in the graph of links or of co-picks",
          .paper = "[Kleinberg99]; [Delage09] 5.1",
          .guarantee = "none",
          .assumptions = "being linked to, or picked together, shows value",
          .law = ListLaw::kDeterministic,
          .params = graph_params(),
          .make = [](const ParamMap& params) -> Result<std::unique_ptr<Ranker>> {
            return std::unique_ptr<Ranker>(
                std::make_unique<Hits>(choice_set_of(params), graph_params_of(params)));
          }};
}

}  // namespace hindsight
