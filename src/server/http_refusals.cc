#include "src/server/http_refusals.h"

#include <fmt/format.h>

#include <boost/beast/http/error.hpp>

#include "src/server/json_output.h"

namespace hindsight::net {
namespace {

namespace http = boost::beast::http;

HttpResponse refusal(int status, std::string_view code, std::string_view message) {
  return {.status = status, .body = error_json(code, message)};
}

}  // namespace

HttpResponse refusal_of(const boost::system::error_code& problem) {
  if (problem == http::error::header_limit || problem == http::error::buffer_overflow) {
    return refusal(431, "header_too_large", "the header of the request is too large; send less");
  }
  if (problem == http::error::bad_version) {
    return refusal(505, "unsupported_version", "speak HTTP/1.1");
  }
  return refusal(400, "malformed_request",
                 "this is not a well-formed HTTP request: " + problem.message());
}

HttpResponse bad_target() {
  return refusal(400, "malformed_request", "the target must be a path such as /v1");
}

HttpResponse bad_expectation() {
  return refusal(417, "expectation_failed", "only 100-continue can be expected");
}

HttpResponse too_slow() {
  return refusal(408, "timeout", "the request did not arrive in time; send it faster");
}

HttpResponse too_large() {
  return refusal(413, "too_large", "the body of the request is too large; send less at once");
}

HttpResponse failed_inside() {
  return refusal(500, "internal_error", "the server could not answer; its log says more");
}

HttpResponse answer_of(TurnedAway why) {
  HttpResponse response = why == TurnedAway::kTooMany ? refusal(429, "rate_limited", kTooFast)
                                                      : refusal(503, "overloaded", kBusy);
  response.headers.emplace_back("Retry-After", "1");
  return response;
}

const std::string& no_place() {
  static const std::string answer = [] {
    const std::string body = error_json("overloaded", "too many connections; try later");
    return fmt::format(
        "HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nRetry-After: 1\r\n"
        "Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{}",
        body.size(), body);
  }();
  return answer;
}

}  // namespace hindsight::net
