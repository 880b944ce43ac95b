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

/// A line of the access log. It holds no secret: no key, no query, no body, and the route's pattern
/// in place of the path.
struct AccessRecord {
  std::string_view method;
  std::string_view route;  // the pattern, or empty for none
  int status = 0;
  std::string_view error;  // its code, or empty
  double seconds = 0.0;
  std::string_view key;   // its id, or empty
  std::string_view peer;  // the client's address
};
using AccessLog = std::function<void(const AccessRecord&)>;
/// Nanoseconds of a clock that never goes back.
using SteadyClock = std::function<std::int64_t()>;

class Reply {
 public:
  struct Setup {
    ApiMetrics& metrics;
    const AccessLog& log;      // outlives the reply
    const SteadyClock& clock;  // likewise
  };
  Reply(Setup setup, const HttpRequest& request, Respond respond);

  void set_route(const Route* route) { route_ = route; }
  void set_principal(std::shared_ptr<const Principal> principal) {
    principal_ = std::move(principal);
  }
  /// Lets a page of this origin read the answer.
  void set_cors_origin(std::string_view origin) { cors_origin_ = origin; }

  void send(HttpResponse response) noexcept;
  void send_json(std::string body, int status = 200) noexcept;
  void fail(const Error& error) noexcept;

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
  void fail_hard() noexcept;  // inside a catch block

  Setup setup_;
  Respond respond_;
  const Route* route_ = nullptr;
  std::shared_ptr<const Principal> principal_;
  std::string cors_origin_;
  std::string peer_;    // only for the log
  std::string method_;  // likewise
  std::int64_t start_ns_;
  std::atomic<bool> answered_ = false;
};

}  // namespace hindsight
