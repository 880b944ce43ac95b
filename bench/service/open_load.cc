// Load that does not wait for answers: requests leave at a set rate, at random times as those of
// many users (a Poisson process), whatever the server does; a latency is counted from when its
// request was due.
//
//   open_load PORT SECONDS CONNECTIONS RATE FILE [RATE FILE]... [pulse SECONDS]
//
// A FILE holds whole HTTP requests, each after a line with its length, and is a class of its own,
// with its own rate. Rate 0 for all of them: as fast as answers come, which is the capacity. Prints
// one line of JSON for each class: requests sent, answers by status, latencies of those that were
// served and of those that were refused, in milliseconds, how many were due but found no free
// connection, never had an answer, or were refused without a word of when to come back. With a
// pulse, all classes but the first one pause for so long and send for so long in turn, and "alone"
// and "beside" have the percentiles of each pause and of each pulse, without the moment after a
// pulse in which what is left of it is done: a machine whose speed drifts does so for both, and
// what disturbs it now and then spoils some of them only. It never sleeps while it sends: give it a
// core of its own. Where this program itself stood still (the machine took its core away), what was
// due or on its way then says nothing of the server: it is counted as disturbed, and its latency is
// left out.

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <random>
#include <string>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kSettle{500};
// One pass over everything that can be sent and read takes less than this.
constexpr std::chrono::milliseconds kStall{3};
// After the others have fallen silent, what they left behind is done.
constexpr double kAfterglowS = 0.1;

struct Class {
  double rate = 0.0;
  double due_s = 0.0;  // when the next one leaves
  std::vector<std::string> requests;
  std::size_t next = 0;
  std::uint64_t sent = 0;
  std::uint64_t late = 0;       // due, but no connection was free
  std::uint64_t disturbed = 0;  // due or on its way while this program stood still
  std::uint64_t unanswered = 0;
  std::uint64_t without_retry_after = 0;  // of those refused
  std::map<int, std::uint64_t> statuses;
  std::vector<double> served_ms;
  std::map<std::size_t, std::vector<double>> pulses_ms;  // of those served; even ones are pauses
  std::vector<double> refused_ms;
};

struct Connection {
  int fd = -1;
  bool busy = false;
  bool disturbed = false;
  std::size_t pulse = 0;
  bool afterglow = false;
  std::size_t kind = 0;
  Clock::time_point due;
  std::string unsent;
  std::string answer;
};

class Load {
 public:
  /// `pulse_s` 0: all send all the time.
  Load(std::uint16_t port, double seconds, std::size_t connections, std::vector<Class> kinds,
       double pulse_s)
      : port_(port), seconds_(seconds), pulse_s_(pulse_s), kinds_(std::move(kinds)) {
    poll_ = epoll_create1(EPOLL_CLOEXEC);
    connections_.resize(connections);
    for (std::size_t i = 0; i < connections; ++i) {
      open(i);
      free_.push_back(i);
    }
  }

  void run() {
    // Thousands of newcomers at once are a load of their own, and not the one to be measured.
    for (const auto settled = Clock::now() + kSettle; Clock::now() < settled;) {
      poll(10);
    }
    const auto begin = Clock::now();
    const auto end = begin + std::chrono::duration_cast<Clock::duration>(
                                 std::chrono::duration<double>(seconds_));
    const bool waits = kinds_.front().rate <= 0.0;
    std::uint64_t number = 0;
    std::mt19937_64 coins(1);
    for (std::size_t i = 0; i < kinds_.size(); ++i) {
      kinds_[i].due_s = due_after(i, 0.0, coins);
    }
    auto passed = begin;
    for (auto now = begin; now < end; now = Clock::now()) {
      if (!waits && now - passed > kStall) {
        note_stall(now);
      }
      passed = now;
      while (waits && !free_.empty()) {
        start(number++ % kinds_.size(), Clock::now(), 0.0);
      }
      while (!waits) {
        const std::size_t next = next_due();
        Class& kind = kinds_[next];
        const auto at = begin + std::chrono::duration_cast<Clock::duration>(
                                    std::chrono::duration<double>(kind.due_s));
        if (at > now) {
          break;
        }
        const double due_s = kind.due_s;
        kind.due_s = due_after(next, due_s, coins);
        if (free_.empty()) {
          ++kind.late;  // a client that gives up
        } else {
          start(next, at, due_s);
        }
      }
      poll(waits ? 10 : 0);
    }
    const auto grace = Clock::now() + std::chrono::seconds(5);
    while (free_.size() < connections_.size() && Clock::now() < grace) {
      poll(10);
    }
    for (const Connection& one : connections_) {
      kinds_[one.kind].unanswered += one.busy ? 1 : 0;
    }
  }

