// Checksums of what the store keeps: damage is found when something is read, and named.
//
// Thread-safety: pure functions.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "src/core/bytes.h"
#include "src/store/store.h"

namespace hindsight {

/// As it stands in a table: eight bytes always, so that replacing one never moves its row.
using Checksum = std::array<std::byte, 8>;

Checksum to_checksum(std::uint64_t hash);
std::uint64_t hash_bytes(std::span<const std::byte> bytes, std::uint64_t seed = 0);

/// Binds a payload to its place: an entry that strayed to another place is damaged too.
std::uint64_t entry_hash(LogId log, Position position, std::span<const std::byte> payload);

/// RETURNS: whether stored bytes are this hash.
bool same_checksum(std::span<const std::byte> stored, std::uint64_t hash);

}  // namespace hindsight
