// Worker: one thread of the HTTP server, with its connections and their lanes.
//
// Lanes that are last (Lanes::last_in_line) have a queue of their own. Whoever stands there is
// served when the thread has nothing else to do, or, on a thread that is never without work, for a
// small share of the time: others wait for one of them at most.
//
// Thread-safety: everything but `context` belongs to the thread, unless said otherwise.

#pragma once

#include <array>
#include <ctime>
#include <list>
#include <string>
#include <thread>

#include "src/server/fair_share.h"
#include "src/server/http_net.h"
#include "src/server/http_server.h"
#include "src/server/lanes.h"
#include "src/server/pressure.h"

namespace hindsight::net {

class Session;

class Worker {
 public:
  /// `memory`: for bodies and answers, of all workers.
  Worker(const HttpServerOptions& options, HttpCounters& counters, FairShare& memory)
      : options_(options),
        counters_(counters),
        memory_(memory),
        pressure_(std::chrono::nanoseconds(options.max_wait).count()) {}

  asio::io_context context{1};
  std::list<Session*> sessions = {};    // those that wait for a request, the longest first; others
  std::list<Session*> handshakes = {};  // of them, those that are not through yet, oldest first
  std::list<Session*> lingering = {};   // those that have their last answer, the longest first
  bool stopping = false;
  std::thread thread = {};

  const HttpServerOptions& options() const { return options_; }
  HttpCounters& counters() const { return counters_; }

  /// Works until the context is stopped or has nothing left to wait for.
  void run();

  /// RETURNS: now, as the field Date says it.
  const std::string& date();

  /// What those hear who are turned away, as bytes, and the date that it says.
  struct ReadyAnswer {
    std::string text;
    std::string date;
  };
  std::array<ReadyAnswer, 3> ready_answers = {};  // by TurnedAway

  /// About how long a request of this lane would have to wait; 0 for lane 0 (nobody waits there).
  milliseconds expected_wait(Lanes::LaneId lane) const;
  /// Whether a request of this lane would get its turn in time, or in `times` of it. `patient`: it
  /// may wait under lasting load for as long as others may in a burst.
  bool has_time(Lanes::LaneId lane, bool patient, int times = 1);
  /// Whether a request that was just read has lain in its socket for so long that it is refused
  /// like a newcomer. Never where its turn would come next: a thread that cannot keep up with
  /// reading goes on serving.
  bool came_too_long_ago(Lanes::LaneId lane, bool patient, Stream& stream);
  bool must_wait(Lanes::LaneId lane) {
    return Lanes::is_last(lane) || (lane != 0 && usual_.lanes.must_wait(steady_clock_ns()));
  }
  /// Until it is the lane's turn. RETURNS: whether that came in time; where newcomers are refused
  /// it may not, unless the request is `patient` or last. REQUIRES: must_wait() has just said so
  Task<bool> wait_turn(Lanes::LaneId lane, bool patient);
  /// A request of this lane is served from here on: the thread does not pause, unless for those who
  /// are last.
  void note_work(Lanes::LaneId lane, std::int64_t now_ns) {
    if (!Lanes::is_last(lane)) {
      pressure_.pause_ends(now_ns);
    }
  }
  void charge(Lanes::LaneId lane, std::int64_t cost_ns) { lanes_of(lane).charge(lane, cost_ns); }

  /// Takes memory for a part of a body, or for an answer. RETURNS: false when there is no more for
  /// this payer.
  bool take_bytes(std::uint64_t payer, std::size_t bytes) const;
  void give_back_bytes(std::uint64_t payer, std::size_t bytes) const;

  /// Somebody makes room for others: a client that had its last answer, or the one that lets the
  /// server wait for its request for the longest time, if they have done so for a while; else one
  /// that has just had its last answer and may never read it.
  void give_up_one();

 private:
  bool give_up_lingering(steady_clock::time_point since);
  bool give_up_waiting(steady_clock::time_point now);

  /// Those who wait for their turn, and when they last had it.
  struct Queue {
    Lanes lanes = {};
    bool asked = false;    // they will get it
    bool goes_on = false;  // somebody was left waiting when it ended
    std::int64_t ended_ns = 0;
    std::int64_t turn_ns = 0;  // what it took
  };

  Lanes& lanes_of(Lanes::LaneId lane) { return Lanes::is_last(lane) ? last_.lanes : usual_.lanes; }
  std::int64_t expected_wait_ns(Lanes::LaneId lane) const;
  Task<void> see_to_the_last();
  void ask_for_turns();
  void run_turns();
  void take_turns(Queue& queue, std::int64_t slice_ns);

  const HttpServerOptions& options_;
  HttpCounters& counters_;
  FairShare& memory_;
  Queue usual_;
  Queue last_;
  bool last_seen_to_ = false;
  Timer last_timer_{context.get_executor()};
  Pressure pressure_;
  std::time_t date_second_ = 0;
  std::string date_text_;
};

}  // namespace hindsight::net
