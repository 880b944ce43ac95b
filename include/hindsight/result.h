// Result<T>: a value, or an error that input can cause.
//
// Every function that can fail because of what a caller sent returns a Result. A programmer's
// mistake aborts instead (src/core/check.h); no exception crosses a module boundary.
//
// Thread-safety: values; as safe as the T inside.

#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace hindsight {

/// What went wrong, in a form that programs can rely on.
enum class ErrorCode {
  kInvalidArgument,  // a value is out of its range or of the wrong kind
  kEmptyCandidates,  // nothing to rank
  kUnknownItem,      // an item that was never added, or was removed
  kDuplicateItem,    // the same item twice where each may stand once
  kItemNotShown,     // a click on an item that the decision did not show
  kNotFinite,        // NaN or infinity where a finite number is needed
  kFeatureTooLong,   // a feature vector beyond the declared bound F
  kTooLarge,         // more than a stated limit
  kUnknownName,      // no such ranker, experiment or parameter
  kUnsupported,      // a valid wish that this ranker cannot fulfil
  kCorrupt,          // bytes that are truncated, flipped or inconsistent
  kNewerVersion,     // bytes written by a newer program
  kParse,            // text that does not have the expected form
  kIo,               // a file or device failed
  kNotFound,         // no such collection, decision or page
  kConflict,         // it is there already, or in a state that forbids this
  kOverBudget,       // a configured limit of memory is reached
  kOverloaded,       // too much is waiting; try again later
  kUnauthorized,     // no key, or one that is not known
  kForbidden,        // a key without the right to do this
  kNotAllowed,       // the path knows no such method
  kMediaType,        // a body of a type that is not understood
  kRateLimited,      // too many requests from one place; try again later
  kInternal,         // a fault of this program
};

/// One row of the table that maps an error to the outside world.
struct ErrorInfo {
  ErrorCode code;
  std::string_view name;  // stable, as it appears in JSON
  int http_status;
  int exit_code;
};

/// RETURNS: the row of `code`. The table is the only place where these mappings are written.
const ErrorInfo& error_info(ErrorCode code);

struct Error {
  ErrorCode code = ErrorCode::kInvalidArgument;
  std::string message;  // a sentence that says what is wrong and what to do
  std::string field;    // which part of the input, e.g. "candidates[3]"; may be empty
};

/// "field: message", on one line.
std::string to_string(const Error& error);

template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_(std::move(value)) {}      // NOLINT(google-explicit-constructor)
  Result(Error error) : error_(std::move(error)) {}  // NOLINT(google-explicit-constructor)

  bool ok() const { return value_.has_value(); }
  explicit operator bool() const { return ok(); }

  /// REQUIRES: ok()
  T& value() & { return *value_; }
  const T& value() const& { return *value_; }
  T&& value() && { return *std::move(value_); }
  T& operator*() & { return *value_; }
  const T& operator*() const& { return *value_; }
  T&& operator*() && { return *std::move(value_); }
  T* operator->() { return &*value_; }
  const T* operator->() const { return &*value_; }

  /// REQUIRES: !ok()
  const Error& error() const { return *error_; }

 private:
  std::optional<T> value_;
  std::optional<Error> error_;
};

/// A Result without a value.
template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Error error) : error_(std::move(error)) {}  // NOLINT(google-explicit-constructor)

  bool ok() const { return !error_.has_value(); }
  explicit operator bool() const { return ok(); }

  /// REQUIRES: !ok()
  const Error& error() const { return *error_; }

 private:
  std::optional<Error> error_;
};

}  // namespace hindsight
