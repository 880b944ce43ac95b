// State: purity, determinism, save and load.

#include <algorithm>
#include <thread>

#include "hindsight/registry.h"
#include "src/core/bytes.h"
#include "src/core/kernels.h"
#include "tests/support/conformance.h"
#include "tests/support/world.h"

namespace hindsight::testing {
namespace {

constexpr std::size_t kSteps = 60;

/// One of many different requests over the live items.
struct Question {
  std::vector<ItemIndex> candidates;
  Request request = {};

  Question(const World& world, std::uint64_t number) : candidates(world.live()) {
    std::rotate(candidates.begin(),
                candidates.begin() + static_cast<std::ptrdiff_t>(number % candidates.size()),
                candidates.end());
    candidates.resize(std::max<std::size_t>(2, candidates.size() - number % 3));
    request.decision = {.source = 77, .counter = number};
    request.candidates = candidates;
    request.k = 2 + number % (candidates.size() - 1);
  }
  Question(const Question&) = delete;
  Question& operator=(const Question&) = delete;
};

Result<Decision> ask(const Ranker& ranker, const World& world, std::uint64_t number) {
  const Question question(world, number);
  Rng rng = Rng::for_decision(5, question.request.decision);
  return ranker.rank(question.request, world.signals(), rng);
}

/// RETURNS: how the answers to the same question differ; empty: not at all.
std::string compare(const Result<Decision>& a, const Result<Decision>& b) {
  if (!a.ok() || !b.ok()) {
    return "a valid request was refused: " + to_string(a.ok() ? b.error() : a.error());
  }
  return difference(*a, *b);
}

}  // namespace

Verdict check_rank_is_pure(const Subject& subject, std::uint64_t seed) {
  const auto ranker = subject.make();
  World world = life_of(subject, seed);
  for (int round = 0; round < 4; ++round) {
    if (std::string trouble = world.run(*ranker, kSteps / 4); !trouble.empty()) {
      return trouble;
    }
    const auto before = saved(*ranker);
    const auto first = ask(*ranker, world, 0);
    for (std::uint64_t number = 1; number < 8; ++number) {
      static_cast<void>(ask(*ranker, world, number));
    }
    if (saved(*ranker) != before) {
      return "the saved state is another after ranking";
    }
    if (std::string what = compare(first, ask(*ranker, world, 0)); !what.empty()) {
      return "the same request with the same random numbers was answered twice differently: " +
             what;
    }
  }
  return {};
}

Verdict check_concurrent_ranks(const Subject& subject, std::uint64_t seed) {
  const auto ranker = subject.make();
  World world = life_of(subject, seed);
  if (std::string trouble = world.run(*ranker, kSteps); !trouble.empty()) {
    return trouble;
  }
  constexpr std::uint64_t kQuestions = 50;
  constexpr std::size_t kThreads = 3;
  std::vector<std::vector<Result<Decision>>> answers(kThreads);
  std::vector<std::thread> threads;
  for (auto& mine : answers) {
    threads.emplace_back([&ranker, &world, &mine] {
      for (std::uint64_t number = 0; number < kQuestions; ++number) {
        mine.push_back(ask(*ranker, world, number));
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  for (std::uint64_t number = 0; number < kQuestions; ++number) {
    const auto alone = ask(*ranker, world, number);
    for (const auto& mine : answers) {
      if (std::string what = compare(alone, mine[number]); !what.empty()) {
        return "a thread got another answer than a lone caller: " + what;
      }
    }
  }
  return {};
}

Verdict check_same_bits(const Subject& subject, std::uint64_t seed) {
  const auto life = [&subject, seed](std::vector<std::string>& story) -> std::string {
    const auto ranker = subject.make();
    World world = life_of(subject, seed, 40);
    for (std::size_t step = 0; step < 2 * kSteps; ++step) {
      const StepOutcome outcome = world.step(*ranker);
      if (!outcome.trouble.empty()) {
        return outcome.trouble;
      }
      if (outcome.decision) {
        std::string list;
        for (const ItemIndex item : outcome.decision->items) {
          list += std::to_string(item) + " ";
        }
        story.push_back(list);
      }
      story.push_back(model_hash(*ranker));
    }
    return {};
  };
  std::vector<std::string> reference;
  if (std::string trouble = life(reference); !trouble.empty()) {
    return trouble;
  }
  Verdict verdict;
  for (const std::int64_t target : simd_targets()) {
    restrict_simd_target_for_test(target);
    std::vector<std::string> story;
    if (std::string trouble = life(story); !trouble.empty()) {
      verdict = trouble;
    } else if (story != reference) {
      verdict = std::string("another life on ") + simd_target_name(target);
    }
  }
  restrict_simd_target_for_test(0);
  return verdict;
}

Verdict check_save_load_continue(const Subject& subject, std::uint64_t seed) {
  constexpr std::size_t kCuts = 25;
  constexpr std::size_t kAhead = 12;
  const auto original = subject.make();
  World world = life_of(subject, seed);
  for (std::size_t cut = 0; cut < kCuts; ++cut) {
    const auto copy = reloaded(subject, *original);
    if (copy == nullptr) {
      return "its own save was refused";
    }
    if (model_hash(*copy) != model_hash(*original)) {
      return "the loaded model has another hash";
    }
    World other = world;
    for (std::size_t i = 0; i < kAhead + cut % 3; ++i) {
      const StepOutcome expected = world.step(*original);
      const StepOutcome outcome = other.step(*copy);
      if (!expected.trouble.empty() || !outcome.trouble.empty()) {
        return expected.trouble + outcome.trouble;
      }
      if (outcome.decision.has_value() != expected.decision.has_value()) {
        return "the loaded model goes on differently";
      }
      if (outcome.decision) {
        if (std::string what = difference(*expected.decision, *outcome.decision); !what.empty()) {
          return "the loaded model ranks differently: " + what;
        }
      }
      if (model_hash(*copy) != model_hash(*original)) {
        return "the loaded model learns differently";
      }
    }
  }
  return {};
}

Verdict check_damaged_saves(const Subject& subject, std::uint64_t seed) {
  const auto ranker = subject.make();
  World world = life_of(subject, seed);
  if (std::string trouble = world.run(*ranker, kSteps / 2); !trouble.empty()) {
    return trouble;
  }
  auto bytes = saved(*ranker);
  const auto refused = [&subject](std::span<const std::byte> damaged) {
    const auto victim = subject.make();
    ByteReader in(damaged);
    const auto result = victim->load(in);
    return !result.ok() && result.error().code == ErrorCode::kCorrupt;
  };
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    if (!refused(std::span(bytes).first(size))) {
      return "a save cut to " + std::to_string(size) + " of " + std::to_string(bytes.size()) +
             " bytes was not refused as corrupt";
    }
  }
  bytes.push_back(std::byte{0});
  return refused(bytes) ? Verdict() : "a save with a byte too many was not refused as corrupt";
}

}  // namespace hindsight::testing
