// OutputFile: a file that is opened before the work, so that a wrong path is known before it.
//
// Thread-safety: one owner at a time.

#pragma once

#include <cstdio>
#include <memory>
#include <string>
#include <string_view>

#include "hindsight/result.h"

namespace hindsight::cli {

class OutputFile {
 public:
  /// An empty path means that nothing is to be written. FAILS: kInvalidArgument
  static Result<OutputFile> open(const std::string& path);

  bool wanted() const { return file_ != nullptr; }
  /// Writes the text and closes the file. REQUIRES: wanted(). FAILS: kIo
  Result<void> write(std::string_view text);

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };

  std::string path_;
  std::unique_ptr<std::FILE, Close> file_;
};

}  // namespace hindsight::cli
