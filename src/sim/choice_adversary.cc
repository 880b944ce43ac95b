#include "src/sim/choice_adversary.h"

#include <algorithm>
#include <array>
#include <functional>
#include <queue>
#include <string>
#include <utility>

#include "src/core/check.h"
#include "src/core/sum_tree.h"

namespace hindsight {
namespace {

/// A uniform subset of k of n (Floyd), in the order of drawing.
class Uniform final : public ChoiceAdversary {
 public:
  explicit Uniform(const ChoiceAdversaryParams& params) : params_(params) {}

  std::span<const std::uint32_t> choose(std::span<const double> /*counts*/, Rng& rng) override {
    chosen_.clear();
    for (std::uint32_t last = params_.items - params_.chosen; last < params_.items; ++last) {
      const auto drawn = static_cast<std::uint32_t>(rng.below(std::uint64_t{last} + 1));
      const bool taken = std::find(chosen_.begin(), chosen_.end(), drawn) != chosen_.end();
      chosen_.push_back(taken ? last : drawn);
    }
    return chosen_;
  }

 private:
  ChoiceAdversaryParams params_;
  std::vector<std::uint32_t> chosen_;
};

class Zipf final : public ChoiceAdversary {
 public:
  Zipf(const ChoiceAdversaryParams& params, bool turns) : params_(params), turns_(turns) {
    std::vector<float> weights(params.items);
    for (std::uint32_t i = 0; i < params.items; ++i) {
      weights[i] = 1.0F / static_cast<float>(i + 1);
    }
    Result<SumTree> tree = SumTree::build(weights);
    HINDSIGHT_CHECK(tree.ok());
    popularity_ = *std::move(tree);
  }

  std::span<const std::uint32_t> choose(std::span<const double> /*counts*/, Rng& rng) override {
    Result<DrawnList> drawn = popularity_.draw_top_k(params_.chosen, rng);
    HINDSIGHT_CHECK(drawn.ok());
    if (turns_ && ++round_ > params_.rounds / 2) {
      for (std::uint32_t& item : drawn->order) {
        item = params_.items - 1 - item;
      }
    }
    chosen_ = std::move(drawn->order);
    return chosen_;
  }

 private:
  ChoiceAdversaryParams params_;
  std::vector<std::uint32_t> chosen_;
  bool turns_;
  std::uint64_t round_ = 0;
  SumTree popularity_;
};

/// Items wait in a queue, the rarest first; counts only grow, so that an entry may be too low, and
/// is then put back where it belongs.
class Worst final : public ChoiceAdversary {
 public:
  explicit Worst(const ChoiceAdversaryParams& params) : params_(params) {
    for (std::uint32_t item = 0; item < params.items; ++item) {
      rarest_.push({0.0, item});
    }
  }

  std::span<const std::uint32_t> choose(std::span<const double> counts, Rng& /*rng*/) override {
    chosen_.clear();
    while (chosen_.size() < params_.chosen) {
      const auto [count, item] = rarest_.top();
      rarest_.pop();
      if (count == counts[item]) {
        chosen_.push_back(item);
      } else {
        rarest_.push({counts[item], item});
      }
    }
    for (const std::uint32_t item : chosen_) {
      rarest_.push({counts[item] + 1.0, item});
    }
    return chosen_;
  }

 private:
  using Entry = std::pair<double, std::uint32_t>;

  ChoiceAdversaryParams params_;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> rarest_;
  std::vector<std::uint32_t> chosen_;
};

constexpr std::array<std::string_view, 4> kNames = {"uniform", "zipf", "shifting", "worst"};

}  // namespace

std::span<const std::string_view> choice_adversary_names() { return kNames; }

Result<std::unique_ptr<ChoiceAdversary>> make_choice_adversary(
    std::string_view name, const ChoiceAdversaryParams& params) {
  if (params.chosen == 0 || params.chosen > params.items) {
    return Error{ErrorCode::kInvalidArgument,
                 "must lie between 1 and the number of items, " + std::to_string(params.items),
                 "k"};
  }
  using Made = std::unique_ptr<ChoiceAdversary>;
  if (name == "uniform") {
    return Made(std::make_unique<Uniform>(params));
  }
  if (name == "zipf" || name == "shifting") {
    return Made(std::make_unique<Zipf>(params, name == "shifting"));
  }
  if (name == "worst") {
    return Made(std::make_unique<Worst>(params));
  }
  return Error{ErrorCode::kUnknownName,
               "no such adversary; there are uniform, zipf, shifting, worst", "adversary"};
}

}  // namespace hindsight
