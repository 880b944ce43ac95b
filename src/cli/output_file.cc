#include "src/cli/output_file.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "src/core/check.h"

namespace hindsight::cli {
namespace {

/// Removes a file at the end of the scope; after a rename there is none.
class Removal {
 public:
  explicit Removal(const std::string& path) : path_(path) {}
  ~Removal() { ::unlink(path_.c_str()); }
  Removal(const Removal&) = delete;
  Removal& operator=(const Removal&) = delete;

 private:
  const std::string& path_;
};

bool is_standard_output(const struct stat& file) {
  struct stat out {};
  return ::fstat(STDOUT_FILENO, &out) == 0 && out.st_dev == file.st_dev &&
         out.st_ino == file.st_ino;
}

}  // namespace

Error OutputFile::error(int number) const {
  return {ErrorCode::kIo, std::string("cannot be written: ") + std::strerror(number), path_};
}

std::string OutputFile::temporary() const { return target_ + ".tmp." + std::to_string(::getpid()); }

Result<OutputFile> OutputFile::prepare(const std::string& path) {
  OutputFile out;
  if (path.empty()) {
    return out;
  }
  out.path_ = path;
  std::error_code unresolved;
  out.target_ =
      std::filesystem::weakly_canonical(std::filesystem::absolute(path), unresolved).string();
  if (unresolved) {
    out.target_ = path;
  }
  struct stat there {};
  const bool exists = ::stat(path.c_str(), &there) == 0;
  if (exists && S_ISDIR(there.st_mode)) {
    return out.error(EISDIR);
  }
  if (exists && is_standard_output(there)) {
    out.place_ = Place::kStandardOutput;
    return out;
  }
  if (exists && ::access(path.c_str(), W_OK) != 0) {
    return out.error(errno);
  }
  if (exists && !S_ISREG(there.st_mode)) {
    out.place_ = Place::kDirect;
    return out;
  }
  out.place_ = Place::kRegular;
  // Whether a folder takes a new file is known for certain only by trying.
  const std::string trial = out.temporary();
  HINDSIGHT_RETURN_IF_ERROR(out.write_to(trial, "wbx", {}));
  ::unlink(trial.c_str());
  return out;
}

bool OutputFile::same_as(const OutputFile& other) const {
  return wanted() && other.wanted() && target_ == other.target_;
}

Result<void> OutputFile::write_to(const std::string& path, const char* mode,
                                  std::string_view text) const {
  std::FILE* file = std::fopen(path.c_str(), mode);
  if (file == nullptr) {
    return error(errno);
  }
  // An empty text may have no address, which fwrite does not take.
  const bool written =
      (text.empty() || std::fwrite(text.data(), 1, text.size(), file) == text.size()) &&
      std::fflush(file) == 0;
  const int problem = errno;
  const bool closed = std::fclose(file) == 0;
  if (!written || !closed) {
    return error(written ? errno : problem);
  }
  return {};
}

Result<void> OutputFile::write(std::string_view text) {
  if (place_ == Place::kDirect) {
    return write_to(target_, "wb", text);
  }
  if (place_ == Place::kStandardOutput) {  // a second way to it would overwrite what it holds
    const bool written =
        std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0;
    return written ? Result<void>() : Result<void>(error(errno));
  }
  const std::string beside = temporary();
  const Removal removal(beside);
  HINDSIGHT_RETURN_IF_ERROR(write_to(beside, "wbx", text));
  struct stat old {};
  if (::stat(target_.c_str(), &old) == 0) {
    ::chmod(beside.c_str(), old.st_mode & 07777);  // at worst the rights are those of a new file
  }
  if (::rename(beside.c_str(), target_.c_str()) != 0) {
    return error(errno);
  }
  return {};
}

}  // namespace hindsight::cli
