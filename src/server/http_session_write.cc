// The answering side of a session: from a request to the last byte of its answer.

#include <sys/socket.h>

#include <algorithm>
#include <boost/asio/post.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/http/chunk_encode.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/serializer.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/http/write.hpp>
#include <sstream>

#include "src/core/check.h"
#include "src/server/http_refusals.h"
#include "src/server/http_session.h"

namespace hindsight::net {
namespace {

namespace http = boost::beast::http;

// How long, and for how much, a refused client is listened to, so that it can read the refusal.
constexpr milliseconds kLingerTime{2'000};
constexpr std::size_t kLingerBytes = std::size_t{4} << 20;
constexpr std::size_t kLingerStep = std::size_t{64} << 10;
constexpr unsigned kTurnedAwayAtOnce = 16;
// An answer up to this costs no more than the buffer that every connection has.
constexpr std::size_t kShortAnswer = std::size_t{64} << 10;
constexpr std::string_view kPolicy = "default-src 'none'; frame-ancestors 'none'";

template <class Fields>
void set_fields(Fields& fields, const HttpResponse& response, const std::string& date) {
  fields.set(http::field::date, view(date));
  fields.set(http::field::content_type, view(response.content_type));
  fields.set(http::field::cache_control, "no-store");
  fields.set("X-Content-Type-Options", "nosniff");
  fields.set("Referrer-Policy", "no-referrer");
  fields.set("Content-Security-Policy", view(kPolicy));
  for (const auto& [name, value] : response.headers) {
    const auto unfit = [](char c) { return c == '\r' || c == '\n' || c == '\0'; };
    HINDSIGHT_CHECK(std::none_of(name.begin(), name.end(), unfit));
    // A value may stem from a request; a broken line would begin another field.
    if (std::none_of(value.begin(), value.end(), unfit)) {
      fields.set(view(name), view(value));
    }
  }
}

http::response<http::string_body> message_of(HttpResponse response, bool keep, unsigned version,
                                             const std::string& date) {
  http::response<http::string_body> message(static_cast<http::status>(response.status), version);
  set_fields(message, response, date);
  message.keep_alive(keep);
  if (!keep) {
    message.set(http::field::connection, "close");  // said to old clients, too
  }
  const bool bodiless = response.status == 204 || response.status == 304;
  if (!bodiless) {
    message.content_length(response.body.size());
    message.body() = std::move(response.body);
  }
  return message;
}

}  // namespace

/// RETURNS: whether the connection goes on.
Task<bool> Session::answer_request() {
  deadline_ = steady_clock::time_point::max();  // what the handler takes is not the client's fault
  const std::shared_ptr<Exchange> exchange = exchange_;
  HttpRequest& request = exchange->request;
  if (worker_.must_wait(lane_)) {
    // Many may have come since the header did.
    bool in_time = worker_.has_time(lane_, patient_, 2);
    if (in_time) {
      in_time = co_await worker_.wait_turn(lane_, patient_);
    }
    if (!in_time) {
      request.overload = Overload::kWaiting;
      request.wait_ms = worker_.expected_wait(lane_).count();
      lane_ = 0;  // what a refusal costs says nothing of those who are served
    }
  }
  if (forced_) {
    co_return false;
  }
  const bool turned_away = turned_away_ != TurnedAway::kNo;
  if (!turned_away) {
    call_handler(exchange);
    if (!exchange->done()) {
      co_await exchange->wait();
    }
  }
  std::optional<HttpResponse> response = exchange->take();
  if ((!response && !turned_away) || forced_) {
    co_return false;
  }
  if (response && request.body_too_large && response->status < 400) {
    *response = too_large();
  }
  if (response) {
    charge_answer(*response);
  }
  const bool keep = exchange->parser.keep_alive() && !unread_ && !worker_.stopping;
  // Plain statements: g++ 12 miscompiles a co_await inside a larger expression.
  bool written = false;
  if (turned_away) {
    written = co_await turn_away(keep);
  } else if (response->stream) {
    written = co_await write_stream(*std::move(response));
  } else {
    written = co_await write(*std::move(response), keep);
  }
  if (written && !keep && (unread_ || buffer_.size() > 0)) {
    co_await linger();
  }
  co_return written&& keep;
}

/// A long answer takes memory until its client has read it: there is only so much for all of them.
void Session::charge_answer(HttpResponse& response) {
  const std::size_t bytes = response.body.size();
  if (bytes <= kShortAnswer) {
    return;
  }
  if (worker_.take_bytes(payer_, bytes)) {
    charged_ += bytes;
  } else {
    response = answer_of(TurnedAway::kNoTime);
    worker_.counters().refused_answers.fetch_add(1, std::memory_order_relaxed);
  }
}

void Session::call_handler(const std::shared_ptr<Exchange>& exchange) {
  const std::int64_t begin_ns = steady_clock_ns();
  worker_.note_work(lane_, begin_ns);
  // Whatever a library under the handler throws, it costs one request, not the server.
  try {
    handler_.handle(exchange->request, respond_to(exchange));
  } catch (const std::exception&) {
    exchange->answer(failed_inside());
  }
  if (lane_ != 0) {
    worker_.charge(lane_, steady_clock_ns() - begin_ns);
  }
}

Task<bool> Session::write(HttpResponse response, bool keep) {
  const RequestParser& parser = exchange_->parser;
  const http::response<http::string_body> message =
      message_of(std::move(response), keep, parser.version() == 10 ? 10 : 11, worker_.date());
  http::response_serializer<http::string_body> serializer(message);
  set_deadline(options_.write_deadline);
  if (parser.method() == "HEAD") {
    auto [failed, size] = co_await http::async_write_header(stream_, serializer, kTry);
    co_return !failed;
  }
  auto [failed, size] = co_await http::async_write(stream_, serializer, kTry);
  co_return !failed;
}

/// Says to come back later, at next to no cost: what this takes is lost to those who are served.
Task<bool> Session::turn_away(bool keep) {
  const RequestParser& parser = exchange_->parser;
  if (!keep || parser.version() != 11 || parser.method() == "HEAD") {
    const bool written = co_await write(answer_of(turned_away_), keep);
    co_return written;
  }
  const std::string& date = worker_.date();
  Worker::ReadyAnswer& ready = worker_.ready_answers[static_cast<std::size_t>(turned_away_)];
  if (ready.date != date) {
    std::ostringstream text;
    text << message_of(answer_of(turned_away_), true, 11, date);
    ready = {.text = std::move(text).str(), .date = date};
  }
  std::string_view rest = ready.text;
  rest.remove_prefix(stream_.send_now(rest));
  if (rest.empty()) {
    // Whoever sends many at once lets others come in between.
    if (++turned_away_count_ % kTurnedAwayAtOnce == 0) {
      co_await asio::post(stream_.get_executor(), kAwait);
    }
    co_return true;
  }
  const std::string held(rest);  // the worker's copy may be another one soon
  set_deadline(options_.write_deadline);
  auto [failed, size] = co_await asio::async_write(stream_, asio::buffer(held), kTry);
  co_return !failed;
}

/// Sends pieces until the stream ends, the client goes or the server stops. RETURNS: false, for
/// the connection ends with it.
Task<bool> Session::write_stream(HttpResponse response) {
  const RequestParser& parser = exchange_->parser;
  const bool chunked = parser.version() == 11;
  http::response<http::empty_body> message(static_cast<http::status>(response.status),
                                           chunked ? 11 : 10);
  set_fields(message, response, worker_.date());
  message.keep_alive(false);
  message.chunked(chunked);
  http::response_serializer<http::empty_body> serializer(message);
  set_deadline(options_.write_deadline);
  auto [failed, size] = co_await http::async_write_header(stream_, serializer, kTry);
  if (failed || parser.method() == "HEAD") {
    co_return false;
  }
  for (;;) {
    const std::optional<std::string> piece = response.stream->next();
    if (!piece || worker_.stopping) {
      break;
    }
    if (!piece->empty()) {
      const bool written = co_await write_piece(*piece, chunked);
      if (!written) {
        co_return false;
      }
    }
    deadline_ = steady_clock::time_point::max();
    timer_.expires_after(response.stream->period);
    co_await timer_.async_wait(kTry);
    if (forced_ || client_is_gone()) {
      co_return false;
    }
  }
  if (chunked) {
    set_deadline(options_.write_deadline);
    co_await asio::async_write(stream_, http::make_chunk_last(), kTry);
  }
  co_return false;
}

Task<bool> Session::write_piece(const std::string& piece, bool chunked) {
  set_deadline(options_.write_deadline);
  const asio::const_buffer bytes = asio::buffer(piece);
  if (chunked) {
    auto [failed, size] = co_await asio::async_write(stream_, http::make_chunk(bytes), kTry);
    co_return !failed;
  }
  auto [failed, size] = co_await asio::async_write(stream_, bytes, kTry);
  co_return !failed;
}

bool Session::client_is_gone() {
  char byte = 0;
  const ssize_t got = ::recv(stream_.socket().native_handle(), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
  return got == 0 || (got < 0 && errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR);
}

/// To close a socket with unread bytes resets it, and the client may never see the answer. So the
/// rest is read for a while.
Task<void> Session::linger() {
  begin_to_linger();
  if (stream_.speaks_tls()) {
    co_await close_tls();
  }
  error_code ignored;
  stream_.socket().shutdown(Socket::shutdown_send, ignored);
  set_deadline(kLingerTime);
  buffer_.clear();
  for (std::size_t read = 0; read < kLingerBytes;) {
    auto [failed, size] =
        co_await stream_.socket().async_read_some(buffer_.prepare(kLingerStep), kTry);
    if (failed) {
      co_return;
    }
    read += size;
  }
}

/// Says that nothing more comes. The client's own goodbye is waited for, but not for long.
Task<void> Session::close_tls() {
  if (!said_goodbye_) {
    said_goodbye_ = true;
    set_deadline(kLingerTime);
    co_await stream_.say_goodbye();
  }
}

}  // namespace hindsight::net
