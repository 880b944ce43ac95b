// The envelope of a saved ranker; docs/save-format.md describes it byte by byte.

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <array>
#include <cstring>

#include "hindsight/registry.h"
#include "src/core/bytes.h"
#include "src/core/check.h"

namespace hindsight {
namespace {

constexpr std::string_view kMagic = "HINDSIGHT MODEL\n";
constexpr std::uint32_t kFormatVersion = 1;
// Changes whenever the same log would fold to other bits.
constexpr std::uint32_t kNumericsVersion = 1;

enum class ValueKind : std::uint8_t { kNumber = 0, kWord = 1, kFlag = 2 };

void put_value(ByteWriter& out, const ParamValue& value) {
  out.put(static_cast<std::uint8_t>(value.index()));
  if (const double* x = std::get_if<double>(&value)) {
    out.put(*x);
  } else if (const std::string* text = std::get_if<std::string>(&value)) {
    out.put(std::string_view(*text));
  } else {
    out.put(static_cast<std::uint8_t>(std::get<bool>(value)));
  }
}

bool get_value(ByteReader& in, ParamValue& value) {
  std::uint8_t kind = 0;
  if (!in.get(kind)) {
    return false;
  }
  switch (static_cast<ValueKind>(kind)) {
    case ValueKind::kNumber: {
      double x = 0.0;
      in.get(x);
      value = x;
      return in.ok();
    }
    case ValueKind::kWord: {
      std::string text;
      in.get(text);
      value = std::move(text);
      return in.ok();
    }
    case ValueKind::kFlag: {
      bool b = false;
      in.get(b);
      value = b;
      return in.ok();
    }
  }
  return false;
}

Error corrupt(const char* why) { return {ErrorCode::kCorrupt, why, ""}; }

std::uint64_t checksum(std::span<const std::byte> bytes) {
  return XXH3_64bits(bytes.data(), bytes.size());
}

}  // namespace

std::vector<std::byte> save_ranker(std::string_view name, const ParamMap& params,
                                   const Ranker& ranker) {
  ByteWriter out;
  out.put_raw(std::as_bytes(std::span(kMagic)));
  out.put(kFormatVersion);
  out.put(kNumericsVersion);
  out.put(name);
  out.put(static_cast<std::uint64_t>(params.size()));
  for (const auto& [key, value] : params) {
    out.put(std::string_view(key));
    put_value(out, value);
  }
  ranker.save(out);
  out.put(checksum(out.bytes()));
  return out.take();
}

Result<NamedRanker> load_ranker(std::span<const std::byte> bytes) {
  ByteReader head(bytes);
  const auto magic = head.take(kMagic.size());
  if (magic.size() != kMagic.size() ||
      std::memcmp(magic.data(), kMagic.data(), kMagic.size()) != 0) {
    return corrupt("this is not a saved Hindsight model");
  }
  std::uint32_t format = 0;
  std::uint32_t numerics = 0;
  head.get(format);
  head.get(numerics);
  if (!head.ok() || head.left() < sizeof(std::uint64_t)) {
    return corrupt("the saved model is truncated; use an older copy");
  }
  // The version is read before the checksum: a newer format may well be summed in another way.
  if (format > kFormatVersion || numerics > kNumericsVersion) {
    return Error{ErrorCode::kNewerVersion,
                 "the model was saved by a newer Hindsight; load it with that version", ""};
  }
  const auto body = bytes.first(bytes.size() - sizeof(std::uint64_t));
  std::uint64_t stored = 0;
  std::memcpy(&stored, bytes.data() + body.size(), sizeof(stored));
  if (format != kFormatVersion || numerics != kNumericsVersion || stored != checksum(body)) {
    return corrupt("the saved model is damaged (its checksum does not fit); use an older copy");
  }
  ByteReader in(head.take(head.left() - sizeof(std::uint64_t)));
  NamedRanker loaded;
  std::uint64_t count = 0;
  in.get(loaded.name);
  in.get(count);
  for (std::uint64_t i = 0; in.ok() && i < count; ++i) {
    std::string key;
    ParamValue value;
    if (!in.get(key) || !get_value(in, value)) {
      return corrupt("the saved parameters are damaged");
    }
    loaded.params.emplace(std::move(key), std::move(value));
  }
  HINDSIGHT_RETURN_IF_ERROR(in.check("parameters"));
  HINDSIGHT_ASSIGN_OR_RETURN(loaded.ranker, make_ranker(loaded.name, loaded.params));
  HINDSIGHT_RETURN_IF_ERROR(loaded.ranker->load(in));
  return loaded;
}

std::string model_hash(const Ranker& ranker) {
  ByteWriter out;
  ranker.save(out);
  XXH128_canonical_t canonical;
  XXH128_canonicalFromHash(&canonical, XXH3_128bits(out.bytes().data(), out.bytes().size()));
  constexpr const char* kHex = "0123456789abcdef";
  std::string text;
  for (const unsigned char byte : canonical.digest) {
    text += kHex[byte >> 4];
    text += kHex[byte & 15];
  }
  return text;
}

}  // namespace hindsight
