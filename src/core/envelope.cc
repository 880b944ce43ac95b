#include "src/core/envelope.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <cstring>
#include <string>
#include <utility>

namespace hindsight {
namespace {

// 2: models may hold context terms, and a tree over the library. What version 1 holds is the same
// without them. 3: snapshots hold curves and a sample of the learned clicks; models are as before.
// 4: clicks that wait in a snapshot may be positions or rankings; models are as before. 5: points
// of curves have the weights of experts, auto and feature-klrank may have context terms; models
// without them are as before. 6: snapshots hold the arms that were drawn and what is of the era
// alone; models are as before.
constexpr std::uint32_t kFormatVersion = 6;
constexpr std::uint32_t kOldestFormatVersion = 1;
// Changes whenever the same log would fold to other bits.
constexpr std::uint32_t kNumericsVersion = 1;

std::uint64_t checksum(std::span<const std::byte> bytes) {
  return XXH3_64bits(bytes.data(), bytes.size());
}

Error corrupt(const char* why) { return {ErrorCode::kCorrupt, why, ""}; }

}  // namespace

ByteWriter begin_record(std::string_view magic) {
  ByteWriter out;
  out.put_raw(std::as_bytes(std::span(magic)));
  out.put(kFormatVersion);
  out.put(kNumericsVersion);
  return out;
}

std::vector<std::byte> seal_record(ByteWriter record) {
  record.put(checksum(record.bytes()));
  return record.take();
}

Result<std::span<const std::byte>> open_record(std::string_view magic,
                                               std::span<const std::byte> bytes,
                                               std::uint32_t* version) {
  ByteReader head(bytes);
  const auto letters = head.take(magic.size());
  if (letters.size() != magic.size() ||
      std::memcmp(letters.data(), magic.data(), magic.size()) != 0) {
    return corrupt("this was not saved by Hindsight, or is something else");
  }
  std::uint32_t format = 0;
  std::uint32_t numerics = 0;
  head.get(format);
  head.get(numerics);
  if (!head.ok() || head.left() < sizeof(std::uint64_t)) {
    return corrupt("what was saved is truncated; use an older copy");
  }
  // The versions are read before the checksum: a newer format may well be summed in another way.
  if (format > kFormatVersion || numerics > kNumericsVersion) {
    return Error{ErrorCode::kNewerVersion,
                 "this was saved by a newer Hindsight; load it with that version", ""};
  }
  const auto body = bytes.first(bytes.size() - sizeof(std::uint64_t));
  std::uint64_t stored = 0;
  std::memcpy(&stored, bytes.data() + body.size(), sizeof(stored));
  if (format < kOldestFormatVersion || numerics != kNumericsVersion || stored != checksum(body)) {
    return corrupt("what was saved is damaged (its checksum does not fit); use an older copy");
  }
  if (version != nullptr) {
    *version = format;
  }
  return head.take(head.left() - sizeof(std::uint64_t));
}

}  // namespace hindsight
