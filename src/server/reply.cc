#include "src/server/reply.h"

#include <algorithm>
#include <cstdio>
#include <exception>
#include <new>

#include "src/core/planted.h"
#include "src/server/audit.h"
#include "src/server/json_output.h"
#include "src/server/metrics.h"

namespace hindsight {
namespace {

constexpr int kFirstError = 400;

void add_headers(const Error& error, HttpResponse& response) {
  if (error.code == ErrorCode::kUnauthorized) {
    response.headers.emplace_back("WWW-Authenticate", "Bearer");
  }
  if ((error.code == ErrorCode::kOverloaded || error.code == ErrorCode::kIo) &&
      !planted(Fault::kForgetRetryAfter)) {
    response.headers.emplace_back("Retry-After", "1");
  }
}

HttpResponse response_of(const Error& error) {
  return {.status = error_info(error.code).http_status, .body = error_json(error)};
}

}  // namespace

Reply::Reply(Setup setup, const HttpRequest& request, Respond respond)
    : setup_(setup), respond_(std::move(respond)), start_ns_(setup.clock()) {
  if (setup_.log || setup_.audit != nullptr) {
    peer_ = request.peer;
    method_ = request.method;
  }
}

void Reply::send(HttpResponse response) noexcept {
  guard([&] { finish(std::move(response), {}); });
}

void Reply::send_json(std::string body, int status) noexcept {
  guard([&] { finish({.status = status, .body = std::move(body)}, {}); });
}

void Reply::fail(const Error& error) noexcept {
  guard([&] {
    if (error.code == ErrorCode::kOverloaded) {
      setup_.metrics.count_refusal(Refusal::kBehind);
    }
    if (names_files(error)) {
      detail_ = to_string(error);
    }
    HttpResponse response = response_of(error);
    add_headers(error, response);
    finish(std::move(response), error_info(error.code).name);
  });
}

void Reply::refuse(Refusal reason, const Error& error, std::int64_t wait_ms) noexcept {
  guard([&] {
    constexpr std::int64_t kMsPerSecond = 1000;
    setup_.metrics.count_refusal(reason);
    HttpResponse response = response_of(error);
    const std::int64_t seconds = (wait_ms + kMsPerSecond - 1) / kMsPerSecond;
    response.headers.emplace_back("Retry-After",
                                  std::to_string(std::max<std::int64_t>(1, seconds)));
    finish(std::move(response), error_info(error.code).name);
  });
}

void Reply::fail_hard() noexcept {
  Error error;  // its words are so short that they need no memory
  try {
    throw;
  } catch (const std::bad_alloc&) {
    error = {ErrorCode::kOverloaded, "no memory now", {}};
  } catch (...) {
    error = {ErrorCode::kInternal, "server fault", {}};
  }
  try {
    HttpResponse response = response_of(error);
    if (error.code == ErrorCode::kOverloaded) {
      response.headers.emplace_back("Retry-After", "1");
    }
    finish(std::move(response), error_info(error.code).name);
  } catch (...) {
    // No memory even for this: the server closes the connection when it finds no answer.
    std::fputs("hindsight: an answer could not be made\n", stderr);
  }
}

void Reply::finish(HttpResponse response, std::string_view error_code) {
  if (answered_.exchange(true)) {
    return;
  }
  if (!cors_origin_.empty()) {
    response.headers.emplace_back("Access-Control-Allow-Origin", cors_origin_);
    response.headers.emplace_back("Access-Control-Expose-Headers", "Retry-After");
    response.headers.emplace_back("Vary", "Origin");
  }
  const int status = response.status;
  token_.reset();
  if (audited_ && principal_ != nullptr) {
    audit(status, error_code);
  }
  respond_(std::move(response));
  const double seconds = static_cast<double>(setup_.clock() - start_ns_) * 1e-9;
  setup_.metrics.count(route_, status, seconds);
  if (setup_.log) {
    setup_.log({.method = method_,
                .route = route_ == nullptr ? std::string_view() : route_->pattern,
                .status = status,
                .error = error_code,
                .seconds = seconds,
                .key = principal_ == nullptr ? std::string_view() : principal_->id,
                .peer = peer_,
                .detail = detail_});
  }
}

void Reply::audit(int status, std::string_view error_code) const {
  // A fault may come after the change, or half-way through it.
  const bool refused = status >= kFirstError &&
                       status != error_info(ErrorCode::kInternal).http_status &&
                       error_code != error_info(ErrorCode::kIo).name && !changed_;
  setup_.audit->write({.key = principal_->id,
                       .address = peer_,
                       .route = method_ + " " + std::string(route_->pattern),
                       .collection = collection_,
                       .status = status,
                       .error = error_code,
                       .detail = {},
                       .changed = !refused});
}

}  // namespace hindsight
