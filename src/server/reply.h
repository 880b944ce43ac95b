// Reply: the one answer to a request, whoever gives it, and what is noted about it.
//
// Thread-safety: send and fail may be called from any thread; the first call answers, later ones
// do nothing.

#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "hindsight/result.h"
#include "src/server/http.h"
#include "src/server/principal.h"
#include "src/server/routes.h"

namespace hindsight {

class ApiMetrics;
class AuditLog;

/// A line of the access log. It holds no secret: no key, no query, no body, and the route's pattern
/// in place of the path.
struct AccessRecord {
  std::string_view method;
  std::string_view route;  // the pattern, or empty for none
  int status = 0;
  std::string_view error;  // its code, or empty
  double seconds = 0.0;
  std::string_view key;          // its id, or empty
  std::string_view peer;         // the client's address
  std::string_view detail = {};  // what the client was not told of the error; empty for nothing
};
using AccessLog = std::function<void(const AccessRecord&)>;

/// Why a request was refused that might have been served at another time.
enum class Refusal : std::uint8_t {
  kAddressRate,
  kKeyRate,
  kPublishableRate,
  kCollectionRate,
  kWaiting,  // those before it would make it wait too long
  kBodies,   // too many bytes of bodies
  kClicks,   // too much of this collection waits for the log
  kBehind,   // the engine is too far behind, or out of memory
};
/// Nanoseconds of a clock that never goes back.
using SteadyClock = std::function<std::int64_t()>;

class Reply {
 public:
  struct Setup {
    ApiMetrics& metrics;
    const AccessLog& log;      // outlives the reply
    const SteadyClock& clock;  // likewise
    AuditLog* audit;           // likewise; null for none
  };
  Reply(Setup setup, const HttpRequest& request, Respond respond);

  void set_route(const Route* route) { route_ = route; }
  void set_principal(std::shared_ptr<const Principal> principal) {
    principal_ = std::move(principal);
  }
  /// Has the call written to the audit log, with the collection of its path.
  void set_audited(std::string_view collection) {
    audited_ = true;
    collection_ = collection;
  }
  /// Says that something was changed, though the call fails.
  void note_change() { changed_ = true; }
  /// Lets go of `token` when the answer is given.
  void hold(std::shared_ptr<void> token) { token_ = std::move(token); }
  /// Lets a page of this origin read the answer.
  void set_cors_origin(std::string_view origin) { cors_origin_ = origin; }

  void send(HttpResponse response) noexcept;
  void send_json(std::string body, int status = 200) noexcept;
  void fail(const Error& error) noexcept;
  /// Fails with a word on when to try again.
  void refuse(Refusal reason, const Error& error, std::int64_t wait_ms) noexcept;

  /// Sends format(value), or the error.
  template <class T, class Format>
  void send_result(const Result<T>& result, Format format) noexcept {
    guard([&] { result.ok() ? send_json(format(*result)) : fail(result.error()); });
  }

  /// Runs something that may throw; an exception becomes the answer.
  template <class Work>
  void guard(Work work) noexcept {
    try {
      work();
    } catch (...) {
      fail_hard();
    }
  }

 private:
  void finish(HttpResponse response, std::string_view error_code);
  void audit(int status, std::string_view error_code) const;
  void fail_hard() noexcept;  // inside a catch block

  Setup setup_;
  Respond respond_;
  const Route* route_ = nullptr;
  std::shared_ptr<const Principal> principal_;
  std::string cors_origin_;
  std::shared_ptr<void> token_;
  bool audited_ = false;
  bool changed_ = false;
  std::string collection_;  // only for the audit log
  std::string peer_;        // only for logs
  std::string detail_;      // likewise
  std::string method_;      // likewise
  std::int64_t start_ns_;
  std::atomic<bool> answered_ = false;
};

}  // namespace hindsight
