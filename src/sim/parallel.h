// run_jobs: independent jobs on several threads.
//
// Each job writes to its own place and depends on its number alone, so that the outcome is the same
// for any number of threads.

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

#include "hindsight/result.h"

namespace hindsight {

/// Runs job(0) ... job(count - 1), each once, the next free one on the next free thread; returns
/// when all are done. Throws what a job has thrown (out of memory, say); jobs not begun by then are
/// left out. REQUIRES: threads >= 1; jobs do not share what they change
void run_jobs(std::size_t count, unsigned threads, const std::function<void(std::size_t)>& job);

/// What an experiment may be asked for. FAILS: kInvalidArgument (0, or too many)
Result<void> check_runs_and_threads(std::uint32_t runs, std::uint32_t threads);

/// RETURNS: the number of threads that the machine runs at once, at least 1.
unsigned machine_threads();

}  // namespace hindsight
