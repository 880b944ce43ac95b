#include "src/rankers/toprank.h"

#include <algorithm>
#include <limits>
#include <map>
#include <vector>

#include "src/core/bytes.h"
#include "src/core/check.h"
#include "src/core/det_math.h"
#include "src/core/top_rank.h"
#include "src/rankers/scored_ranker.h"

namespace hindsight {
namespace {

constexpr const char* kName = "toprank";

/// Beyond these places of a list levels are not remembered, and nothing is learned.
constexpr std::size_t kMaxLevels = 2'000;

/// What a decision must remember: whether all items were candidates, and in which blocks they were.
struct Memory {
  bool whole = false;
  std::uint64_t version = 0;
  std::vector<std::uint16_t> levels = {};  // of the shown items
};

std::vector<std::byte> write_aux(const Memory& memory) {
  ByteWriter out;
  out.put(memory.whole);
  out.put(memory.version);
  out.put(memory.levels);
  return out.take();
}

/// FAILS: kInvalidArgument (bytes that no decision of this ranker has)
Result<Memory> read_aux(const Decision& decision) {
  Memory memory;
  ByteReader in(decision.aux);
  in.get(memory.whole);
  in.get(memory.version);
  in.get(memory.levels);
  if (!in.ok() || in.left() > 0 ||
      memory.levels.size() != std::min(decision.shown_count, kMaxLevels)) {
    return Error{ErrorCode::kInvalidArgument, "this is not a decision of toprank", "decision.aux"};
  }
  return memory;
}

class TopRankRanker final : public Ranker {
 public:
  explicit TopRankRanker(std::uint64_t horizon) : machine_(horizon) {}

  Description describe() const override {
    return {{"items", std::to_string(items_live())},
            {"lists learned", std::to_string(learned_)},
            {"blocks", std::to_string(machine_.blocks().size())},
            {"pairs known", std::to_string(machine_.relations())}};
  }
  /// Blocks from the top down: the first has 0.
  std::size_t memory_bytes() const override {
    return Ranker::memory_bytes() + machine_.memory_bytes();
  }
  double item_score(ItemIndex item) const override {
    return -static_cast<double>(machine_.level(item));
  }

 protected:
  Result<Decision> do_rank(const Request& request, const Signals& /*signals*/,
                           Rng& rng) const override {
    HINDSIGHT_RETURN_IF_ERROR(check_size());
    Decision decision;
    decision.ranker = kName;
    decision.shown_count = request.k;
    Memory memory{.whole = request.candidates.size() == items_live(),
                  .version = machine_.version()};
    const Sizes sizes = sizes_of(request.candidates);
    if (memory.whole) {
      machine_.draw(request.k, rng, decision.items);
    } else {
      decision.items = draw_some(request, rng);
    }
    for (const ItemIndex item : decision.items) {
      decision.score.push_back(item_score(item));
      decision.prob_first.push_back(first_probability(item, sizes));
      if (memory.levels.size() < kMaxLevels) {
        memory.levels.push_back(machine_.level(item));
      }
    }
    decision.log_propensity = log_probability(decision.items, sizes);
    decision.aux = write_aux(memory);
    return decision;
  }

  Result<ListProbability> do_list_probability(const Request& request, const Signals& /*signals*/,
                                              std::span<const std::uint32_t> order) const override {
    HINDSIGHT_RETURN_IF_ERROR(check_size());
    const Sizes sizes = sizes_of(request.candidates);
    std::vector<ItemIndex> list;
    for (const std::uint32_t i : order) {
      list.push_back(request.candidates[i]);
    }
    return ListProbability{.first = first_probability(list.front(), sizes),
                           .log_list = log_probability(list, sizes)};
  }

  Result<LearnReport> do_learn(const Decision& decision, const Feedback& feedback,
                               const Signals& /*signals*/) override {
    const auto clicks = static_cast<std::uint32_t>(feedback.clicked.size());
    if (decision.ranker != kName) {
      return LearnReport{.ignored = clicks};
    }
    HINDSIGHT_ASSIGN_OR_RETURN(const Memory memory, read_aux(decision));
    if (!feedback.closed || !check_size().ok()) {  // what is not clicked yet may still be
      return LearnReport{.ignored = clicks};
    }
    std::vector<ItemIndex> clicked;
    for (const ItemIndex item : feedback.clicked) {
      if (is_live(item)) {
        clicked.push_back(item);
      }
    }
    if (memory.whole && memory.version == machine_.version()) {
      machine_.learn(clicked);
    } else {
      learn_shown(decision, memory, clicked);
    }
    machine_.settle();
    count_up(learned_);
    return LearnReport{.learned = static_cast<std::uint32_t>(clicked.size()),
                       .ignored = clicks - static_cast<std::uint32_t>(clicked.size())};
  }

