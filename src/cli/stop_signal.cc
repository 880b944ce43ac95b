#include "src/cli/stop_signal.h"

#include <pthread.h>
#include <unistd.h>

#include <csignal>

namespace hindsight::cli {
namespace {

sigset_t stop_signals() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGINT);
  sigaddset(&set, SIGTERM);
  // A terminal that is closed; `nohup` has it ignored.
  struct sigaction hangup = {};
  if (sigaction(SIGHUP, nullptr, &hangup) == 0 && hangup.sa_handler != SIG_IGN) {
    sigaddset(&set, SIGHUP);
  }
  return set;
}

}  // namespace

StopSignal::StopSignal() {
  // Who reads the log may go away; the server goes on.
  std::signal(SIGPIPE, SIG_IGN);
  const sigset_t set = stop_signals();
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  thread_ = std::thread([this] { listen(); });
}

StopSignal::~StopSignal() {
  done_ = true;
  pthread_kill(thread_.native_handle(), SIGINT);  // wakes it; it sees that it is done
  thread_.join();
}

void StopSignal::listen() {
  constexpr int kEndedBySignal = 128;  // and its number, as shells say it
  const sigset_t set = stop_signals();
  bool came = false;
  for (;;) {
    int signal = 0;
    if (sigwait(&set, &signal) != 0) {
      continue;
    }
    if (done_) {
      return;
    }
    if (came || !started_) {
      _exit(kEndedBySignal + signal);
    }
    came = true;
    came_.set_value();
  }
}

}  // namespace hindsight::cli
