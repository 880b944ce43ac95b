// Writes the first inputs of every fuzz target: make_seeds FOLDER gives FOLDER/fuzz_NAME/….

#include <zstd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "src/core/check.h"

namespace {

namespace fs = std::filesystem;

void write(const fs::path& path, std::string_view bytes) {
  fs::create_directories(path.parent_path());
  std::ofstream out(path, std::ios::binary);
  out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  HINDSIGHT_CHECK(out.good());
}

std::string compress(std::string_view text) {
  std::string out(ZSTD_compressBound(text.size()), '\0');
  const std::size_t size = ZSTD_compress(out.data(), out.size(), text.data(), text.size(), 3);
  HINDSIGHT_CHECK(ZSTD_isError(size) == 0);
  out.resize(size);
  return out;
}

/// The first byte says how the target reads the rest (fuzz_table_reader.cc).
void write_table_seeds(const fs::path& folder) {
  const std::string_view tables[] = {
      "id\tyear\nb1\t1999\nb2\t2001\n",
      "\xEF\xBB\xBFtitle\tyear\tid\r\nOn ranks\t1999\tb1\r\n\r\nLast line\t2003\tb2",
      "year\tid\n1999\tb\xC3\xA9\n2000\n",
      "id\ttitle\nb1\tno year\n",
  };
  int number = 0;
  for (const std::string_view table : tables) {
    const std::string name = std::to_string(number++);
    write(folder / (name + "-plain"), '\x06' + std::string(table));
    write(folder / (name + "-zstd"), '\x01' + compress(table));
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: make_seeds FOLDER\n");
    return 2;
  }
  write_table_seeds(fs::path(argv[1]) / "fuzz_table_reader");
  return 0;
}
