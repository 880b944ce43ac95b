// Design: one io_context and one thread per core, connections dealt out in turn. A connection lives
// on one thread, so nothing of it is locked but the hand-over of an answer that another thread
// gives.

#include "src/server/http_server.h"

#include <fmt/format.h>
#include <sys/socket.h>

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/post.hpp>
#include <condition_variable>
#include <future>
#include <mutex>
#include <vector>

#include "src/core/check.h"
#include "src/server/http_refusals.h"
#include "src/server/http_session.h"
#include "src/server/tls.h"

namespace hindsight {
namespace {

namespace asio = boost::asio;
using net::error_code;
using net::kTry;
using net::Session;
using net::Task;
using net::Timer;
using net::Worker;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

HttpServerOptions completed(HttpServerOptions options) {
  if (options.threads <= 0) {
    options.threads = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  }
  if (options.counters == nullptr) {
    options.counters = std::make_shared<HttpCounters>();
  }
  return options;
}

}  // namespace

class HttpServer::Impl {
 public:
  Impl(HttpServerOptions options, HttpHandler& handler)
      : options_(completed(std::move(options))), handler_(handler) {
    for (int i = 0; i < options_.threads; ++i) {
      workers_.push_back(std::make_unique<Worker>(options_, *options_.counters, memory_));
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
    if (!ec) {
      acceptor_->non_blocking(true, ec);
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
      worker->thread = std::thread([one = worker.get()] { one->run(); });
    }
    running_ = true;
  }

  std::uint16_t port() const { return port_; }
  int connections() const { return static_cast<int>(connections_.load()); }

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
    while (acceptor_->is_open()) {
      Worker& worker = next_worker();
      auto [failed, socket] = co_await acceptor_->async_accept(worker.context.get_executor(), kTry);
      if (failed) {
        // Out of descriptors, or a client that left at once: the next one may succeed.
        pause.expires_after(milliseconds(failed == asio::error::connection_aborted ? 0 : 50));
        co_await pause.async_wait(kTry);
        continue;
      }
      if (!acceptor_->is_open()) {
        break;  // it came while the server stopped
      }
      take_in(worker, std::move(socket));
      accept_others();
    }
  }

  /// Those who came at the same time: on a busy thread the next look is far away.
  void accept_others() {
    constexpr int kMost = 64;
    for (int i = 0; i < kMost && acceptor_->is_open(); ++i) {
      Worker& worker = next_worker();
      error_code none_there;
      net::Socket socket = acceptor_->accept(worker.context.get_executor(), none_there);
      if (none_there) {
        return;
      }
      take_in(worker, std::move(socket));
    }
  }

  Worker& next_worker() { return *workers_[next_++ % workers_.size()]; }

  void take_in(Worker& worker, net::Socket socket) {
    // Before the last places are taken: whoever comes now is not to wait for them.
    if (connections_ + options_.max_connections / kKeptFree >= options_.max_connections) {
      asio::post(worker.context, [&worker] { worker.give_up_one(); });
    }
    SSL* tls = options_.tls == nullptr ? nullptr : options_.tls->new_session();
    const bool no_memory = options_.tls != nullptr && tls == nullptr;
    if (connections_ >= options_.max_connections || no_memory) {
      SSL_free(tls);
      return turn_away(socket);
    }
    ++connections_;
    asio::co_spawn(worker.context, serve(worker, std::move(socket), tls),
                   [this](const std::exception_ptr&) { one_less(); });
  }

  /// A coroutine of its own so that the session is gone before the connection is counted off.
  Task<void> serve(Worker& worker, net::Socket socket, SSL* tls) {
    Session session(worker, handler_, std::move(socket), tls);
    co_await session.run();
  }

  void one_less() {
    const std::lock_guard lock(done_mutex_);
    --connections_;
    done_.notify_all();
  }

  /// A client of TLS would not understand a word; it finds its connection closed.
  void turn_away(net::Socket& socket) const {
    options_.counters->turned_away.fetch_add(1, std::memory_order_relaxed);
    if (options_.tls == nullptr) {
      const std::string& answer = net::no_place();
      ::send(socket.native_handle(), answer.data(), answer.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    }
  }

  Task<void> sweep(Worker& worker) {
    const milliseconds shortest =
        std::min({options_.handshake_deadline, options_.header_deadline, options_.body_deadline,
                  options_.idle_deadline, options_.write_deadline});
    const milliseconds period = std::clamp(shortest / 8, milliseconds(5), milliseconds(250));
    Timer timer(worker.context.get_executor());
    for (;;) {
      timer.expires_after(period);
      co_await timer.async_wait(kTry);
      if (options_.tls != nullptr) {
        options_.tls->look_again();
      }
      const auto now = steady_clock::now();
      each_session(worker, [now](Session& session) { session.sweep(now); });
    }
  }

  static constexpr int kKeptFree = 16;  // one place in so many

  const HttpServerOptions options_;
  HttpHandler& handler_;
  FairShare memory_{options_.max_body_bytes};
  std::vector<std::unique_ptr<Worker>> workers_;
  std::optional<net::Acceptor> acceptor_;
  std::uint16_t port_ = 0;
  std::size_t next_ = 0;  // whose turn it is to get a connection
  std::atomic<std::int64_t>& connections_ = options_.counters->connections;
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