  void print() {
    for (std::size_t i = 0; i < kinds_.size(); ++i) {
      Class& kind = kinds_[i];
      std::printf(
          "{\"class\":%zu,\"seconds\":%.3f,\"sent\":%llu,\"late\":%llu,\"disturbed\":%llu,"
          "\"unanswered\":%llu,\"without_retry_after\":%llu,\"statuses\":{",
          i, seconds_, static_cast<unsigned long long>(kind.sent),
          static_cast<unsigned long long>(kind.late),
          static_cast<unsigned long long>(kind.disturbed),
          static_cast<unsigned long long>(kind.unanswered),
          static_cast<unsigned long long>(kind.without_retry_after));
      const char* comma = "";
      for (const auto& [status, count] : kind.statuses) {
        std::printf("%s\"%d\":%llu", comma, status, static_cast<unsigned long long>(count));
        comma = ",";
      }
      std::printf("},\"served\":%s,\"alone\":%s,\"beside\":%s,\"refused\":%s}\n",
                  summary(kind.served_ms).c_str(), pulse_summaries(kind, 0).c_str(),
                  pulse_summaries(kind, 1).c_str(), summary(kind.refused_ms).c_str());
    }
  }

 private:
  static double gap(const Class& kind, std::mt19937_64& coins) {
    return std::exponential_distribution<double>(std::max(kind.rate, 1.0))(coins);
  }
  /// When the request of a class after one at `time_s` leaves.
  double due_after(std::size_t kind_index, double time_s, std::mt19937_64& coins) const {
    double due_s = time_s + gap(kinds_[kind_index], coins);
    if (pulse_s_ > 0.0 && kind_index > 0 && std::fmod(due_s, 2.0 * pulse_s_) < pulse_s_) {
      due_s = 2.0 * pulse_s_ * std::floor(due_s / (2.0 * pulse_s_)) + pulse_s_ +
              gap(kinds_[kind_index], coins);
    }
    return due_s;
  }
  std::size_t next_due() const {
    const auto next =
        std::min_element(kinds_.begin(), kinds_.end(),
                         [](const Class& a, const Class& b) { return a.due_s < b.due_s; });
    return static_cast<std::size_t>(next - kinds_.begin());
  }

  void note_stall(Clock::time_point now) {
    stalled_until_ = now;
    for (Connection& one : connections_) {
      one.disturbed = one.disturbed || one.busy;
    }
  }

  /// REQUIRES: there are some
  static double quantile(std::vector<double>& values, double share) {
    std::sort(values.begin(), values.end());
    return values[static_cast<std::size_t>(share * static_cast<double>(values.size() - 1))];
  }

  static std::string summary(std::vector<double>& values) {
    if (values.empty()) {
      return "null";
    }
    const auto at = [&](double share) { return quantile(values, share); };
    char text[128];
    std::snprintf(text, sizeof(text), "{\"p50\":%.3f,\"p99\":%.3f,\"p999\":%.3f,\"max\":%.3f}",
                  at(0.5), at(0.99), at(0.999), at(1.0));
    return text;
  }

  /// Of the pauses (`parity` 0) or pulses (1), in their order; null for one without undisturbed
  /// answers.
  std::string pulse_summaries(Class& kind, std::size_t parity) const {
    std::string text = "[";
    const double all = pulse_s_ > 0.0 ? seconds_ / pulse_s_ : 0.0;
    for (std::size_t pulse = parity; static_cast<double>(pulse) < all; pulse += 2) {
      text.append(text.size() > 1 ? "," : "").append(summary(kind.pulses_ms[pulse]));
    }
    return text + "]";
  }

