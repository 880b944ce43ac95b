// GraphRanker: ranks by the place of an item in a graph that grows, the base of HITS and PageRank.
//
// The graph is that of the items' links (a paper and what it cites), or of what was picked together
// in a session. Scores are refreshed on a schedule, after a number of new edges, by power iteration
// from the scores before.
//
// Thread-safety: as Ranker.

#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "src/rankers/scored_ranker.h"

namespace hindsight {

struct GraphParams {
  bool links = true;            // edges from the items' links; otherwise from co-picks
  std::uint64_t refresh = 500;  // new edges between two refreshes
  int max_iterations = 50;
  double tolerance = 1e-9;  // sum of changes at which an iteration ends
};

/// Edges by source: of node i, target[begin[i]] ... target[begin[i + 1] - 1], each with its weight.
/// Of co-picks, the edge of a node to itself carries its picks.
struct EdgeList {
  std::vector<std::uint64_t> begin;
  std::vector<ItemIndex> target;
  std::vector<double> weight;

  std::size_t nodes() const { return begin.size() - 1; }
};

class GraphRanker : public ScoredRanker {
 public:
  Description describe() const override;
  double item_score(ItemIndex item) const override { return scores_[item]; }
  std::size_t memory_bytes() const override;

 protected:
  GraphRanker(ListOptions options, const GraphParams& params)
      : ScoredRanker(std::move(options)), params_(params) {}

  const GraphParams& params() const { return params_; }

  /// Improves `scores` (one per node, sum of a probability vector) on the graph. REQUIRES:
  /// scores.size() == nodes > 0
  virtual void refresh_scores(const EdgeList& edges, std::vector<double>& scores) const = 0;

  void score(const Request& request, const Signals& signals, const FeatureRows& features,
             std::span<double> out) const override;
  Result<LearnReport> do_learn(const Decision& decision, const Feedback& feedback,
                               const Signals& signals) override;
  void do_add_items(std::span<const Item> items) override;
  void do_save(ByteWriter& out) const override;
  Result<void> do_load(ByteReader& in) override;

 private:
  EdgeList link_edges() const;
  EdgeList co_pick_edges(const Signals& signals) const;
  bool is_due() const;
  void refresh(const EdgeList& edges);

  /// A refresh costs as much as the graph is large: waiting for a 50th of new edges keeps the total
  /// cost linear, up to a logarithm, in what was added.
  static constexpr std::uint64_t kRefreshShare = 50;

  GraphParams params_;
  std::vector<std::vector<ItemIndex>> links_;
  std::vector<double> scores_;
  std::uint64_t edges_ = 0;      // links, or clicks
  std::uint64_t new_edges_ = 0;  // since the last refresh
  std::uint64_t refreshes_ = 0;
};

/// The parameters of both graph rankers, and their reading.
std::vector<ParamSpec> graph_params();
GraphParams graph_params_of(const ParamMap& params);

/// Scales x to sum 1. RETURNS: false, and leaves x alone, where the sum is 0.
bool scale_to_one(std::vector<double>& x);

/// sum |x_i - y_i|
double sum_of_changes(std::span<const double> x, std::span<const double> y);

}  // namespace hindsight
