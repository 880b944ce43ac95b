// Scratch: numbers that a function needs for itself, on the stack where they are few.
//
// A list of candidates is short in most requests; there an allocation costs more than the work.
//
// Thread-safety: none needed; a local value.

#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <type_traits>
#include <vector>

namespace hindsight {

/// n values, not set.
template <class T>
class Scratch {
  static_assert(std::is_trivial_v<T>);

 public:
  explicit Scratch(std::size_t n) : size_(n) {
    if (n > kFew) {
      many_.resize(n);
    }
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  std::span<T> values() { return {size_ > kFew ? many_.data() : few_.data(), size_}; }

 private:
  static constexpr std::size_t kFew = 64;

  std::size_t size_;
  std::array<T, kFew> few_;
  std::vector<T> many_;
};

}  // namespace hindsight
