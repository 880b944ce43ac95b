#include "hindsight/result.h"

#include "src/core/check.h"

namespace hindsight {
namespace {

// One row per code. Exit code 2 is "bad input", 1 is "the machine failed".
constexpr ErrorInfo kTable[] = {
    {ErrorCode::kInvalidArgument, "invalid_argument", 400, 2},
    {ErrorCode::kEmptyCandidates, "empty_candidates", 400, 2},
    {ErrorCode::kUnknownItem, "unknown_item", 404, 2},
    {ErrorCode::kDuplicateItem, "duplicate_item", 400, 2},
    {ErrorCode::kItemNotShown, "item_not_shown", 400, 2},
    {ErrorCode::kNotFinite, "not_finite", 400, 2},
    {ErrorCode::kFeatureTooLong, "feature_too_long", 400, 2},
    {ErrorCode::kTooLarge, "too_large", 413, 2},
    {ErrorCode::kUnknownName, "unknown_name", 404, 2},
    {ErrorCode::kUnsupported, "unsupported", 400, 2},
    {ErrorCode::kCorrupt, "corrupt", 500, 2},
    {ErrorCode::kNewerVersion, "newer_version", 500, 2},
    {ErrorCode::kParse, "parse_error", 400, 2},
    {ErrorCode::kIo, "io_error", 503, 1},
    {ErrorCode::kNotFound, "not_found", 404, 2},
    {ErrorCode::kConflict, "conflict", 409, 2},
    {ErrorCode::kOverBudget, "over_budget", 507, 2},
    {ErrorCode::kOverloaded, "overloaded", 503, 1},
    {ErrorCode::kUnauthorized, "unauthorized", 401, 2},
    {ErrorCode::kForbidden, "forbidden", 403, 2},
    {ErrorCode::kNotAllowed, "method_not_allowed", 405, 2},
    {ErrorCode::kMediaType, "unsupported_media_type", 415, 2},
    {ErrorCode::kRateLimited, "rate_limited", 429, 1},
    {ErrorCode::kInternal, "internal_error", 500, 1},
};

}  // namespace

const ErrorInfo& error_info(ErrorCode code) {
  for (const ErrorInfo& row : kTable) {
    if (row.code == code) {
      return row;
    }
  }
  HINDSIGHT_CHECK(false && "error code without a row");
  std::abort();
}

std::string to_string(const Error& error) {
  return error.field.empty() ? error.message : error.field + ": " + error.message;
}

}  // namespace hindsight
