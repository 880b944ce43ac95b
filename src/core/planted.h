// Planted faults: mistakes in the code that the tests must notice.
//
// A build with HINDSIGHT_PLANTED_FAULTS (the asan preset) makes the one mistake that the
// environment variable HINDSIGHT_PLANT names; tests/faults/planted_faults_test.py runs the tests
// against each of them, and fails where none of them fails. In every other build planted() is false
// when compiling, and nothing of this is in the program.
//
// Thread-safety: pure functions.

#pragma once

#include <cstdint>

namespace hindsight {

enum class Fault : std::uint8_t {
  kSkipMarkSync,          // the high-water mark is written and not synced
  kSkipDatabaseSync,      // SQLite does not sync
  kAcknowledgeLostWrite,  // a group that could not be written is acknowledged
  kAckBeforeCommit,       // a group is acknowledged before it is committed
  kForgetMark,            // the high-water mark stays where it was
  kIgnoreMark,            // a database behind its mark is opened
  kOpenEmptyDatabase,     // an empty file is taken for a new database
  kReuseEpoch,            // a start does not begin a new epoch
  kReuseDecisionId,       // one decision id twice
  kSkipEntryChecksum,     // entries are not checked when they are read
  kSkipSnapshotPlace,     // a snapshot of another position is taken
  kSilentFallback,        // a damaged snapshot is passed over without a word
  kForgetIdempotencyKey,  // a click that is sent twice counts twice
  kLearnTwice,            // a click is learned twice
  kLearnLateClick,        // a click after the window's close is learned
  kLearnControlArm,       // the control arm's clicks are learned
  kLoseQuarantineCount,   // a quarantined click is not counted
  kSkipMac,               // any decision id is taken for one of ours
  kKeepErasedUser,        // an erased user stays in the log
  kDropTooMuch,           // retention drops an event too many
  kReuseItem,             // an item that is added again is the one that was removed
  kAcceptRevokedKey,      // a revoked key opens
  kCompareEarlyOut,       // the comparison of keys ends at the first difference
  kSkipKeyChecksum,       // the key file's checksum is not checked
  kSkipRole,              // roles are not asked for
  kSkipScope,             // a key opens every collection
  kIgnoreBodyLimit,       // bodies of any size are read
  kAcceptNotFinite,       // an infinite number is taken
  kAcceptDuplicateKey,    // the same key twice in a JSON object is taken
  kCopyWithoutEpochs,     // a backup may issue the original's ids again
  kLearnNotFinite,        // a decision with a NaN in it is learned from
  kIgnoreBacklog,         // a collection that cannot keep up takes everything
  kTakeAllRoom,           // one collection may have all the room before the log
  kServeOneLane,          // a lane does not pay for its turns
  kNeverLimitRate,        // no rate is too high
  kNeverRefill,           // who has used up a burst waits for ever
  kForgetRetryAfter,      // a refusal does not say when to come back
};

#ifdef HINDSIGHT_PLANTED_FAULTS
bool planted(Fault fault);
#else
constexpr bool planted(Fault /*fault*/) { return false; }
#endif

}  // namespace hindsight
