#include "src/core/bytes.h"

#include <utility>

namespace hindsight {
namespace {

// Of what is on its way to a sink: it stays in the cache of a core.
constexpr std::size_t kPiece = std::size_t{32} << 10;

}  // namespace

ByteWriter::ByteWriter(Sink sink) : sink_(std::move(sink)) { reserve(2 * kPiece); }

void ByteWriter::put_raw(std::span<const std::byte> raw) {
  if (sink_ && raw.size() >= kPiece) {
    flush();
    sink_(raw);
    return;
  }
  if (raw.empty()) {
    return;
  }
  const std::size_t size = bytes_.size();
  bytes_.resize(size + raw.size());
  std::memcpy(bytes_.data() + size, raw.data(), raw.size());
  if (sink_ && bytes_.size() >= kPiece) {
    flush();
  }
}

void ByteWriter::flush() {
  sink_(bytes_);
  bytes_.clear();
}

Result<void> ByteReader::check(std::string_view what) const {
  if (ok_) {
    return {};
  }
  return Error{ErrorCode::kCorrupt,
               "the saved " + std::string(what) + " is truncated or damaged; use an older copy",
               ""};
}

}  // namespace hindsight
