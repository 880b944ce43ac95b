#include "src/core/list_policy.h"

#include <cmath>
#include <limits>
#include <string>

#include "src/core/check.h"
#include "src/core/kernels.h"

namespace hindsight {

Result<void> check_list_size(std::size_t candidates, std::size_t k) {
  if (candidates == 0) {
    return Error{ErrorCode::kEmptyCandidates, "there is nothing to rank; send candidates",
                 "candidates"};
  }
  if (candidates > std::numeric_limits<std::uint32_t>::max()) {
    return Error{ErrorCode::kInvalidArgument, "there are more candidates than can be numbered",
                 "candidates"};
  }
  if (k == 0 || k > candidates) {
    return Error{ErrorCode::kInvalidArgument,
                 "k is " + std::to_string(k) + "; it must be from 1 to the number of candidates, " +
                     std::to_string(candidates),
                 "k"};
  }
  return {};
}

Result<void> check_scores(std::span<const double> scores, std::size_t k) {
  HINDSIGHT_RETURN_IF_ERROR(check_list_size(scores.size(), k));
  if (all_finite(scores)) {
    return {};
  }
  std::size_t at = 0;
  while (std::isfinite(scores[at])) {
    ++at;
  }
  return Error{ErrorCode::kNotFinite, "a score is not a finite number",
               "scores[" + std::to_string(at) + "]"};
}

}  // namespace hindsight
