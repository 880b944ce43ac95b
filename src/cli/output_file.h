// OutputFile: a file that appears whole or not at all.
//
// Whether the place can be written is known before the work; the file itself is written after it,
// beside its place under the name PATH.tmp.PID, and then renamed. A run that fails leaves what was
// there. What is no regular file (/dev/stdout, a pipe) is written directly.
//
// Thread-safety: one owner at a time.

#pragma once

#include <string>
#include <string_view>

#include "hindsight/result.h"

namespace hindsight::cli {

class OutputFile {
 public:
  /// Leaves the file as it is. An empty path means that nothing is to be written. FAILS: kIo (the
  /// place cannot be written)
  static Result<OutputFile> prepare(const std::string& path);

  bool wanted() const { return place_ != Place::kNone; }
  /// Whether both are wanted and would write to the same file.
  bool same_as(const OutputFile& other) const;
  /// Puts the text in the file's place. REQUIRES: wanted(). FAILS: kIo; a regular file is then as
  /// it was
  Result<void> write(std::string_view text);

 private:
  enum class Place { kNone, kRegular, kDirect, kStandardOutput };

  Result<void> write_to(const std::string& path, const char* mode, std::string_view text) const;
  std::string temporary() const;
  Error error(int number) const;

  std::string path_;    // as given
  std::string target_;  // without symbolic links: these are to stay
  Place place_ = Place::kNone;
};

}  // namespace hindsight::cli
