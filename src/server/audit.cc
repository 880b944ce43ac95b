#include "src/server/audit.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <mutex>
#include <string>
#include <utility>

#include "src/core/check.h"
#include "src/server/log.h"
#include "src/server/rate_limit.h"
#include "src/store/file_sync.h"

namespace hindsight {
namespace {

namespace fs = std::filesystem;

// Of one key's calls that were refused; else one could push what was done out of the files.
constexpr RateLimitOptions kRefusedCalls = {.per_second = 1.0, .burst = 20.0, .max_buckets = 1024};

Error failed_to(const std::string& what, const fs::path& path) {
  return {ErrorCode::kIo, "cannot " + what + " " + path.string() + ": " + std::strerror(errno), ""};
}

std::string line_of(const AuditRecord& record, std::int64_t now_ms) {
  const std::string_view outcome = record.error.empty() ? "done" : record.error;
  return format_event(LogFormat::kJson, {.time_ms = now_ms,
                                         .level = LogLevel::kInfo,
                                         .message = "audit",
                                         .fields = {{"key", record.key},
                                                    {"address", record.address},
                                                    {"route", record.route},
                                                    {"collection", record.collection},
                                                    {"status", std::int64_t{record.status}},
                                                    {"outcome", outcome},
                                                    {"detail", record.detail}}}) +
         "\n";
}

bool write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t wrote = ::write(fd, text.data(), text.size());
    if (wrote < 0 && errno == EINTR) {
      continue;
    }
    if (wrote <= 0) {
      return false;
    }
    text.remove_prefix(static_cast<std::size_t>(wrote));
  }
  return true;
}

}  // namespace

class AuditLog::Impl {
 public:
  explicit Impl(AuditOptions options)
      : options_(std::move(options)), refused_calls_(kRefusedCalls) {}
  ~Impl() { close(); }

  Result<void> open() {
    const fs::path path = options_.folder / "audit.log";
    fd_ = ::open(path.c_str(), O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
    struct stat info = {};
    if (fd_ < 0 || ::fstat(fd_, &info) != 0) {
      return failed_to("open", path);
    }
    bytes_ = info.st_size;
    char last = '\n';
    torn_ = bytes_ > 0 && ::pread(fd_, &last, 1, bytes_ - 1) == 1 && last != '\n';
    return sync_folder(options_.folder);
  }

  void write(const AuditRecord& record) {
    const std::int64_t now_ms = options_.clock();
    if (!record.changed && refused_calls_.take(record.key, now_ms).wait_ms > 0) {
      return;
    }
    const std::string line = line_of(record, now_ms);
    Result<void> done;
    {
      const std::lock_guard lock(mutex_);
      done = append(line, record.changed);
    }
    if (done.ok()) {
      ++written_;
      return;
    }
    ++failed_;
    if (options_.warn) {
      options_.warn("the audit log misses a line: " + to_string(done.error()));
    }
  }

  std::uint64_t written() const { return written_; }
  std::uint64_t failed() const { return failed_; }

 private:
  void close() {
    if (fd_ >= 0) {
      ::close(std::exchange(fd_, -1));
    }
  }

  /// REQUIRES: mutex_ is held
  Result<void> append(const std::string& line, bool durable) {
    const fs::path path = options_.folder / "audit.log";
    const auto size = static_cast<std::int64_t>(line.size());
    if (fd_ >= 0 && bytes_ > 0 && bytes_ + size > options_.max_bytes) {
      // Where it fails the present file grows on: a long log is better than one with gaps.
      const bool renamed = ::rename(path.c_str(), (options_.folder / "audit.log.1").c_str()) == 0;
      if (renamed) {
        close();
      } else if (!stuck_ && options_.warn) {
        options_.warn(to_string(failed_to("rename", path)) + "; it grows beyond its size");
      }
      stuck_ = !renamed;
    }
    if (fd_ < 0) {
      HINDSIGHT_RETURN_IF_ERROR(open());
    }
    // The rest of a line that could not be written stays a line of its own.
    if (!write_all(fd_, torn_ ? "\n" + line : line) || (durable && ::fdatasync(fd_) != 0)) {
      Error error = failed_to("write", path);
      close();  // how the file ends is seen when it is opened again
      return error;
    }
    bytes_ += size + (std::exchange(torn_, false) ? 1 : 0);
    return {};
  }

  const AuditOptions options_;
  RateLimiter refused_calls_;
  std::mutex mutex_;
  int fd_ = -1;
  std::int64_t bytes_ = 0;
  bool torn_ = false;   // its last line has no end
  bool stuck_ = false;  // it could not be renamed, which was told
  std::atomic<std::uint64_t> written_ = 0;
  std::atomic<std::uint64_t> failed_ = 0;
};

AuditLog::AuditLog(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
AuditLog::~AuditLog() = default;

Result<std::unique_ptr<AuditLog>> AuditLog::open(AuditOptions options) {
  HINDSIGHT_CHECK(options.clock != nullptr);
  auto impl = std::make_unique<Impl>(std::move(options));
  HINDSIGHT_RETURN_IF_ERROR(impl->open());
  return std::unique_ptr<AuditLog>(new AuditLog(std::move(impl)));
}

void AuditLog::write(const AuditRecord& record) { impl_->write(record); }
std::uint64_t AuditLog::written() const { return impl_->written(); }
std::uint64_t AuditLog::failed() const { return impl_->failed(); }

}  // namespace hindsight
