// Session: one connection of the HTTP server, from its first byte to its last.
//
// Deadlines are points in time that a sweep looks at several times a second: to set one is to store
// a number.
//
// Thread-safety: belongs to its worker's thread.

#pragma once

#include <boost/beast/core/flat_buffer.hpp>
#include <list>
#include <memory>
#include <optional>
#include <string>

#include "src/server/http_exchange.h"
#include "src/server/http_worker.h"

namespace hindsight::net {

class Session {
 public:
  /// `tls`: the state of a TLS connection, taken over; null for plain HTTP.
  Session(Worker& worker, HttpHandler& handler, Socket socket, SSL* tls);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  Task<void> run();

  // Between steps of run():
  void sweep(steady_clock::time_point now);
  void stop();
  void force();
  /// Whether the client has not sent all of its request yet.
  bool waits_for_request() const { return waits_; }
  /// Ends the connection if it has waited since then. RETURNS: whether it has.
  /// REQUIRES: waits_for_request()
  bool give_up(steady_clock::time_point waiting_since);
  // Of one that has had its last answer and is in Worker::lingering:
  steady_clock::time_point lingers_since() const { return lingers_since_; }
  void give_up_lingering();

 private:
  enum class Got { kRequest, kRefused, kEnd };

  // Reading (http_session.cc).
  Task<bool> shake_hands();
  Task<void> serve();
  Task<Got> read_request();
  Task<Got> read_body();
  Got begin_request();
  void fill_request(std::string_view target);
  void do_without_body();
  Got overloaded(Overload reason, milliseconds wait);
  bool charge_body(std::size_t bytes);
  void give_back_memory();
  void begin_to_wait();
  void begin_to_linger();
  bool feed(error_code& ec);
  Got no_more(bool started);
  Got refuse(HttpResponse response);
  void set_deadline(milliseconds from_now);

  // Answering (http_session_write.cc).
  Task<bool> answer_request();
  void charge_answer(HttpResponse& response);
  void call_handler(const std::shared_ptr<Exchange>& exchange);
  Task<bool> write(HttpResponse response, bool keep);
  Task<bool> turn_away(bool keep);
  Task<bool> write_stream(HttpResponse response);
  Task<bool> write_piece(const std::string& piece, bool chunked);
  bool client_is_gone();
  Task<void> linger();
  Task<void> close_tls();

  Worker& worker_;
  const HttpServerOptions& options_;
  HttpHandler& handler_;
  Stream stream_;
  Timer timer_;  // between the pieces of a stream
  boost::beast::flat_buffer buffer_;
  const std::list<Session*>::iterator place_;
  std::string peer_;
  std::shared_ptr<Exchange> exchange_;
  Lanes::LaneId lane_ = 0;   // of the request under way
  bool patient_ = false;     // whether it may wait for longer
  std::uint64_t payer_ = 0;  // who pays for its body and its answer,
  std::size_t charged_ = 0;  // and how many bytes
  bool unread_ = false;      // its body stays unread: the connection ends with the answer
  TurnedAway turned_away_ = TurnedAway::kNo;
  unsigned turned_away_count_ = 0;
  HttpResponse refused_;
  steady_clock::time_point deadline_ = steady_clock::time_point::max();
  bool timed_out_ = false;
  bool idle_ = false;  // no byte of the next request is here
  bool waits_ = false;
  steady_clock::time_point waits_since_;
  bool said_goodbye_ = false;
  std::optional<std::list<Session*>::iterator> lingers_;  // where in Worker::lingering
  steady_clock::time_point lingers_since_;
  bool forced_ = false;
};

}  // namespace hindsight::net
