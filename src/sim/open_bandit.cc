#include "src/sim/open_bandit.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "src/core/check.h"
#include "src/sim/cell_number.h"

namespace hindsight {
namespace {

namespace fs = std::filesystem;

constexpr const char* kEndings[] = {".csv.zst", ".csv"};
constexpr std::uint32_t kMaxItems = 100'000;
constexpr std::uint32_t kMaxPositions = 100;

Error out_of_range(std::string_view column, std::string_view cell) {
  return {ErrorCode::kParse, fmt::format("'{}' cannot be a value of {}", cell, column), ""};
}

TableSpec spec_of(std::string name) {
  return {.name = std::move(name),
          .columns = {"item_id", "position", "click", "propensity_score"},
          .limits = {},
          .separator = ','};
}

RowSink sink_of(OpenBanditLog& log) {
  return [&log](std::span<const std::string_view> cells) -> Result<void> {
    const auto item = number_in<std::uint32_t>(cells[0], 0, kMaxItems - 1);
    const auto position = number_in<std::uint32_t>(cells[1], 1, kMaxPositions);
    const auto click = number_in<std::uint32_t>(cells[2], 0, 1);
    const auto propensity = number_in<double>(cells[3], 0.0, 1.0);
    if (!item) {
      return out_of_range("item_id", cells[0]);
    }
    if (!position) {
      return out_of_range("position", cells[1]);
    }
    if (!click) {
      return out_of_range("click", cells[2]);
    }
    if (!propensity || *propensity == 0.0) {  // what was shown cannot have been impossible
      return out_of_range("propensity_score", cells[3]);
    }
    log.rows.push_back({.item = *item,
                        .position = *position - 1,
                        .clicked = *click == 1,
                        .propensity = *propensity});
    log.items = std::max(log.items, *item + 1);
    log.positions = std::max(log.positions, *position);
    log.clicks += *click;
    return {};
  };
}

Result<OpenBanditLog> finished(OpenBanditLog log, const std::string& name) {
  if (log.rows.empty()) {
    return Error{ErrorCode::kInvalidArgument, "the log has no rows", name};
  }
  return log;
}

std::optional<fs::path> file_of(const fs::path& folder, const std::string& policy,
                                const std::string& campaign) {
  std::error_code ignored;
  std::string stem = policy;
  stem.append("_").append(campaign);
  for (const char* ending : kEndings) {
    fs::path path = folder / stem;
    path += ending;
    if (fs::exists(path, ignored)) {
      return path;
    }
  }
  return std::nullopt;
}

}  // namespace

Result<OpenBanditLog> parse_open_bandit(std::string_view text, TextEncoding encoding) {
  OpenBanditLog log;
  HINDSIGHT_RETURN_IF_ERROR(parse_table(text, encoding, spec_of("log"), sink_of(log)));
  return finished(std::move(log), "log");
}

Result<OpenBanditLog> read_open_bandit(const fs::path& folder, const std::string& policy,
                                       const std::string& campaign) {
  const std::optional<fs::path> path = file_of(folder, policy, campaign);
  if (!path) {
    return Error{ErrorCode::kInvalidArgument,
                 fmt::format("holds no {}_{}.csv or .csv.zst", policy, campaign), folder.string()};
  }
  OpenBanditLog log;
  log.campaign = campaign;
  log.policy = policy;
  HINDSIGHT_RETURN_IF_ERROR(read_table(*path, spec_of(path->string()), sink_of(log)));
  return finished(std::move(log), path->string());
}

std::vector<std::string> open_bandit_campaigns(const fs::path& folder) {
  constexpr std::string_view kFirst = "random_";
  std::vector<std::string> campaigns;
  std::error_code problem;
  for (fs::directory_iterator at(folder, problem), end; !problem && at != end;
       at.increment(problem)) {
    const std::string name = at->path().filename().string();
    for (const std::string_view ending : kEndings) {
      if (name.starts_with(kFirst) && name.ends_with(ending)) {
        const std::string campaign =
            name.substr(kFirst.size(), name.size() - kFirst.size() - ending.size());
        if (file_of(folder, "bts", campaign)) {
          campaigns.push_back(campaign);
        }
        break;
      }
    }
  }
  std::sort(campaigns.begin(), campaigns.end());
  campaigns.erase(std::unique(campaigns.begin(), campaigns.end()), campaigns.end());
  return campaigns;
}

}  // namespace hindsight
