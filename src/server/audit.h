// The audit log: who has changed what, one line of JSON for each administrative call.
//
//   DIR/audit.log      the present one, mode 0600
//   DIR/audit.log.1    the one before it, replaced when the present one has its full size
//
// A line says time, key, address, route, collection and outcome; it never holds a key, a user, a
// query or a body. Calls that have changed something, or may have before they failed, are synced
// before they are answered; those that were refused are not, and of one key's only so many each
// second are written. What cannot be written is counted, and warn says so. Where the file cannot be
// renamed it grows on.
//
// Thread-safety: every function may be called from any thread.

#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string_view>

#include "hindsight/result.h"

namespace hindsight {

struct AuditRecord {
  std::string_view key = {};      // its id
  std::string_view address = {};  // of the client
  std::string_view route = {};    // "DELETE /v1/collections/{c}", or "keys" when they have changed
  std::string_view collection = {};  // empty for none
  int status = 0;                    // of the answer; 0 where there is none
  std::string_view error = {};       // its code, or empty
  std::string_view detail = {};      // ids of keys, and the like; empty for none
  bool changed = true;               // or may have, before it failed
};

struct AuditOptions {
  std::filesystem::path folder;
  std::function<std::int64_t()> clock;  // milliseconds since 1970
  std::int64_t max_bytes = std::int64_t{16} << 20;
  std::function<void(std::string_view)> warn = {};
};

class AuditLog {
 public:
  /// FAILS: kIo
  static Result<std::unique_ptr<AuditLog>> open(AuditOptions options);
  ~AuditLog();

  void write(const AuditRecord& record);

  std::uint64_t written() const;
  /// RETURNS: how many lines could not be written.
  std::uint64_t failed() const;

 private:
  class Impl;
  explicit AuditLog(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace hindsight
