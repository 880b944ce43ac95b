// The envelope of a saved ranker; docs/save-format.md describes it byte by byte.

#define XXH_INLINE_ALL
#define XXH_NO_INLINE_HINTS 1  // at -Og g++ cannot follow them through the functions of a stream
#include <xxhash.h>

#include "hindsight/registry.h"
#include "src/core/bytes.h"
#include "src/core/check.h"
#include "src/core/envelope.h"

namespace hindsight {
namespace {

constexpr std::string_view kMagic = "HINDSIGHT MODEL\n";

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

}  // namespace

std::vector<std::byte> save_ranker(const Ranker& ranker) {
  HINDSIGHT_CHECK(!ranker.name().empty());
  ByteWriter out = begin_record(kMagic);
  out.put(std::string_view(ranker.name()));
  out.put(static_cast<std::uint64_t>(ranker.params().size()));
  for (const auto& [key, value] : ranker.params()) {
    out.put(std::string_view(key));
    put_value(out, value);
  }
  ranker.save(out);
  return seal_record(std::move(out));
}

Result<std::unique_ptr<Ranker>> load_ranker(std::span<const std::byte> bytes) {
  HINDSIGHT_ASSIGN_OR_RETURN(const auto body, open_record(kMagic, bytes));
  ByteReader in(body);
  std::string name;
  ParamMap params;
  std::uint64_t count = 0;
  in.get(name);
  in.get(count);
  for (std::uint64_t i = 0; in.ok() && i < count; ++i) {
    std::string key;
    ParamValue value;
    if (!in.get(key) || !get_value(in, value)) {
      return corrupt("the saved parameters are damaged");
    }
    params.emplace(std::move(key), std::move(value));
  }
  HINDSIGHT_RETURN_IF_ERROR(in.check("parameters"));
  HINDSIGHT_ASSIGN_OR_RETURN(std::unique_ptr<Ranker> ranker, make_ranker(name, params));
  HINDSIGHT_RETURN_IF_ERROR(ranker->load(in));
  return ranker;
}

std::string model_hash(const Ranker& ranker) {
  XXH3_state_t state;
  XXH3_128bits_reset(&state);
  // Piece by piece: memory for the whole would cost more time than the hash.
  ByteWriter out([&state](std::span<const std::byte> piece) {
    XXH3_128bits_update(&state, piece.data(), piece.size());
  });
  ranker.save(out);
  out.flush();
  XXH128_canonical_t canonical;
  XXH128_canonicalFromHash(&canonical, XXH3_128bits_digest(&state));
  constexpr const char* kHex = "0123456789abcdef";
  std::string text;
  for (const unsigned char byte : canonical.digest) {
    text += kHex[byte >> 4];
    text += kHex[byte & 15];
  }
  return text;
}

}  // namespace hindsight
