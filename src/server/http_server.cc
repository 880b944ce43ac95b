// Design: one io_context and one thread per core, connections dealt out in turn. A connection lives
// on one thread, so nothing of it is locked but the hand-over of an answer that another thread
// gives. Deadlines are points in time that a sweep looks at several times a second: to set one is
// to store a number.

#include "src/server/http_server.h"

#include <fmt/format.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/basic_socket_acceptor.hpp>
#include <boost/asio/basic_stream_socket.hpp>
#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/chunk_encode.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/serializer.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/http/write.hpp>
#include <condition_variable>
#include <ctime>
#include <future>
#include <list>
#include <mutex>
#include <thread>
#include <utility>

#include "src/core/check.h"
#include "src/server/http_request_parser.h"

namespace hindsight {
namespace {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using boost::beast::error_code;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

// The concrete executor, where asio's default would ask a virtual function at every step.
using Executor = asio::io_context::executor_type;
using Socket = asio::basic_stream_socket<asio::ip::tcp, Executor>;
using Acceptor = asio::basic_socket_acceptor<asio::ip::tcp, Executor>;
using Timer = asio::basic_waitable_timer<steady_clock, asio::wait_traits<steady_clock>, Executor>;
template <class T>
using Task = asio::awaitable<T, Executor>;
constexpr asio::use_awaitable_t<Executor> kAwait;
constexpr auto kTry = asio::as_tuple(kAwait);  // errors are values

constexpr std::size_t kBufferBytes = std::size_t{64} << 10;
constexpr auto kNever = steady_clock::time_point::max();
// How long, and for how much, a refused client is listened to, so that it can read the refusal.
constexpr milliseconds kLingerTime{2'000};
constexpr std::size_t kLingerBytes = std::size_t{4} << 20;
constexpr std::string_view kPolicy = "default-src 'none'; frame-ancestors 'none'";

boost::beast::string_view view(std::string_view text) { return {text.data(), text.size()}; }

HttpResponse refusal(int status, std::string_view code, std::string_view message) {
  HttpResponse response;
  response.status = status;
  response.body =
      fmt::format(R"({{"error":{{"code":"{}","message":"{}","field":""}}}})", code, message);
  return response;
}

HttpResponse refusal_of(const error_code& ec) {
  if (ec == http::error::header_limit || ec == http::error::buffer_overflow) {
    return refusal(431, "header_too_large", "the header of the request is too large; send less");
  }
  if (ec == http::error::bad_version) {
    return refusal(505, "unsupported_version", "speak HTTP/1.1");
  }
  return refusal(400, "malformed_request",
                 "this is not a well-formed HTTP request: " + ec.message());
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

/// A request under way: what the handler reads, and how its answer comes back. It lives as long as
/// the connection or the handler needs it.
class Exchange {
 public:
  explicit Exchange(Executor executor) : executor_(std::move(executor)) {}

  RequestParser parser;
  HttpRequest request;

  /// From any thread. Only the first answer counts.
  void answer(HttpResponse response) {
    const std::lock_guard lock(mutex_);
    if (!done_) {
      done_ = true;
      response_ = std::move(response);
      wake();
    }
  }

  /// The server will not send an answer any more.
  void abandon() {
    const std::lock_guard lock(mutex_);
    done_ = true;
    wake();
  }

  bool done() const {
    const std::lock_guard lock(mutex_);
    return done_;
  }

  Task<void> wait() {
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

  /// REQUIRES: done(). RETURNS: none when it was abandoned
  std::optional<HttpResponse> take() { return std::move(response_); }

 private:
  /// REQUIRES: mutex_ is held. After `done_` the executor is not used again, for it may be gone.
  void wake() {
    if (waiter_) {
      asio::post(executor_, std::move(*waiter_));
      waiter_.reset();
    }
  }

  const Executor executor_;
  mutable std::mutex mutex_;
  bool done_ = false;
  std::optional<HttpResponse> response_;
  // A coroutine that waits, ready to be resumed.
  using Waiter = asio::async_result<asio::use_awaitable_t<Executor>, void()>::handler_type;
  std::optional<Waiter> waiter_;
};

/// The function that a handler answers with. A handler that loses it has answered with a 500.
Respond respond_to(const std::shared_ptr<Exchange>& exchange) {
  std::shared_ptr<Exchange> held(
      exchange.get(), [exchange](Exchange* unanswered) { unanswered->answer(failed_inside()); });
  return [held = std::move(held)](HttpResponse response) { held->answer(std::move(response)); };
}

class Session;

/// One thread with its connections. Everything but `context` belongs to the thread.
struct Worker {
  asio::io_context context{1};
  std::list<Session*> sessions = {};
  bool stopping = false;
  std::time_t date_second = 0;
  std::string date_text = {};
  std::thread thread = {};

  const std::string& date() {
    const std::time_t now = std::time(nullptr);
    if (now != date_second) {
      std::tm parts = {};
      gmtime_r(&now, &parts);
      std::array<char, 64> text = {};
      const std::size_t size =
          std::strftime(text.data(), text.size(), "%a, %d %b %Y %H:%M:%S GMT", &parts);
      date_text.assign(text.data(), size);
      date_second = now;
    }
    return date_text;
  }
};

/// One connection.
class Session {
 public:
  Session(Worker& worker, const HttpServerOptions& options, HttpHandler& handler, Socket socket)
      : worker_(worker),
        options_(options),
        handler_(handler),
        socket_(std::move(socket)),
        timer_(socket_.get_executor()),
        buffer_(std::max(kBufferBytes, options.max_header_bytes)),
        place_(worker.sessions.insert(worker.sessions.end(), this)) {
    buffer_.reserve(kBufferBytes);
    error_code ignored;
    socket_.set_option(asio::ip::tcp::no_delay(true), ignored);
    const auto peer = socket_.remote_endpoint(ignored).address();
    peer_ = peer.is_v6() && peer.to_v6().is_v4_mapped()
                ? asio::ip::make_address_v4(asio::ip::v4_mapped, peer.to_v6()).to_string()
                : peer.to_string();
  }
  ~Session() { worker_.sessions.erase(place_); }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  Task<void> run() {
    for (;;) {
      exchange_ = std::make_shared<Exchange>(socket_.get_executor());
      const Got got = co_await read_request();
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

  // From the worker's thread, between steps of run().

  void sweep(steady_clock::time_point now) {
    if (now >= deadline_) {
      timed_out_ = true;
      error_code ignored;
      socket_.cancel(ignored);
    }
  }

  void stop() {
    error_code ignored;
    timer_.cancel();
    if (idle_) {
      socket_.cancel(ignored);
    }
  }

  void force() {
    error_code ignored;
    forced_ = true;
    timer_.cancel();
    socket_.close(ignored);
    if (exchange_) {
      exchange_->abandon();
    }
  }

 private:
  enum class Got { kRequest, kRefused, kEnd };

  void set_deadline(milliseconds from_now) {
    timed_out_ = false;
    deadline_ = steady_clock::now() + from_now;
  }

  Got refuse(HttpResponse response) {
    refused_ = std::move(response);
    return Got::kRefused;
  }

  /// Gives the parser what is in the buffer. RETURNS: false when it is wrong, with `ec` set
  bool feed(error_code& ec) {
    RequestParser& parser = exchange_->parser;
    if (buffer_.size() > 0) {
      const bool was_header = parser.is_header_done();
      buffer_.consume(parser.put(buffer_.data(), ec));
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
  Got no_more(bool started) {
    if (timed_out_ && started && !forced_) {
      return refuse(too_slow());
    }
    return Got::kEnd;
  }

  Task<Got> read_request() {
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
      auto [failed, size] = co_await socket_.async_read_some(
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
    if (parser.is_done() || exchange_->request.body_too_large) {
      co_return Got::kRequest;
    }
    co_return co_await read_body();
  }

  Task<Got> read_body() {
    RequestParser& parser = exchange_->parser;
    parser.eager(true);
    set_deadline(options_.body_deadline);
    if (!parser.expect().empty() && buffer_.size() == 0) {
      static constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";
      auto [failed, size] = co_await asio::async_write(
          socket_, asio::buffer(kContinue.data(), kContinue.size()), kTry);
      if (failed) {
        co_return no_more(true);
      }
    }
    for (;;) {
      error_code ec;
      if (!feed(ec)) {
        if (ec == http::error::body_limit) {
          exchange_->request.body_too_large = true;
          co_return Got::kRequest;
        }
        co_return refuse(refusal_of(ec));
      }
      if (parser.is_done()) {
        exchange_->request.body = parser.body();
        co_return Got::kRequest;
      }
      auto [failed, size] = co_await socket_.async_read_some(
          buffer_.prepare(kBufferBytes - std::min(kBufferBytes, buffer_.size())), kTry);
      if (failed) {
        co_return no_more(true);
      }
      buffer_.commit(size);
    }
  }

  /// What the header says: fills the request in, asks how large the body may be.
  Got begin_request() {
    RequestParser& parser = exchange_->parser;
    HttpRequest& request = exchange_->request;
    std::string_view target = parser.target();
    if (target.starts_with("http://")) {  // as sent to proxies; servers must understand it
      const std::size_t path = target.find('/', std::string_view("http://").size());
      target = path == std::string_view::npos ? std::string_view("/") : target.substr(path);
    }
    const bool star = target == "*" && parser.method() == "OPTIONS";
    if ((!target.starts_with('/') && !star) || target.find('#') != std::string_view::npos) {
      return refuse(refusal(400, "malformed_request", "the target must be a path such as /v1"));
    }
    const std::size_t mark = target.find('?');
    request.method = parser.method();
    request.path = target.substr(0, mark);
    request.query = mark == std::string_view::npos ? std::string_view() : target.substr(mark + 1);
    request.authorization = parser.authorization();
    request.content_type = parser.content_type();
    request.origin = parser.origin();
    request.peer = peer_;
    if (!parser.expect().empty() && !boost::beast::iequals(view(parser.expect()), "100-continue")) {
      return refuse(refusal(417, "expectation_failed", "only 100-continue can be expected"));
    }
    const auto announced = parser.content_length();
    const std::size_t limit = handler_.body_limit(
        request, announced ? std::optional<std::uint64_t>(*announced) : std::nullopt);
    request.body_too_large = announced.value_or(0) > limit;
    parser.body_limit(std::uint64_t{limit});
    return Got::kRequest;
  }

  /// RETURNS: whether the connection goes on.
  Task<bool> answer_request() {
    deadline_ = kNever;  // what the handler takes is not the client's fault
    const std::shared_ptr<Exchange> exchange = exchange_;
    const HttpRequest& request = exchange->request;
    call_handler(exchange);
    if (!exchange->done()) {
      co_await exchange->wait();
    }
    std::optional<HttpResponse> response = exchange->take();
    if (!response || forced_) {
      co_return false;
    }
    if (request.body_too_large && response->status < 400) {
      *response = too_large();
    }
    const bool keep = exchange->parser.keep_alive() && !request.body_too_large && !worker_.stopping;
    const bool written = response->stream ? co_await write_stream(*std::move(response))
                                          : co_await write(*std::move(response), keep);
    if (written && !keep && (request.body_too_large || buffer_.size() > 0)) {
      co_await linger();
    }
    co_return written&& keep;
  }

  void call_handler(const std::shared_ptr<Exchange>& exchange) {
    // Whatever a library under the handler throws, it costs one request, not the server.
    try {
      handler_.handle(exchange->request, respond_to(exchange));
    } catch (const std::exception&) {
      exchange->answer(failed_inside());
    }
  }

  template <class Fields>
  void set_fields(Fields& fields, const HttpResponse& response) {
    fields.set(http::field::date, view(worker_.date()));
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

  Task<bool> write(HttpResponse response, bool keep) {
    const RequestParser& parser = exchange_->parser;
    http::response<http::string_body> message(static_cast<http::status>(response.status),
                                              parser.version() == 10 ? 10 : 11);
    set_fields(message, response);
    message.keep_alive(keep);
    if (!keep) {
      message.set(http::field::connection, "close");  // said to old clients, too
    }
    const bool bodiless = response.status == 204 || response.status == 304;
    if (!bodiless) {
      message.content_length(response.body.size());
      message.body() = std::move(response.body);
    }
    http::response_serializer<http::string_body> serializer(message);
    set_deadline(options_.write_deadline);
    if (parser.method() == "HEAD") {
      auto [failed, size] = co_await http::async_write_header(socket_, serializer, kTry);
      co_return !failed;
    }
    auto [failed, size] = co_await http::async_write(socket_, serializer, kTry);
    co_return !failed;
  }

  /// Sends pieces until the stream ends, the client goes or the server stops. RETURNS: false, for
  /// the connection ends with it.
  Task<bool> write_stream(HttpResponse response) {
    const RequestParser& parser = exchange_->parser;
    const bool chunked = parser.version() == 11;
    http::response<http::empty_body> message(static_cast<http::status>(response.status),
                                             chunked ? 11 : 10);
    set_fields(message, response);
    message.keep_alive(false);
    message.chunked(chunked);
    http::response_serializer<http::empty_body> serializer(message);
    set_deadline(options_.write_deadline);
    auto [failed, size] = co_await http::async_write_header(socket_, serializer, kTry);
    if (failed || parser.method() == "HEAD") {
      co_return false;
    }
    for (;;) {
      const std::optional<std::string> piece = response.stream->next();
      if (!piece || worker_.stopping) {
        break;
      }
      if (!piece->empty() && !co_await write_piece(*piece, chunked)) {
        co_return false;
      }
      deadline_ = kNever;
      timer_.expires_after(response.stream->period);
      co_await timer_.async_wait(kTry);
      if (forced_ || client_is_gone()) {
        co_return false;
      }
    }
    if (chunked) {
      set_deadline(options_.write_deadline);
      co_await asio::async_write(socket_, http::make_chunk_last(), kTry);
    }
    co_return false;
  }

  Task<bool> write_piece(const std::string& piece, bool chunked) {
    set_deadline(options_.write_deadline);
    const asio::const_buffer bytes = asio::buffer(piece);
    if (chunked) {
      auto [failed, size] = co_await asio::async_write(socket_, http::make_chunk(bytes), kTry);
      co_return !failed;
    }
    auto [failed, size] = co_await asio::async_write(socket_, bytes, kTry);
    co_return !failed;
  }

  bool client_is_gone() {
    char byte = 0;
    const ssize_t got = ::recv(socket_.native_handle(), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    return got == 0 || (got < 0 && errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR);
  }

  /// To close a socket with unread bytes resets it, and the client may never see the answer. So the
  /// rest is read for a while.
  Task<void> linger() {
    error_code ignored;
    socket_.shutdown(Socket::shutdown_send, ignored);
    set_deadline(kLingerTime);
    buffer_.clear();
    for (std::size_t read = 0; read < kLingerBytes;) {
      auto [failed, size] = co_await socket_.async_read_some(buffer_.prepare(kBufferBytes), kTry);
      if (failed) {
        co_return;
      }
      read += size;
    }
  }

  Worker& worker_;
  const HttpServerOptions& options_;
  HttpHandler& handler_;
  Socket socket_;
  Timer timer_;  // between the pieces of a stream
  boost::beast::flat_buffer buffer_;
  const std::list<Session*>::iterator place_;
  std::string peer_;
  std::shared_ptr<Exchange> exchange_;
  HttpResponse refused_;
  steady_clock::time_point deadline_ = kNever;
  bool timed_out_ = false;
  bool idle_ = false;  // no byte of the next request is here
  bool forced_ = false;
};

}  // namespace

class HttpServer::Impl {
 public:
  Impl(HttpServerOptions options, HttpHandler& handler)
      : options_(std::move(options)), handler_(handler) {
    const int cores = static_cast<int>(std::thread::hardware_concurrency());
    const int count = options_.threads > 0 ? options_.threads : std::max(1, cores);
    for (int i = 0; i < count; ++i) {
      workers_.push_back(std::make_unique<Worker>());
    }
    acceptor_.emplace(workers_.front()->context.get_executor());
  }

  // NOLINTNEXTLINE(bugprone-exception-escape): without memory for a task there is no way to go on
  ~Impl() { shut_down(milliseconds(0)); }

  Result<void> listen() {
    error_code ec;
    const asio::ip::address address = asio::ip::make_address(options_.address, ec);
    if (ec) {
      return Error{ErrorCode::kInvalidArgument,
                   "'" + options_.address + "' is not an IP address to listen on", "listen"};
    }
    const asio::ip::tcp::endpoint place(address, options_.port);
    acceptor_->open(place.protocol(), ec);
    if (!ec) {
      acceptor_->set_option(asio::socket_base::reuse_address(true), ec);
    }
    if (!ec) {
      acceptor_->bind(place, ec);
    }
    if (!ec) {
      acceptor_->listen(asio::socket_base::max_listen_connections, ec);
    }
    if (ec) {
      return Error{ErrorCode::kIo,
                   fmt::format("cannot listen on {} port {}: {}", options_.address, options_.port,
                               ec.message()),
                   "listen"};
    }
    port_ = acceptor_->local_endpoint().port();
    return {};
  }

  void start() {
    asio::co_spawn(workers_.front()->context, accept(), asio::detached);
    for (const auto& worker : workers_) {
      asio::co_spawn(worker->context, sweep(*worker), asio::detached);
      worker->thread = std::thread([&context = worker->context] { context.run(); });
    }
    running_ = true;
  }

  std::uint16_t port() const { return port_; }
  int connections() const { return connections_; }

  void shut_down(milliseconds drain) {
    const std::lock_guard once(shut_down_mutex_);
    if (!running_) {
      return;
    }
    running_ = false;
    on_every_worker([this](Worker& worker) {
      error_code ignored;
      if (&worker == workers_.front().get()) {
        acceptor_->close(ignored);
      }
      worker.stopping = true;
      each_session(worker, [](Session& session) { session.stop(); });
    });
    std::unique_lock lock(done_mutex_);
    const auto none_left = [this] { return connections_ == 0; };
    if (!done_.wait_for(lock, drain, none_left)) {
      lock.unlock();
      on_every_worker(
          [](Worker& worker) { each_session(worker, [](Session& session) { session.force(); }); });
      lock.lock();
      done_.wait(lock, none_left);
    }
    lock.unlock();
    for (const auto& worker : workers_) {
      worker->context.stop();
      worker->thread.join();
    }
  }

 private:
  template <class Function>
  static void each_session(Worker& worker, const Function& function) {
    for (Session* session : worker.sessions) {
      function(*session);
    }
  }

  /// Runs a function on every worker's thread, one after the other, and waits for it.
  template <class Function>
  void on_every_worker(const Function& function) {
    for (const auto& worker : workers_) {
      std::promise<void> done;
      asio::post(worker->context, [&] {
        function(*worker);
        done.set_value();
      });
      done.get_future().wait();
    }
  }

  Task<void> accept() {
    Timer pause(workers_.front()->context.get_executor());
    for (std::size_t next = 0; acceptor_->is_open(); next = (next + 1) % workers_.size()) {
      Worker& worker = *workers_[next];
      auto [failed, socket] = co_await acceptor_->async_accept(worker.context.get_executor(), kTry);
      if (failed) {
        // Out of descriptors, or a client that left at once: the next one may succeed.
        pause.expires_after(milliseconds(failed == asio::error::connection_aborted ? 0 : 50));
        co_await pause.async_wait(kTry);
        continue;
      }
      if (connections_ >= options_.max_connections) {
        turn_away(socket);
        continue;
      }
      ++connections_;
      asio::co_spawn(worker.context, serve(worker, std::move(socket)),
                     [this](const std::exception_ptr&) { one_less(); });
    }
  }

  /// A coroutine of its own so that the session is gone before the connection is counted off.
  Task<void> serve(Worker& worker, Socket socket) {
    Session session(worker, options_, handler_, std::move(socket));
    co_await session.run();
  }

  void one_less() {
    const std::lock_guard lock(done_mutex_);
    --connections_;
    done_.notify_all();
  }

  static void turn_away(Socket& socket) {
    static constexpr std::string_view kAnswer =
        "HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nRetry-After: 1\r\n"
        "Content-Type: application/json\r\nContent-Length: 86\r\n\r\n"
        R"({"error":{"code":"overloaded","message":"too many connections; try later","field":""}})";
    ::send(socket.native_handle(), kAnswer.data(), kAnswer.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
  }

  Task<void> sweep(Worker& worker) {
    const milliseconds shortest = std::min({options_.header_deadline, options_.body_deadline,
                                            options_.idle_deadline, options_.write_deadline});
    const milliseconds period = std::clamp(shortest / 8, milliseconds(5), milliseconds(250));
    Timer timer(worker.context.get_executor());
    for (;;) {
      timer.expires_after(period);
      co_await timer.async_wait(kTry);
      const auto now = steady_clock::now();
      each_session(worker, [now](Session& session) { session.sweep(now); });
    }
  }

  const HttpServerOptions options_;
  HttpHandler& handler_;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::optional<Acceptor> acceptor_;
  std::uint16_t port_ = 0;
  std::atomic<int> connections_ = 0;
  std::mutex done_mutex_;
  std::condition_variable done_;
  std::mutex shut_down_mutex_;
  bool running_ = false;
};

HttpServer::HttpServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
HttpServer::~HttpServer() = default;

Result<std::unique_ptr<HttpServer>> HttpServer::start(HttpServerOptions options,
                                                      HttpHandler& handler) {
  auto impl = std::make_unique<Impl>(std::move(options), handler);
  HINDSIGHT_RETURN_IF_ERROR(impl->listen());
  impl->start();
  return std::unique_ptr<HttpServer>(new HttpServer(std::move(impl)));
}

std::uint16_t HttpServer::port() const { return impl_->port(); }
int HttpServer::connections() const { return impl_->connections(); }
void HttpServer::shut_down(milliseconds drain) { impl_->shut_down(drain); }

}  // namespace hindsight
