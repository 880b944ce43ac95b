#include "src/server/http_exchange.h"

#include <boost/asio/post.hpp>

#include "src/server/http_refusals.h"

namespace hindsight::net {

void Exchange::answer(HttpResponse response) {
  const std::lock_guard lock(mutex_);
  if (!done_) {
    done_ = true;
    response_ = std::move(response);
    wake();
  }
}

void Exchange::abandon() {
  const std::lock_guard lock(mutex_);
  done_ = true;
  wake();
}

bool Exchange::done() const {
  const std::lock_guard lock(mutex_);
  return done_;
}

Task<void> Exchange::wait() {
  co_await asio::async_initiate<const asio::use_awaitable_t<Executor>&, void()>(
      [this](auto handler) {
        const std::lock_guard lock(mutex_);
        waiter_.emplace(std::move(handler));
        if (done_) {
          wake();
        }
      },
      kAwait);
}

void Exchange::wake() {
  if (waiter_) {
    asio::post(executor_, std::move(*waiter_));
    waiter_.reset();
  }
}

Respond respond_to(const std::shared_ptr<Exchange>& exchange) {
  std::shared_ptr<Exchange> held(
      exchange.get(), [exchange](Exchange* unanswered) { unanswered->answer(failed_inside()); });
  return [held = std::move(held)](HttpResponse response) { held->answer(std::move(response)); };
}

}  // namespace hindsight::net
