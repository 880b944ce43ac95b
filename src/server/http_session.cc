#include "src/server/http_session.h"

#include <algorithm>
#include <boost/asio/write.hpp>
#include <boost/beast/http/error.hpp>

#include "src/server/http_refusals.h"

namespace hindsight::net {
namespace {

namespace http = boost::beast::http;

constexpr std::size_t kBufferBytes = std::size_t{64} << 10;
// A body up to this is cheaper to read over than a new connection would be.
constexpr std::uint64_t kSkippedBytes = std::uint64_t{64} << 10;
// A body pays for its memory in steps, as it comes.
constexpr std::size_t kChargeStep = std::size_t{64} << 10;
// When to ask again whether there is memory for a body.
constexpr milliseconds kBodyWait{1'000};

/// Whether a line of a header goes on in the next one, which programs read differently.
bool has_folded_line(std::string_view header) {
  return header.find("\n ") != std::string_view::npos ||
         header.find("\n\t") != std::string_view::npos;
}

}  // namespace

Session::Session(Worker& worker, HttpHandler& handler, Socket socket, SSL* tls)
    : worker_(worker),
      options_(worker.options()),
      handler_(handler),
      stream_(std::move(socket), tls),
      timer_(stream_.get_executor()),
      buffer_(std::max(kBufferBytes, options_.max_header_bytes)),
      place_(worker.sessions.insert(worker.sessions.end(), this)) {
  error_code ignored;
  Socket& plain = stream_.socket();
  plain.set_option(asio::ip::tcp::no_delay(true), ignored);
  const auto peer = plain.remote_endpoint(ignored).address();
  peer_ = peer.is_v6() && peer.to_v6().is_v4_mapped()
              ? asio::ip::make_address_v4(asio::ip::v4_mapped, peer.to_v6()).to_string()
              : peer.to_string();
}

Session::~Session() {
  give_back_memory();
  worker_.sessions.erase(place_);
  if (lingers_) {
    worker_.lingering.erase(*lingers_);
  }
}

Task<void> Session::run() {
  if (stream_.speaks_tls()) {
    const bool trusted = co_await shake_hands();
    if (!trusted) {
      co_return;
    }
  }
  buffer_.reserve(kBufferBytes);
  co_await serve();
  if (stream_.speaks_tls() && !forced_) {
    begin_to_linger();
    co_await close_tls();
  }
}

/// RETURNS: whether the client speaks TLS as we do.
Task<bool> Session::shake_hands() {
  std::list<Session*>& all = worker_.handshakes;
  const int workers = std::max(1, options_.threads);
  if (all.size() >= static_cast<std::size_t>(std::max(1, options_.max_handshakes / workers))) {
    // An honest one takes milliseconds: whoever came first has taken too long.
    error_code ignored;
    all.front()->stream_.socket().cancel(ignored);
    all.front()->timed_out_ = true;
  }
  const auto place = all.insert(all.end(), this);
  worker_.counters().handshakes.fetch_add(1, std::memory_order_relaxed);
  set_deadline(options_.handshake_deadline);
  idle_ = true;  // nobody waits for an answer yet
  auto [failed] = co_await stream_.handshake();
  idle_ = false;
  all.erase(place);
  worker_.counters().handshakes.fetch_sub(1, std::memory_order_relaxed);
  worker_.counters().handshakes_ended.fetch_add(1, std::memory_order_relaxed);
  if (failed) {
    worker_.counters().handshakes_failed.fetch_add(1, std::memory_order_relaxed);
  }
  co_return !failed && !forced_;
}

Task<void> Session::serve() {
  for (;;) {
    exchange_ = std::make_shared<Exchange>(stream_.get_executor());
    give_back_memory();
    unread_ = false;
    turned_away_ = TurnedAway::kNo;
    lane_ = 0;
    begin_to_wait();
    const Got got = co_await read_request();
    waits_ = false;
    if (got == Got::kEnd) {
      co_return;
    }
    if (got == Got::kRefused) {
      co_await write(std::move(refused_), false);
      co_await linger();
      co_return;
    }
    if (!co_await answer_request()) {
      co_return;
    }
  }
}

void Session::give_back_memory() { worker_.give_back_bytes(payer_, std::exchange(charged_, 0)); }

/// Those who wait stand in the order in which they began.
void Session::begin_to_wait() {
  waits_ = true;
  waits_since_ = steady_clock::now();
  worker_.sessions.splice(worker_.sessions.end(), worker_.sessions, place_);
}

/// What it was asked is answered, or refused: only good manners keep the connection for a while.
void Session::begin_to_linger() {
  if (!lingers_) {
    lingers_ = worker_.lingering.insert(worker_.lingering.end(), this);
    lingers_since_ = steady_clock::now();
  }
}

void Session::give_up_lingering() {
  worker_.lingering.erase(*std::exchange(lingers_, std::nullopt));
  force();
}

bool Session::give_up(steady_clock::time_point waiting_since) {
  if (waits_since_ > waiting_since) {
    return false;
  }
  waits_ = false;  // it is not to be given up twice, should it take a while to end
  force();         // a farewell would keep the place for longer
  return true;
}

void Session::sweep(steady_clock::time_point now) {
  if (now >= deadline_) {
    timed_out_ = true;
    error_code ignored;
    stream_.socket().cancel(ignored);
  }
}

void Session::stop() {
  error_code ignored;
  timer_.cancel();
  if (idle_) {
    stream_.socket().cancel(ignored);
  }
}

void Session::force() {
  error_code ignored;
  forced_ = true;
  timer_.cancel();
  stream_.socket().close(ignored);
  if (exchange_) {
    exchange_->abandon();
  }
}

void Session::set_deadline(milliseconds from_now) {
  timed_out_ = false;
  deadline_ = steady_clock::now() + from_now;
}

Session::Got Session::refuse(HttpResponse response) {
  refused_ = std::move(response);
  return Got::kRefused;
}

/// Gives the parser what is in the buffer. RETURNS: false when it is wrong, with `ec` set
bool Session::feed(error_code& ec) {
  RequestParser& parser = exchange_->parser;
  if (buffer_.size() > 0) {
    const bool was_header = parser.is_header_done();
    const auto bytes = buffer_.data();
    const std::size_t read = parser.put(bytes, ec);
    // The parser takes whole lines and looks at what follows each: none goes on in the next piece.
    if ((!ec || ec == http::error::need_more) && !was_header &&
        has_folded_line({static_cast<const char*>(bytes.data()), read})) {
      ec = http::error::bad_value;
    }
    buffer_.consume(read);
    if (ec == http::error::need_more) {
      ec = {};
    }
    // Something that must fit into the buffer as a whole does not: trailers, a chunk's header.
    if (!ec && was_header && !parser.is_done() && buffer_.size() >= kBufferBytes) {
      ec = http::error::buffer_overflow;
    }
  }
  return !ec;
}

/// The client is gone, was too slow, or has to go.
Session::Got Session::no_more(bool started) {
  if (timed_out_ && started && !forced_) {
    return refuse(too_slow());
  }
  return Got::kEnd;
}

Task<Session::Got> Session::read_request() {
  RequestParser& parser = exchange_->parser;
  parser.header_limit(static_cast<std::uint32_t>(options_.max_header_bytes));
  parser.body_limit(boost::none);
  parser.eager(false);
  idle_ = buffer_.size() == 0;
  set_deadline(idle_ ? options_.idle_deadline : options_.header_deadline);
  for (;;) {
    error_code ec;
    if (!feed(ec)) {
      co_return refuse(refusal_of(ec));
    }
    if (parser.is_header_done()) {
      break;
    }
    if (idle_ && worker_.stopping) {
      co_return Got::kEnd;
    }
    auto [failed, size] = co_await stream_.async_read_some(
        buffer_.prepare(buffer_.max_size() - buffer_.size()), kTry);
    if (failed) {
      co_return no_more(!idle_);
    }
    buffer_.commit(size);
    if (idle_) {
      idle_ = false;
      set_deadline(options_.header_deadline);
    }
  }
  if (const Got got = begin_request(); got != Got::kRequest) {
    co_return got;
  }
  if (parser.is_done() || unread_) {
    co_return Got::kRequest;
  }
  co_return co_await read_body();
}

Task<Session::Got> Session::read_body() {
  RequestParser& parser = exchange_->parser;
  parser.eager(true);
  set_deadline(options_.body_deadline);
  // Older clients do not know what to make of it.
  if (!parser.expect().empty() && parser.version() == 11 && buffer_.size() == 0) {
    static constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";
    auto [failed, size] =
        co_await asio::async_write(stream_, asio::buffer(kContinue.data(), kContinue.size()), kTry);
    if (failed) {
      co_return no_more(true);
    }
  }
  for (;;) {
    error_code ec;
    if (!feed(ec)) {
      if (ec == http::error::body_limit) {
        exchange_->request.body_too_large = true;
        unread_ = true;
        co_return Got::kRequest;
      }
      co_return refuse(refusal_of(ec));
    }
    if (!charge_body(parser.body().size())) {
      unread_ = !parser.is_done();
      co_return overloaded(Overload::kBodies, kBodyWait);
    }
    if (parser.is_done()) {
      exchange_->request.body = parser.body();
      co_return Got::kRequest;
    }
    auto [failed, size] = co_await stream_.async_read_some(
        buffer_.prepare(kBufferBytes - std::min(kBufferBytes, buffer_.size())), kTry);
    if (failed) {
      co_return no_more(true);
    }
    buffer_.commit(size);
  }
}

/// RETURNS: whether there is memory for that much of a body. What was only announced costs nothing
/// yet: whoever announces much and sends little must not keep others out.
bool Session::charge_body(std::size_t bytes) {
  if (bytes <= charged_) {
    return true;
  }
  const std::uint64_t all = exchange_->parser.content_length().value_or(charged_ + kChargeStep);
  const std::size_t step = std::min<std::uint64_t>(kChargeStep, all - charged_);
  const std::size_t more = std::max(bytes - charged_, step);
  if (!worker_.take_bytes(payer_, more)) {
    return false;
  }
  charged_ += more;
  return true;
}

/// What the header says: fills the request in, asks whether and how large it may be.
Session::Got Session::begin_request() {
  RequestParser& parser = exchange_->parser;
  HttpRequest& request = exchange_->request;
  std::string_view target = parser.target();
  constexpr std::string_view kScheme = "http://";
  if (boost::beast::iequals(view(target.substr(0, kScheme.size())), view(kScheme))) {
    // As sent to proxies; servers must understand it.
    const std::size_t path = target.find_first_of("/?#", kScheme.size());
    target = path == std::string_view::npos ? std::string_view("/") : target.substr(path);
  }
  const bool star = target == "*" && parser.method() == "OPTIONS";
  if ((!target.starts_with('/') && !star) || target.find('#') != std::string_view::npos) {
    return refuse(bad_target());
  }
  if (!parser.expect().empty() && !boost::beast::iequals(view(parser.expect()), "100-continue")) {
    return refuse(bad_expectation());
  }
  fill_request(target);
  const auto announced = parser.content_length();
  const auto in_time = [this](Lanes::LaneId lane, bool patient) {
    return worker_.has_time(lane, patient) && !worker_.came_too_long_ago(lane, patient, stream_);
  };
  HttpAdmission admission = handler_.admit(request, in_time);
  request.findings = std::move(admission.findings);
  lane_ = admission.lane;
  patient_ = admission.patient;
  payer_ = admission.payer;
  request.body_too_large = announced.value_or(0) > admission.body_limit;
  unread_ = request.body_too_large;
  parser.body_limit(std::uint64_t{admission.body_limit});
  turned_away_ = admission.turned_away;
  if (admission.refused || turned_away_ != TurnedAway::kNo) {
    do_without_body();
    return Got::kRequest;
  }
  if (!in_time(lane_, patient_)) {
    return overloaded(Overload::kWaiting, worker_.expected_wait(lane_));
  }
  if (!unread_ && !charge_body(announced.value_or(0) > 0 ? 1 : 0)) {
    return overloaded(Overload::kBodies, kBodyWait);
  }
  return Got::kRequest;
}

void Session::fill_request(std::string_view target) {
  const RequestParser& parser = exchange_->parser;
  HttpRequest& request = exchange_->request;
  const std::size_t mark = target.find('?');
  request.method = parser.method();
  request.path = target.substr(0, mark);
  request.query = mark == std::string_view::npos ? std::string_view() : target.substr(mark + 1);
  request.authorization = parser.authorization();
  request.content_type = parser.content_type();
  request.content_encoding = parser.content_encoding();
  request.origin = parser.origin();
  request.forwarded_for = parser.forwarded_for();
  request.forwarded = parser.forwarded();
  request.peer = peer_;
  if (options_.client_address) {
    request.peer = options_.client_address(request);
  }
}

/// The answer is known without the body. A short one is read over, so that the connection can go
/// on.
void Session::do_without_body() {
  RequestParser& parser = exchange_->parser;
  lane_ = 0;  // a refusal does not wait
  parser.skip_body();
  give_back_memory();
  const bool is_short = parser.content_length().value_or(kSkippedBytes + 1) <= kSkippedBytes;
  unread_ = unread_ || (!parser.is_done() && (!is_short || !parser.expect().empty()));
}

Session::Got Session::overloaded(Overload reason, milliseconds wait) {
  exchange_->request.overload = reason;
  exchange_->request.wait_ms = wait.count();
  do_without_body();
  return Got::kRequest;
}

}  // namespace hindsight::net
