#include "src/engine/curves.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <iterator>

#include "src/core/check.h"

namespace hindsight {
namespace {

std::uint64_t clicks_of(const CurvePoint& point) {
  return point.ranker_arm.clicks + point.control_arm.clicks;
}

/// Up to `count` of the points, the last one among them.
void pick_evenly(const std::vector<CurvePoint>& points, std::size_t count,
                 std::vector<CurvePoint>& out) {
  const std::size_t size = points.size();
  const std::size_t taken = std::min(count, size);
  for (std::size_t i = 1; i <= taken; ++i) {
    out.push_back(points[i * size / taken - 1]);
  }
}

void put_points(ByteWriter& out, const std::vector<CurvePoint>& points) {
  out.put(static_cast<std::uint32_t>(points.size()));
  for (const CurvePoint& point : points) {
    put_point(out, point);
  }
}

bool get_points(ByteReader& in, std::vector<CurvePoint>& points) {
  std::uint32_t size = 0;
  points.clear();
  if (!in.get(size) || size > Curves::kLimit) {
    return false;
  }
  for (std::uint32_t i = 0; i < size; ++i) {
    if (!get_point(in, points.emplace_back())) {
      return false;
    }
  }
  return true;
}

bool get_all(ByteReader& in, std::initializer_list<double*> values) {
  bool sane = true;
  for (double* value : values) {
    sane = in.get(*value) && !std::isnan(*value) && sane;  // a served cost may be infinite
  }
  return sane;
}

}  // namespace

void Curves::add(const CurvePoint& point) {
  points_.push_back(point);
  while (points_.size() >= kLimit) {
    stride_ *= 2;
    std::erase_if(points_, [this](const CurvePoint& one) { return !wants(clicks_of(one)); });
  }
}

void Curves::add_measured(const CurvePoint& point) {
  HINDSIGHT_CHECK(point.cost && point.hindsight);
  measured_.push_back(point);
  if (measured_.size() >= kLimit) {
    std::size_t kept = 0;
    for (std::size_t i = 1; i < measured_.size(); i += 2) {  // an even number: the last one stays
      measured_[kept++] = measured_[i];
    }
    measured_.resize(kept);
  }
}

void Curves::set_era(std::uint64_t era) {
  for (CurvePoint& point : points_) {
    point.era = era;
  }
}

const CurvePoint* Curves::last_measured(std::uint64_t era) const {
  const auto found = std::find_if(measured_.rbegin(), measured_.rend(),
                                  [&](const CurvePoint& point) { return point.era == era; });
  return found == measured_.rend() ? nullptr : &*found;
}

std::vector<CurvePoint> Curves::pick(std::size_t count) const {
  std::vector<CurvePoint> picked;
  // Half for each, and what one does not need for the other.
  const std::size_t half = (count + 1) / 2;
  const std::size_t measured =
      points_.size() < count - half ? count - points_.size() : std::min(half, count);
  pick_evenly(measured_, measured, picked);
  pick_evenly(points_, count - picked.size(), picked);
  std::stable_sort(picked.begin(), picked.end(), [](const CurvePoint& a, const CurvePoint& b) {
    return a.position < b.position;
  });
  return picked;
}

std::uint64_t Curves::memory_bytes() const {
  const std::size_t weights = points_.empty() ? 0 : points_.back().expert_weights.size();
  return (points_.capacity() + measured_.capacity()) * sizeof(CurvePoint) +
         points_.size() * (weights == 0 ? 0 : weights * sizeof(float) + 16);
}

void Curves::save(ByteWriter& out) const {
  out.put(stride_);
  put_points(out, points_);
  put_points(out, measured_);
  for (const CurvePoint& point : points_) {
    out.put(point.expert_weights);
  }
}

bool Curves::load(ByteReader& in, bool with_experts) {
  in.get(stride_);
  if (!get_points(in, points_) || !get_points(in, measured_) || stride_ == 0) {
    return false;
  }
  const auto is_share = [](float weight) { return weight >= 0.0F && weight <= 1.0F; };
  for (std::size_t i = 0; with_experts && i < points_.size(); ++i) {
    std::vector<float>& weights = points_[i].expert_weights;
    if (!in.get(weights) || !std::all_of(weights.begin(), weights.end(), is_share)) {
      return false;
    }
  }
  // Or thinning them would not end.
  const auto not_after = [](const CurvePoint& a, const CurvePoint& b) {
    return clicks_of(a) >= clicks_of(b);
  };
  return std::adjacent_find(points_.begin(), points_.end(), not_after) == points_.end() &&
         std::all_of(measured_.begin(), measured_.end(),
                     [](const CurvePoint& point) { return point.cost && point.hindsight; });
}

void put_arm(ByteWriter& out, const ArmStats& arm) {
  out.put(arm.decisions);
  out.put(arm.clicks);
  out.put(arm.first_clicks);
  out.put(arm.ndcg_sum);
  out.put(arm.clicked);
  out.put(arm.ndcg_squares);
}

void get_arm(ByteReader& in, ArmStats& arm) {
  in.get(arm.decisions);
  in.get(arm.clicks);
  in.get(arm.first_clicks);
  in.get(arm.ndcg_sum);
  in.get(arm.clicked);
  in.get(arm.ndcg_squares);
}

void put_point(ByteWriter& out, const CurvePoint& point) {
  out.put(point.era);
  out.put(point.time_ms);
  out.put(point.position);
  out.put(point.cost.has_value());
  if (point.cost) {
    out.put(point.cost->clicks);
    out.put(point.cost->learned_cost);
    out.put(point.cost->served_cost);
    out.put(point.cost->theorem_bound);
    out.put(point.cost->data_bound);
  }
  out.put(point.hindsight.has_value());
  if (point.hindsight) {
    out.put(point.hindsight->cost);
    out.put(point.hindsight->error);
    out.put(point.hindsight->regret_upper);
    out.put(point.hindsight->sample);
  }
  put_arm(out, point.ranker_arm);
  put_arm(out, point.control_arm);
}

bool get_point(ByteReader& in, CurvePoint& point) {
  bool has_cost = false;
  bool has_hindsight = false;
  bool sane = true;
  in.get(point.era);
  in.get(point.time_ms);
  in.get(point.position);
  in.get(has_cost);
  if (has_cost) {
    RegretSummary& cost = point.cost.emplace();
    in.get(cost.clicks);
    sane =
        get_all(in, {&cost.learned_cost, &cost.served_cost, &cost.theorem_bound, &cost.data_bound});
  }
  in.get(has_hindsight);
  if (has_hindsight) {
    Hindsight& hindsight = point.hindsight.emplace();
    sane = get_all(in, {&hindsight.cost, &hindsight.error, &hindsight.regret_upper}) && sane;
    in.get(hindsight.sample);
  }
  get_arm(in, point.ranker_arm);
  get_arm(in, point.control_arm);
  return in.ok() && sane && (has_cost || !has_hindsight);
}

}  // namespace hindsight
