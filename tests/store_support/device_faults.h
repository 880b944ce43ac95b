// What can go wrong with a device, and where in a scripted run: for tests of the store and of the
// engine on top of it.

#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "src/store/sqlite_store.h"
#include "tests/store_support/fault_vfs.h"
#include "tests/store_support/memory_folder.h"

namespace hindsight {

inline std::vector<DeviceFault> device_faults() {
  std::vector<DeviceFault> faults = {
      {"full disk", FileStep::kWrite, SQLITE_FULL},
      {"failed write", FileStep::kWrite, SQLITE_IOERR_WRITE},
      {"failed sync", FileStep::kSync, SQLITE_IOERR_FSYNC},
      {"failed opening", FileStep::kOpen, SQLITE_CANTOPEN},
      {"failed truncation", FileStep::kTruncate, SQLITE_IOERR_TRUNCATE},
      {"failed rename", FileStep::kRename, SQLITE_IOERR},
  };
  const std::size_t once = faults.size();
  for (std::size_t i = 0; i < once; ++i) {
    DeviceFault for_ever = faults[i];
    for_ever.name += " for ever";
    for_ever.for_ever = true;
    faults.push_back(for_ever);
  }
  return faults;
}

inline SqliteStoreOptions options_on(const FaultVfs& device, const std::filesystem::path& folder) {
  SqliteStoreOptions options;
  options.folder = folder;
  options.vfs = device.name();
  return options;
}

/// RETURNS: which of `count` steps to let fail: some of them, all with HINDSIGHT_FULL.
inline std::set<long> sampled_steps(long count) {
  constexpr long kSamples = 12;
  const bool full = std::getenv("HINDSIGHT_FULL") != nullptr;
  std::set<long> places;
  for (long i = 0; i < (full ? count : kSamples); ++i) {
    places.insert(full ? i + 1 : 1 + i * count / kSamples);
  }
  if (count > 0) {
    places.insert(count);
  }
  return places;
}

/// Calls `run(device, folder)` on a good device, and then once for each fault and sampled step of
/// those before the run mends the device. Each run has a folder of its own.
/// REQUIRES: a run takes the same steps every time, so that each fault comes to pass. Only how many
/// files it opens may differ: as many connections as happen to read at once.
inline void with_each_device_fault(
    const std::function<void(FaultVfs&, const std::filesystem::path&)>& run) {
  std::map<FileStep, long> steps;
  {
    const MemoryFolder folder;
    FaultVfs device("faults");
    run(device, folder.path() / "data");
    for (const DeviceFault& fault : device_faults()) {
      steps[fault.step] = device.steps(fault.step);
    }
  }
  for (const DeviceFault& fault : device_faults()) {
    EXPECT_GT(steps[fault.step], 0) << fault.name;
    const std::set<long> places = sampled_steps(steps[fault.step]);
    std::size_t reached = 0;
    for (const long nth : places) {
      SCOPED_TRACE(fault.name + " at step " + std::to_string(nth));
      const MemoryFolder folder;
      FaultVfs device("faults");
      device.fail(fault, nth);
      run(device, folder.path() / "data");
      reached += device.has_failed() ? 1 : 0;
      EXPECT_TRUE(device.has_failed() || fault.step == FileStep::kOpen) << "there was no such step";
    }
    EXPECT_GE(2 * reached, places.size()) << fault.name;
  }
}

}  // namespace hindsight
