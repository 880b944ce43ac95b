// Evaluations in the background.

#include "src/engine/evaluation_jobs.h"

#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <thread>

#include "tests/engine_support/engine_world.h"
#include "tests/engine_support/written_log.h"

namespace hindsight {
namespace {

using State = EvaluationJob::State;

/// A view that shows what another one does.
class SameView : public LogView {
 public:
  explicit SameView(const LogView& inner) : inner_(inner) {}

  Result<std::vector<LogInfo>> logs() const override { return inner_.logs(); }
  Result<std::vector<LogEntry>> read(LogId log, Position after,
                                     std::size_t max_entries) const override {
    return inner_.read(log, after, max_entries);
  }
  Result<Payload> read_at(LogId log, Position position) const override {
    return inner_.read_at(log, position);
  }
  Result<Position> head(LogId log) const override { return inner_.head(log); }
  Result<Position> first(LogId log) const override { return inner_.first(log); }
  Result<std::vector<Position>> snapshots(LogId log) const override {
    return inner_.snapshots(log);
  }
  Result<std::vector<std::byte>> get_snapshot(LogId log, Position position) const override {
    return inner_.get_snapshot(log, position);
  }

 private:
  const LogView& inner_;
};

/// Lets no job pass until it is told to: what takes long, in a test's hands.
class GatedView final : public SameView {
 public:
  using SameView::SameView;

  void shut() {
    const std::lock_guard lock(mutex_);
    open_ = false;
  }
  void open() {
    const std::lock_guard lock(mutex_);
    open_ = true;
    changed_.notify_all();
  }

  Result<std::vector<LogEntry>> read(LogId log, Position after,
                                     std::size_t max_entries) const override {
    if (after > 0) {  // a job has begun with the first entry
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return open_; });
    }
    return SameView::read(log, after, max_entries);
  }

 private:
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  bool open_ = true;
};

/// Drops what comes before `first` when an entry is looked up.
class DroppingView final : public SameView {
 public:
  DroppingView(Store& store, Position first) : SameView(store), store_(store), first_(first) {}

  Result<Payload> read_at(LogId log, Position position) const override {
    EXPECT_TRUE(store_.truncate_before(log, first_).ok());
    return SameView::read_at(log, position);
  }

 private:
  Store& store_;
  const Position first_;
};

