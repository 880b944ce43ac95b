#include "bench/format.h"

#include <fmt/format.h>
#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

#include <cmath>
#include <optional>

namespace hindsight::bench {
namespace {

std::string format_time(double ns) {
  if (ns < 1e3) {
    return fmt::format("{:.0f} ns", ns);
  }
  return ns < 1e6 ? fmt::format("{:.2f} us", ns / 1e3) : fmt::format("{:.2f} ms", ns / 1e6);
}

std::string format_optional(const std::optional<double>& value) {
  if (!value) {
    return "";
  }
  return std::abs(*value) < 0.1 ? fmt::format("{:.4f}", *value) : fmt::format("{:.2f}", *value);
}

}  // namespace

std::string format_table(const std::vector<Row>& rows) {
  std::string text =
      fmt::format("{:<18}{:>10}{:>12}{:>10}{:>8}\n", "name", "n", "time", "ratio", "aim");
  for (const Row& row : rows) {
    text += fmt::format("{:<18}{:>10}{:>12}{:>10}{:>8}", row.name, row.n, format_time(row.ns),
                        format_optional(row.ratio), format_optional(row.aim));
    if (row.aim) {
      text += row.met() ? "  met" : "  missed";
    }
    text += '\n';
  }
  return text;
}

std::string format_json(const std::vector<Row>& rows) {
  rapidjson::StringBuffer buffer;
  rapidjson::Writer<rapidjson::StringBuffer> writer(buffer);
  const auto number = [&](const std::optional<double>& value) {
    value&& std::isfinite(*value) ? writer.Double(*value) : writer.Null();
  };
  writer.StartObject();
  writer.Key("benchmarks");
  writer.StartArray();
  for (const Row& row : rows) {
    writer.StartObject();
    writer.Key("name");
    writer.String(row.name.data(), static_cast<rapidjson::SizeType>(row.name.size()));
    writer.Key("n");
    writer.Uint64(row.n);
    writer.Key("ns");
    number(row.ns);
    writer.Key("ratio");
    number(row.ratio);
    writer.Key("aim");
    number(row.aim);
    writer.EndObject();
  }
  writer.EndArray();
  writer.EndObject();
  return {buffer.GetString(), buffer.GetSize()};
}

}  // namespace hindsight::bench
