// MemoryFolder: a folder for a test, in memory where the machine has such a file system, so that
// hundreds of stores can be opened without waiting for a disk.

#pragma once

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>

namespace hindsight {

class MemoryFolder {
 public:
  MemoryFolder() {
    const bool in_memory = ::access("/dev/shm", W_OK) == 0;
    std::string name =
        ((in_memory ? std::filesystem::path("/dev/shm") : std::filesystem::temp_directory_path()) /
         "hindsight-test-XXXXXX")
            .string();
    if (mkdtemp(name.data()) == nullptr) {
      std::abort();
    }
    path_ = name;
  }
  ~MemoryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  MemoryFolder(const MemoryFolder&) = delete;
  MemoryFolder& operator=(const MemoryFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace hindsight
