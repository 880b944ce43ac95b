#include "src/store/file_sync.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <string>

#include "src/core/check.h"

namespace hindsight {
namespace {

Error failed(const char* what, const std::filesystem::path& path) {
  return {ErrorCode::kIo, std::string(what) + " " + path.string() + ": " + std::strerror(errno),
          ""};
}

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) {
      ::close(fd_);
    }
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }

 private:
  int fd_;
};

std::filesystem::path folder_of(const std::filesystem::path& path) {
  return path.has_parent_path() ? path.parent_path() : ".";
}

std::atomic<FileFaults*> file_faults = nullptr;

}  // namespace

void use_file_faults_for_test(FileFaults* faults) { file_faults = faults; }

bool fails_in_test(FileStep step) {
  FileFaults* const faults = file_faults.load(std::memory_order_relaxed);
  const int code = faults == nullptr ? 0 : faults->at(step);
  if (code != 0) {
    errno = code;
  }
  return code != 0;
}

bool write_at(int fd, std::span<const std::byte> bytes, std::uint64_t at) {
  const bool failing = fails_in_test(FileStep::kWrite);
  const int failing_with = errno;
  std::span<const std::byte> left = failing ? bytes.first(bytes.size() / 2) : bytes;
  while (!left.empty()) {
    const ssize_t written = ::pwrite(fd, left.data(), left.size(), static_cast<off_t>(at));
    if (written < 0 && errno == EINTR) {
      continue;
    }
    if (written <= 0) {
      errno = written == 0 ? ENOSPC : errno;
      return false;
    }
    at += static_cast<std::uint64_t>(written);
    left = left.subspan(static_cast<std::size_t>(written));
  }
  errno = failing_with;
  return !failing;
}

Result<void> sync_file(const std::filesystem::path& path) {
  const Descriptor fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (fd.get() < 0 || fails_in_test(FileStep::kSync) || ::fsync(fd.get()) != 0) {
    return failed("cannot sync", path);
  }
  return {};
}

Result<void> sync_folder(const std::filesystem::path& folder) { return sync_file(folder); }

Result<void> make_folder(const std::filesystem::path& folder) {
  if (::mkdir(folder.c_str(), 0700) == 0) {
    return sync_folder(folder_of(folder));
  }
  if (errno == EEXIST) {
    return {};
  }
  if (errno == ENOENT && folder.has_parent_path() && folder.parent_path() != folder) {
    HINDSIGHT_RETURN_IF_ERROR(make_folder(folder.parent_path()));
    if (::mkdir(folder.c_str(), 0700) == 0 || errno == EEXIST) {
      return sync_folder(folder.parent_path());
    }
  }
  return failed("cannot make the folder", folder);
}

void give_to_owner_of_folder(int fd, const std::filesystem::path& path) {
  struct stat folder {};
  struct stat file {};
  if (::geteuid() != 0 || ::stat(folder_of(path).c_str(), &folder) != 0 ||
      ::fstat(fd, &file) != 0 || !S_ISREG(file.st_mode) || file.st_nlink != 1) {
    return;
  }
  if (file.st_uid != folder.st_uid || file.st_gid != folder.st_gid) {
    // Where it fails the file is root's, as it would have been.
    [[maybe_unused]] const int given = ::fchown(fd, folder.st_uid, folder.st_gid);
  }
}

Result<void> replace_file(const std::filesystem::path& path, std::span<const std::byte> bytes,
                          const std::function<void()>& before_rename) {
  const std::filesystem::path part = path.string() + ".part";
  {
    ::unlink(part.c_str());  // left by a crash
    const Descriptor fd(::open(part.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
    if (fd.get() < 0 || fails_in_test(FileStep::kOpen)) {
      return failed("cannot write", part);
    }
    give_to_owner_of_folder(fd.get(), path);
    if (!write_at(fd.get(), bytes, 0) || fails_in_test(FileStep::kSync) || ::fsync(fd.get()) != 0) {
      const Error error = failed("cannot write", part);
      ::unlink(part.c_str());
      return error;
    }
  }
  if (before_rename) {
    before_rename();
  }
  if (fails_in_test(FileStep::kRename) || ::rename(part.c_str(), path.c_str()) != 0) {
    const Error error = failed("cannot replace", path);
    ::unlink(part.c_str());
    return error;
  }
  return sync_folder(folder_of(path));
}

Result<std::vector<std::byte>> read_file(const std::filesystem::path& path, Links links) {
  // Opening a pipe would wait for somebody to write to it.
  const int strict = links == Links::kRefuse ? O_NOFOLLOW | O_NONBLOCK : 0;
  const Descriptor fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | strict));
  if (fd.get() < 0 || fails_in_test(FileStep::kOpen)) {
    Error error = failed("cannot read", path);
    error.code = errno == ENOENT ? ErrorCode::kNotFound : ErrorCode::kIo;
    return error;
  }
  struct stat info {};
  if (links == Links::kRefuse && (::fstat(fd.get(), &info) != 0 || !S_ISREG(info.st_mode))) {
    return Error{ErrorCode::kIo, path.string() + " is no plain file", ""};
  }
  std::vector<std::byte> bytes;
  std::size_t used = 0;
  for (;;) {
    bytes.resize(used + (std::size_t{1} << 16));
    const ssize_t got = ::read(fd.get(), bytes.data() + used, bytes.size() - used);
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got < 0) {
      return failed("cannot read", path);
    }
    if (got == 0) {
      bytes.resize(used);
      return bytes;
    }
    used += static_cast<std::size_t>(got);
  }
}

}  // namespace hindsight
