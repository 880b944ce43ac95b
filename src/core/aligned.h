// AlignedVector: storage that starts on a cache line, and large storage on large pages.
//
// A group of sixteen floats is one cache line only if it starts on one; and random access to tens
// of megabytes on 4 KiB pages spends more time on the page tables than on the data.

#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <new>
#include <vector>

namespace hindsight {

template <class T>
struct AlignedAllocator {
  using value_type = T;

  AlignedAllocator() = default;
  template <class U>
  explicit AlignedAllocator(const AlignedAllocator<U>& /*other*/) {}

  T* allocate(std::size_t n) {
    const std::size_t bytes = n * sizeof(T);
    void* memory = ::operator new(bytes, alignment(bytes));
    if (bytes >= kLargePage) {
      // A hint; where it is refused, nothing changes but speed.
      (void)::madvise(memory, bytes, MADV_HUGEPAGE);
    }
    return static_cast<T*>(memory);
  }

  void deallocate(T* memory, std::size_t n) { ::operator delete(memory, alignment(n * sizeof(T))); }

  friend bool operator==(const AlignedAllocator&, const AlignedAllocator&) { return true; }

 private:
  static constexpr std::size_t kCacheLine = 64;
  static constexpr std::size_t kLargePage = std::size_t{1} << 21;
  static std::align_val_t alignment(std::size_t bytes) {
    return std::align_val_t{bytes >= kLargePage ? kLargePage : kCacheLine};
  }
};

template <class T>
using AlignedVector = std::vector<T, AlignedAllocator<T>>;

}  // namespace hindsight
