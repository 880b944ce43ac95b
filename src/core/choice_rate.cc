#include "src/core/choice_rate.h"

#include <algorithm>
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

double perturbed_leader_rate(std::uint64_t n, std::uint64_t rounds, double spread) {
  HINDSIGHT_CHECK(n >= 1 && rounds >= 1 && spread >= 0.0);
  return spread == 0.0 ? 0.0 : std::sqrt(real(n) * real(n - 1) / (6.0 * real(rounds) * spread));
}

double perturbed_leader_bound(std::uint64_t n, std::uint64_t rounds, double spread) {
  HINDSIGHT_CHECK(n >= 1);
  return 2.0 * std::sqrt(real(n) * real(n - 1) * real(rounds) * spread / 6.0);
}

std::uint64_t rate_size(std::uint64_t n) { return std::bit_ceil(std::max<std::uint64_t>(n, 2)); }

double rate_factor(double off, bool horizon_known) {
  HINDSIGHT_CHECK(off > 0.0);
  // Doubling: the last rate is that of up to 2 T rounds, and the rates sum to that of T rounds,
  // times 1/2 + 1/4 + ... of rates that grow by sqrt 2 backwards: 1 / (2 - sqrt 2).
  constexpr double kHalf = 0.5;
  constexpr double kLast = std::numbers::sqrt2 / 2.0;
  constexpr double kSum = 0.5 / (2.0 - std::numbers::sqrt2);
  return horizon_known ? kHalf / off + kHalf * off : kLast / off + kSum * off;
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
