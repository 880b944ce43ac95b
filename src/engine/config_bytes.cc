#include "src/engine/config_bytes.h"

#include <utility>

#include "hindsight/registry.h"

namespace hindsight {
namespace {

void put_params(ByteWriter& out, const ParamMap& params) {
  out.put(static_cast<std::uint32_t>(params.size()));
  for (const auto& [name, value] : params) {
    out.put(std::string_view(name));
    out.put(static_cast<std::uint8_t>(value.index()));
    if (const double* number = std::get_if<double>(&value)) {
      out.put(*number);
    } else if (const std::string* word = std::get_if<std::string>(&value)) {
      out.put(std::string_view(*word));
    } else {
      out.put(std::get<bool>(value));
    }
  }
}

bool get_params(ByteReader& in, ParamMap& params) {
  std::uint32_t count = 0;
  in.get(count);
  for (std::uint32_t i = 0; i < count && in.ok(); ++i) {
    std::string name;
    std::uint8_t kind = 0;
    in.get(name);
    in.get(kind);
    ParamValue value;
    if (kind == 0) {
      in.get(value.emplace<double>());
    } else if (kind == 1) {
      in.get(value.emplace<std::string>());
    } else if (kind == 2) {
      in.get(value.emplace<bool>());
    } else {
      return false;
    }
    params.insert_or_assign(std::move(name), std::move(value));
  }
  return in.ok();
}

// One byte of switches. The second is turned round, so that bytes written before it was there say
// what has become its default.
constexpr std::uint8_t kLogsQueries = 1;
constexpr std::uint8_t kLeavesOutCandidates = 2;

std::uint8_t switches(const CollectionConfig& config) {
  return static_cast<std::uint8_t>((config.log_queries ? kLogsQueries : 0) |
                                   (config.log_candidates ? 0 : kLeavesOutCandidates));
}

}  // namespace

void put_config(ByteWriter& out, const CollectionConfig& config) {
  out.put(std::string_view(config.ranker));
  put_params(out, config.params);
  out.put(config.seed);
  out.put(config.window_ms);
  out.put(static_cast<std::uint8_t>(config.on_unknown));
  out.put(config.control);
  out.put(switches(config));
  out.put(config.decisions_before_reply);
  out.put(config.max_open);
  out.put(config.max_scan);
  out.put(config.memory_budget);
  out.put(config.retain_days);
}

namespace {

/// A ranker may have got parameters since this was written: they have their defaults, here and in
/// everything that is compared with it. What the registry does not take is refused where it is
/// used.
void complete(CollectionConfig& config) {
  if (const auto row = find_ranker(config.ranker); row.ok()) {
    if (auto params = check_params(**row, config.params); params.ok()) {
      config.params = *std::move(params);
    }
  }
}

}  // namespace

bool get_config(ByteReader& in, CollectionConfig& config) {
  std::uint8_t on_unknown = 0;
  std::uint8_t switched = 0;
  in.get(config.ranker);
  if (!get_params(in, config.params)) {
    return false;
  }
  in.get(config.seed);
  in.get(config.window_ms);
  in.get(on_unknown);
  in.get(config.control);
  in.get(switched);
  in.get(config.decisions_before_reply);
  in.get(config.max_open);
  in.get(config.max_scan);
  in.get(config.memory_budget);
  in.get(config.retain_days);
  complete(config);
  config.log_queries = (switched & kLogsQueries) != 0;
  config.log_candidates = (switched & kLeavesOutCandidates) == 0;
  config.on_unknown = static_cast<OnUnknown>(on_unknown);
  return in.ok() && switched <= (kLogsQueries | kLeavesOutCandidates) &&
         on_unknown <= static_cast<std::uint8_t>(OnUnknown::kError);
}

}  // namespace hindsight
