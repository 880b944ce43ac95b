#include "src/server/file_stamp.h"

#include <sys/stat.h>

namespace hindsight {

FileStamp stamp_of(const std::filesystem::path& path) {
  struct stat info = {};
  if (::stat(path.c_str(), &info) != 0) {
    return {};
  }
  return {info.st_dev, info.st_ino, info.st_size, info.st_mtim.tv_sec, info.st_mtim.tv_nsec};
}

}  // namespace hindsight
