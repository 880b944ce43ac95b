// Demo: a small library with readers who search it, so that there is something to see.
//
// Every reader wants a topic, looks at ten books of it, and takes one by a taste that the ranker
// does not know: the best order is there to be learned. New books keep arriving, more slowly than
// the square root of the number of lists ([Delage09] 4.2). The first readers come in a crowd, later
// ones a few a second. Which books there are and who likes what follow from a seed, so that a
// restart goes on where the last run ended.
//
// Thread-safety: one thread starts and ends it; it has a thread of its own.

#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <unordered_map>

#include "hindsight/random.h"
#include "src/engine/engine.h"

namespace hindsight::cli {

class Demo {
 public:
  static constexpr std::string_view kCollection = "demo";

  /// Makes the collection where it is missing; one that is there goes on as it is. `warn` is told
  /// once when the readers have to stop. REQUIRES: the engine outlives the demo
  /// FAILS: as Engine::put_collection and add_items
  static Result<std::unique_ptr<Demo>> start(Engine& engine,
                                             std::function<void(std::string_view)> warn);
  /// Waits for the reader under way.
  ~Demo();
  Demo(const Demo&) = delete;
  Demo& operator=(const Demo&) = delete;

 private:
  explicit Demo(Engine& engine) : engine_(engine) {}

  Result<void> open();
  Result<void> add_books(std::uint64_t wanted);
  Result<void> visit();
  /// RETURNS: the place of the book that the reader takes, if any.
  std::optional<std::size_t> choose(const std::vector<RankedItem>& shown);
  /// RETURNS: whether the demo goes on.
  bool pause();
  void run(const std::function<void(std::string_view)>& warn);

  Engine& engine_;
  Rng readers_{0};
  std::uint64_t visits_ = 0;
  std::uint64_t books_ = 0;
  std::unordered_map<std::string, double> taste_;  // of each book, by its id

  std::mutex mutex_;
  std::condition_variable stop_;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace hindsight::cli
