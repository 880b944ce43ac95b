// What the HTTP server's sources share of Boost.Asio: types, and a stream with or without TLS.
//
// Only for the http_*.cc files: the include is expensive.
//
// Thread-safety: a Stream belongs to one thread.

#pragma once

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/basic_socket_acceptor.hpp>
#include <boost/asio/basic_stream_socket.hpp>
#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core/error.hpp>
#include <boost/beast/core/string.hpp>
#include <chrono>
#include <optional>
#include <string_view>
#include <utility>

namespace hindsight::net {

namespace asio = boost::asio;
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
inline constexpr asio::use_awaitable_t<Executor> kAwait;
inline constexpr auto kTry = asio::as_tuple(kAwait);  // errors are values

/// A coroutine that waits, ready to be resumed.
using Waiter = asio::async_result<asio::use_awaitable_t<Executor>, void()>::handler_type;

inline boost::beast::string_view view(std::string_view text) { return {text.data(), text.size()}; }

/// A connection's socket, and TLS on top of it where the server speaks it. One type for both: the
/// branch costs less than a virtual call, and the sessions are compiled once.
class Stream {
 public:
  using executor_type = Executor;  // NOLINT(readability-identifier-naming): asio asks for it

  /// Takes over `session`; without one it is a plain socket.
  Stream(Socket socket, SSL* session) : socket_(std::move(socket)) {
    if (session != nullptr) {
      tls_.emplace(socket_, session);
    }
  }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  Executor get_executor() { return socket_.get_executor(); }
  Socket& socket() { return socket_; }
  bool speaks_tls() const { return tls_.has_value(); }

  template <class Buffers, class Token>
  auto async_read_some(const Buffers& buffers, Token&& token) {
    return asio::async_initiate<Token, void(error_code, std::size_t)>(
        [this](auto handler, const Buffers& to) {
          tls_ ? tls_->async_read_some(to, std::move(handler))
               : socket_.async_read_some(to, std::move(handler));
        },
        token, buffers);
  }
  template <class Buffers, class Token>
  auto async_write_some(const Buffers& buffers, Token&& token) {
    return asio::async_initiate<Token, void(error_code, std::size_t)>(
        [this](auto handler, const Buffers& from) {
          tls_ ? tls_->async_write_some(from, std::move(handler))
               : socket_.async_write_some(from, std::move(handler));
        },
        token, buffers);
  }

  /// Sends without waiting. RETURNS: how many bytes went; none over TLS, and none when it failed.
  std::size_t send_now(std::string_view bytes) {
    const ssize_t sent = tls_ ? 0
                              : ::send(socket_.native_handle(), bytes.data(), bytes.size(),
                                       MSG_DONTWAIT | MSG_NOSIGNAL);
    return sent > 0 ? static_cast<std::size_t>(sent) : 0;
  }

  /// RETURNS: how long ago the kernel got the bytes that came last, in steps of its own clock (some
  /// milliseconds); 0 where it does not say.
  milliseconds last_heard() {
    tcp_info info = {};
    socklen_t size = sizeof(info);
    const bool known =
        ::getsockopt(socket_.native_handle(), IPPROTO_TCP, TCP_INFO, &info, &size) == 0;
    return milliseconds(known ? info.tcpi_last_data_recv : 0);
  }

  /// REQUIRES: speaks_tls()
  auto handshake() { return tls_->async_handshake(asio::ssl::stream_base::server, kTry); }
  auto say_goodbye() { return tls_->async_shutdown(kTry); }

 private:
  Socket socket_;
  std::optional<asio::ssl::stream<Socket&>> tls_;
};

}  // namespace hindsight::net
