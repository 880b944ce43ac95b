#include "src/sim/regret_curve.h"

#include <memory>

#include "src/sim/prefix_objective.h"

namespace hindsight {

std::vector<RegretBracket> regret_curve(const PrefixStream& stream,
                                        std::span<const RegretAccount> accounts,
                                        const std::function<void(const NewtonStatus&)>& progress) {
  RegretMeter meter([&stream](std::uint64_t first, std::uint64_t last) {
    return std::make_unique<PrefixObjective>(stream, first, last);
  });
  meter.on_progress(progress);
  std::vector<RegretBracket> curve;
  curve.reserve(accounts.size());
  for (const RegretAccount& account : accounts) {
    curve.push_back(meter.measure(account));
  }
  return curve;
}

}  // namespace hindsight
