#include "src/sim/replay.h"

#include <algorithm>

#include "hindsight/signals.h"
#include "src/core/check.h"

namespace hindsight {
namespace {

constexpr std::int64_t kQueryMs = 1000;
constexpr std::uint64_t kProgressStride = 256;

/// The state of one run.
class Run {
 public:
  Run(const LibraryStream& stream, Ranker& ranker, const ReplayOptions& options)
      : stream_(stream),
        ranker_(ranker),
        options_(options),
        judge_(std::min(options.max_queries, stream.prefix.queries.size()), options.curve_points) {
    item_.resize(1);
    feedback_.clicked.resize(1);
  }

  Result<ReplayResult> all() {
    const std::size_t count = judge_.query_count();
    for (std::size_t i = 0; i < count; ++i) {
      HINDSIGHT_RETURN_IF_ERROR(grow(stream_.visits[i].items_there));
      HINDSIGHT_RETURN_IF_ERROR(query(i));
      const std::uint64_t done = i + 1;
      if (options_.progress && (done % kProgressStride == 0 || done == count)) {
        options_.progress(done - reported_);
        reported_ = done;
      }
    }
    return std::move(judge_).result();
  }

 private:
  Result<void> grow(std::size_t items_there) {
    for (std::size_t index = ranker_.items_added(); index < items_there; ++index) {
      const auto links = stream_.links[index];
      item_[0].index = static_cast<ItemIndex>(index);
      item_[0].links.assign(links.begin(), links.end());
      HINDSIGHT_RETURN_IF_ERROR(ranker_.add_items(item_));
      signals_.item_added(item_[0].index, now_ms_);
      signals_.set_links(item_[0].index, links);
    }
    return {};
  }

  Result<void> query(std::size_t i) {
    const PrefixQuery& query = stream_.prefix.queries[i];
    const Visit& visit = stream_.visits[i];
    const ItemIndex pick = stream_.prefix.pick(query);
    now_ms_ += kQueryMs;
    Request request;
    request.decision = {0, i + 1};
    request.time_ms = now_ms_;
    request.candidates = stream_.prefix.candidates(query);
    request.k = request.candidates.size();
    request.session = visit.session;
    request.group = visit.group;
    Rng rng = Rng::for_decision(options_.seed, request.decision);
    HINDSIGHT_ASSIGN_OR_RETURN(const Decision decision, ranker_.rank(request, signals_, rng));
    judge_.judge(decision, pick);

    feedback_.decision = request.decision;
    feedback_.time_ms = now_ms_;
    feedback_.clicked[0] = pick;
    HINDSIGHT_RETURN_IF_ERROR(ranker_.learn(decision, feedback_, signals_));
    signals_.picked(pick, now_ms_, visit.session, visit.group);
    judge_.learned(ranker_.regret());
    return {};
  }

  const LibraryStream& stream_;
  Ranker& ranker_;
  const ReplayOptions& options_;
  Judge judge_;
  Signals signals_;
  std::vector<Item> item_;  // one, kept for its memory
  Feedback feedback_;
  std::int64_t now_ms_ = 0;
  std::uint64_t reported_ = 0;
};

}  // namespace

Result<ReplayResult> replay(const LibraryStream& stream, Ranker& ranker,
                            const ReplayOptions& options) {
  HINDSIGHT_CHECK(ranker.items_added() == 0);
  return Run(stream, ranker, options).all();
}

}  // namespace hindsight