  void open(std::size_t index) {
    Connection& one = connections_[index];
    one.fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in place = {};
    place.sin_family = AF_INET;
    place.sin_port = htons(port_);
    place.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (::connect(one.fd, reinterpret_cast<sockaddr*>(&place), sizeof(place)) != 0) {
      std::perror("connect");
      std::exit(1);
    }
    const int yes = 1;
    ::setsockopt(one.fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
    ::fcntl(one.fd, F_SETFL, O_NONBLOCK);
    epoll_event event = {};
    event.events = EPOLLIN | EPOLLOUT | EPOLLET;
    event.data.u64 = index;
    epoll_ctl(poll_, EPOLL_CTL_ADD, one.fd, &event);
  }

  void start(std::size_t kind_index, Clock::time_point due, double due_s) {
    const std::size_t index = free_.back();
    free_.pop_back();
    Class& kind = kinds_[kind_index];
    Connection& one = connections_[index];
    one.busy = true;
    one.kind = kind_index;
    one.due = due;
    one.pulse = pulse_s_ > 0.0 ? static_cast<std::size_t>(due_s / pulse_s_) : 0;
    one.afterglow = pulse_s_ > 0.0 && one.pulse % 2 == 0 &&
                    std::fmod(due_s, pulse_s_) < std::min(pulse_s_ / 2.0, kAfterglowS);
    one.disturbed = due < stalled_until_;
    one.answer.clear();
    one.unsent = kind.requests[kind.next];
    kind.next = (kind.next + 1) % kind.requests.size();
    ++kind.sent;
    send(index);
  }

  void send(std::size_t index) {
    Connection& one = connections_[index];
    while (!one.unsent.empty()) {
      const ssize_t sent = ::send(one.fd, one.unsent.data(), one.unsent.size(), MSG_NOSIGNAL);
      if (sent <= 0) {
        if (errno != EAGAIN) {
          finish(index, 0);
        }
        return;
      }
      one.unsent.erase(0, static_cast<std::size_t>(sent));
    }
  }

  void poll(int timeout_ms) {
    epoll_event events[256];
    const int count = epoll_wait(poll_, events, 256, timeout_ms);
    for (int i = 0; i < count; ++i) {
      const std::size_t index = events[i].data.u64;
      if ((events[i].events & EPOLLOUT) != 0) {
        send(index);
      }
      if ((events[i].events & (EPOLLIN | EPOLLHUP | EPOLLERR)) != 0) {
        receive(index);
      }
    }
  }

  void receive(std::size_t index) {
    Connection& one = connections_[index];
    char bytes[65536];
    for (;;) {
      const ssize_t got = ::recv(one.fd, bytes, sizeof(bytes), 0);
      if (got < 0 && errno == EAGAIN) {
        return;
      }
      if (got <= 0) {
        return finish(index, 0);
      }
      one.answer.append(bytes, static_cast<std::size_t>(got));
      const std::size_t head = one.answer.find("\r\n\r\n");
      if (head == std::string::npos) {
        continue;
      }
      const std::size_t field = one.answer.find("Content-Length: ");
      const std::size_t body =
          field < head ? std::strtoull(one.answer.c_str() + field + 16, nullptr, 10) : 0;
      if (one.answer.size() >= head + 4 + body) {
        const bool closes = one.answer.find("Connection: close") < head;
        const int status = std::atoi(one.answer.c_str() + 9);
        if ((status == 429 || status == 503) && one.answer.find("\r\nRetry-After: ") >= head) {
          ++kinds_[one.kind].without_retry_after;
        }
        return finish(index, status, closes);
      }
    }
  }

  /// `status` 0: the connection broke.
  void finish(std::size_t index, int status, bool closes = false) {
    Connection& one = connections_[index];
    if (one.busy) {
      Class& kind = kinds_[one.kind];
      ++kind.statuses[status];
      const double ms = std::chrono::duration<double, std::milli>(Clock::now() - one.due).count();
      if (one.disturbed) {
        ++kind.disturbed;
      } else {
        (status == 200 ? kind.served_ms : kind.refused_ms).push_back(ms);
        if (status == 200 && !one.afterglow) {
          kind.pulses_ms[one.pulse].push_back(ms);
        }
      }
      free_.push_back(index);
    }
    one.busy = false;
    one.unsent.clear();
    if (status == 0 || closes) {
      ::close(one.fd);
      open(index);
    }
  }

  std::uint16_t port_;
  double seconds_;
  double pulse_s_;
  int poll_ = -1;
  Clock::time_point stalled_until_;
  std::vector<Class> kinds_;
  std::vector<Connection> connections_;
  std::vector<std::size_t> free_;
};

std::vector<std::string> read_requests(const char* path) {
  std::ifstream in(path, std::ios::binary);
  std::vector<std::string> requests;
  for (std::string line; std::getline(in, line);) {
    std::string request(std::strtoull(line.c_str(), nullptr, 10), '\0');
    in.read(request.data(), static_cast<std::streamsize>(request.size()));
    requests.push_back(std::move(request));
  }
  return requests;
}

}  // namespace

int main(int argc, char** argv) {
  double pulse_s = 0.0;
  if (argc > 7 && std::strcmp(argv[argc - 2], "pulse") == 0) {
    pulse_s = std::atof(argv[argc - 1]);
    argc -= 2;
  }
  if (argc < 6 || argc % 2 != 0) {
    std::fprintf(stderr,
                 "usage: open_load PORT SECONDS CONNECTIONS RATE FILE [RATE FILE]... "
                 "[pulse SECONDS]\n");
    return 2;
  }
  std::vector<Class> kinds;
  for (int i = 4; i < argc; i += 2) {
    Class kind;
    kind.rate = std::atof(argv[i]);
    kind.requests = read_requests(argv[i + 1]);
    if (kind.requests.empty()) {
      std::fprintf(stderr, "open_load: no requests in %s\n", argv[i + 1]);
      return 2;
    }
    kinds.push_back(std::move(kind));
  }
  Load load(static_cast<std::uint16_t>(std::atoi(argv[1])), std::atof(argv[2]),
            std::strtoul(argv[3], nullptr, 10), std::move(kinds), pulse_s);
  load.run();
  load.print();
  return 0;
}
