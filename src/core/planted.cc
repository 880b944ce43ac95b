#include "src/core/planted.h"

#ifdef HINDSIGHT_PLANTED_FAULTS

#include <cstdlib>
#include <optional>
#include <string_view>

#include "src/core/check.h"

namespace hindsight {
namespace {

struct Name {
  Fault fault;
  std::string_view name;
};

constexpr Name kNames[] = {
    {Fault::kSkipMarkSync, "skip_mark_sync"},
    {Fault::kSkipDatabaseSync, "skip_database_sync"},
    {Fault::kAcknowledgeLostWrite, "acknowledge_lost_write"},
    {Fault::kAckBeforeCommit, "ack_before_commit"},
    {Fault::kForgetMark, "forget_mark"},
    {Fault::kIgnoreMark, "ignore_mark"},
    {Fault::kOpenEmptyDatabase, "open_empty_database"},
    {Fault::kReuseEpoch, "reuse_epoch"},
    {Fault::kReuseDecisionId, "reuse_decision_id"},
    {Fault::kSkipEntryChecksum, "skip_entry_checksum"},
    {Fault::kSkipSnapshotPlace, "skip_snapshot_place"},
    {Fault::kSilentFallback, "silent_fallback"},
    {Fault::kForgetIdempotencyKey, "forget_idempotency_key"},
    {Fault::kLearnTwice, "learn_twice"},
    {Fault::kLearnLateClick, "learn_late_click"},
    {Fault::kLearnControlArm, "learn_control_arm"},
    {Fault::kLoseQuarantineCount, "lose_quarantine_count"},
    {Fault::kSkipMac, "skip_mac"},
    {Fault::kKeepErasedUser, "keep_erased_user"},
    {Fault::kDropTooMuch, "drop_too_much"},
    {Fault::kReuseItem, "reuse_item"},
    {Fault::kAcceptRevokedKey, "accept_revoked_key"},
    {Fault::kCompareEarlyOut, "compare_early_out"},
    {Fault::kSkipKeyChecksum, "skip_key_checksum"},
    {Fault::kSkipRole, "skip_role"},
    {Fault::kSkipScope, "skip_scope"},
    {Fault::kIgnoreBodyLimit, "ignore_body_limit"},
    {Fault::kAcceptNotFinite, "accept_not_finite"},
    {Fault::kAcceptDuplicateKey, "accept_duplicate_key"},
    {Fault::kCopyWithoutEpochs, "copy_without_epochs"},
    {Fault::kLearnNotFinite, "learn_not_finite"},
    {Fault::kIgnoreBacklog, "ignore_backlog"},
    {Fault::kTakeAllRoom, "take_all_room"},
    {Fault::kServeOneLane, "serve_one_lane"},
    {Fault::kNeverLimitRate, "never_limit_rate"},
    {Fault::kNeverRefill, "never_refill"},
    {Fault::kForgetRetryAfter, "forget_retry_after"},
};

std::optional<Fault> chosen_fault() {
  const char* const wanted = std::getenv("HINDSIGHT_PLANT");
  if (wanted == nullptr) {
    return std::nullopt;
  }
  for (const Name& row : kNames) {
    if (row.name == wanted) {
      return row.fault;
    }
  }
  HINDSIGHT_CHECK(false && "HINDSIGHT_PLANT names no fault");
  return std::nullopt;
}

}  // namespace

bool planted(Fault fault) {
  static const std::optional<Fault> kChosen = chosen_fault();
  return kChosen == fault;
}

}  // namespace hindsight

#endif
