#include "src/rankers/pagerank.h"

#include "src/rankers/graph_ranker.h"

namespace hindsight {
namespace {

class PageRank final : public GraphRanker {
 public:
  PageRank(ChoiceSet choice_set, const GraphParams& params, double damping)
      : GraphRanker({.name = "pagerank",
                     .law = ListLaw::kDeterministic,
                     .choice_set = choice_set,
                     .needs_choice = false},
                    params),
        damping_(damping) {}

 protected:
  void refresh_scores(const EdgeList& edges, std::vector<double>& scores) const override {
    const std::size_t n = edges.nodes();
    const double uniform = 1.0 / static_cast<double>(n);
    if (!scale_to_one(scores)) {
      scores.assign(n, uniform);
    }
    std::vector<double> next(n);
    for (int iteration = 0; iteration < params().max_iterations; ++iteration) {
      next.assign(n, 0.0);
      double dangling = 0.0;  // the surfer restarts where no link leads on
      for (std::size_t i = 0; i < n; ++i) {
        double out_weight = 0.0;
        for (std::uint64_t e = edges.begin[i]; e < edges.begin[i + 1]; ++e) {
          out_weight += edges.target[e] == i ? 0.0 : edges.weight[e];
        }
        if (out_weight <= 0.0) {
          dangling += scores[i];
          continue;
        }
        for (std::uint64_t e = edges.begin[i]; e < edges.begin[i + 1]; ++e) {
          if (edges.target[e] != i) {
            next[edges.target[e]] += scores[i] * edges.weight[e] / out_weight;
          }
        }
      }
      const double base = ((1.0 - damping_) + damping_ * dangling) * uniform;
      for (double& value : next) {
        value = base + damping_ * value;
      }
      const double change = sum_of_changes(next, scores);
      scores.swap(next);
      if (change < params().tolerance) {
        return;
      }
    }
  }

 private:
  double damping_;
};

std::vector<ParamSpec> pagerank_params() {
  std::vector<ParamSpec> params = graph_params();
  params.push_back({.name = "damping",
                    .default_value = 0.85,
                    .help = "probability that the surfer follows a link",
                    .minimum = 0.0,
                    .maximum = 0.999});
  return params;
}

}  // namespace

RankerInfo pagerank_info() {
  return {.name = "pagerank",
          .summary = "PageRank: sorts by the visits of a random surfer on links or co-picks",
          .paper = "[Page99]; [Delage09] 5.1",
          .guarantee = "none",
          .assumptions = "being linked to, or picked together, shows value",
          .law = ListLaw::kDeterministic,
          .params = pagerank_params(),
          .make = [](const ParamMap& params) -> Result<std::unique_ptr<Ranker>> {
            return std::unique_ptr<Ranker>(std::make_unique<PageRank>(
                choice_set_of(params), graph_params_of(params), number(params, "damping")));
          }};
}

}  // namespace hindsight
