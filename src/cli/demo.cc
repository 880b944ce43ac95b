#include "src/cli/demo.h"

#include <fmt/format.h>

#include <array>
#include <chrono>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "src/core/check.h"

namespace hindsight::cli {
namespace {

constexpr std::uint64_t kSeed = 2009;
constexpr std::uint64_t kReaderStream = std::uint64_t{1} << 32;  // beyond the books' own streams
constexpr std::size_t kShown = 10;
constexpr double kTasteDeviation = 1.5;
constexpr double kTakesOne = 0.8;  // the other readers leave without a book
constexpr std::uint64_t kFirstBooks = 60;
constexpr double kArrivalPower = 0.45;
constexpr std::uint64_t kCrowd = 4000;  // readers who come at once
constexpr std::chrono::milliseconds kCrowdPause{2};
constexpr std::chrono::milliseconds kLaterPause{200};

constexpr std::array<std::string_view, 6> kTopics = {"gardening", "astronomy", "cooking",
                                                     "history",   "sailing",   "mathematics"};
constexpr std::array<std::string_view, 12> kFirstWords = {
    "A Short", "The Secret", "An Honest", "The Patient",  "A Practical", "The Last",
    "A Quiet", "The Modern", "A Curious", "The Complete", "A Field",     "The Beginner's"};
constexpr std::array<std::string_view, 10> kSecondWords = {
    "Guide to", "History of",  "Introduction to", "Handbook of", "Companion to",
    "Diary of", "Lectures on", "Essays on",       "Atlas of",    "Defence of"};

struct Book {
  std::string title;
  std::string_view topic;
  double taste;  // how much readers of the topic like it
};

Book book(std::uint64_t number) {
  const std::string_view topic = kTopics[number % kTopics.size()];
  const std::uint64_t n = number / kTopics.size();
  const std::uint64_t volume = n / (kFirstWords.size() * kSecondWords.size());
  // Seven and twelve have no common divisor: neighbours get different words, and none comes twice.
  std::string title =
      fmt::format("{} {} {}", kFirstWords[n * 7 % kFirstWords.size()],
                  kSecondWords[n / kFirstWords.size() % kSecondWords.size()], topic);
  if (volume > 0) {
    title += fmt::format(", volume {}", volume + 1);
  }
  return {.title = std::move(title),
          .topic = topic,
          .taste = kTasteDeviation * Rng(kSeed, number).normal()};
}

std::uint64_t books_by(std::uint64_t visits) {
  return kFirstBooks +
         static_cast<std::uint64_t>(std::pow(static_cast<double>(visits), kArrivalPower));
}

}  // namespace

Result<std::unique_ptr<Demo>> Demo::start(Engine& engine,
                                          std::function<void(std::string_view)> warn) {
  std::unique_ptr<Demo> demo(new Demo(engine));
  HINDSIGHT_RETURN_IF_ERROR(demo->open());
  demo->thread_ = std::thread([&demo = *demo, warn = std::move(warn)] { demo.run(warn); });
  return demo;
}

Demo::~Demo() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  stop_.notify_all();
  if (thread_.joinable()) {
    thread_.join();
  }
}

Result<void> Demo::open() {
  if (!engine_.collection(kCollection).ok()) {
    CollectionPatch patch;
    patch.seed = kSeed;
    patch.log_queries = true;
    HINDSIGHT_RETURN_IF_ERROR(wait_for<PutOutcome>(
        [&](auto done) { engine_.put_collection(kCollection, patch, std::move(done)); }));
  }
  HINDSIGHT_ASSIGN_OR_RETURN(const CollectionStats stats, engine_.stats(kCollection, false));
  visits_ = stats.decisions;
  readers_ = Rng(kSeed, kReaderStream + visits_);
  return add_books(books_by(visits_));
}

Result<void> Demo::add_books(std::uint64_t wanted) {
  if (wanted <= books_) {
    return {};
  }
  std::vector<ItemInput> items;
  for (; books_ < wanted; ++books_) {
    Book next = book(books_);
    taste_.emplace(next.title, next.taste);
    // What stands in the library already stays as it is.
    if (!engine_.item(kCollection, next.title).ok()) {
      items.push_back({.id = std::move(next.title),
                       .topics = {std::string(next.topic)},
                       .features = {},
                       .links = {}});
    }
  }
  if (items.empty()) {
    return {};
  }
  HINDSIGHT_RETURN_IF_ERROR(wait_for<ItemsReply>(
      [&](auto done) { engine_.add_items(kCollection, std::move(items), std::move(done)); }));
  return {};
}

std::optional<std::size_t> Demo::choose(const std::vector<RankedItem>& shown) {
  if (shown.empty() || readers_.uniform() >= kTakesOne) {
    return std::nullopt;
  }
  // A choice among what is shown: the greatest of taste + Gumbel noise is a draw of the softmax.
  std::size_t best = 0;
  double best_value = 0.0;
  for (std::size_t i = 0; i < shown.size(); ++i) {
    const auto known = taste_.find(shown[i].id);
    const double noise = -std::log(readers_.exponential() + 0x1p-60);
    const double value = (known == taste_.end() ? 0.0 : known->second) + noise;
    if (i == 0 || value > best_value) {
      best = i;
      best_value = value;
    }
  }
  return best;
}

Result<void> Demo::visit() {
  const std::string topic(kTopics[readers_.below(kTopics.size())]);
  RankInput input;
  input.query = topic;
  input.topic = topic;
  input.k = kShown;
  input.session = fmt::format("reader-{}", visits_);
  ++visits_;
  HINDSIGHT_ASSIGN_OR_RETURN(const RankReply list, wait_for<RankReply>([&](auto done) {
                               engine_.rank(kCollection, std::move(input), std::move(done));
                             }));
  if (const auto place = choose(list.items)) {
    std::vector<ClickInput> clicks = {
        {.decision = list.decision, .item = list.items[*place].id, .event = {}}};
    HINDSIGHT_RETURN_IF_ERROR(wait_for<ClicksReply>(
        [&](auto done) { engine_.click(kCollection, std::move(clicks), std::move(done)); }));
  }
  return add_books(books_by(visits_));
}

bool Demo::pause() {
  std::unique_lock lock(mutex_);
  stop_.wait_for(lock, visits_ < kCrowd ? kCrowdPause : kLaterPause, [this] { return stopping_; });
  return !stopping_;
}

void Demo::run(const std::function<void(std::string_view)>& warn) {
  while (pause()) {
    const Result<void> visited = visit();
    // A server that is too busy for its readers has them come again.
    if (!visited.ok() && visited.error().code != ErrorCode::kOverloaded) {
      warn("the demo's readers have stopped: " + to_string(visited.error()));
      return;
    }
  }
}

}  // namespace hindsight::cli
