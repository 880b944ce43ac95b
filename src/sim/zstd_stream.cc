#include "src/sim/zstd_stream.h"

#include <zstd.h>

#include <string>

#include "src/core/check.h"

namespace hindsight {
namespace {

constexpr int kMaxWindowLog = 27;

}  // namespace

void ZstdStream::Free::operator()(ZSTD_DCtx_s* context) const { ZSTD_freeDCtx(context); }

ZstdStream::ZstdStream() : context_(ZSTD_createDCtx()), out_(ZSTD_DStreamOutSize()) {
  HINDSIGHT_CHECK(context_ != nullptr);
  HINDSIGHT_CHECK(
      !ZSTD_isError(ZSTD_DCtx_setParameter(context_.get(), ZSTD_d_windowLogMax, kMaxWindowLog)));
}

Result<void> ZstdStream::feed(std::string_view compressed, const TextSink& sink) {
  ZSTD_inBuffer in{compressed.data(), compressed.size(), 0};
  bool out_was_full = false;
  // A full output buffer may leave text inside the context although all input is taken.
  while (in.pos < in.size || out_was_full) {
    ZSTD_outBuffer out{out_.data(), out_.size(), 0};
    const std::size_t left = ZSTD_decompressStream(context_.get(), &out, &in);
    if (ZSTD_isError(left)) {
      return Error{ErrorCode::kCorrupt,
                   std::string("the zstd data is damaged: ") + ZSTD_getErrorName(left), ""};
    }
    inside_frame_ = left != 0;
    out_was_full = inside_frame_ && out.pos == out.size;
    if (out.pos > 0) {
      HINDSIGHT_RETURN_IF_ERROR(sink({out_.data(), out.pos}));
    }
  }
  return {};
}

Result<void> ZstdStream::finish() const {
  if (inside_frame_) {
    return Error{ErrorCode::kCorrupt, "the zstd data ends too early", ""};
  }
  return {};
}

}  // namespace hindsight
