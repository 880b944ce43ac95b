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

void RereadReport::tell(const Result<void>& done, const std::string& good,
                        const std::string& otherwise, const Warn& warn) {
  const std::string text = done.ok() ? good : to_string(done.error()) + "; " + otherwise;
  const bool news = done.ok() || text != trouble_;
  trouble_ = done.ok() ? std::string() : text;
  if (warn && news) {
    warn(text);
  }
}

}  // namespace hindsight
