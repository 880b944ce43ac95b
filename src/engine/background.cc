#include "src/engine/background.h"

#include <sched.h>

namespace hindsight {
namespace {

constexpr sched_param kNoPriority = {};

}  // namespace

BackgroundThreads::BackgroundThreads()
    : changed_(sched_getscheduler(0) == SCHED_OTHER &&
               sched_setscheduler(0, SCHED_BATCH, &kNoPriority) == 0) {}

BackgroundThreads::~BackgroundThreads() {
  if (changed_) {
    sched_setscheduler(0, SCHED_OTHER, &kNoPriority);
  }
}

}  // namespace hindsight
