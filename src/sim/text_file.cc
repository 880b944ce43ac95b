#include "src/sim/text_file.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <vector>

#include "src/core/check.h"

namespace hindsight {
namespace {

constexpr std::size_t kReadBytes = std::size_t{1} << 17;

}  // namespace

Result<void> read_text_pieces(const std::filesystem::path& path, const TextSink& sink) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"),
                                                             &std::fclose);
  if (file == nullptr) {
    const ErrorCode code = errno == ENOENT ? ErrorCode::kInvalidArgument : ErrorCode::kIo;
    return Error{code, fmt::format("cannot be opened: {}", std::strerror(errno)), path.string()};
  }
  const bool compressed = path.extension() == ".zst";
  ZstdStream zstd;
  std::vector<char> buffer(kReadBytes);
  const auto name_it = [&](Error error) {
    error.field = error.field.empty() ? path.string() : error.field;
    return error;
  };
  while (const std::size_t got = std::fread(buffer.data(), 1, buffer.size(), file.get())) {
    const std::string_view bytes(buffer.data(), got);
    const Result<void> fed = compressed ? zstd.feed(bytes, sink) : sink(bytes);
    if (!fed.ok()) {
      return name_it(fed.error());
    }
  }
  if (std::ferror(file.get()) != 0) {
    return Error{ErrorCode::kIo, fmt::format("cannot be read: {}", std::strerror(errno)),
                 path.string()};
  }
  if (compressed) {
    if (const Result<void> whole = zstd.finish(); !whole.ok()) {
      return name_it(whole.error());
    }
  }
  return {};
}

Result<std::string> read_text_file(const std::filesystem::path& path, std::uint64_t max_bytes) {
  std::string text;
  HINDSIGHT_RETURN_IF_ERROR(read_text_pieces(path, [&](std::string_view piece) -> Result<void> {
    if (piece.size() > max_bytes - text.size()) {
      return Error{ErrorCode::kTooLarge, fmt::format("more than {} bytes of text", max_bytes), ""};
    }
    text.append(piece);
    return {};
  }));
  return text;
}

}  // namespace hindsight
