#include "src/server/reply.h"

#include <cstdio>
#include <exception>
#include <new>

#include "src/server/json_output.h"
#include "src/server/metrics.h"

namespace hindsight {
namespace {

void add_headers(const Error& error, HttpResponse& response) {
  if (error.code == ErrorCode::kUnauthorized) {
    response.headers.emplace_back("WWW-Authenticate", "Bearer");
  }
  if (error.code == ErrorCode::kOverloaded || error.code == ErrorCode::kIo) {
    response.headers.emplace_back("Retry-After", "1");
  }
}

}  // namespace

Reply::Reply(Setup setup, const HttpRequest& request, Respond respond)
    : setup_(setup), respond_(std::move(respond)), start_ns_(setup.clock()) {
  if (setup_.log) {
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
    const ErrorInfo& info = error_info(error.code);
    HttpResponse response = {.status = info.http_status, .body = error_json(error)};
    add_headers(error, response);
    finish(std::move(response), info.name);
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
    const ErrorInfo& info = error_info(error.code);
    finish({.status = info.http_status, .body = error_json(error)}, info.name);
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
    response.headers.emplace_back("Vary", "Origin");
  }
  const int status = response.status;
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
                .peer = peer_});
  }
}

}  // namespace hindsight
