#include "src/store/log_writer.h"

#include <algorithm>
#include <chrono>
#include <future>
#include <utility>

#include "src/core/check.h"
#include "src/core/planted.h"
#include "src/store/checksums.h"

namespace hindsight {
namespace {

// A group beyond this is cut in two, so that the first of it need not wait for the last.
constexpr std::size_t kMaxGroupBytes = std::size_t{8} << 20;
constexpr std::size_t kMaxPayloadBytes = std::size_t{256} << 20;  // SQLite takes about 1 GB
constexpr std::size_t kOverheadBytes = 64;                        // of a payload in memory

}  // namespace

Result<std::unique_ptr<LogWriter>> LogWriter::start(Start start, Shared shared) {
  std::unique_ptr<LogWriter> writer(new LogWriter(std::move(start), shared));
  HINDSIGHT_RETURN_IF_ERROR(writer->prepare());
  writer->thread_ = std::thread([raw = writer.get()] { raw->run(); });
  return writer;
}

LogWriter::LogWriter(Start start, Shared shared)
    : shared_(shared),
      db_(std::move(start.db)),
      meta_(start.meta),
      progress_(start.progress),
      start_logs_(std::move(start.logs)),
      left_over_(std::move(start.left_over)),
      group_wait_us_(start.group_wait_us),
      at_point_(start.at_point ? std::move(start.at_point) : [](std::string_view) {}),
      warn_(start.warn ? std::move(start.warn) : [](std::string_view) {}) {}

LogWriter::~LogWriter() { stop(); }

void LogWriter::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    more_.notify_all();
  }
  if (thread_.joinable()) {
    thread_.join();
  }
}

Result<void> LogWriter::prepare() {
  HINDSIGHT_ASSIGN_OR_RETURN(begin_, db_.prepare("BEGIN IMMEDIATE"));
  HINDSIGHT_ASSIGN_OR_RETURN(commit_, db_.prepare("COMMIT"));
  HINDSIGHT_ASSIGN_OR_RETURN(save_progress_, prepare_save_progress(db_));
  for (const LogRow& row : start_logs_) {
    const std::optional<LogState> state = shared_.logs.find(row.id);
    HINDSIGHT_CHECK(state.has_value());
    HINDSIGHT_RETURN_IF_ERROR(add_log(row, state->head));
    logs_[row.id].garbage =
        true;  // perhaps: a kill may have come between a truncation and its work
  }
  sqlite3_wal_hook(
      db_.get(),
      [](void* self, sqlite3*, const char*, int pages) {
        static_cast<LogWriter*>(self)->wal_pages_ = pages;
        return SQLITE_OK;
      },
      this);
  return {};
}

Result<void> LogWriter::add_log(const LogRow& row, Position head) {
  HINDSIGHT_ASSIGN_OR_RETURN(
      Statement insert, db_.prepare("INSERT INTO " + entries_table(row.id) + " VALUES (?, ?, ?)"));
  logs_.insert_or_assign(row.id, Log{row, head, std::move(insert), false});
  return {};
}

void LogWriter::append(LogId log, std::vector<Payload> payloads, Store::Done done) {
  Command command;
  command.completion.log = log;
  command.completion.done = std::move(done);
  std::size_t bytes = kOverheadBytes;
  bool too_large = false;
  for (const Payload& payload : payloads) {
    bytes += payload.size() + kOverheadBytes;
    too_large = too_large || payload.size() > kMaxPayloadBytes;
  }
  if (too_large) {
    command.completion.refused = {ErrorCode::kTooLarge, "an entry of more than 256 MiB", ""};
  } else if (!shared_.budget.take(bytes)) {
    command.completion.refused = {ErrorCode::kOverloaded,
                                  "more is waiting to be written than is allowed; try again later",
                                  ""};
  } else {
    command.completion.payloads = std::move(payloads);
    command.completion.charged = bytes;
  }
  enqueue(std::move(command));
}

void LogWriter::enqueue(Command command) {
  {
    const std::lock_guard lock(mutex_);
    if (!stopping_) {
      queue_.push_back(std::move(command));
      more_.notify_one();
      return;
    }
  }
  // A callback of what was still being written.
  fail(std::span(&command, 1), {ErrorCode::kIo, "the store is closing", ""});
}

Result<void> LogWriter::wait_for(std::function<Result<void>()> body, bool transaction,
                                 const std::function<void()>& publish) {
  std::promise<Result<void>> promise;
  std::future<Result<void>> answer = promise.get_future();
  Command command;
  command.body = std::move(body);
  command.transaction = transaction;
  command.completion.finish = [&](Result<void> result) {
    if (result.ok() && publish) {
      publish();
    }
    promise.set_value(std::move(result));
  };
  enqueue(std::move(command));
  return answer.get();
}

void LogWriter::run() {
  for (;;) {
    std::vector<Command> group = next_group();
    if (!group.empty()) {
      write_group(std::move(group));
    }
    if (!shared_.failure.get()) {
      Result<void> done = checkpoint_when_due();
      if (done.ok()) {
        done = collect_garbage();
      }
      if (!done.ok()) {
        shared_.failure.set(done.error());
      }
    }
    const std::lock_guard lock(mutex_);
    if (stopping_ && queue_.empty()) {
      break;
    }
  }
  if (!shared_.failure.get()) {
    // So that the database file alone holds everything. Where it fails the log still does.
    sqlite3_wal_checkpoint_v2(db_.get(), nullptr, SQLITE_CHECKPOINT_TRUNCATE, nullptr, nullptr);
  }
}

