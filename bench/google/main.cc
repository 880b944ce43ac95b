// The same workloads under Google Benchmark: NAME/n and, where there is one, NAME/baseline/n.

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include "bench/workload.h"

namespace hindsight::bench {
namespace {

void run(benchmark::State& state, const Workload& workload, bool baseline) {
  const Prepared prepared = workload.prepare();
  const auto& work = baseline ? prepared.baseline : prepared.test;
  for (auto iteration : state) {
    benchmark::DoNotOptimize(work());
  }
  if (const Result<void> verdict = prepared.check(); !verdict.ok()) {
    state.SkipWithError(verdict.error().message.c_str());
  }
}

void register_all() {
  for (const Workload& workload : all_workloads()) {
    benchmark::RegisterBenchmark(
        fmt::format("{}/{}", workload.name, workload.n).c_str(),
        [workload](benchmark::State& state) { run(state, workload, false); });
    if (!workload.budget_ns) {
      benchmark::RegisterBenchmark(
          fmt::format("{}/baseline/{}", workload.name, workload.n).c_str(),
          [workload](benchmark::State& state) { run(state, workload, true); });
    }
  }
}

}  // namespace
}  // namespace hindsight::bench

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) {
    return 2;
  }
  hindsight::bench::register_all();
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
