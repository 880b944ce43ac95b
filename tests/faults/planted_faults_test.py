#!/usr/bin/env python3
"""Mistakes planted in the code, one at a time: some test must notice each.

Usage: planted_faults_test.py SOURCE_DIR BUILD_DIR

Needs a build with HINDSIGHT_PLANTED_FAULTS (the asan preset). For each fault of src/core/planted.h
the tests named here run with it, and at least one must fail; without it they must pass. A fault
that nothing notices, or that is not in the table, fails.
"""
import os
import pathlib
import re
import subprocess
import sys
import unittest

SOURCE = pathlib.Path(sys.argv.pop(1)).resolve()
BUILD = pathlib.Path(sys.argv.pop(1)).resolve()

# fault -> (program of tests, gtest filter)
NOTICED_BY = {
    "skip_mark_sync": ("store_tests", "SqliteFaults.EveryAcknowledgedAppendIsSynced*"),
    "skip_database_sync": ("store_tests", "SqliteFaults.EveryAcknowledgedAppendIsSynced*"),
    "acknowledge_lost_write": ("store_tests", "SqliteFaults.StopAcknowledging*"),
    "ack_before_commit": ("store_tests", "SqliteFaults.StopAcknowledging*"),
    "forget_mark": ("store_tests", "SqliteDamage.AnOlderCopyOfTheDatabaseIsRefused"),
    "ignore_mark": ("store_tests", "SqliteDamage.ALostEndIsCountedAndCanBeAccepted"),
    "open_empty_database": ("store_tests", "SqliteDamage.AnEmptyOrMissingDatabase*"),
    "reuse_epoch": ("store_tests", "SqliteStoreTest.EveryOpeningHasAGreaterEpoch*"),
    "reuse_decision_id": ("engine_tests", "Joins.*:Ranking.*"),
    "skip_entry_checksum": ("store_tests", "SqliteDamage.ADamagedEntryIsNamed*"),
    "skip_snapshot_place": ("store_tests", "SqliteDamage.ASnapshotUnderAnotherName*"),
    "silent_fallback": ("engine_tests", "Recovery.ADamagedSnapshotFallsBack*"),
    "forget_idempotency_key": ("engine_tests", "Joins.*"),
    "learn_twice": ("engine_tests", "Fold.ImmediateRankersHearEachDistinctItemOnce*"),
    "learn_late_click": ("engine_tests", "Joins.ClicksAfterTheWindowClosedAreLate*"),
    "learn_control_arm": ("engine_tests", "LifeCycle.TheControlArm*"),
    "lose_quarantine_count": ("engine_tests", "Joins.AnItemThatWasNotShownIsQuarantined*"),
    "skip_mac": ("engine_tests", "Joins.AForgedDecisionIsQuarantined*"),
    "keep_erased_user": ("engine_tests", "Privacy.*"),
    "drop_too_much": ("engine_tests", "Retention.*"),
    "reuse_item": ("engine_tests", "Fold.AnItemThatIsAddedAgainIsANewItem"),
    "accept_revoked_key": ("server_tests", "Keys.RevokedKeys*"),
    "compare_early_out": ("server_tests", "Key*.TheComparisonOfHashes*"),
    "skip_key_checksum": ("server_tests", "KeyFile.CutAtAnyPlaceIsRefused"),
    "skip_role": ("server_tests", "AccessMatrix.*"),
    "skip_scope": ("server_tests", "AccessMatrix.*"),
    "ignore_body_limit": ("server_tests", "ApiTest.BodyLimitsFollowTheRoute"),
    "accept_not_finite": ("engine_tests", "LifeCycle.ItemsAreAddedAllOrNone"),
    "accept_duplicate_key": ("server_tests", "ParseRank.UnknownRepeatedAndMissingFields*"),
    "copy_without_epochs": ("store_tests", "SqliteBackup.NeverIssues*"),
    "learn_not_finite": ("rankers_tests", "*Holds/klrank_RefusesBadInputAndChangesNothing"),
    "ignore_backlog": ("engine_tests", "Backlog.RankingsClicksAndItemsAreRefused*"),
    "take_all_room": ("server_tests", "FairShare.OneAloneGetsHalf"),
    "serve_one_lane": ("server_tests", "Lanes.LanesShareTheTime*"),
    "never_limit_rate": ("server_tests", "RateLimit.ABurstPassesAndTheNextMustWait"),
    "never_refill": ("server_tests", "RateLimit.WaitingAsLongAsToldIsEnough"),
    "forget_retry_after": ("server_tests", "ApiTest.ErrorsOfTheEngineKeep*"),
}


def run(tests, fault=None):
    program, pattern = tests
    environment = {**os.environ, "RC_PARAMS": "seed=1"}
    environment.pop("HINDSIGHT_FULL", None)
    environment.pop("HINDSIGHT_PLANT", None)
    if fault:
        environment["HINDSIGHT_PLANT"] = fault
    return subprocess.run([BUILD / "tests" / program, f"--gtest_filter={pattern}"], env=environment,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=600, check=False)


class PlantedFaults(unittest.TestCase):
    def test_every_fault_of_the_code_is_in_the_table(self):
        text = (SOURCE / "src/core/planted.h").read_text()
        names = re.findall(r"^  k(\w+),", text, re.MULTILINE)
        snake = {re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower() for name in names}
        self.assertEqual(snake, set(NOTICED_BY))
        self.assertGreaterEqual(len(snake), 20)

    def test_the_tests_pass_without_a_fault(self):
        for tests in sorted(set(NOTICED_BY.values())):
            with self.subTest(tests=tests):
                done = run(tests)
                self.assertEqual(done.returncode, 0, done.stdout.decode(errors="replace")[-3000:])
                self.assertNotIn(b"0 tests from 0 test suites", done.stdout)

    def test_every_fault_is_noticed(self):
        for fault, tests in NOTICED_BY.items():
            with self.subTest(fault=fault):
                done = run(tests, fault)
                self.assertNotEqual(done.returncode, 0, f"{tests} pass in spite of {fault}")


if __name__ == "__main__":
    unittest.main()
