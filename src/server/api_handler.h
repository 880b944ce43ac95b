// ApiHandler: the HTTP API, from a request to its answer.
//
// A request goes through: the route table, the rate limits, the key, the rights, all from its
// header alone; then the body's size and type, and the route's handler. No body is kept before the
// key has shown its right, and none is parsed.
//
// Thread-safety: every function may be called from any thread. The handler must outlive every
// answer that is under way.

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "src/engine/engine.h"
#include "src/server/http.h"
#include "src/server/principal.h"
#include "src/server/rate_limit.h"
#include "src/server/reply.h"

namespace hindsight {

class AuditLog;
class TlsFiles;
struct HttpCounters;

/// Takes one request of `who`.
/// As RateLimiter::take.
using RateCheck = std::function<RateVerdict(std::string_view who, bool unless_ahead)>;

struct ApiOptions {
  Engine& engine;
  const KeyLookup& keys;
  std::string version = {};
  /// Pages of these origins may call everything that their key allows; exact, "https://a.example".
  std::vector<std::string> cors_origins = {};
  RateCheck address_limit = {};       // by the client's address; none: no limit
  RateCheck publishable_limit = {};   // likewise, for publishable keys
  RateCheck key_limit = {};           // by the key's id, for keys that are not publishable
  RateCheck collection_limit = {};    // by the collection's name
  std::int64_t max_waiting = 65'536;  // clicks, about, that may wait for the log at once
  AuditLog* audit = nullptr;          // outlives the handler
  std::shared_ptr<const HttpCounters> counters = nullptr;  // of the server, for metrics
  const TlsFiles* tls = nullptr;                           // likewise; outlives the handler
  AccessLog log = {};
  SteadyClock clock = steady_clock_ns;
};

class ApiHandler final : public HttpHandler {
 public:
  explicit ApiHandler(ApiOptions options);
  ~ApiHandler() override;

  HttpAdmission admit(const HttpRequest& head, const LaneCheck& has_time) override;
  void handle(const HttpRequest& request, Respond respond) override;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace hindsight
