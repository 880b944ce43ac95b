#include "src/server/stats_stream.h"

#include <utility>

#include "src/core/check.h"
#include "src/server/json_output.h"

namespace hindsight {
namespace {

class StatsStream final : public HttpStream {
 public:
  explicit StatsStream(StatsStreamOptions options) : options_(std::move(options)) {}

  std::optional<std::string> next() override {
    if (!options_.allowed()) {
      return std::nullopt;
    }
    Result<std::string> stats = current_stats(options_.engine, options_.collection, false);
    if (!stats.ok()) {
      return std::nullopt;
    }
    if (*stats != last_) {
      last_ = *std::move(stats);
      quiet_periods_ = 0;
      return "event: stats\ndata: " + last_ + "\n\n";
    }
    if (++quiet_periods_ < options_.heartbeat_periods) {
      return std::string();
    }
    quiet_periods_ = 0;
    return std::string(": nothing new\n\n");
  }

 private:
  StatsStreamOptions options_;
  std::string last_;
  int quiet_periods_ = 0;
};

}  // namespace

std::unique_ptr<HttpStream> make_stats_stream(StatsStreamOptions options) {
  return std::make_unique<StatsStream>(std::move(options));
}

Result<std::string> current_stats(const Engine& engine, std::string_view collection,
                                  bool with_hash) {
  HINDSIGHT_ASSIGN_OR_RETURN(const CollectionInfo info, engine.collection(collection));
  HINDSIGHT_ASSIGN_OR_RETURN(const CollectionStats stats, engine.stats(collection, with_hash));
  const bool arms = info.config.control > 0.0 ||
                    stats.drawn_ranker_arm.decisions + stats.drawn_control_arm.decisions > 0;
  return stats_json(stats, {.arms = arms});
}

}  // namespace hindsight
