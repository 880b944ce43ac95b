#include "src/engine/click_sample.h"

#include <algorithm>
#include <cmath>

#include "hindsight/random.h"

namespace hindsight {
namespace {

std::uint64_t key_of(std::uint64_t seed, std::uint64_t click) {
  // No decision has a source of all ones: the keys have nothing to do with what was drawn.
  constexpr std::uint32_t kOurs = 0xFFFFFFFF;
  const auto block = philox4x32(
      {static_cast<std::uint32_t>(click), static_cast<std::uint32_t>(click >> 32), kOurs, kOurs},
      {static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)});
  return (std::uint64_t{block[0]} << 32) | block[1];
}

}  // namespace

bool smaller_key(const SampledClick& a, const SampledClick& b) {
  // A total order: equal keys are told apart by the number.
  return a.key != b.key ? a.key < b.key : a.click < b.click;
}

void ClickSample::add(std::uint64_t seed, Position decision, ItemIndex item, double learned_cost) {
  ++seen_;
  oldest_ = oldest_ == 0 ? decision : std::min(oldest_, decision);
  const SampledClick click{.key = key_of(seed, seen_),
                           .click = seen_,
                           .decision = decision,
                           .item = item,
                           .learned_cost = static_cast<float>(learned_cost)};
  if (clicks_.size() < kLimit) {
    clicks_.push_back(click);
    if (clicks_.size() == kLimit) {
      std::make_heap(clicks_.begin(), clicks_.end(), smaller_key);
    }
  } else if (smaller_key(click, clicks_.front())) {
    std::pop_heap(clicks_.begin(), clicks_.end(), smaller_key);
    clicks_.back() = click;
    std::push_heap(clicks_.begin(), clicks_.end(), smaller_key);
  }
}

void ClickSample::clear() { *this = ClickSample(); }

void ClickSample::save(ByteWriter& out) const {
  out.put(seen_);
  out.put(oldest_);
  out.put(static_cast<std::uint64_t>(clicks_.size()));
  for (const SampledClick& click : clicks_) {
    out.put(click.click);
    out.put(click.decision);
    out.put(click.item);
    out.put(click.learned_cost);
  }
}

bool ClickSample::load(ByteReader& in, std::uint64_t seed) {
  clear();
  std::uint64_t size = 0;
  in.get(seen_);
  in.get(oldest_);
  if (!in.get(size) || size != std::min<std::uint64_t>(seen_, kLimit)) {
    return false;
  }
  for (std::uint64_t i = 0; i < size; ++i) {
    SampledClick click;
    in.get(click.click);
    in.get(click.decision);
    in.get(click.item);
    if (!in.get(click.learned_cost) || !std::isfinite(click.learned_cost) || click.click == 0 ||
        click.click > seen_) {
      return false;
    }
    click.key = key_of(seed, click.click);
    clicks_.push_back(click);
  }
  return size < kLimit || std::is_heap(clicks_.begin(), clicks_.end(), smaller_key);
}

}  // namespace hindsight
