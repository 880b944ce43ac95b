#include "src/core/choice_rate.h"

#include <bit>
#include <cmath>
#include <numbers>

#include "src/core/check.h"

namespace hindsight {
namespace {

constexpr double kRootOfLog2 = 0x1.aa4499161cd47p-1;  // sqrt(ln 2)

double real(std::uint64_t n) { return static_cast<double>(n); }

}  // namespace

double choice_spread(std::uint64_t n, std::uint64_t k) {
  HINDSIGHT_CHECK(k >= 1 && k <= n);
  return k <= n / 2 ? real(k) * real(n - k) : real(n) * real(n) / 4.0;
}

double ranking_spread(std::uint64_t n) {
  const double squared = real(n) * real(n);
  return squared * (squared - 1.0) / 12.0;
}

double online_rank_rate(std::uint64_t n, std::uint64_t rounds, double spread) {
  HINDSIGHT_CHECK(rounds >= 1 && spread >= 0.0);
  return spread == 0.0 ? 0.0 : real(n) * kRootOfLog2 / std::sqrt(real(rounds) * spread);
}

std::uint64_t doubled_horizon(std::uint64_t round) {
  HINDSIGHT_CHECK(round >= 1);
  return std::bit_ceil(round);
}

double online_rank_bound(std::uint64_t n, std::uint64_t rounds, double spread) {
  return real(n) * kRootOfLog2 * std::sqrt(real(rounds) * spread);
}

double choice_lower_bound(std::uint64_t n, std::uint64_t rounds, std::uint64_t k) {
  constexpr double kFactor = 0.003;
  return kFactor * real(n) * std::sqrt(real(n)) * std::sqrt(real(rounds) * real(k));
}

double uniform_choice_regret(std::uint64_t n, std::uint64_t rounds, std::uint64_t k) {
  HINDSIGHT_CHECK(n >= 1 && k <= n);
  return 0.5 *
         std::sqrt(real(n) * real(n - 1) * real(k) * real(n - k) * real(rounds) / std::numbers::pi);
}

}  // namespace hindsight