/// The job once it is over; the deadline is there only so that a fault does not hang the tests.
template <class Find>
EvaluationJob ended(const Find& find) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::minutes(5);
  for (;;) {
    Result<EvaluationJob> job = find();
    if (!job.ok() || job->state != State::kRunning || std::chrono::steady_clock::now() > deadline) {
      return job.ok() ? *std::move(job) : EvaluationJob{};
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

class EvaluationJobsTest : public ::testing::Test {
 protected:
  EvaluationJobsTest() {
    for (int i = 0; i < 5; ++i) {
      log.click(log.decide(log.drawn({0.0, 0.5, 0.0}, {1, 0})), 1);
    }
  }
  EvaluationJob wait(EvaluationJobs& jobs) {
    return ended([&] { return jobs.find(log.log()); });
  }

  WrittenLog log{3};
  GatedView view{log.store()};
  const RankerChoice random{.ranker = "random", .params = {}};
};

TEST_F(EvaluationJobsTest, AJobRunsInTheBackgroundAndKeepsItsResult) {
  EvaluationJobs jobs(view, 1 << 20);
  EXPECT_EQ(jobs.find(log.log()).error().code, ErrorCode::kNotFound);
  const auto begun = jobs.start(log.log(), random);
  ASSERT_TRUE(begun.ok()) << to_string(begun.error());
  EXPECT_EQ(begun->state, State::kRunning);
  EXPECT_EQ(begun->head, log.head());
  EXPECT_EQ(begun->choice.params.count("choice_set"), 1U) << "completed by defaults";
  const EvaluationJob job = wait(jobs);
  EXPECT_EQ(job.state, State::kDone);
  ASSERT_TRUE(job.result);
  EXPECT_EQ(job.result->decisions, 5U);
  EXPECT_EQ(job.position, log.head());
  EXPECT_TRUE(jobs.start(log.log(), random).ok()) << "and makes room for the next";
}

TEST_F(EvaluationJobsTest, AModelBeyondTheMemoryThatItMayTakeEndsTheJob) {
  EvaluationJobs jobs(view, 1 << 20);
  ASSERT_TRUE(jobs.start(log.log(), random, 10).ok());
  const EvaluationJob job = wait(jobs);
  EXPECT_EQ(job.state, State::kFailed);
  ASSERT_TRUE(job.error);
  EXPECT_EQ(job.error->code, ErrorCode::kOverBudget);
  EXPECT_EQ(job.error->field, "memory_budget");
  ASSERT_TRUE(jobs.start(log.log(), random, 1 << 20).ok());
  EXPECT_EQ(wait(jobs).state, State::kDone);
}

TEST_F(EvaluationJobsTest, ThereIsOneAtATime) {
  view.shut();
  EvaluationJobs jobs(view, 1 << 20);
  const LogId other = *log.store().create_log("other");
  for (const LogEntry& entry : log.store().copy_of(log.log())) {
    log.store().append(other, {entry.payload}, [](const Result<Position>&) {});
  }
  log.store().flush();
  ASSERT_TRUE(jobs.start(log.log(), random).ok());
  for (const LogId again : {log.log(), other}) {
    const auto second = jobs.start(again, random);
    ASSERT_FALSE(second.ok());
    EXPECT_EQ(second.error().code, ErrorCode::kConflict);
    EXPECT_NE(second.error().message.find("one at a time"), std::string::npos);
  }
  view.open();
  EXPECT_EQ(wait(jobs).state, State::kDone);
  EXPECT_TRUE(jobs.start(other, random).ok());
}

TEST_F(EvaluationJobsTest, AJobReadsNoFurtherThanTheLogWentWhenItBegan) {
  view.shut();
  EvaluationJobs jobs(view, 1 << 20);
  const Position head = log.head();
  ASSERT_TRUE(jobs.start(log.log(), random).ok());
  log.decide(log.drawn({0.0, 0.5, 0.0}, {1, 0}));
  view.open();
  const EvaluationJob job = wait(jobs);
  ASSERT_TRUE(job.result);
  EXPECT_EQ(job.result->through, head);
  EXPECT_EQ(job.result->decisions, 5U);
}

TEST_F(EvaluationJobsTest, ACancelledJobStaysCancelled) {
  view.shut();
  EvaluationJobs jobs(view, 1 << 20);
  EXPECT_EQ(jobs.cancel(log.log()).error().code, ErrorCode::kNotFound);
  ASSERT_TRUE(jobs.start(log.log(), random).ok());
  EXPECT_EQ(jobs.cancel(log.log())->state, State::kCancelled);
  EXPECT_EQ(jobs.cancel(log.log())->state, State::kCancelled) << "twice is the same";
  view.open();
  ASSERT_TRUE(jobs.start(log.log(), random).ok()) << "the next may begin";
  EXPECT_EQ(wait(jobs).state, State::kDone);
  EXPECT_EQ(jobs.cancel(log.log())->state, State::kDone) << "what is over stays as it is";
  EXPECT_TRUE(jobs.find(log.log())->result);
}

TEST_F(EvaluationJobsTest, ForgettingWaitsForTheJobToEnd) {
  view.shut();
  EvaluationJobs jobs(view, 1 << 20);
  ASSERT_TRUE(jobs.start(log.log(), random).ok());
  std::thread opener([&] { view.open(); });
  jobs.forget(log.log());
  opener.join();
  EXPECT_EQ(jobs.find(log.log()).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(jobs.start(log.log(), random).error().code, ErrorCode::kNotFound)
      << "a call that had found the collection before it went";
}

TEST_F(EvaluationJobsTest, AfterTheStopNothingBegins) {
  EvaluationJobs jobs(view, 1 << 20);
  ASSERT_TRUE(jobs.start(log.log(), random).ok());
  jobs.stop();
  EXPECT_NE(jobs.find(log.log())->state, State::kRunning);
  EXPECT_EQ(jobs.start(log.log(), random).error().code, ErrorCode::kOverloaded);
}

TEST_F(EvaluationJobsTest, ALogWithoutItsBeginningIsRefused) {
  EvaluationJobs jobs(view, 1 << 20);
  ASSERT_TRUE(log.store().truncate_before(log.log(), 4).ok());
  const auto refused = jobs.start(log.log(), random);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::kConflict);
  EXPECT_NE(refused.error().message.find("retain_days"), std::string::npos);
}

TEST_F(EvaluationJobsTest, ALogWhoseBeginningIsDroppedMeanwhileFailsTheJobAndSaysWhy) {
  view.shut();
  EvaluationJobs jobs(view, 1 << 20);
  ASSERT_TRUE(jobs.start(log.log(), random).ok());
  ASSERT_TRUE(log.store().truncate_before(log.log(), 6).ok());
  view.open();
  const EvaluationJob job = wait(jobs);
  EXPECT_EQ(job.state, State::kFailed) << "and does not tell of half a log";
  ASSERT_TRUE(job.error);
  EXPECT_EQ(job.error->code, ErrorCode::kConflict);
  EXPECT_NE(job.error->message.find("retain_days"), std::string::npos);
}

TEST_F(EvaluationJobsTest, ADecisionThatIsDroppedBeforeItsClickFailsTheJobAndSaysWhy) {
  const DecisionId clicked = log.decide(log.drawn({0.0, 0.5, 0.0}, {1, 0}));
  const Position dropped = log.head();
  log.decide(log.drawn({0.0, 0.5, 0.0}, {1, 0}));
  log.click(clicked, 1);
  const DroppingView dropping(log.store(), dropped + 1);
  EvaluationJobs jobs(dropping, 1);  // a cache of the latest decision only
  ASSERT_TRUE(jobs.start(log.log(), random).ok());
  const EvaluationJob job = wait(jobs);
  EXPECT_EQ(job.state, State::kFailed);
  ASSERT_TRUE(job.error);
  EXPECT_EQ(job.error->code, ErrorCode::kConflict);
  EXPECT_NE(job.error->message.find("retain_days"), std::string::npos) << job.error->message;
}

TEST_F(EvaluationJobsTest, ADamagedLogFailsTheJobAndSaysWhy) {
  EvaluationJobs jobs(view, 1 << 20);
  log.store().append(log.log(), {Payload(3)}, [](const Result<Position>&) {});
  log.store().flush();
  ASSERT_TRUE(jobs.start(log.log(), random).ok());
  const EvaluationJob job = wait(jobs);
  EXPECT_EQ(job.state, State::kFailed);
  ASSERT_TRUE(job.error);
  EXPECT_EQ(job.error->code, ErrorCode::kCorrupt);
}

TEST(EngineEvaluation, TakesNoMoreMemoryThanItsCollectionMay) {
  EngineWorld world;
  CollectionPatch patch;
  patch.ranker = "noregret-klrank";
  patch.params = ParamMap{{"context_terms", 16.0}};
  patch.memory_budget = std::uint64_t{1} << 20;
  ASSERT_TRUE(world.put("c", patch).ok());
  for (int i = 0; i < 2; ++i) {
    RankInput input;
    input.candidates.resize(2);
    input.candidates[0].id = "a";
    input.candidates[1].id = "b";
    input.k = 2;
    input.context_key = "shelf";
    const auto reply = world.rank("c", std::move(input));
    ASSERT_TRUE(reply.ok()) << to_string(reply.error());
    ASSERT_TRUE(world.click("c", reply->decision, "a").ok());
  }
  const auto evaluated = [&](double terms) {
    const RankerChoice choice{.ranker = "auto", .params = {{"context_terms", terms}}};
    EXPECT_TRUE(world.engine().start_evaluation("c", choice).ok());
    return ended([&] { return world.engine().evaluation("c"); });
  };
  const EvaluationJob too_large = evaluated(1 << 16);  // more than 4 MB from its first click on
  ASSERT_EQ(too_large.state, State::kFailed);
  EXPECT_EQ(too_large.error->code, ErrorCode::kOverBudget);
  EXPECT_EQ(evaluated(16).state, State::kDone);
}

TEST(EngineEvaluation, IsOfACollectionAndGoesWithIt) {
  EngineWorld world;
  const RankerChoice choice{.ranker = "random", .params = {}};
  EXPECT_EQ(world.engine().start_evaluation("c", choice).error().code, ErrorCode::kNotFound);
  CollectionPatch patch;
  patch.ranker = "noregret-klrank";
  ASSERT_TRUE(world.put("c", patch).ok());
  const auto reply = world.rank_ids("c", {"a", "b", "d"}, 2);
  ASSERT_TRUE(world.click("c", reply->decision, reply->items[0].id).ok());
  EXPECT_EQ(world.engine().evaluation("c").error().code, ErrorCode::kNotFound);
  EXPECT_EQ(world.engine().start_evaluation("c", {.ranker = "?", .params = {}}).error().code,
            ErrorCode::kUnknownName);
  ASSERT_TRUE(world.engine().start_evaluation("c", choice).ok());
  const EvaluationJob job = ended([&] { return world.engine().evaluation("c"); });
  ASSERT_EQ(job.state, State::kDone);
  EXPECT_EQ(job.result->first_click.decisions, 1U);
  ASSERT_TRUE(wait_for<void>([&](auto done) { world.engine().delete_collection("c", done); }).ok());
  ASSERT_TRUE(world.put("c", patch).ok());
  EXPECT_EQ(world.engine().evaluation("c").error().code, ErrorCode::kNotFound);
  ASSERT_TRUE(world.engine().start_evaluation("c", choice).ok());
  world.restart();  // with a job that may still run
  EXPECT_EQ(world.engine().evaluation("c").error().code, ErrorCode::kNotFound);
}

}  // namespace
}  // namespace hindsight
