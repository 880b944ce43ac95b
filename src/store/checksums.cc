#include "src/store/checksums.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <cstring>

namespace hindsight {

Checksum to_checksum(std::uint64_t hash) {
  Checksum checksum;
  std::memcpy(checksum.data(), &hash, sizeof(hash));
  return checksum;
}

std::uint64_t hash_bytes(std::span<const std::byte> bytes, std::uint64_t seed) {
  return XXH3_64bits_withSeed(bytes.data(), bytes.size(), seed);
}

std::uint64_t entry_hash(LogId log, Position position, std::span<const std::byte> payload) {
  const std::array<std::uint64_t, 2> place = {log, position};
  return hash_bytes(payload, hash_bytes(std::as_bytes(std::span(place))));
}

bool same_checksum(std::span<const std::byte> stored, std::uint64_t hash) {
  const Checksum expected = to_checksum(hash);
  return stored.size() == expected.size() &&
         std::memcmp(stored.data(), expected.data(), expected.size()) == 0;
}

}  // namespace hindsight
