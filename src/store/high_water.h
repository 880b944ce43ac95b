// HighWater: a small file that says how far the database must reach.
//
// SQLite takes a write-ahead log that lost its end for one that ended there. The mark is synced on
// its own after every commit, before anything is acknowledged; a database that is behind its mark
// has lost something.
//
// File: two slots of 4096 bytes, written in turn, each with a checksum. A torn write leaves the
// slot before it.
//
// Thread-safety: one owner at a time.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>

#include "hindsight/result.h"

namespace hindsight {

struct Mark {
  std::array<std::byte, 16> store = {};  // which store it belongs to; zeros before there is one
  std::uint64_t epoch = 0;
  std::uint64_t commits = 0;  // transactions
  std::uint64_t entries = 0;  // appended since the store was made
  std::uint64_t digest = 0;   // of their checksums

  friend bool operator==(const Mark&, const Mark&) = default;
};

class HighWater {
 public:
  /// Syncs a descriptor: 0, or -1 with errno. Replaceable, so that tests can let it fail.
  using Sync = std::function<int(int)>;

  HighWater(std::filesystem::path file, Sync sync);
  ~HighWater();
  HighWater(const HighWater&) = delete;
  HighWater& operator=(const HighWater&) = delete;

  /// As load(), without touching the file.
  static Result<std::optional<Mark>> peek(const std::filesystem::path& file);

  /// RETURNS: the newest mark that is whole, or none where there is no file. FAILS: kCorrupt (no
  /// slot is whole), kNewerVersion, kIo
  Result<std::optional<Mark>> load();
  /// Makes the file (again) with this mark in it, durably.
  Result<void> create(const Mark& mark);
  /// Durable on return. REQUIRES: load() found a mark, or create()
  Result<void> write(const Mark& mark);

 private:
  Result<void> open_file();

  std::filesystem::path file_;
  Sync sync_;
  int fd_ = -1;
  std::uint64_t sequence_ = 0;  // of the newest slot
};

}  // namespace hindsight
