// The functions that make the workloads; bench/workloads.cc says what each of them is.

#pragma once

#include <vector>

#include "bench/workload.h"

namespace hindsight::bench {

std::vector<Workload> draw_workloads();
std::vector<Workload> gumbel_workloads();
std::vector<Workload> tree_workloads();
std::vector<Workload> library_workloads();
std::vector<Workload> onlinerank_workloads();
std::vector<Workload> sort_workloads();
std::vector<Workload> learn_workloads();
std::vector<Workload> auto_workloads();
std::vector<Workload> duel_workloads();
std::vector<Workload> click_workloads();
std::vector<Workload> replay_workloads();

}  // namespace hindsight::bench
