#include "tests/store_support/memory_store.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <utility>

namespace hindsight {
namespace {

Error no_log(LogId log) {
  return {ErrorCode::kNotFound, "there is no log " + std::to_string(log), ""};
}

constexpr std::size_t kBatch = 64;              // entries handed over at once
constexpr std::chrono::milliseconds kPause(2);  // of the callers, after which nothing is held back

}  // namespace

MemoryStore::MemoryStore(MemoryStoreOptions options)
    : options_(options), random_state_(options.seed) {
  identity_.node = options.node;
  identity_.boot_epoch = options.boot_epoch;
  for (std::size_t i = 0; i < identity_.secret.size(); ++i) {
    identity_.secret[i] = static_cast<std::byte>(17 * i + 3);
  }
  thread_ = std::thread([this] { run(); });
}

MemoryStore::~MemoryStore() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    changed_.notify_all();
  }
  thread_.join();
}

double MemoryStore::uniform() {
  // SplitMix64.
  std::uint64_t z = (random_state_ += 0x9e3779b97f4a7c15U);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
  return static_cast<double>((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

void MemoryStore::enqueue(Arrival arrival) {
  // An append that was sent as number n arrives before all that are sent after n + window.
  const double window = static_cast<double>(options_.reorder_window + 1);
  const auto due = [&] { return sent_ + static_cast<std::uint64_t>(uniform() * window); };
  arrival.due = due();
  if (!arrival.error && uniform() < options_.duplicate_prob) {
    Arrival again;
    again.log = arrival.log;
    again.payloads = arrival.payloads;
    again.due = due();
    arrivals_.push_back(std::move(again));
  }
  arrivals_.push_back(std::move(arrival));
  sent_ += 1;
  changed_.notify_all();
}

void MemoryStore::append(LogId log, std::vector<Payload> payloads, Done done) {
  const std::lock_guard lock(mutex_);
  Arrival arrival;
  arrival.log = log;
  arrival.payloads = std::move(payloads);
  arrival.done = std::move(done);
  arrival.error = failure_;
  if (refusing_ && !failure_) {
    arrival.error = Error{ErrorCode::kOverloaded, "no room", ""};
  }
  enqueue(std::move(arrival));
}

void MemoryStore::keep_old_bytes(bool keep) {
  const std::lock_guard lock(mutex_);
  keeping_old_bytes_ = keep;
}

void MemoryStore::refuse_appends(bool refuse) {
  const std::lock_guard lock(mutex_);
  refusing_ = refuse;
}

Result<void> MemoryStore::inject(LogId log, std::vector<Payload> payloads) {
  const std::lock_guard lock(mutex_);
  if (!logs_.contains(log)) {
    return no_log(log);
  }
  Arrival arrival;
  arrival.log = log;
  arrival.payloads = std::move(payloads);
  enqueue(std::move(arrival));
  return {};
}

std::deque<MemoryStore::Arrival>::iterator MemoryStore::next_due() {
  const auto next =
      std::min_element(arrivals_.begin(), arrivals_.end(),
                       [](const Arrival& a, const Arrival& b) { return a.due < b.due; });
  // Whatever is sent from now on is due at sent_ or later.
  const bool is_due = next != arrivals_.end() && next->due < std::max(sent_, let_go_);
  return is_due ? next : arrivals_.end();
}

void MemoryStore::let_go_held() {
  for (const Arrival& arrival : arrivals_) {
    let_go_ = std::max(let_go_, arrival.due + 1);
  }
}

bool MemoryStore::anything_to_deliver() const {
  return std::any_of(logs_.begin(), logs_.end(), [](const auto& it) {
    return it.second.sink && it.second.delivered < it.second.head;
  });
}

void MemoryStore::run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    busy_ = false;
    changed_.notify_all();
    const bool something = changed_.wait_for(lock, kPause, [this] {
      return stopping_ || next_due() != arrivals_.end() || anything_to_deliver();
    });
    if (!something || stopping_) {
      let_go_held();
    }
    busy_ = true;
    std::vector<LogId> ids;
    for (const auto& [id, log] : logs_) {
      ids.push_back(id);
    }
    for (const LogId id : ids) {
      deliver(id, lock);
    }
    if (const auto next = next_due(); next != arrivals_.end()) {
      Arrival arrival = std::move(*next);
      arrivals_.erase(next);
      arrive(std::move(arrival), lock);
    } else if (stopping_ && arrivals_.empty()) {
      return;
    }
  }
}

void MemoryStore::arrive(Arrival arrival, std::unique_lock<std::mutex>& lock) {
  const auto found = logs_.find(arrival.log);
  std::optional<Error> error = arrival.error;
  if (!error && found == logs_.end()) {
    error = no_log(arrival.log);
  }
  Position last = 0;
  if (!error) {
    Log& log = found->second;
    for (Payload& payload : arrival.payloads) {
      log.entries.push_back({++log.head, std::move(payload)});
    }
    last = log.head;
    deliver(arrival.log, lock);
  }
  if (arrival.done) {
    lock.unlock();
    arrival.done(error ? Result<Position>(*error) : Result<Position>(last));
    lock.lock();
  }
}

void MemoryStore::deliver(LogId id, std::unique_lock<std::mutex>& lock) {
  for (;;) {
    const auto found = logs_.find(id);
    if (found == logs_.end() || !found->second.sink ||
        found->second.delivered >= found->second.head) {
      return;
    }
    Log& log = found->second;
    const auto begin = std::upper_bound(
        log.entries.begin(), log.entries.end(), log.delivered,
        [](Position after, const LogEntry& entry) { return after < entry.position; });
    const auto count = std::min<std::ptrdiff_t>(kBatch, log.entries.end() - begin);
    std::vector<LogEntry> batch(begin, begin + count);
    log.delivered = batch.empty() ? log.head : batch.back().position;
    if (batch.empty()) {
      return;
    }
    const Sink sink = log.sink;
    log.delivering = true;
    lock.unlock();
    sink(std::move(batch));
    lock.lock();
    // A log with a call under way is not removed.
    logs_.at(id).delivering = false;
    changed_.notify_all();
  }
}

std::vector<LogEntry> MemoryStore::copy_of(LogId log) const {
  const std::lock_guard lock(mutex_);
  const auto found = logs_.find(log);
  return found == logs_.end() ? std::vector<LogEntry>() : found->second.entries;
}

void MemoryStore::fail_with(Error error) {
  const std::lock_guard lock(mutex_);
  failure_ = std::move(error);
}

void MemoryStore::flush() {
  std::unique_lock lock(mutex_);
  let_go_held();
  changed_.notify_all();
  changed_.wait(lock, [this] { return !busy_ && arrivals_.empty() && !anything_to_deliver(); });
}

std::unique_ptr<MemoryStore> MemoryStore::reopened() const {
  const std::lock_guard lock(mutex_);
  MemoryStoreOptions options = options_;
  options.boot_epoch = identity_.boot_epoch + 1;
  auto copy = std::make_unique<MemoryStore>(options);
  const std::lock_guard copy_lock(copy->mutex_);
  copy->next_log_ = next_log_;
  for (const auto& [id, log] : logs_) {
    Log& other = copy->logs_[id];
    other.name = log.name;
    other.entries = log.entries;
    other.head = log.head;
    other.snapshots = log.snapshots;
  }
  return copy;
}

Result<std::vector<LogInfo>> MemoryStore::logs() const {
  const std::lock_guard lock(mutex_);
  std::vector<LogInfo> logs;
  for (const auto& [id, log] : logs_) {
    logs.push_back({id, log.name});
  }
  return logs;
}

Result<LogId> MemoryStore::create_log(std::string_view name) {
  const std::lock_guard lock(mutex_);
  if (failure_) {
    return *failure_;
  }
  for (const auto& [id, log] : logs_) {
    if (log.name == name) {
      return Error{ErrorCode::kConflict, "there is a log of this name already", "name"};
    }
  }
  logs_[next_log_].name = std::string(name);
  return next_log_++;
}

Result<void> MemoryStore::drop_log(LogId log) {
  unsubscribe(log);
  const std::lock_guard lock(mutex_);
  if (failure_) {
    return *failure_;
  }
  return logs_.erase(log) == 1 ? Result<void>() : Result<void>(no_log(log));
}

Result<std::vector<LogEntry>> MemoryStore::read(LogId log, Position after,
                                                std::size_t max_entries) const {
  const std::lock_guard lock(mutex_);
  const auto found = logs_.find(log);
  if (found == logs_.end()) {
    return no_log(log);
  }
  std::vector<LogEntry> entries;
  for (const LogEntry& entry : found->second.entries) {
    if (entry.position > after && entries.size() < max_entries) {
      entries.push_back(entry);
    }
  }
  return entries;
}

Result<Payload> MemoryStore::read_at(LogId log, Position position) const {
  auto entries = read(log, position == 0 ? 0 : position - 1, 1);
  if (!entries.ok()) {
    return entries.error();
  }
  if (entries->empty() || entries->front().position != position) {
    return Error{ErrorCode::kNotFound, "no such entry", ""};
  }
  return std::move(entries->front().payload);
}

Result<Position> MemoryStore::head(LogId log) const {
  const std::lock_guard lock(mutex_);
  const auto found = logs_.find(log);
  return found == logs_.end() ? Result<Position>(no_log(log)) : found->second.head;
}

Result<Position> MemoryStore::first(LogId log) const {
  const std::lock_guard lock(mutex_);
  const auto found = logs_.find(log);
  if (found == logs_.end()) {
    return no_log(log);
  }
  return found->second.entries.empty() ? Position{0} : found->second.entries.front().position;
}

Result<void> MemoryStore::subscribe(LogId log, Position after, Sink sink) {
  const std::lock_guard lock(mutex_);
  const auto found = logs_.find(log);
  if (found == logs_.end()) {
    return no_log(log);
  }
  if (found->second.sink) {
    return Error{ErrorCode::kConflict, "the log has a subscriber already", ""};
  }
  found->second.sink = std::move(sink);
  found->second.delivered = after;
  changed_.notify_all();
  return {};
}

void MemoryStore::unsubscribe(LogId log) {
  std::unique_lock lock(mutex_);
  if (const auto found = logs_.find(log); found != logs_.end()) {
    found->second.sink = nullptr;
    changed_.wait(lock, [&] { return !logs_.contains(log) || !logs_.at(log).delivering; });
  }
}

Result<void> MemoryStore::truncate_before(LogId log, Position position) {
  const std::lock_guard lock(mutex_);
  const auto found = logs_.find(log);
  if (found == logs_.end()) {
    return no_log(log);
  }
  if (failure_) {
    return *failure_;
  }
  std::erase_if(found->second.entries,
                [position](const LogEntry& entry) { return entry.position < position; });
  return {};
}

Result<std::uint64_t> MemoryStore::rewrite(LogId log, const Edit& edit) {
  const std::lock_guard lock(mutex_);
  const auto found = logs_.find(log);
  if (found == logs_.end()) {
    return no_log(log);
  }
  if (failure_) {
    return *failure_;
  }
  std::uint64_t replaced = 0;
  for (LogEntry& entry : found->second.entries) {
    if (std::optional<Payload> payload = edit(entry)) {
      entry.payload = *std::move(payload);
      replaced += 1;
    }
  }
  if (keeping_old_bytes_) {
    return Error{ErrorCode::kConflict, "another program reads the files", ""};
  }
  return replaced;
}

Result<void> MemoryStore::put_snapshot(LogId log, Position position,
                                       std::span<const std::byte> bytes) {
  const std::lock_guard lock(mutex_);
  const auto found = logs_.find(log);
  if (found == logs_.end()) {
    return no_log(log);
  }
  if (position > found->second.head) {
    return Error{ErrorCode::kInvalidArgument, "a snapshot beyond the end of its log", "position"};
  }
  auto& snapshots = found->second.snapshots;
  snapshots[position] = {bytes.begin(), bytes.end()};
  while (snapshots.size() > 2) {
    snapshots.erase(snapshots.begin());
  }
  return {};
}

Result<std::vector<Position>> MemoryStore::snapshots(LogId log) const {
  const std::lock_guard lock(mutex_);
  const auto found = logs_.find(log);
  if (found == logs_.end()) {
    return no_log(log);
  }
  std::vector<Position> positions;
  for (const auto& [position, bytes] : found->second.snapshots) {
    positions.insert(positions.begin(), position);
  }
  return positions;
}

Result<std::vector<std::byte>> MemoryStore::get_snapshot(LogId log, Position position) const {
  const std::lock_guard lock(mutex_);
  const auto found = logs_.find(log);
  if (found == logs_.end() || !found->second.snapshots.contains(position)) {
    return Error{ErrorCode::kNotFound, "no such snapshot", ""};
  }
  return found->second.snapshots.at(position);
}

std::optional<Error> MemoryStore::failure() const {
  const std::lock_guard lock(mutex_);
  return failure_;
}

std::uint64_t MemoryStore::size_bytes() const {
  const std::lock_guard lock(mutex_);
  std::uint64_t bytes = 0;
  for (const auto& [id, log] : logs_) {
    for (const LogEntry& entry : log.entries) {
      bytes += entry.payload.size();
    }
  }
  return bytes;
}

}  // namespace hindsight
