// How ranking inside one collection grows with threads, while clicks are being learned.
//
//   rank_scaling FOLDER THREADS SECONDS      prints rankings per second

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "src/core/check.h"
#include "src/engine/engine.h"
#include "src/store/sqlite_store.h"

namespace hindsight {
namespace {

constexpr std::size_t kItems = 10'000;
constexpr std::size_t kCandidates = 100;

RankInput request(Rng& rng) {
  RankInput input;
  const std::uint64_t first = rng.below(kItems - kCandidates);
  for (std::size_t i = 0; i < kCandidates; ++i) {
    input.candidates.push_back(
        {.id = "item" + std::to_string(first + i), .features = {}, .prior = 0.0});
  }
  return input;
}

double measure(Engine& engine, int threads, double seconds) {
  std::atomic<bool> done{false};
  std::atomic<std::uint64_t> ranks{0};
  std::vector<std::thread> workers;
  for (int t = 0; t < threads; ++t) {
    workers.emplace_back([&, t] {
      Rng rng(7, static_cast<std::uint64_t>(t));
      std::vector<RankInput> inputs;
      for (int i = 0; i < 64; ++i) {
        inputs.push_back(request(rng));
      }
      std::uint64_t mine = 0;
      while (!done) {
        engine.rank("books", inputs[mine % inputs.size()], [&](const Result<RankReply>& reply) {
          HINDSIGHT_CHECK(reply.ok());
          // One list in ten gets a click, which the learner folds meanwhile.
          if (mine % 10 == 0) {
            engine.click("books",
                         {{.decision = reply->decision, .item = reply->items[0].id, .event = ""}},
                         [](const Result<ClicksReply>& click) { HINDSIGHT_CHECK(click.ok()); });
          }
        });
        ++mine;
      }
      ranks += mine;
    });
  }
  std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
  done = true;
  for (std::thread& worker : workers) {
    worker.join();
  }
  return static_cast<double>(ranks) / seconds;
}

}  // namespace
}  // namespace hindsight

int main(int argc, char** argv) {
  using namespace hindsight;  // NOLINT(google-build-using-namespace)
  if (argc != 4) {
    std::fprintf(stderr, "usage: rank_scaling FOLDER THREADS SECONDS\n");
    return 2;
  }
  const auto store = open_sqlite_store({.folder = argv[1]});
  HINDSIGHT_CHECK(store.ok());
  const auto engine = Engine::open(**store, {});
  HINDSIGHT_CHECK(engine.ok());
  CollectionPatch patch;
  patch.seed = 7;
  patch.max_open = 100'000;
  HINDSIGHT_CHECK(wait_for<PutOutcome>([&](auto done) {
                    (*engine)->put_collection("books", patch, done);
                  }).ok());
  std::vector<ItemInput> items;
  for (std::size_t i = 0; i < kItems; ++i) {
    items.push_back({.id = "item" + std::to_string(i), .topics = {}, .features = {}, .links = {}});
  }
  HINDSIGHT_CHECK(
      wait_for<ItemsReply>([&](auto done) { (*engine)->add_items("books", items, done); }).ok());
  std::printf("%.0f\n", measure(**engine, std::atoi(argv[2]), std::atof(argv[3])));
  return 0;
}
