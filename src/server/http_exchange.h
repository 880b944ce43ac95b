// Exchange: a request under way. What the handler reads, and how its answer comes back.
//
// It lives as long as the connection or the handler needs it.
//
// Thread-safety: answer(), abandon() and done() from any thread; all else belongs to the
// connection's.

#pragma once

#include <memory>
#include <mutex>
#include <optional>

#include "src/server/http.h"
#include "src/server/http_net.h"
#include "src/server/http_request_parser.h"

namespace hindsight::net {

class Exchange {
 public:
  explicit Exchange(Executor executor) : executor_(std::move(executor)) {}

  RequestParser parser;
  HttpRequest request;

  /// Only the first answer counts.
  void answer(HttpResponse response);
  /// The server will not send an answer any more.
  void abandon();
  bool done() const;

  Task<void> wait();
  /// REQUIRES: done(). RETURNS: none when it was abandoned
  std::optional<HttpResponse> take() { return std::move(response_); }

 private:
  /// REQUIRES: mutex_ is held. After `done_` the executor is not used again, for it may be gone.
  void wake();

  const Executor executor_;
  mutable std::mutex mutex_;
  bool done_ = false;
  std::optional<HttpResponse> response_;
  std::optional<Waiter> waiter_;
};

/// The function that a handler answers with. A handler that loses it has answered with a 500.
Respond respond_to(const std::shared_ptr<Exchange>& exchange);

}  // namespace hindsight::net
