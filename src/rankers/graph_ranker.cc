#include "src/rankers/graph_ranker.h"

#include <algorithm>
#include <cmath>

#include "hindsight/signals.h"
#include "src/core/bytes.h"
#include "src/core/check.h"
#include "src/core/kernels.h"

namespace hindsight {

void GraphRanker::score(const Request& request, const Signals& /*signals*/,
                        const FeatureRows& /*features*/, std::span<double> out) const {
  gather_scaled(scores_, request.candidates, 1.0, out);
}

EdgeList GraphRanker::link_edges() const {
  EdgeList edges;
  edges.begin.push_back(0);
  for (const std::vector<ItemIndex>& targets : links_) {
    edges.target.insert(edges.target.end(), targets.begin(), targets.end());
    edges.begin.push_back(edges.target.size());
  }
  edges.weight.assign(edges.target.size(), 1.0);
  return edges;
}

EdgeList GraphRanker::co_pick_edges(const Signals& signals) const {
  EdgeList edges;
  edges.begin.push_back(0);
  for (std::size_t i = 0; i < items_added(); ++i) {
    if (i < signals.size()) {
      edges.target.push_back(static_cast<ItemIndex>(i));
      edges.weight.push_back(static_cast<double>(signals.picks(static_cast<ItemIndex>(i))));
      for (const Signals::Count& neighbour : signals.neighbours(static_cast<ItemIndex>(i))) {
        if (neighbour.key < items_added()) {
          edges.target.push_back(static_cast<ItemIndex>(neighbour.key));
          edges.weight.push_back(neighbour.count);
        }
      }
    }
    edges.begin.push_back(edges.target.size());
  }
  return edges;
}

bool GraphRanker::is_due() const {
  return new_edges_ >= std::max(params_.refresh, edges_ / kRefreshShare);
}

void GraphRanker::refresh(const EdgeList& edges) {
  refresh_scores(edges, scores_);
  new_edges_ = 0;
  count_up(refreshes_);
}

Result<LearnReport> GraphRanker::do_learn(const Decision& /*decision*/, const Feedback& feedback,
                                          const Signals& signals) {
  const auto clicks = static_cast<std::uint32_t>(feedback.clicked.size());
  if (params_.links) {
    return LearnReport{.learned = 0, .ignored = clicks};  // the graph does not come from clicks
  }
  count_up(new_edges_, clicks);
  count_up(edges_, clicks);
  if (is_due()) {
    refresh(co_pick_edges(signals));
  }
  return LearnReport{.learned = clicks};
}

void GraphRanker::do_add_items(std::span<const Item> items) {
  links_.resize(items_added());
  scores_.resize(items_added(), 0.0);
  if (!params_.links) {
    return;
  }
  for (const Item& item : items) {
    std::vector<ItemIndex>& targets = links_[item.index];
    edges_ -= targets.size();
    targets = item.links;
    std::sort(targets.begin(), targets.end());
    targets.erase(std::unique(targets.begin(), targets.end()), targets.end());
    std::erase(targets, item.index);
    count_up(edges_, targets.size());
    count_up(new_edges_, targets.size());
  }
  if (is_due()) {
    refresh(link_edges());
  }
}

std::size_t GraphRanker::memory_bytes() const {
  return Ranker::memory_bytes() + links_.capacity() * sizeof(std::vector<ItemIndex>) +
         (params_.links ? edges_ * sizeof(ItemIndex) : 0);
}

Description GraphRanker::describe() const {
  return {{"items", std::to_string(items_live())},
          {"edges", std::to_string(edges_)},
          {"refreshes", std::to_string(refreshes_)},
          {"new edges since the last refresh", std::to_string(new_edges_)}};
}

void GraphRanker::do_save(ByteWriter& out) const {
  for (const auto& targets : links_) {
    out.put(targets);
  }
  out.put(scores_);
  out.put(edges_);
  out.put(new_edges_);
  out.put(refreshes_);
}

Result<void> GraphRanker::do_load(ByteReader& in) {
  links_.assign(items_added(), {});
  for (auto& targets : links_) {
    in.get(targets);
    HINDSIGHT_RETURN_IF_ERROR(in.check("links"));
    for (const ItemIndex target : targets) {
      if (target >= items_added()) {
        return Error{ErrorCode::kCorrupt, "a saved link leads nowhere", "links"};
      }
    }
  }
  in.get(scores_);
  in.get(edges_);
  in.get(new_edges_);
  in.get(refreshes_);
  HINDSIGHT_RETURN_IF_ERROR(in.check("scores"));
  std::uint64_t links = 0;
  for (const auto& targets : links_) {
    links += targets.size();
  }
  bool sane = scores_.size() == items_added() && all_finite(scores_) &&
              (!params_.links || edges_ == links) &&
              std::max({edges_, new_edges_, refreshes_}) <= kMaxCount;
  for (const double value : scores_) {
    sane = sane && value >= 0.0;
  }
  return sane ? Result<void>()
              : Error{ErrorCode::kCorrupt, "the saved scores do not fit the items", "scores"};
}

std::vector<ParamSpec> graph_params() {
  return {{.name = "graph",
           .default_value = std::string("links"),
           .help = "edges from the items' links, or from what was picked together in a session",
           .words = {"links", "copicks"}},
          {.name = "refresh",
           .default_value = 500.0,
           .help = "new edges (links, or clicks) between two refreshes of the scores; in a large "
                   "graph, 2% of all",
           .minimum = 1.0,
           .maximum = 1e12,
           .whole_number = true},
          choice_set_spec()};
}

GraphParams graph_params_of(const ParamMap& params) {
  return {.links = word(params, "graph") == "links",
          .refresh = static_cast<std::uint64_t>(number(params, "refresh"))};
}

bool scale_to_one(std::vector<double>& x) {
  const double sum = sum_of(x);
  if (!(sum > 0.0)) {
    return false;
  }
  for (double& value : x) {
    value /= sum;
  }
  return true;
}

double sum_of_changes(std::span<const double> x, std::span<const double> y) {
  double sum = 0.0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    sum += std::abs(x[i] - y[i]);
  }
  return sum;
}

}  // namespace hindsight
