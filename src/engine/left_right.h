// LeftRight<T>: a value that is read without ever waiting while one writer changes it.
//
// There are two copies. Readers use the published one; the writer changes the other, publishes it,
// waits until the last reader has left the old one, and makes the same changes there (P. Ramalhete
// and A. Correia, "Left-Right: A Concurrency Control Technique with Wait-Free Population Oblivious
// Reads", 2015). A reader costs two atomic additions on a counter that it shares with few other
// threads.
//
// Thread-safety: read() from any thread; the writer's functions from one thread at a time.

#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <thread>
#include <utility>

namespace hindsight {

template <class T>
class LeftRight {
  /// Counts readers, spread over lines of cache so that cores do not fight for one.
  class Readers {
   public:
    std::atomic<std::int64_t>& mine() {
      static thread_local const std::size_t line =
          std::hash<std::thread::id>()(std::this_thread::get_id()) % kLines;
      return lines_[line].count;
    }
    bool none() const {
      for (const Line& line : lines_) {
        if (line.count.load() != 0) {
          return false;
        }
      }
      return true;
    }

   private:
    static constexpr std::size_t kLines = 16;
    struct alignas(64) Line {
      std::atomic<std::int64_t> count{0};
    };
    std::array<Line, kLines> lines_;
  };

 public:
  /// REQUIRES: both hold the same
  explicit LeftRight(std::array<std::unique_ptr<T>, 2> copies) : copies_(std::move(copies)) {}

  /// Holds the published copy; keep it for the time of one request.
  class Guard {
   public:
    Guard(const T* value, std::atomic<std::int64_t>* readers) : value_(value), readers_(readers) {}
    ~Guard() {
      if (readers_ != nullptr) {
        readers_->fetch_sub(1);
      }
    }
    Guard(Guard&& other) noexcept
        : value_(other.value_), readers_(std::exchange(other.readers_, nullptr)) {}
    Guard(const Guard&) = delete;
    Guard& operator=(const Guard&) = delete;
    Guard& operator=(Guard&&) = delete;

    const T& operator*() const { return *value_; }
    const T* operator->() const { return value_; }

   private:
    const T* value_;
    std::atomic<std::int64_t>* readers_;
  };

  Guard read() const {
    std::atomic<std::int64_t>& count = readers_[side_.load()].mine();
    count.fetch_add(1);
    return Guard(copies_[published_.load()].get(), &count);
  }

  // The writer.

  /// The copy that nobody reads.
  T& hidden() { return *copies_[1 - published_.load()]; }
  const T& hidden() const { return *copies_[1 - published_.load()]; }

  /// Shows readers what was hidden. The other copy may be changed once this returns: nobody reads
  /// it.
  void publish() {
    published_.store(1 - published_.load());
    const std::size_t old_side = side_.load();
    const std::size_t new_side = 1 - old_side;
    // New readers may still arrive on the old side until the next line but one; those that are on
    // the new side by now are left from the publication before.
    wait_until_empty(new_side);
    side_.store(new_side);
    wait_until_empty(old_side);
  }

  /// Puts another value in the place of the hidden copy.
  void replace_hidden(std::unique_ptr<T> value) {
    copies_[1 - published_.load()] = std::move(value);
  }

 private:
  void wait_until_empty(std::size_t side) const {
    for (int spin = 0; !readers_[side].none(); ++spin) {
      if (spin < 64) {
        std::this_thread::yield();
      } else {
        std::this_thread::sleep_for(std::chrono::microseconds(20));
      }
    }
  }

  std::array<std::unique_ptr<T>, 2> copies_;
  std::atomic<std::size_t> published_{0};
  std::atomic<std::size_t> side_{0};
  mutable std::array<Readers, 2> readers_;
};

}  // namespace hindsight
