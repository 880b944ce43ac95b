#include "src/store/sqlite_store.h"

#include <chrono>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

#include "src/core/check.h"
#include "src/store/delivery.h"
#include "src/store/log_reader.h"
#include "src/store/log_table.h"
#include "src/store/log_writer.h"
#include "src/store/pipeline.h"
#include "src/store/sqlite_open.h"

namespace hindsight {
namespace {

constexpr std::size_t kRewriteEntries = 4096;  // read at once

class SqliteStore final : public Store {
 public:
  static Result<std::unique_ptr<Store>> open(const SqliteStoreOptions& options) {
    HINDSIGHT_ASSIGN_OR_RETURN(OpenedStore opened, open_and_check(options));
    std::unique_ptr<SqliteStore> store(new SqliteStore(options, opened));
    HINDSIGHT_ASSIGN_OR_RETURN(
        store->writer_,
        LogWriter::start(
            {std::move(opened.db), opened.meta, opened.progress, std::move(opened.logs),
             std::move(opened.left_over), options.group_wait_us, options.at_point, options.warn},
            {store->logs_, *store->delivery_, store->failure_, store->budget_}));
    return std::unique_ptr<Store>(std::move(store));
  }

  ~SqliteStore() override {
    // The writer hands its last groups to the delivery, whose callbacks may still append.
    if (writer_ != nullptr) {
      writer_->stop();
    }
    delivery_.reset();
  }
  SqliteStore(const SqliteStore&) = delete;
  SqliteStore& operator=(const SqliteStore&) = delete;

  const NodeIdentity& identity() const override { return identity_; }

  Result<std::vector<LogInfo>> logs() const override { return logs_.list(); }

  Result<LogId> create_log(std::string_view name) override { return writer_->create_log(name); }

  Result<void> drop_log(LogId log) override {
    HINDSIGHT_RETURN_IF_ERROR(writer_->drop_log(log));
    delivery_->unsubscribe(log);
    return snapshots_->remove_log(log);
  }

  void append(LogId log, std::vector<Payload> payloads, Done done) override {
    writer_->append(log, std::move(payloads), std::move(done));
  }

  Result<std::vector<LogEntry>> read(LogId log, Position after,
                                     std::size_t max_entries) const override {
    return reader_.read(log, after, max_entries);
  }

  Result<Payload> read_at(LogId log, Position position) const override {
    return reader_.read_at(log, position);
  }

  Result<Position> head(LogId log) const override {
    const std::optional<LogState> state = logs_.find(log);
    return state ? Result<Position>(state->head) : Result<Position>(no_such_log(log));
  }

  Result<Position> first(LogId log) const override {
    const std::optional<LogState> state = logs_.find(log);
    if (!state) {
      return no_such_log(log);
    }
    return state->first <= state->head ? state->first : Position{0};
  }

  Result<void> subscribe(LogId log, Position after, Sink sink) override {
    return delivery_->subscribe(log, after, std::move(sink));
  }

  void unsubscribe(LogId log) override { delivery_->unsubscribe(log); }

  Result<void> truncate_before(LogId log, Position position) override {
    return writer_->truncate_before(log, position);
  }

  Result<std::uint64_t> rewrite(LogId log, const Edit& edit) override;

  Result<void> put_snapshot(LogId log, Position position,
                            std::span<const std::byte> bytes) override {
    HINDSIGHT_ASSIGN_OR_RETURN(const Position last, head(log));
    if (position > last) {
      return Error{ErrorCode::kInvalidArgument, "a snapshot beyond the end of its log", "position"};
    }
    return snapshots_->put(log, position, bytes);
  }

  Result<std::vector<Position>> snapshots(LogId log) const override {
    HINDSIGHT_RETURN_IF_ERROR(head(log));
    return snapshots_->list(log);
  }

  Result<std::vector<std::byte>> get_snapshot(LogId log, Position position) const override {
    HINDSIGHT_RETURN_IF_ERROR(head(log));
    return snapshots_->get(log, position);
  }

  std::optional<Error> failure() const override { return failure_.get(); }

  std::uint64_t size_bytes() const override {
    std::uint64_t bytes = snapshots_->size_bytes();
    for (const char* suffix : {"", "-wal", "-shm"}) {
      std::error_code code;
      const std::uint64_t size =
          std::filesystem::file_size(database_file(folder_).string() + suffix, code);
      bytes += code ? 0 : size;
    }
    return bytes;
  }

 private:
  SqliteStore(const SqliteStoreOptions& options, OpenedStore& opened)
      : folder_(options.folder),
        lock_(std::move(opened.lock)),
        snapshots_(std::move(opened.snapshots)),
        reader_(database_file(options.folder), options.vfs, logs_),
        budget_(options.max_queued_bytes) {
    identity_ = {options.node, opened.progress.epoch, opened.meta.secret};
    for (std::size_t i = 0; i < opened.logs.size(); ++i) {
      const LogRow& row = opened.logs[i];
      logs_.add(row.id, {row.name, row.first, opened.heads[i]});
    }
    delivery_ = std::make_unique<Delivery>(Delivery::Parts{
        std::move(opened.high_water), logs_, reader_, failure_, budget_, options.warn});
  }

  std::filesystem::path folder_;
  std::unique_ptr<FolderLock> lock_;
  NodeIdentity identity_;
  std::unique_ptr<SnapshotFiles> snapshots_;
  LogTable logs_;
  LogReader reader_;
  FailureLatch failure_;
  Budget budget_;
  std::unique_ptr<Delivery> delivery_;
  std::unique_ptr<LogWriter> writer_;
  std::mutex rewriting_;
};

Result<std::uint64_t> SqliteStore::rewrite(LogId log, const Edit& edit) {
  const std::lock_guard one_at_a_time(rewriting_);
  std::uint64_t replaced = 0;
  std::vector<LogEntry> resized;  // all in one transaction, see LogWriter::replace
  Position after = 0;
  for (;;) {
    HINDSIGHT_ASSIGN_OR_RETURN(const std::vector<LogEntry> entries,
                               reader_.read(log, after, kRewriteEntries));
    if (entries.empty()) {
      break;
    }
    after = entries.back().position;
    std::vector<LogEntry> same_size;
    for (const LogEntry& entry : entries) {
      if (std::optional<Payload> payload = edit(entry)) {
        replaced += 1;
        auto& edits = payload->size() == entry.payload.size() ? same_size : resized;
        edits.push_back({entry.position, *std::move(payload)});
      }
    }
    if (!same_size.empty()) {
      HINDSIGHT_RETURN_IF_ERROR(writer_->replace(log, same_size));
    }
  }
  if (!resized.empty()) {
    HINDSIGHT_RETURN_IF_ERROR(writer_->replace(log, resized));
  }
  // Also when nothing was replaced: an earlier call may have been kept from it. Tried from here, so
  // that the writer never waits for a reader of another program.
  constexpr int kTries = 100;
  Result<void> emptied;
  for (int i = 0; i < kTries; ++i) {
    emptied = writer_->empty_wal();
    if (emptied.ok() || emptied.error().code != ErrorCode::kConflict) {
      break;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  if (!emptied.ok()) {
    return emptied.error();
  }
  return replaced;
}

}  // namespace

Result<std::unique_ptr<Store>> open_sqlite_store(const SqliteStoreOptions& options) {
  return SqliteStore::open(options);
}

}  // namespace hindsight
