// ApiHandler: the HTTP API, from a request to its answer.
//
// A request goes through: the route table, the key, the rate limit, the rights, the body's size and
// type, and then the route's handler. Nothing is parsed before the key has shown its right.
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
#include "src/server/reply.h"

namespace hindsight {

/// Takes one request of `who`. RETURNS: 0 when it may pass, or how many milliseconds to wait.
using RateCheck = std::function<std::int64_t(std::string_view who)>;

std::int64_t steady_clock_ns();

struct ApiOptions {
  Engine& engine;
  const KeyLookup& keys;
  std::string version = {};
  /// Pages of these origins may call everything that their key allows; exact, "https://a.example".
  std::vector<std::string> cors_origins = {};
  RateCheck publishable_limit = {};  // by the client's address; none: no limit
  RateCheck key_limit = {};          // by the key's id, for keys that are not publishable
  AccessLog log = {};
  SteadyClock clock = steady_clock_ns;
};

class ApiHandler final : public HttpHandler {
 public:
  explicit ApiHandler(ApiOptions options);
  ~ApiHandler() override;

  std::size_t body_limit(const HttpRequest& head,
                         std::optional<std::uint64_t> announced) const override;
  void handle(const HttpRequest& request, Respond respond) override;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace hindsight
