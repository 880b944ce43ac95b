// ZstdStream: decompresses in pieces, within a fixed amount of memory.
//
// A few bytes can expand without end, so the caller receives the text piece by piece and may stop
// at any of them; windows beyond 128 MiB are refused.
//
// Thread-safety: one owner at a time.

#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "hindsight/result.h"

struct ZSTD_DCtx_s;

namespace hindsight {

/// Takes a piece of text; an error ends the work and is handed up.
using TextSink = std::function<Result<void>(std::string_view piece)>;

class ZstdStream {
 public:
  ZstdStream();

  /// Decompresses `compressed`, the next bytes of the file, and passes on what comes out.
  /// FAILS: kCorrupt, or the sink's error
  Result<void> feed(std::string_view compressed, const TextSink& sink);

  /// The file has ended. FAILS: kCorrupt when its last frame has not
  Result<void> finish() const;

 private:
  struct Free {
    void operator()(ZSTD_DCtx_s* context) const;
  };

  std::unique_ptr<ZSTD_DCtx_s, Free> context_;
  std::vector<char> out_;
  bool inside_frame_ = true;  // an empty file is a truncated one
};

}  // namespace hindsight
