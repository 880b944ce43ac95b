#include "src/server/http_worker.h"

#include <algorithm>
#include <array>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/post.hpp>
#include <memory>
#include <utility>

#include "src/server/http_session.h"

namespace hindsight::net {
namespace {

// Requests are served for a while, then sockets are read. Reading may take three times as long as
// serving, so that a refusal comes at once even when most of what comes has to be refused.
constexpr std::int64_t kReadingShare = 3;
constexpr std::int64_t kLeastTurnsNs = 200'000;
constexpr std::int64_t kMostTurnsNs = 2'000'000;
// Those who are last get this part of a busy thread.
constexpr std::int64_t kLastShare = 16;
// Nobody has to make room who may only just have come.
constexpr milliseconds kHonestWait{1'000};
constexpr milliseconds kHonestGoodbye{200};

}  // namespace

void Worker::run() {
  while (!context.stopped()) {
    if (context.poll() > 0) {
      continue;
    }
    if (!last_.lanes.empty()) {
      asio::post(context, [this] { take_turns(last_, 0); });
    }
    // A thread that serves those who are last has nothing else to do: for all others it pauses.
    pressure_.pause_begins(steady_clock_ns());
    context.run_one();
    pressure_.pause_ends(steady_clock_ns());
  }
}

/// Serves one of those who are last as often as they have had to wait for their share of the time:
/// run() does not come to it on a thread that is never without work.
Task<void> Worker::see_to_the_last() {
  while (!last_.lanes.empty()) {
    const std::int64_t cost_ns = std::max(last_.lanes.typical_cost_ns(), last_.turn_ns);
    const std::int64_t share_ns = std::max(kLeastTurnsNs, kLastShare * cost_ns);
    const std::int64_t left_ns = last_.ended_ns + share_ns - steady_clock_ns();
    if (left_ns > 0) {
      last_timer_.expires_after(std::chrono::nanoseconds(left_ns));
      co_await last_timer_.async_wait(kTry);
    } else {
      take_turns(last_, 0);
    }
  }
  last_seen_to_ = false;
}

const std::string& Worker::date() {
  const std::time_t now = std::time(nullptr);
  if (now != date_second_) {
    std::tm parts = {};
    gmtime_r(&now, &parts);
    std::array<char, 64> text = {};
    const std::size_t size =
        std::strftime(text.data(), text.size(), "%a, %d %b %Y %H:%M:%S GMT", &parts);
    date_text_.assign(text.data(), size);
    date_second_ = now;
  }
  return date_text_;
}

milliseconds Worker::expected_wait(Lanes::LaneId lane) const {
  return std::chrono::duration_cast<milliseconds>(
      std::chrono::nanoseconds(lane == 0 ? 0 : expected_wait_ns(lane)));
}

std::int64_t Worker::expected_wait_ns(Lanes::LaneId lane) const {
  return Lanes::is_last(lane) ? usual_.lanes.total_wait_ns() + last_.lanes.expected_wait_ns(lane)
                              : usual_.lanes.expected_wait_ns(lane);
}

bool Worker::has_time(Lanes::LaneId lane, bool patient, int times) {
  if (lane == 0) {
    return true;
  }
  const Lanes& lanes = lanes_of(lane);
  const std::int64_t now_ns = steady_clock_ns();
  const std::int64_t limit_ns =
      pressure_.most_wait_ns(now_ns, lanes.queued(), lanes.typical_cost_ns());
  if (lanes.empty()) {
    return true;
  }
  const std::int64_t most_ns = std::chrono::nanoseconds(options_.max_wait).count();
  if (expected_wait_ns(lane) <= times * (patient ? std::max(most_ns, limit_ns) : limit_ns)) {
    return true;
  }
  if (!Lanes::is_last(lane)) {
    pressure_.note_refusal(now_ns);
  }
  return false;
}

bool Worker::came_too_long_ago(Lanes::LaneId lane, bool patient, Stream& stream) {
  if (lane == 0 || patient || Lanes::is_last(lane) || expected_wait_ns(lane) == 0) {
    return false;
  }
  const std::int64_t now_ns = steady_clock_ns();
  const std::int64_t too_late_ns = pressure_.too_late_ns(usual_.lanes.typical_cost_ns());
  if (!pressure_.refuses(now_ns) || stream.last_heard() <= std::chrono::nanoseconds(too_late_ns)) {
    return false;
  }
  pressure_.note_refusal(now_ns);
  return true;
}

Task<bool> Worker::wait_turn(Lanes::LaneId lane, bool patient) {
  const std::int64_t begin_ns = steady_clock_ns();
  std::int64_t too_late_ns = 0;
  co_await asio::async_initiate<const asio::use_awaitable_t<Executor>&, void()>(
      [this, lane, &too_late_ns](auto handler) {
        // A job is copyable, a waiting coroutine is not.
        auto waiter = std::make_shared<Waiter>(std::move(handler));
        if (Lanes::is_last(lane) && last_.lanes.empty()) {
          last_.ended_ns = steady_clock_ns();  // who was away has saved nothing up
        }
        lanes_of(lane).push(lane, [waiter] { std::move (*waiter)(); });
        too_late_ns = pressure_.too_late_ns(lanes_of(lane).typical_cost_ns());
        counters_.waiting.fetch_add(1, std::memory_order_relaxed);
        if (!Lanes::is_last(lane)) {
          ask_for_turns();
        } else if (!std::exchange(last_seen_to_, true)) {
          asio::co_spawn(context, see_to_the_last(), asio::detached);
        }
      },
      kAwait);
  const std::int64_t now_ns = steady_clock_ns();
  if (patient || Lanes::is_last(lane) || now_ns - begin_ns <= too_late_ns ||
      !pressure_.refuses(now_ns)) {
    co_return true;
  }
  pressure_.note_refusal(now_ns);
  co_return false;
}

void Worker::ask_for_turns() {
  if (!usual_.asked) {
    usual_.asked = true;
    asio::post(context, [this] { run_turns(); });
  }
}

void Worker::run_turns() {
  const std::int64_t since_ns = steady_clock_ns() - usual_.ended_ns;
  take_turns(usual_, std::clamp(since_ns / kReadingShare, kLeastTurnsNs, kMostTurnsNs));
  if (usual_.goes_on) {
    ask_for_turns();
  }
}

/// Serves for a time, but at least one.
void Worker::take_turns(Queue& queue, std::int64_t slice_ns) {
  queue.asked = false;
  const std::int64_t begin_ns = steady_clock_ns();
  const std::int64_t before_ns = queue.goes_on ? queue.ended_ns : begin_ns;
  if (!queue.goes_on) {
    queue.lanes.note_pace(0);
  }
  do {
    if (const Lanes::Job job = queue.lanes.pop()) {
      counters_.waiting.fetch_sub(1, std::memory_order_relaxed);
      job();
    }
    queue.ended_ns = steady_clock_ns();
  } while (!queue.lanes.empty() && queue.ended_ns - begin_ns < slice_ns);
  queue.turn_ns = queue.ended_ns - begin_ns;
  queue.lanes.note_pace(queue.ended_ns - before_ns);
  queue.goes_on = !queue.lanes.empty();
}

bool Worker::take_bytes(std::uint64_t payer, std::size_t bytes) const {
  const auto more = static_cast<std::int64_t>(bytes);
  if (!memory_.take(payer, more)) {
    return false;
  }
  counters_.body_bytes.fetch_add(more, std::memory_order_relaxed);
  return true;
}

void Worker::give_back_bytes(std::uint64_t payer, std::size_t bytes) const {
  if (bytes > 0) {
    memory_.give_back(payer, static_cast<std::int64_t>(bytes));
    counters_.body_bytes.fetch_sub(static_cast<std::int64_t>(bytes), std::memory_order_relaxed);
  }
}

void Worker::give_up_one() {
  const auto now = steady_clock::now();
  const bool given_up =
      give_up_lingering(now - kHonestGoodbye) || give_up_waiting(now) || give_up_lingering(now);
  counters_.given_up.fetch_add(given_up ? 1 : 0, std::memory_order_relaxed);
}

bool Worker::give_up_lingering(steady_clock::time_point since) {
  if (lingering.empty() || lingering.front()->lingers_since() > since) {
    return false;
  }
  lingering.front()->give_up_lingering();
  return true;
}

bool Worker::give_up_waiting(steady_clock::time_point now) {
  for (std::size_t left = sessions.size(); left > 0; --left) {
    if (sessions.front()->waits_for_request()) {
      return sessions.front()->give_up(now - kHonestWait);
    }
    sessions.splice(sessions.end(), sessions, sessions.begin());  // it need not be looked at soon
  }
  return false;
}

}  // namespace hindsight::net
