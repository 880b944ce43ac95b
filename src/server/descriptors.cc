#include "src/server/descriptors.h"

#include <sys/resource.h>

#include <algorithm>
#include <limits>

namespace hindsight {

std::uint64_t raise_descriptor_limit() {
  rlimit limit = {};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) {
    return std::numeric_limits<std::uint64_t>::max();  // nothing is known
  }
  if (limit.rlim_cur < limit.rlim_max) {
    rlimit raised = limit;
    raised.rlim_cur = limit.rlim_max;
    limit = ::setrlimit(RLIMIT_NOFILE, &raised) == 0 ? raised : limit;
  }
  return limit.rlim_cur;
}

int connections_within(int wanted, std::uint64_t descriptors) {
  constexpr std::uint64_t kReserved = 256;
  const std::uint64_t rest = descriptors - std::min(kReserved, descriptors / 2);
  return static_cast<int>(std::min<std::uint64_t>(static_cast<std::uint64_t>(wanted), rest));
}

}  // namespace hindsight
