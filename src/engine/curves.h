// Curves: what became of a collection's costs, click by click, in a bounded number of points.
//
// Two lists. Points of the fold are evenly spaced in clicks; when there are too many, every second
// goes. They are those of the ranker that serves now: where it has learned the history of others,
// it is its own costs on that history that they show. Measured points come from the log, with what
// the best fixed policy would have paid; those of earlier rankers stay.
//
// Thread-safety: const functions may run concurrently with each other, not with the others.

#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "src/core/bytes.h"
#include "src/engine/api.h"

namespace hindsight {

class Curves {
 public:
  static constexpr std::size_t kLimit = 1024;  // of each list

  /// RETURNS: whether there should be a point at so many clicks.
  bool wants(std::uint64_t clicks) const { return clicks % stride_ == 0; }
  /// REQUIRES: wants(the clicks of the point's arms), which are more than those of the point before
  void add(const CurvePoint& point);
  /// REQUIRES: the point has costs and hindsight
  void add_measured(const CurvePoint& point);
  /// The points of the fold belong to this era.
  void set_era(std::uint64_t era);

  /// RETURNS: the last one of the era; null for none.
  const CurvePoint* last_measured(std::uint64_t era) const;
  /// RETURNS: up to `count` points of both lists, spread evenly over each, in log order.
  std::vector<CurvePoint> pick(std::size_t count) const;
  std::uint64_t memory_bytes() const;

  void save(ByteWriter& out) const;
  /// `with_experts`: saved when points had weights of experts. RETURNS: false for bytes that make
  /// no sense.
  bool load(ByteReader& in, bool with_experts);

 private:
  std::uint64_t stride_ = 1;
  std::vector<CurvePoint> points_;
  std::vector<CurvePoint> measured_;
};

// Points and arms in bytes.
void put_arm(ByteWriter& out, const ArmStats& arm);
void get_arm(ByteReader& in, ArmStats& arm);
void put_point(ByteWriter& out, const CurvePoint& point);
/// RETURNS: false for bytes that make no sense.
bool get_point(ByteReader& in, CurvePoint& point);

}  // namespace hindsight
