#include "src/sim/repeated_runs.h"

#include <algorithm>
#include <cstddef>

#include "src/sim/parallel.h"

namespace hindsight {
namespace {

struct Job {
  std::size_t game;
  std::uint32_t run;
};

}  // namespace

std::vector<RunMeans> play_repeatedly(const std::vector<RepeatedGame>& games, std::uint64_t seed,
                                      unsigned threads,
                                      const std::function<void(std::uint64_t)>& progress) {
  std::vector<Job> jobs;
  std::vector<std::vector<RunOutcome>> outcomes(games.size());
  for (std::size_t game = 0; game < games.size(); ++game) {
    outcomes[game].resize(games[game].runs);
    for (std::uint32_t run = 0; run < games[game].runs; ++run) {
      jobs.push_back({game, run});
    }
  }
  std::stable_sort(jobs.begin(), jobs.end(), [&](const Job& a, const Job& b) {
    return games[a.game].cost > games[b.game].cost;
  });
  run_jobs(jobs.size(), threads, [&](std::size_t i) {
    const auto [game, run] = jobs[i];
    outcomes[game][run] = games[game].play(seed + run);
    if (progress) {
      progress(games[game].cost);
    }
  });
  std::vector<RunMeans> means(games.size());
  for (std::size_t game = 0; game < games.size(); ++game) {
    for (const RunOutcome& outcome : outcomes[game]) {
      means[game].loss.add(outcome.loss);
      means[game].regret.add(outcome.regret);
    }
  }
  return means;
}

std::uint64_t total_cost(const std::vector<RepeatedGame>& games) {
  std::uint64_t sum = 0;
  for (const RepeatedGame& game : games) {
    sum += game.cost * game.runs;
  }
  return sum;
}

}  // namespace hindsight
