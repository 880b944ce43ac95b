#include "src/cli/output_file.h"

#include <cerrno>
#include <cstring>

namespace hindsight::cli {

Result<OutputFile> OutputFile::open(const std::string& path) {
  OutputFile out;
  if (path.empty()) {
    return out;
  }
  out.path_ = path;
  out.file_.reset(std::fopen(path.c_str(), "wb"));
  if (out.file_ == nullptr) {
    return Error{ErrorCode::kInvalidArgument,
                 std::string("cannot be written: ") + std::strerror(errno), path};
  }
  return out;
}

Result<void> OutputFile::write(std::string_view text) {
  std::FILE* file = file_.release();
  const bool written = std::fwrite(text.data(), 1, text.size(), file) == text.size();
  const bool closed = std::fclose(file) == 0;
  if (!written || !closed) {
    return Error{ErrorCode::kIo, "could not be written; is the disk full?", path_};
  }
  return {};
}

}  // namespace hindsight::cli
