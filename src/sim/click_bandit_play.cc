#include "src/sim/click_bandit_play.h"

#include <algorithm>
#include <ctime>

#include "src/core/check.h"

namespace hindsight {
namespace {

/// Processor time of this thread: what a run costs, whatever else the machine does.
double thread_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

}  // namespace

std::vector<std::uint64_t> curve_rounds(std::uint64_t rounds, std::size_t points) {
  HINDSIGHT_CHECK(rounds >= 1 && points >= 1);
  std::vector<std::uint64_t> out;
  for (std::size_t i = 1; i <= points; ++i) {
    const std::uint64_t at = rounds / points * i + rounds % points * i / points;
    if (at > 0 && (out.empty() || at > out.back())) {
      out.push_back(at);
    }
  }
  return out;
}

ClickPlay play_clicks(const ClickModel& model, ClickLearner& learner,
                      const std::vector<std::uint64_t>& curve, std::uint64_t seed,
                      const std::function<void(std::uint64_t)>& progress) {
  ClickPlay play;
  Rng lists(seed, 1);
  Rng users(seed, 2);
  std::vector<ItemIndex> list;
  double regret = 0.0;
  std::uint64_t round = 0;
  const double begin = thread_seconds();
  for (const std::uint64_t end : curve) {
    const std::uint64_t before = round;
    for (; round < end; ++round) {
      const std::uint64_t wanted = learner.choose(lists, list);
      regret += model.regret(list);
      learner.learn(list, model.draw(list, wanted, users));
    }
    play.regret.push_back(regret);
    if (progress) {
      progress(round - before);
    }
  }
  play.seconds = thread_seconds() - begin;
  return play;
}

}  // namespace hindsight
