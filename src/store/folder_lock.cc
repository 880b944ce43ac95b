#include "src/store/folder_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "src/core/check.h"
#include "src/store/file_sync.h"

namespace hindsight {
namespace {

Error failed(const char* what, const std::filesystem::path& path) {
  return {ErrorCode::kIo, std::string(what) + " " + path.string() + ": " + std::strerror(errno),
          ""};
}

/// The lock file. On a device that cannot be written no process makes one: where there is none yet
/// the folder stands for it.
int open_lock(const std::filesystem::path& folder, const std::filesystem::path& file) {
  int fd = ::open(file.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (fd >= 0) {
    give_to_owner_of_folder(fd, file);
  } else if (errno == EROFS) {
    fd = ::open(file.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    fd = fd < 0 && errno == ENOENT ? ::open(folder.c_str(), O_RDONLY | O_CLOEXEC) : fd;
  }
  return fd;
}

}  // namespace

Result<std::unique_ptr<FolderLock>> FolderLock::take(const std::filesystem::path& folder) {
  HINDSIGHT_RETURN_IF_ERROR(make_folder(folder));
  const std::filesystem::path file = folder / "lock";
  const int fd = open_lock(folder, file);
  if (fd < 0) {
    return failed("cannot open", file);
  }
  std::unique_ptr<FolderLock> lock(new FolderLock(fd));
  if (::flock(fd, LOCK_EX | LOCK_NB) != 0) {
    if (errno == EWOULDBLOCK) {
      return Error{ErrorCode::kConflict,
                   "the folder " + folder.string() +
                       " is in use by another process; stop it, or choose another folder",
                   ""};
    }
    return failed("cannot lock", file);
  }
  return lock;
}

FolderLock::~FolderLock() { ::close(fd_); }

}  // namespace hindsight
