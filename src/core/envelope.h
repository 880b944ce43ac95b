// The envelope of everything that is saved: a name, versions, what was saved, a checksum
// (docs/save-format.md).
//
// Thread-safety: pure functions.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "hindsight/result.h"
#include "src/core/bytes.h"

namespace hindsight {

/// RETURNS: a record that begins with `magic` and the present versions; write to it, then seal it.
ByteWriter begin_record(std::string_view magic);

/// Puts the checksum at the end.
std::vector<std::byte> seal_record(ByteWriter record);

/// `version`, where given, gets that of the record's format. RETURNS: what was written between
/// begin and seal. FAILS: kCorrupt, kNewerVersion
Result<std::span<const std::byte>> open_record(std::string_view magic,
                                               std::span<const std::byte> bytes,
                                               std::uint32_t* version = nullptr);

}  // namespace hindsight
