#include "src/core/kernels.h"

#include <cmath>
#include <iterator>
#include <limits>
#include <vector>

#include "src/core/check.h"
#include "src/core/det_math.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/core/kernels.cc"
#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/highway.h>

#include "src/core/kernels_inl.h"

HWY_BEFORE_NAMESPACE();
namespace hindsight {
namespace HWY_NAMESPACE {
// Named in Highway's style: the functions below are compiled once per target, and the plain names
// belong to those that choose among them.
// NOLINTBEGIN(readability-identifier-naming)
// The same operations in the same order as det_exp.
HWY_INLINE V vector_exp(V x) {
  const D d;
  const hn::RebindToUnsigned<D> du;
  const auto underflow = hn::Lt(x, hn::Set(d, det::kExpLowest));
  const auto overflow = hn::Gt(x, hn::Set(d, det::kExpHighest));
  const V magic = hn::Set(d, det::kRoundMagic);
  const V shifted = hn::Add(hn::Mul(x, hn::Set(d, det::kLog2E)), magic);
  const V n = hn::Sub(shifted, magic);
  const V r = hn::Sub(hn::Sub(x, hn::Mul(n, hn::Set(d, det::kLn2High))),
                      hn::Mul(n, hn::Set(d, det::kLn2Low)));
  V p = hn::Set(d, det::kExpCoefficients[0]);
  for (std::size_t i = 1; i < std::size(det::kExpCoefficients); ++i) {
    p = hn::Add(hn::Mul(p, r), hn::Set(d, det::kExpCoefficients[i]));
  }
  const V e_r = hn::Add(hn::Set(d, 1.0), hn::Add(r, hn::Mul(hn::Mul(r, r), p)));
  const auto exponent = hn::ShiftLeft<52>(hn::BitCast(du, shifted));
  V result = hn::BitCast(d, hn::Add(hn::BitCast(du, e_r), exponent));
  result = hn::IfThenZeroElse(underflow, result);
  return hn::IfThenElse(overflow, hn::Set(d, std::numeric_limits<double>::infinity()), result);
}

// The same operations in the same order as det_log.
HWY_INLINE V vector_log(V x) {
  const D d;
  const hn::RebindToUnsigned<D> du;
  const hn::RebindToSigned<D> di;
  const auto bits = hn::BitCast(du, x);
  V m = hn::BitCast(d, hn::Or(hn::And(bits, hn::Set(du, 0x000fffffffffffffULL)),
                              hn::Set(du, 0x3ff0000000000000ULL)));
  V e = hn::ConvertTo(
      d, hn::Sub(hn::BitCast(di, hn::ShiftRight<52>(bits)), hn::Set(di, std::int64_t{1023})));
  const auto large = hn::Gt(m, hn::Set(d, det::kSqrt2));
  m = hn::IfThenElse(large, hn::Mul(m, hn::Set(d, 0.5)), m);
  e = hn::IfThenElse(large, hn::Add(e, hn::Set(d, 1.0)), e);
  const V f = hn::Sub(m, hn::Set(d, 1.0));
  const V s = hn::Div(f, hn::Add(hn::Set(d, 2.0), f));
  const V z = hn::Mul(s, s);
  V p = hn::Set(d, det::kLogCoefficients[0]);
  for (std::size_t i = 1; i < std::size(det::kLogCoefficients); ++i) {
    p = hn::Add(hn::Mul(p, z), hn::Set(d, det::kLogCoefficients[i]));
  }
  const V half_square = hn::Mul(hn::Mul(hn::Set(d, 0.5), f), f);
  const V correction = hn::Add(hn::Mul(s, hn::Add(half_square, hn::Mul(z, p))),
                               hn::Mul(e, hn::Set(d, det::kLn2Low)));
  return hn::Sub(hn::Mul(e, hn::Set(d, det::kLn2High)),
                 hn::Sub(hn::Sub(half_square, correction), f));
}

double MaxOf(const double* x, std::size_t n) {
  const D d;
  V best[kVectors];
  for (V& lane : best) {
    lane = hn::Set(d, x[0]);
  }
  std::size_t i = for_blocks(
      n, [&](std::size_t j, std::size_t at) { best[j] = hn::Max(best[j], hn::LoadU(d, x + at)); });
  V top = best[0];
  for (std::size_t j = 1; j < kVectors; ++j) {
    top = hn::Max(top, best[j]);
  }
  double result = hn::GetLane(hn::MaxOfLanes(d, top));
  for (; i < n; ++i) {
    result = x[i] > result ? x[i] : result;
  }
  return result;
}

double SumOf(const double* x, std::size_t n) {
  const D d;
  Accumulators acc;
  std::size_t i = for_blocks(n, [&](std::size_t j, std::size_t at) {
    acc.v[j] = hn::Add(acc.v[j], hn::LoadU(d, x + at));
  });
  HWY_ALIGN double tail[kAccumulators] = {};
  for (std::size_t k = 0; i < n; ++i, ++k) {
    tail[k] = x[i];
  }
  for (std::size_t j = 0; j < kVectors; ++j) {
    acc.v[j] = hn::Add(acc.v[j], hn::Load(d, tail + j * kLanes));
  }
  return acc.total();
}

double SumOfFloats(const float* x, std::size_t n) {
  const D d;
  const hn::Rebind<float, D> df;
  Accumulators acc;
  std::size_t i = for_blocks(n, [&](std::size_t j, std::size_t at) {
    acc.v[j] = hn::Add(acc.v[j], hn::PromoteTo(d, hn::LoadU(df, x + at)));
  });
  HWY_ALIGN double tail[kAccumulators] = {};
  for (std::size_t k = 0; i < n; ++i, ++k) {
    tail[k] = static_cast<double>(x[i]);
  }
  for (std::size_t j = 0; j < kVectors; ++j) {
    acc.v[j] = hn::Add(acc.v[j], hn::Load(d, tail + j * kLanes));
  }
  return acc.total();
}

bool AllFinite(const double* x, std::size_t n) {
  const D d;
  const V zero = hn::Zero(d);
  V sum[kVectors];
  for (V& lane : sum) {
    lane = zero;
  }
  // 0 * x is 0 for a finite x and not a number for any other.
  std::size_t i = for_blocks(n, [&](std::size_t j, std::size_t at) {
    sum[j] = hn::Add(sum[j], hn::Mul(zero, hn::LoadU(d, x + at)));
  });
  for (std::size_t j = 1; j < kVectors; ++j) {
    sum[0] = hn::Add(sum[0], sum[j]);
  }
  bool finite = hn::AllTrue(d, hn::Eq(sum[0], zero));
  for (; i < n; ++i) {
    finite = finite && std::isfinite(x[i]);
  }
  return finite;
}

bool AllWithin(const double* x, std::size_t n, double low, double high) {
  const D d;
  const V vlow = hn::Set(d, low);
  const V vhigh = hn::Set(d, high);
  const auto inside = [&](V v) {  // all bits set where low <= v <= high; no bit for a NaN
    return hn::And(hn::VecFromMask(d, hn::Ge(v, vlow)), hn::VecFromMask(d, hn::Le(v, vhigh)));
  };
  V all[kVectors];
  for (V& lane : all) {
    lane = inside(vlow);
  }
  std::size_t i = for_blocks(n, [&](std::size_t j, std::size_t at) {
    all[j] = hn::And(all[j], inside(hn::LoadU(d, x + at)));
  });
  for (std::size_t j = 1; j < kVectors; ++j) {
    all[0] = hn::And(all[0], all[j]);
  }
  bool within = hn::AllTrue(d, hn::MaskFromVec(all[0]));
  for (; i < n; ++i) {
    within = within && x[i] >= low && x[i] <= high;
  }
  return within;
}

double ExpShifted(const double* x, double shift, double* out, std::size_t n) {
  const D d;
  const V vshift = hn::Set(d, shift);
  Accumulators acc;
  std::size_t i = for_blocks(n, [&](std::size_t j, std::size_t at) {
    const V e = vector_exp(hn::Sub(hn::LoadU(d, x + at), vshift));
    hn::StoreU(e, d, out + at);
    acc.v[j] = hn::Add(acc.v[j], e);
  });
  if (i < n) {
    HWY_ALIGN double tail[kAccumulators];
    for (std::size_t k = 0; k < kAccumulators; ++k) {
      tail[k] = i + k < n ? x[i + k] - shift : 2.0 * det::kExpLowest;  // padding: e^... = 0
    }
    for (std::size_t j = 0; j < kVectors; ++j) {
      const V e = vector_exp(hn::Load(d, tail + j * kLanes));
      hn::Store(e, d, tail + j * kLanes);
      acc.v[j] = hn::Add(acc.v[j], e);
    }
    for (std::size_t k = 0; i < n; ++i, ++k) {
      out[i] = tail[k];
    }
  }
  return acc.total();
}

void LogOf(const double* x, double* out, std::size_t n) {
  const D d;
  std::size_t i = for_blocks(n, [&](std::size_t, std::size_t at) {
    hn::StoreU(vector_log(hn::LoadU(d, x + at)), d, out + at);
  });
  if (i < n) {
    HWY_ALIGN double tail[kAccumulators];
    for (std::size_t k = 0; k < kAccumulators; ++k) {
      tail[k] = i + k < n ? x[i + k] : 1.0;
    }
    for (std::size_t j = 0; j < kVectors; ++j) {
      hn::Store(vector_log(hn::Load(d, tail + j * kLanes)), d, tail + j * kLanes);
    }
    for (std::size_t k = 0; i < n; ++i, ++k) {
      out[i] = tail[k];
    }
  }
}

HWY_INLINE auto load_indices(const std::uint32_t* index) {
  const hn::RebindToSigned<D> di;
  const hn::RebindToUnsigned<D> du;
  const hn::Rebind<std::uint32_t, D> d32;
  return hn::BitCast(di, hn::PromoteTo(du, hn::LoadU(d32, index)));
}

double GatherScaled(const double* table, const std::uint32_t* index, double scale, double* out,
                    std::size_t n) {
  const D d;
  const V vscale = hn::Set(d, scale);
  double result = scale * table[index[0]];
  V best[kVectors];
  for (V& lane : best) {
    lane = hn::Set(d, result);
  }
  std::size_t i = for_blocks(n, [&](std::size_t j, std::size_t at) {
    const V x = hn::Mul(vscale, hn::GatherIndex(d, table, load_indices(index + at)));
    hn::StoreU(x, d, out + at);
    best[j] = hn::Max(best[j], x);
  });
  V top = best[0];
  for (std::size_t j = 1; j < kVectors; ++j) {
    top = hn::Max(top, best[j]);
  }
  result = hn::GetLane(hn::MaxOfLanes(d, top));
  for (; i < n; ++i) {
    out[i] = scale * table[index[i]];
    result = out[i] > result ? out[i] : result;
  }
  return result;
}

double ScatterAdd(double* table, const std::uint32_t* index, double factor, const double* x,
                  std::size_t n) {
  const D d;
  const V vfactor = hn::Set(d, factor);
  Accumulators acc;
  std::size_t i = for_blocks(n, [&](std::size_t j, std::size_t at) {
    const auto where = load_indices(index + at);
    const V before = hn::GatherIndex(d, table, where);
    const V after = hn::Add(before, hn::Mul(vfactor, hn::LoadU(d, x + at)));
    hn::ScatterIndex(after, d, table, where);
    acc.v[j] = hn::Add(acc.v[j], hn::Mul(hn::Sub(after, before), hn::Add(after, before)));
  });
  HWY_ALIGN double tail[kAccumulators] = {};
  for (std::size_t k = 0; i < n; ++i, ++k) {
    double& slot = table[index[i]];
    const double after = slot + factor * x[i];
    tail[k] = (after - slot) * (after + slot);
    slot = after;
  }
  for (std::size_t j = 0; j < kVectors; ++j) {
    acc.v[j] = hn::Add(acc.v[j], hn::Load(d, tail + j * kLanes));
  }
  return acc.total();
}

// NOLINTEND(readability-identifier-naming)
}  // namespace HWY_NAMESPACE
}  // namespace hindsight
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hindsight {

HWY_EXPORT(MaxOf);
HWY_EXPORT(SumOf);
HWY_EXPORT(SumOfFloats);
HWY_EXPORT(AllFinite);
HWY_EXPORT(AllWithin);
HWY_EXPORT(ExpShifted);
HWY_EXPORT(LogOf);
HWY_EXPORT(GatherScaled);
HWY_EXPORT(ScatterAdd);

double max_of(std::span<const double> x) {
  HINDSIGHT_CHECK(!x.empty());
  return HWY_DYNAMIC_DISPATCH(MaxOf)(x.data(), x.size());
}

double sum_of(std::span<const float> x) {
  return HWY_DYNAMIC_DISPATCH(SumOfFloats)(x.data(), x.size());
}

double sum_of(std::span<const double> x) { return HWY_DYNAMIC_DISPATCH(SumOf)(x.data(), x.size()); }

bool all_finite(std::span<const double> x) {
  return HWY_DYNAMIC_DISPATCH(AllFinite)(x.data(), x.size());
}

bool all_within(std::span<const double> x, double low, double high) {
  HINDSIGHT_CHECK(low <= high);
  return HWY_DYNAMIC_DISPATCH(AllWithin)(x.data(), x.size(), low, high);
}

double exp_shifted(std::span<const double> x, double shift, std::span<double> out) {
  HINDSIGHT_CHECK(x.size() == out.size());
  return HWY_DYNAMIC_DISPATCH(ExpShifted)(x.data(), shift, out.data(), x.size());
}

void log_of(std::span<const double> x, std::span<double> out) {
  HINDSIGHT_CHECK(x.size() == out.size());
  HWY_DYNAMIC_DISPATCH(LogOf)(x.data(), out.data(), x.size());
}

double gather_scaled(std::span<const double> table, std::span<const std::uint32_t> index,
                     double scale, std::span<double> out) {
  HINDSIGHT_CHECK(!index.empty() && index.size() == out.size());
  return HWY_DYNAMIC_DISPATCH(GatherScaled)(table.data(), index.data(), scale, out.data(),
                                            index.size());
}

double scatter_add(std::span<double> table, std::span<const std::uint32_t> index, double factor,
                   std::span<const double> x) {
  HINDSIGHT_CHECK(index.size() == x.size());
  return HWY_DYNAMIC_DISPATCH(ScatterAdd)(table.data(), index.data(), factor, x.data(), x.size());
}

double log_sum_exp(std::span<const double> x, std::span<double> scratch) {
  const double shift = max_of(x);
  return shift + det_log(exp_shifted(x, shift, scratch));
}

std::span<const std::int64_t> simd_targets() {
  static const std::vector<std::int64_t> targets = hwy::SupportedAndGeneratedTargets();
  return targets;
}

void restrict_simd_target_for_test(std::int64_t target) {
  hwy::SetSupportedTargetsForTest(target);
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
}

const char* simd_target_name(std::int64_t target) { return hwy::TargetName(target); }

}  // namespace hindsight
#endif  // HWY_ONCE
