// HttpServer: listens, reads requests, lets a handler answer them, writes the answers.
//
//   HTTP/1.1 and 1.0 with keep-alive; pipelined requests are answered one after the other, in
//   order. What is malformed or ambiguous is refused and its connection closed, so that no proxy in
//   front can see other requests than we do.
//
// Every answer carries Content-Length, Date, X-Content-Type-Options, Cache-Control,
// Referrer-Policy and a Content-Security-Policy that allows nothing; a handler overrides one by
// giving a header of the same name. What the server refuses by itself is answered as
// {"error":{"code":…,"message":…}}.
//
// Under load, requests of different lanes (HttpAdmission) take turns, and those that would wait too
// long are refused from their header on, as Overload says. With TLS a handshake comes first.
//
// Thread-safety: every function may be called from any thread. The handler is called from the
// server's threads, several at once, and may answer at once or later, from any thread.

#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "hindsight/result.h"
#include "src/server/http.h"

namespace hindsight {

class TlsFiles;

/// What goes on inside, to be looked at from any thread.
struct HttpCounters {
  std::atomic<std::int64_t> connections = 0;
  std::atomic<std::int64_t> handshakes = 0;          // under way
  std::atomic<std::int64_t> waiting = 0;             // requests in lanes
  std::atomic<std::int64_t> body_bytes = 0;          // of bodies, and long answers, under way
  std::atomic<std::uint64_t> refused_answers = 0;    // for which there was no memory
  std::atomic<std::uint64_t> turned_away = 0;        // connections beyond max_connections
  std::atomic<std::uint64_t> given_up = 0;           // connections that made room for others
  std::atomic<std::uint64_t> handshakes_ended = 0;   // whatever came of them
  std::atomic<std::uint64_t> handshakes_failed = 0;  // of them, whatever the reason
};

struct HttpServerOptions {
  std::string address = "127.0.0.1";
  std::uint16_t port = 8080;  // 0: any that is free
  int threads = 0;            // 0: as many as the machine has cores
  std::size_t max_header_bytes = std::size_t{16} << 10;
  int max_connections = 10'000;  // more are told to come back later, where no idle one can go
  int max_handshakes = 512;      // at once; beyond it the oldest is given up
  /// Of the bodies that have come and of long answers that have not gone yet, all together; they
  /// are shared fairly among HttpAdmission::payer.
  std::int64_t max_body_bytes = std::int64_t{256} << 20;
  std::chrono::milliseconds max_wait{15};  // expected in a lane; more is refused
  // How long a client may take, each until it is done.
  std::chrono::milliseconds handshake_deadline{10'000};
  std::chrono::milliseconds header_deadline{10'000};
  std::chrono::milliseconds body_deadline{30'000};
  std::chrono::milliseconds idle_deadline{75'000};  // between requests
  std::chrono::milliseconds write_deadline{30'000};
  TlsFiles* tls = nullptr;  // outlives the server; null: plain HTTP
  /// From a request with the address that it came from to the address that counts; none: the same.
  std::function<std::string(const HttpRequest&)> client_address = {};
  std::shared_ptr<HttpCounters> counters = nullptr;  // none: nobody looks
};

class HttpServer {
 public:
  /// REQUIRES: the handler outlives the server. FAILS: kInvalidArgument (no such address), kIo (the
  /// port is taken or not allowed)
  static Result<std::unique_ptr<HttpServer>> start(HttpServerOptions options, HttpHandler& handler);
  /// Like shut_down without a drain.
  ~HttpServer();

  /// RETURNS: the port it listens on.
  std::uint16_t port() const;
  /// RETURNS: how many clients are connected.
  int connections() const;

  /// Stops accepting, closes idle connections, ends streams, lets requests under way finish for as
  /// long as `drain`, then closes the rest. No call of the handler is under way or follows once
  /// this returns; a handler that still answers is not heard.
  void shut_down(std::chrono::milliseconds drain);

 private:
  class Impl;
  explicit HttpServer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace hindsight
