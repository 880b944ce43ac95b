#include "src/sim/prefix_objective.h"

#include <algorithm>

#include "src/core/check.h"
#include "src/core/det_math.h"
#include "src/core/kernels.h"

namespace hindsight {

PrefixObjective::PrefixObjective(const PrefixStream& stream, std::uint64_t first,
                                 std::uint64_t last)
    : stream_(stream), picks_(stream.item_count, 0.0), weight_(stream.item_count, 0.0) {
  HINDSIGHT_CHECK(first >= 1 && first <= last && last <= stream.queries.size());
  std::vector<std::vector<std::uint32_t>> lengths(stream.lists.size());
  for (std::uint64_t t = first; t <= last; ++t) {
    const PrefixQuery& query = stream.queries[t - 1];
    lengths[query.topic].push_back(query.length);
    picks_[stream.pick(query)] += 1.0;
  }
  for (std::vector<std::uint32_t>& of_topic : lengths) {
    std::sort(of_topic.begin(), of_topic.end());
    for (const std::uint32_t length : of_topic) {
      const bool same = topic_groups_.values.size() > topic_groups_.begin.back() &&
                        groups_.back().length == length;
      if (!same) {
        topic_groups_.values.push_back(static_cast<std::uint32_t>(groups_.size()));
        groups_.push_back({length, 0});
      }
      ++groups_.back().count;
    }
    topic_groups_.close_list();
  }
  group_sum_.resize(groups_.size());
}

double PrefixObjective::evaluate(std::span<const double> theta, std::span<double> gradient) {
  HINDSIGHT_CHECK(theta.size() == dim() && gradient.size() == dim());
  double total = -dot(picks_, theta);
  for (std::size_t i = 0; i < dim(); ++i) {
    gradient[i] = -picks_[i];
  }
  std::vector<double> scores;
  for (std::size_t topic = 0; topic < topic_groups_.size(); ++topic) {
    const auto of_topic = topic_groups_[topic];
    if (of_topic.empty()) {
      continue;
    }
    // Only what some query saw; a longer list would add nothing but work.
    const auto list = stream_.lists[topic].first(groups_[of_topic.back()].length);
    scores.resize(list.size());
    const double top = gather_scaled(theta, list, 1.0, scores);
    exp_shifted(scores, top, scores);
    double sum = 0.0;
    std::size_t i = 0;
    for (const std::uint32_t g : of_topic) {
      for (; i < groups_[g].length; ++i) {
        weight_[list[i]] = scores[i];
        sum += scores[i];
      }
      group_sum_[g] = sum;
      total += groups_[g].count * (top + det_log(sum));
    }
    double received = 0.0;  // sum of count / sum over the groups that saw the item
    for (std::size_t k = of_topic.size(); k-- > 0;) {
      const Group& group = groups_[of_topic[k]];
      received += group.count / group_sum_[of_topic[k]];
      const std::size_t begin = k == 0 ? 0 : groups_[of_topic[k - 1]].length;
      for (std::size_t j = begin; j < group.length; ++j) {
        gradient[list[j]] += scores[j] * received;
      }
    }
  }
  return total;
}

// With p the softmax over a prefix: (H v)_j = sum over groups of count p_j (v_j - sum_i p_i v_i).
void PrefixObjective::hessian_times(std::span<const double> v, std::span<double> out) const {
  std::fill(out.begin(), out.end(), 0.0);
  std::vector<double> means;
  for (std::size_t topic = 0; topic < topic_groups_.size(); ++topic) {
    const auto of_topic = topic_groups_[topic];
    const auto list = stream_.lists[topic];
    means.resize(of_topic.size());
    double sum = 0.0;
    std::size_t i = 0;
    for (std::size_t k = 0; k < of_topic.size(); ++k) {
      for (; i < groups_[of_topic[k]].length; ++i) {
        sum += weight_[list[i]] * v[list[i]];
      }
      means[k] = sum / group_sum_[of_topic[k]];
    }
    double received = 0.0;
    double received_mean = 0.0;
    for (std::size_t k = of_topic.size(); k-- > 0;) {
      const Group& group = groups_[of_topic[k]];
      const double share = group.count / group_sum_[of_topic[k]];
      received += share;
      received_mean += share * means[k];
      const std::size_t begin = k == 0 ? 0 : groups_[of_topic[k - 1]].length;
      for (std::size_t j = begin; j < group.length; ++j) {
        out[list[j]] += weight_[list[j]] * (v[list[j]] * received - received_mean);
      }
    }
  }
}

}  // namespace hindsight