std::vector<LogWriter::Command> LogWriter::next_group() {
  std::unique_lock lock(mutex_);
  const bool garbage =
      !shared_.failure.get() &&
      (!left_over_.empty() ||
       std::any_of(logs_.begin(), logs_.end(), [](auto& it) { return it.second.garbage; }));
  if (!garbage) {
    more_.wait(lock, [this] { return stopping_ || !queue_.empty(); });
  }
  if (group_wait_us_ > 0 && !queue_.empty() && !stopping_) {
    lock.unlock();
    std::this_thread::sleep_for(std::chrono::microseconds(group_wait_us_));
    lock.lock();
  }
  std::vector<Command> group;
  std::size_t bytes = 0;
  while (!queue_.empty() && bytes < kMaxGroupBytes) {
    bytes += queue_.front().completion.charged;
    group.push_back(std::move(queue_.front()));
    queue_.pop_front();
  }
  return group;
}

void LogWriter::write_group(std::vector<Command> group) {
  std::span<Command> rest(group);
  while (!rest.empty()) {
    if (const std::optional<Error> error = shared_.failure.get()) {
      fail(rest, *error);
      return;
    }
    if (rest.front().body) {
      run_body(rest.front());
      rest = rest.subspan(1);
      continue;
    }
    const auto end =
        std::find_if(rest.begin(), rest.end(), [](const Command& c) { return bool(c.body); });
    const auto count = static_cast<std::size_t>(end - rest.begin());
    write_appends(rest.first(count));
    rest = rest.subspan(count);
  }
}

void LogWriter::fail(std::span<Command> group, const Error& error) {
  Batch batch;
  batch.error = error;
  for (Command& command : group) {
    batch.completions.push_back(std::move(command.completion));
  }
  shared_.delivery.push(std::move(batch));
}

void LogWriter::write_appends(std::span<Command> group) {
  bool anything = false;
  const auto acknowledge = [&] {
    Batch batch;
    if (anything) {
      batch.mark = mark_of(meta_, progress_);
    }
    for (Command& command : std::exchange(group, {})) {
      batch.completions.push_back(std::move(command.completion));
    }
    shared_.delivery.push(std::move(batch));
  };
  const Result<void> written = [&]() -> Result<void> {
    for (Command& command : group) {
      Completion& append = command.completion;
      const auto log = logs_.find(append.log);
      if (!append.refused && log == logs_.end()) {
        append.refused = no_such_log(append.log);
      } else if (!append.refused && append.payloads.empty()) {
        append.last = log->second.head;
      }
      anything = anything || (!append.refused && !append.payloads.empty());
    }
    if (!anything) {
      return {};
    }
    return transact([&]() -> Result<void> {
      std::vector<std::uint64_t> hashes;
      for (Command& command : group) {
        if (!command.completion.refused && !command.completion.payloads.empty()) {
          HINDSIGHT_RETURN_IF_ERROR(append_entries(command.completion, hashes));
        }
      }
      progress_.entries += hashes.size();
      progress_.digest = hash_bytes(std::as_bytes(std::span(hashes)), progress_.digest);
      if (planted(Fault::kAckBeforeCommit)) {
        acknowledge();
      }
      return {};
    });
  }();
  if (!written.ok() && !planted(Fault::kAcknowledgeLostWrite)) {
    shared_.failure.set(written.error());
    fail(group, written.error());
    return;
  }
  acknowledge();
}

Result<void> LogWriter::append_entries(Completion& append, std::vector<std::uint64_t>& hashes) {
  Log& log = logs_[append.log];
  for (const Payload& payload : append.payloads) {
    const Position position = ++log.head;
    const std::uint64_t hash = entry_hash(append.log, position, payload);
    const Checksum checksum = to_checksum(hash);
    log.insert.bind(1, position);
    log.insert.bind(2, checksum);
    log.insert.bind(3, payload);
    HINDSIGHT_RETURN_IF_ERROR(log.insert.run());
    hashes.push_back(hash);
  }
  append.last = log.head;
  return {};
}

void LogWriter::run_body(Command& command) {
  const Result<void> done = command.transaction ? transact(command.body) : command.body();
  Batch batch;
  if (done.ok()) {
    batch.mark = mark_of(meta_, progress_);
  } else if (done.error().code == ErrorCode::kIo || done.error().code == ErrorCode::kCorrupt) {
    shared_.failure.set(done.error());
    batch.error = done.error();
  } else {
    command.completion.refused = done.error();
  }
  batch.completions.push_back(std::move(command.completion));
  shared_.delivery.push(std::move(batch));
}

/// Begins a transaction. A person's own tool may hold the database: nothing was written yet, so
/// that waiting for it is safe.
Result<void> LogWriter::begin() {
  for (;;) {
    Result<void> begun = begin_.run();
    if (begun.ok() || (sqlite3_extended_errcode(db_.get()) & 0xff) != SQLITE_BUSY) {
      return begun;
    }
    {
      const std::lock_guard lock(mutex_);
      if (stopping_) {
        warn_(
            "another program still has the log's database locked: what was to be written is given "
            "up, and nobody was told that it was accepted");
        return begun;
      }
    }
    warn_("another program has locked the log's database; what is to be written waits for it");
  }
}

Result<void> LogWriter::transact(const std::function<Result<void>()>& body) {
  HINDSIGHT_RETURN_IF_ERROR(begin());
  Result<void> done = body();
  if (done.ok()) {
    progress_.commits += 1;
    done = save_progress(save_progress_, progress_);
  }
  if (done.ok()) {
    done = db_.check_in_place();
  }
  if (done.ok()) {
    at_point_("before_commit");
    done = commit_.run();
  }
  if (!done.ok()) {
    // After a device error SQLite may have rolled back already; the first error counts.
    (void)db_.exec("ROLLBACK").ok();
    return done;
  }
  at_point_("after_commit");
  return {};
}

}  // namespace hindsight
