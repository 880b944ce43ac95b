// Store: where events and snapshots live.
//
// A store holds logs, one per collection. A log is a sequence of opaque entries in one order, the
// same for every reader; a position names a place in it. The interface asks for no more than an
// embedded database and a partitioned, replicated log can both give:
//
//   - append is asynchronous, and says when the entries are durable or that they are not;
//   - whoever appends, a subscriber sees every durable entry, in log order, perhaps a few times
//     (entries carry ids of their own; the fold removes repeats);
//   - a snapshot belongs to a position; the newest two are kept.
//
// After a failed write or sync nothing more is appended and nothing is tried again: what the device
// holds is unknown until the store is opened anew.
//
// Thread-safety: every function may be called from any thread. Callbacks come from threads of the
// store, one at a time for each log, and must not block for long.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hindsight/result.h"

namespace hindsight {

/// A place in one log. The engine relies on order only: later entries have greater positions. A
/// log's first entry is at 1, and 0 is before it. Behind it positions may have gaps, but not where
/// the beginning was dropped: what is first then follows right behind what is gone.
using Position = std::uint64_t;

/// Names a log for ever: a collection that is deleted and made again has another log.
using LogId = std::uint64_t;

struct LogInfo {
  LogId id = 0;
  std::string name;
};

struct LogEntry {
  Position position = 0;
  std::vector<std::byte> payload;
};

using Payload = std::vector<std::byte>;

/// What a node needs to know about itself before it may issue decision ids.
struct NodeIdentity {
  std::uint16_t node = 0;
  std::uint64_t boot_epoch = 0;           // greater at every opening, never used twice
  std::array<std::byte, 32> secret = {};  // the key of every MAC; made once per store
};

/// What can be read of a store, also by a process that does not own it.
class LogView {
 public:
  virtual ~LogView() = default;
  LogView(const LogView&) = delete;
  LogView& operator=(const LogView&) = delete;

  /// RETURNS: every log, in the order of their making.
  virtual Result<std::vector<LogInfo>> logs() const = 0;

  /// RETURNS: up to `max_entries` entries after `after`, in order, fewer only at the end or beyond
  /// about 16 MiB. FAILS: kNotFound, kCorrupt (an entry whose checksum is wrong: named), kIo
  virtual Result<std::vector<LogEntry>> read(LogId log, Position after,
                                             std::size_t max_entries) const = 0;
  /// RETURNS: the entry at exactly this position. FAILS: kNotFound, kCorrupt, kIo
  virtual Result<Payload> read_at(LogId log, Position position) const = 0;
  /// RETURNS: the position of the last durable entry, 0 for none. FAILS: kNotFound, kIo
  virtual Result<Position> head(LogId log) const = 0;
  /// RETURNS: the position of the first entry that is still there, 0 for none.
  virtual Result<Position> first(LogId log) const = 0;

  /// RETURNS: the positions of the snapshots that are there, newest first.
  virtual Result<std::vector<Position>> snapshots(LogId log) const = 0;
  /// RETURNS: its bytes, as they were put. FAILS: kNotFound, kCorrupt, kIo
  virtual Result<std::vector<std::byte>> get_snapshot(LogId log, Position position) const = 0;

 protected:
  LogView() = default;
};

class Store : public LogView {
 public:
  /// The position of the last of the entries, or why they are not durable.
  using Done = std::function<void(Result<Position>)>;
  /// Entries in log order, without gaps between calls.
  using Sink = std::function<void(std::vector<LogEntry>)>;

  virtual const NodeIdentity& identity() const = 0;

  // Logs.

  /// Durable on return. FAILS: kConflict (the name is in use), kIo
  virtual Result<LogId> create_log(std::string_view name) = 0;
  /// Removes a log with its snapshots, durably; its subscription ends before this returns.
  /// FAILS: kNotFound, kIo
  virtual Result<void> drop_log(LogId log) = 0;

  // Entries.

  /// Appends entries, one after the other. `done` is called once, after the entries were handed to
  /// the log's subscriber; never from within this call. FAILS (through done): kNotFound, kIo,
  /// kOverloaded (too much is waiting to be written; nothing was appended)
  virtual void append(LogId log, std::vector<Payload> payloads, Done done) = 0;

  /// From now on `sink` gets every entry after `after`: first those that are there, then each as it
  /// becomes durable. One subscription per log. FAILS: kNotFound, kConflict, kIo
  virtual Result<void> subscribe(LogId log, Position after, Sink sink) = 0;
  /// No call of the sink is under way or follows once this returns.
  virtual void unsubscribe(LogId log) = 0;

  /// Drops the entries before `position`. FAILS: kNotFound, kIo
  virtual Result<void> truncate_before(LogId log, Position position) = 0;

  /// Offers every entry to `edit`; where it returns a payload, that takes the entry's place, and
  /// nothing of the old one stays readable in the store's files. For the erasure of identities:
  /// what the log folds to must not change. RETURNS: how many were replaced. FAILS: kNotFound,
  /// kCorrupt, kIo, kConflict (all were replaced, but old bytes are still readable, for another
  /// program reads the files; a call when it has ended removes them)
  using Edit = std::function<std::optional<Payload>(const LogEntry&)>;
  virtual Result<std::uint64_t> rewrite(LogId log, const Edit& edit) = 0;

  // Snapshots.

  /// Keeps the newest two. Durable on return. FAILS: kNotFound, kIo (the older ones are still
  /// there)
  virtual Result<void> put_snapshot(LogId log, Position position,
                                    std::span<const std::byte> bytes) = 0;

  /// The error that stopped writing, or none while all is well.
  virtual std::optional<Error> failure() const = 0;
  /// RETURNS: bytes on disk, for metrics.
  virtual std::uint64_t size_bytes() const = 0;

 protected:
  Store() = default;
};

}  // namespace hindsight
