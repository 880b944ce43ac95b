#include "src/sim/stationary_stream.h"

#include <algorithm>
#include <span>

#include "hindsight/random.h"
#include "src/core/det_math.h"
#include "src/core/kernels.h"

namespace hindsight {
namespace {

constexpr std::uint64_t kStream = 0x5374'6174'696f'6e61;  // apart from other uses of the seed
constexpr std::uint64_t kMaxStationaryItems = 10'000'000;

/// The law of one topic's picks, ready to be drawn from.
struct TopicLaw {
  std::vector<double> cumulated;  // probabilities
  std::vector<double> cost;       // -log probability
  double entropy = 0.0;
};

TopicLaw make_law(std::span<const double> score) {
  TopicLaw law;
  std::vector<double> scratch(score.size());
  const double log_sum = log_sum_exp(score, scratch);
  double total = 0.0;
  for (const double s : score) {
    const double cost = log_sum - s;
    const double prob = det_exp(-cost);
    total += prob;
    law.cumulated.push_back(total);
    law.cost.push_back(cost);
    law.entropy += prob * cost;
  }
  return law;
}

std::uint32_t draw(const TopicLaw& law, Rng& rng) {
  const double at = rng.uniform() * law.cumulated.back();
  const auto found = std::upper_bound(law.cumulated.begin(), law.cumulated.end(), at);
  return static_cast<std::uint32_t>(std::min<std::size_t>(
      static_cast<std::size_t>(found - law.cumulated.begin()), law.cumulated.size() - 1));
}

}  // namespace

Result<StationaryStream> make_stationary_stream(const StationaryParams& params,
                                                std::uint64_t seed) {
  const std::uint64_t items = std::uint64_t{params.topics} * params.items_per_topic;
  if (params.topics < 1 || params.items_per_topic < 2 || items > kMaxStationaryItems ||
      !(params.score_deviation >= 0.0 && params.score_deviation <= 10.0)) {
    return Error{ErrorCode::kInvalidArgument,
                 "at least 1 topic of at least 2 items, at most 10,000,000 items, and a deviation "
                 "of 0 to 10 are needed",
                 "stationary"};
  }
  Rng rng(seed, kStream);
  StationaryStream made;
  for (std::uint64_t i = 0; i < items; ++i) {
    made.true_score.push_back(params.score_deviation * rng.normal());
    made.stream.prefix.lists.values.push_back(static_cast<ItemIndex>(i));
    made.stream.links.close_list();
    if ((i + 1) % params.items_per_topic == 0) {
      made.stream.prefix.lists.close_list();
    }
  }
  std::vector<TopicLaw> laws;
  for (std::uint32_t topic = 0; topic < params.topics; ++topic) {
    laws.push_back(make_law(
        std::span(made.true_score)
            .subspan(std::size_t{topic} * params.items_per_topic, params.items_per_topic)));
    made.expected_cost += laws.back().entropy / params.topics;
  }
  made.true_cost.push_back(0.0);
  for (std::uint32_t t = 0; t < params.queries; ++t) {
    const auto topic = static_cast<std::uint32_t>(rng.below(params.topics));
    const std::uint32_t rank = draw(laws[topic], rng);
    made.stream.prefix.queries.push_back({topic, params.items_per_topic, rank});
    made.stream.visits.push_back({static_cast<std::uint32_t>(items), 0, 0});
    made.true_cost.push_back(made.true_cost.back() + laws[topic].cost[rank]);
  }
  made.stream.prefix.item_count = items;
  return made;
}

}  // namespace hindsight
