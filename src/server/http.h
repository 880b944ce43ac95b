// HTTP as the rest of the server sees it: a request, a response, and a function between them.
//
// The library that speaks the protocol is confined to http_server.cc; nothing here knows it.
//
// Thread-safety: plain values. A Handler is called from several threads at once.

#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hindsight {

/// A request whose framing was valid. The views live until the handler has responded.
struct HttpRequest {
  std::string_view method;  // "GET", as sent
  std::string_view path;    // percent-encoded, without the query
  std::string_view query;   // after '?', percent-encoded; empty for none
  std::string_view body;
  std::string_view authorization;  // header fields that the server uses; empty when not sent
  std::string_view content_type;
  std::string_view origin;
  std::string peer;             // the client's address, without its port
  bool body_too_large = false;  // beyond body_limit(): the body was not read
};

/// Pieces of an endless answer: server-sent events.
class HttpStream {
 public:
  virtual ~HttpStream() = default;
  /// RETURNS: what to send now (may be empty: nothing yet), or none at the end. Called every
  /// `period`.
  virtual std::optional<std::string> next() = 0;
  std::chrono::milliseconds period{1000};
};

struct HttpResponse {
  int status = 200;
  std::string content_type = "application/json";
  std::string body = {};
  std::vector<std::pair<std::string, std::string>> headers = {};  // beyond what every answer has
  std::unique_ptr<HttpStream> stream = nullptr;                   // in place of a body
};

/// Answers a request. To be called once, from any thread.
using Respond = std::function<void(HttpResponse)>;

class HttpHandler {
 public:
  virtual ~HttpHandler() = default;
  /// How many bytes of body this request may have, from its header alone. `announced`: the body's
  /// length, none where the client does not say.
  virtual std::size_t body_limit(const HttpRequest& head,
                                 std::optional<std::uint64_t> announced) const = 0;
  virtual void handle(const HttpRequest& request, Respond respond) = 0;
};

/// Undoes percent-encoding. RETURNS: none for a broken escape or an encoded NUL.
std::optional<std::string> percent_decode(std::string_view text);

}  // namespace hindsight
