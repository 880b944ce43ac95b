// Questions that may take long have a thread of their own, on which the collections take turns.

#include "src/engine/looks.h"

#include <gtest/gtest.h>

#include <condition_variable>
#include <future>
#include <limits>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "tests/engine_support/engine_world.h"

namespace hindsight {
namespace {

using Said = std::vector<std::string>;

/// A look that takes until it is told to end.
class LongLook {
 public:
  Callback<void> look() {
    return [begun = begun_, end = ended_](const Result<void>& turn) {
      EXPECT_TRUE(turn.ok());
      begun->set_value();
      end.wait();
    };
  }
  void wait_for_begin() { begun_->get_future().wait(); }
  void end() { end_.set_value(); }

 private:
  std::shared_ptr<std::promise<void>> begun_ = std::make_shared<std::promise<void>>();
  std::promise<void> end_;
  std::shared_future<void> ended_ = end_.get_future().share();
};

/// Keeps what looks were told, in the order of the telling.
class Record {
 public:
  Callback<void> look(const std::string& name) {
    return [this, name](const Result<void>& turn) {
      note(name + (turn.ok() ? "" : std::string(" ").append(error_info(turn.error().code).name)));
    };
  }
  void note(std::string text) {
    const std::lock_guard lock(mutex_);
    said_.push_back(std::move(text));
    changed_.notify_all();
  }
  Said wait_for(std::size_t count) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return said_.size() >= count; });
    return said_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  Said said_;
};

TEST(Looks, CollectionsTakeTurnsAndEachIsAnsweredInOrder) {
  Record record;
  LongLook first;
  Looks looks(10);
  looks.post("a", first.look());
  first.wait_for_begin();
  for (const char* name : {"a1", "a2", "a3", "c1", "b1", "b2"}) {
    looks.post(std::string(1, name[0]), record.look(name));
  }
  EXPECT_EQ(record.wait_for(0), Said());
  first.end();
  EXPECT_EQ(record.wait_for(6), (Said{"b1", "c1", "a1", "b2", "a2", "a3"}));
}

TEST(Looks, ACollectionOfWhichTooManyWaitIsRefusedAndNoOther) {
  Record record;
  LongLook first;
  Looks looks(2);
  looks.post("a", first.look());
  first.wait_for_begin();
  for (const char* name : {"a1", "a2", "a3", "b1"}) {
    looks.post(std::string(1, name[0]), record.look(name));
  }
  EXPECT_EQ(record.wait_for(0), Said{"a3 overloaded"}) << "at once";
  first.end();
  EXPECT_EQ(record.wait_for(4), (Said{"a3 overloaded", "b1", "a1", "a2"}));
  looks.post("a", record.look("again"));
  EXPECT_EQ(record.wait_for(5).back(), "again");
}

TEST(Looks, WhoWaitsAtTheEndIsToldSoAndWhoComesLaterToo) {
  Record record;
  LongLook first;
  Looks looks(10);
  looks.post("a", first.look());
  first.wait_for_begin();
  looks.post("a", record.look("a1"));
  looks.post("b", record.look("b1"));
  std::thread stopping([&] { looks.stop(); });
  EXPECT_EQ(record.wait_for(2), (Said{"a1 overloaded", "b1 overloaded"}));
  looks.post("c", record.look("c1"));
  EXPECT_EQ(record.wait_for(3).back(), "c1 overloaded");
  first.end();
  stopping.join();
}

class EngineLooks : public ::testing::Test {
 protected:
  EngineLooks() {
    for (const char* name : {"books", "films"}) {
      EXPECT_TRUE(world_.put(name, {}).ok());
      EXPECT_TRUE(world_.add_ids(name, {"a", "b", "c"}).ok());
    }
  }
  /// Everything that is asked for in a look, and what it says of the collection.
  Callback<void> look_at_all(const std::string& name, Record& record) {
    return [this, name, &record](const Result<void>& turn) {
      const Engine& engine = world_.engine();
      const bool there = turn.ok() && engine.stats(name, true).ok() &&
                         engine.history(name, 10).ok() && engine.items(name, "", 10).ok() &&
                         engine.top_items(name, 10).ok() && engine.explain(name, "a", {}).ok() &&
                         engine.decisions(name, std::numeric_limits<Position>::max(), 10).ok();
      record.note(name + (there ? " is there" : " is gone"));
    };
  }
  Result<void> remove_collection(const std::string& name) {
    return wait_for<void>([&](auto done) { world_.engine().delete_collection(name, done); });
  }

  EngineWorld world_;
};

TEST_F(EngineLooks, NobodyElseWaitsForALongOne) {
  LongLook first;
  world_.engine().look("books", first.look());
  first.wait_for_begin();
  const auto reply = world_.rank_ids("books", {"a", "b"});
  ASSERT_TRUE(reply.ok());
  EXPECT_TRUE(world_.click("books", reply->decision, "a").ok());
  EXPECT_TRUE(world_.put("more", {}).ok());
  EXPECT_TRUE(remove_collection("more").ok());
  first.end();
}

TEST_F(EngineLooks, AreAnsweredAfterTheirCollectionWasDeleted) {
  Record record;
  LongLook first;
  world_.engine().look("films", first.look());
  first.wait_for_begin();
  world_.engine().look("books", look_at_all("books", record));
  world_.engine().look("films", look_at_all("films", record));
  ASSERT_TRUE(remove_collection("books").ok());
  first.end();
  EXPECT_EQ(record.wait_for(2), (Said{"books is gone", "films is there"}));
}

TEST_F(EngineLooks, MeetTheEndOfTheirCollectionAtAnyMoment) {
  constexpr std::size_t kTimes = 40;
  Record record;
  for (std::size_t i = 0; i < kTimes; ++i) {
    world_.engine().look("books", look_at_all("books", record));
    ASSERT_TRUE(remove_collection("books").ok());
    ASSERT_TRUE(world_.put("books", {}).ok());
    ASSERT_TRUE(world_.add_ids("books", {"a"}).ok());
  }
  record.wait_for(kTimes);
}

TEST_F(EngineLooks, ThatWaitWhenTheEngineEndsAreToldSo) {
  Record record;
  LongLook first;
  world_.engine().look("books", first.look());
  first.wait_for_begin();
  world_.engine().look("books", record.look("second"));
  std::thread ending([this] { world_.restart(); });
  EXPECT_EQ(record.wait_for(1), Said{"second overloaded"});
  first.end();
  ending.join();
  world_.engine().look("books", record.look("third"));
  EXPECT_EQ(record.wait_for(2).back(), "third");
}

}  // namespace
}  // namespace hindsight
