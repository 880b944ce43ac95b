// Text files, plain or compressed by zstd, read in pieces.
//
// Thread-safety: functions of their arguments and of the files.

#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "hindsight/result.h"
#include "src/sim/zstd_stream.h"

namespace hindsight {

/// Hands the file's text to the sink piece by piece; decompressed if the name ends in ".zst".
/// FAILS: kInvalidArgument (no such file), kIo, kCorrupt (zstd), or the sink's error; the field is
/// the path where it would be empty
Result<void> read_text_pieces(const std::filesystem::path& path, const TextSink& sink);

/// RETURNS: the whole text. FAILS: as read_text_pieces; kTooLarge (more text than max_bytes)
Result<std::string> read_text_file(const std::filesystem::path& path, std::uint64_t max_bytes);

}  // namespace hindsight