  void do_add_items(std::span<const Item> /*items*/) override {
    if (items_added() > machine_.size()) {
      machine_.grow(items_added());
    }
  }
  void do_remove_items(std::span<const ItemIndex> items) override {
    for (const ItemIndex item : items) {
      machine_.remove(item);
    }
  }
  void do_save(ByteWriter& out) const override {
    machine_.save(out);
    out.put(learned_);
  }
  Result<void> do_load(ByteReader& in) override {
    HINDSIGHT_RETURN_IF_ERROR(machine_.load(in));
    in.get(learned_);
    HINDSIGHT_RETURN_IF_ERROR(in.check("wins"));
    bool fits = machine_.size() == items_added() && learned_ <= kMaxCount;
    for (std::size_t i = 0; fits && i < items_added(); ++i) {
      const auto item = static_cast<ItemIndex>(i);
      fits = (machine_.level(item) != TopRank::kGone) == is_live(item);
    }
    return fits ? Result<void>()
                : Error{ErrorCode::kCorrupt, "the saved wins do not fit the items", "wins"};
  }

 private:
  /// FAILS: kTooLarge
  Result<void> check_size() const {
    if (items_added() > TopRank::kMaxItems) {
      return Error{ErrorCode::kTooLarge,
                   "toprank compares every pair of items, and has seen more than 20000 of them",
                   "candidates"};
    }
    return {};
  }

  /// How many of the candidates are in each block, the best block first.
  using Sizes = std::map<std::uint16_t, std::size_t>;

  Sizes sizes_of(std::span<const ItemIndex> candidates) const {
    Sizes sizes;
    for (const ItemIndex item : candidates) {
      ++sizes[machine_.level(item)];
    }
    return sizes;
  }
  double first_probability(ItemIndex item, const Sizes& sizes) const {
    const auto& [best, size] = *sizes.begin();
    return machine_.level(item) == best ? 1.0 / static_cast<double>(size) : 0.0;
  }
  /// Every order inside a block is equally likely; -infinity where the blocks are not in order.
  double log_probability(std::span<const ItemIndex> list, const Sizes& sizes) const {
    double log_prob = 0.0;
    auto block = sizes.begin();
    std::size_t taken = 0;
    for (const ItemIndex item : list) {
      if (taken == block->second) {
        ++block;
        taken = 0;
      }
      if (machine_.level(item) != block->first) {
        return -std::numeric_limits<double>::infinity();
      }
      log_prob -= det_log(static_cast<double>(block->second - taken++));
    }
    return std::min(log_prob, 0.0);
  }
  /// A list of some of the items: by block, and inside a block at random.
  std::vector<ItemIndex> draw_some(const Request& request, Rng& rng) const {
    std::vector<ItemIndex> items(request.candidates.begin(), request.candidates.end());
    for (std::size_t i = items.size(); i > 1; --i) {
      std::swap(items[i - 1], items[rng.below(i)]);
    }
    std::stable_sort(items.begin(), items.end(), [this](ItemIndex a, ItemIndex b) {
      return machine_.level(a) < machine_.level(b);
    });
    items.resize(request.k);
    return items;
  }

  /// Shown items that were in one block, and still are.
  void learn_shown(const Decision& decision, const Memory& memory,
                   std::span<const ItemIndex> clicked) {
    const auto shown = decision.shown().first(memory.levels.size());
    for (const ItemIndex winner : clicked) {
      const std::size_t at = place_of(decision, winner);
      for (std::size_t i = 0; i < shown.size() && at < memory.levels.size(); ++i) {
        const ItemIndex loser = shown[i];
        const bool lost = std::find(clicked.begin(), clicked.end(), loser) == clicked.end();
        if (lost && is_live(loser) && memory.levels[i] == memory.levels[at] &&
            machine_.level(loser) == machine_.level(winner)) {
          machine_.learn_pair(winner, loser);
        }
      }
    }
  }

  TopRank machine_;
  std::uint64_t learned_ = 0;
};

}  // namespace

RankerInfo toprank_info() {
  return {.name = kName,
          .summary = "TopRank: items that are surely clicked less often go to a lower block",
          .paper = "[Lattimore18] Algorithm 1",
          .guarantee =
              "expected regret of O(sqrt(K^3 L T log T)) clicks against the most "
              "attractive items in their order, after a horizon known beforehand",
          .assumptions =
              "of two items in a list the more attractive one is clicked more often when "
              "they are exchanged; one order for all queries; every item is a candidate",
          .learns = Learns::kOnClose,
          .law = ListLaw::kDeterministic,
          .params = {{.name = "horizon",
                      .default_value = 1e6,
                      .help = "T: number of rounds to come; mistakes are made with probability "
                              "1 / sqrt T",
                      .minimum = 1.0,
                      .maximum = 1e15,
                      .whole_number = true}},
          .make = [](const ParamMap& params) -> Result<std::unique_ptr<Ranker>> {
            return std::unique_ptr<Ranker>(std::make_unique<TopRankRanker>(
                static_cast<std::uint64_t>(number(params, "horizon"))));
          }};
}

}  // namespace hindsight
