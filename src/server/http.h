// HTTP as the rest of the server sees it: a request, a response, and a function between them.
//
// The library that speaks the protocol is confined to the http_*.cc files; nothing here knows it.
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

/// What a handler has found out from a request's header, for itself.
struct HttpFindings {
  virtual ~HttpFindings() = default;
};

/// Why the server cannot take a request now.
enum class Overload : std::uint8_t {
  kNone,
  kWaiting,  // those before it would make it wait too long
  kBodies,   // bodies and answers under way take all the memory that they may
};

/// What everybody is told who is refused for the sake of the others.
inline constexpr std::string_view kBusy = "the server is busy; try again when Retry-After says";
inline constexpr std::string_view kTooFast = "too many requests; wait as Retry-After says";

/// How a request is answered by the server itself, at next to no cost, without handle().
enum class TurnedAway : std::uint8_t {
  kNo,
  kNoTime,   // 503, come back in a second
  kTooMany,  // 429, come back in a second
};

/// A request whose framing was valid. The views live until the handler has responded.
struct HttpRequest {
  std::string_view method;  // "GET", as sent
  std::string_view path;    // percent-encoded, without the query
  std::string_view query;   // after '?', percent-encoded; empty for none
  std::string_view body;
  std::string_view authorization;  // header fields that the server uses; empty when not sent
  std::string_view content_type;
  std::string_view content_encoding;
  std::string_view origin;
  std::string_view forwarded_for;       // X-Forwarded-For, several joined by commas
  std::string_view forwarded;           // Forwarded, likewise
  std::string peer;                     // the client's address, without its port
  bool body_too_large = false;          // beyond the limit: the body was not read
  Overload overload = Overload::kNone;  // else the request is to be refused
  std::int64_t wait_ms = 0;             // about how long it would have waited
  std::shared_ptr<HttpFindings> findings = nullptr;
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

/// What a handler says of a request from its header alone.
struct HttpAdmission {
  std::size_t body_limit = 0;  // bytes that it may have
  bool refused = false;        // the answer is known: the body is not wanted
  TurnedAway turned_away = TurnedAway::kNo;
  std::uint64_t lane = 0;   // on a busy server, requests of one lane wait for each other; 0: for
                            // nobody
  bool patient = false;     // it has to wait for the disk anyway: a longer queue is no matter
  std::uint64_t payer = 0;  // whose share of the memory for bodies and answers it takes
  std::shared_ptr<HttpFindings> findings = nullptr;  // handed back with the request
};

using LaneCheck = std::function<bool(std::uint64_t lane, bool patient)>;

class HttpHandler {
 public:
  virtual ~HttpHandler() = default;
  /// Called once, before handle(). `has_time`: whether a request of a lane would get its turn in
  /// time; whoever asks first, before anything that costs, can turn away at next to no cost.
  virtual HttpAdmission admit(const HttpRequest& head, const LaneCheck& has_time) = 0;
  /// Answers every request that was admitted and read, refused or not, but not turned away.
  virtual void handle(const HttpRequest& request, Respond respond) = 0;
};

/// Nanoseconds of a clock that never goes back.
std::int64_t steady_clock_ns();

/// Undoes percent-encoding. RETURNS: none for a broken escape or an encoded NUL.
std::optional<std::string> percent_decode(std::string_view text);

}  // namespace hindsight
