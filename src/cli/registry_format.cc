#include "src/cli/registry_format.h"

#include <fmt/format.h>
#include <rapidjson/prettywriter.h>
#include <rapidjson/stringbuffer.h>

#include <cmath>
#include <limits>
#include <string_view>
#include <variant>

namespace hindsight::cli {
namespace {

constexpr std::size_t kColumns = 100;
constexpr std::size_t kLabelWidth = 14;

bool bounded(double limit) { return std::abs(limit) < std::numeric_limits<double>::max(); }

std::string_view learns_name(Learns learns) {
  return learns == Learns::kImmediate ? "immediate" : "on_close";
}

std::string_view learns_words(Learns learns) {
  return learns == Learns::kImmediate ? "from each click as it comes"
                                      : "when a decision's window has closed";
}

std::string_view law_name(ListLaw law) {
  switch (law) {
    case ListLaw::kWholeList:
      return "whole_list";
    case ListLaw::kFirstSlot:
      return "first_slot";
    case ListLaw::kNotStated:
      return "not_stated";
    case ListLaw::kDeterministic:
      break;
  }
  return "deterministic";
}

std::string_view law_words(ListLaw law) {
  switch (law) {
    case ListLaw::kWholeList:
      return "drawn as a whole";
    case ListLaw::kFirstSlot:
      return "first item drawn, the rest sorted";
    case ListLaw::kNotStated:
      return "drawn as a whole; its probability is not known";
    case ListLaw::kDeterministic:
      break;
  }
  return "sorted, ties drawn";
}

std::string_view type_name(const ParamSpec& spec) {
  if (std::holds_alternative<double>(spec.default_value)) {
    return spec.whole_number ? "integer" : "number";
  }
  return std::holds_alternative<bool>(spec.default_value) ? "switch" : "word";
}

/// "0 < alpha <= 100", "warm or cold", "true or false": what a value may be.
std::string range_words(const ParamSpec& spec) {
  if (std::holds_alternative<bool>(spec.default_value)) {
    return "true or false";
  }
  if (std::holds_alternative<std::string>(spec.default_value)) {
    return fmt::format("{}", fmt::join(spec.words, " or "));
  }
  std::string text(spec.name);
  if (bounded(spec.minimum)) {
    text = fmt::format("{:g} {} {}", spec.minimum, spec.minimum_excluded ? "<" : "<=", text);
  }
  if (bounded(spec.maximum)) {
    text += fmt::format(" <= {:g}", spec.maximum);
  }
  return text + (spec.whole_number ? ", whole" : "");
}

/// Appends "    label       text", the text broken between words and indented below itself.
void append_field(std::string& out, std::string_view label, std::string_view text) {
  const std::size_t indent = 4 + kLabelWidth + 1;
  out += fmt::format("    {:<{}} ", label, kLabelWidth);
  std::size_t column = std::max(indent, 4 + label.size() + 1);
  bool first = true;
  while (!text.empty()) {
    const std::size_t end = text.find(' ');
    const std::string_view word = text.substr(0, end);
    if (!first && column + 1 + word.size() > kColumns) {
      out += '\n';
      out.append(indent, ' ');
      column = indent;
    } else if (!first) {
      out += ' ';
      ++column;
    }
    out += word;
    column += word.size();
    first = false;
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
  }
  out += '\n';
}

using Json = rapidjson::PrettyWriter<rapidjson::StringBuffer>;

void write_string(Json& json, std::string_view text) {
  json.String(text.data(), static_cast<rapidjson::SizeType>(text.size()));
}

void write_pair(Json& json, const char* key, std::string_view text) {
  json.Key(key);
  write_string(json, text);
}

void write_bound(Json& json, const char* key, double limit) {
  json.Key(key);
  if (bounded(limit)) {
    json.Double(limit);
  } else {
    json.Null();
  }
}

void write_param(Json& json, const ParamSpec& spec) {
  json.StartObject();
  write_pair(json, "name", spec.name);
  write_pair(json, "type", type_name(spec));
  json.Key("default");
  if (const auto* number = std::get_if<double>(&spec.default_value)) {
    json.Double(*number);
    write_bound(json, "minimum", spec.minimum);
    json.Key("minimum_excluded");
    json.Bool(spec.minimum_excluded);
    write_bound(json, "maximum", spec.maximum);
  } else if (const auto* on = std::get_if<bool>(&spec.default_value)) {
    json.Bool(*on);
  } else {
    write_string(json, std::get<std::string>(spec.default_value));
    json.Key("words");
    json.StartArray();
    for (const std::string_view word : spec.words) {
      write_string(json, word);
    }
    json.EndArray();
  }
  write_pair(json, "help", spec.help);
  json.EndObject();
}

/// A cell of a markdown table must not hold its separator.
std::string cell(std::string_view text) {
  std::string out;
  for (const char c : text) {
    out += c == '|' ? "\\|" : std::string(1, c);
  }
  return out;
}

}  // namespace

std::string registry_as_text(std::span<const RankerInfo> rankers) {
  std::string out;
  for (const RankerInfo& info : rankers) {
    out += fmt::format("{}{}\n", out.empty() ? "" : "\n", info.name);
    append_field(out, "what", info.summary);
    append_field(out, "paper", info.paper);
    append_field(out, "guarantee", info.guarantee);
    append_field(out, "assumptions", info.assumptions);
    append_field(out, "learns", learns_words(info.learns));
    append_field(out, "list", law_words(info.law));
    for (const ParamSpec& spec : info.params) {
      append_field(
          out, spec.name,
          fmt::format("{} ({}): {}", to_string(spec.default_value), range_words(spec), spec.help));
    }
  }
  return out;
}

std::string registry_as_json(std::span<const RankerInfo> rankers) {
  rapidjson::StringBuffer buffer;
  Json json(buffer);
  json.SetIndent(' ', 2);
  json.StartObject();
  json.Key("rankers");
  json.StartArray();
  for (const RankerInfo& info : rankers) {
    json.StartObject();
    write_pair(json, "name", info.name);
    write_pair(json, "summary", info.summary);
    write_pair(json, "paper", info.paper);
    write_pair(json, "guarantee", info.guarantee);
    write_pair(json, "assumptions", info.assumptions);
    write_pair(json, "learns", learns_name(info.learns));
    write_pair(json, "law", law_name(info.law));
    json.Key("sublinear");
    json.Bool(info.sublinear);
    json.Key("params");
    json.StartArray();
    for (const ParamSpec& spec : info.params) {
      write_param(json, spec);
    }
    json.EndArray();
    json.EndObject();
  }
  json.EndArray();
  json.EndObject();
  return buffer.GetString() + std::string("\n");
}

std::string registry_as_markdown(std::span<const RankerInfo> rankers) {
  std::string out =
      "# Rankers\n\n"
      "Made from the registry (`src/rankers/registry.cc`) by `hindsight rankers --markdown`; a "
      "test "
      "holds the\ntwo together. The keys of the papers are in [references.md](references.md).\n\n"
      "| ranker | what it does | paper | list | learns |\n|---|---|---|---|---|\n";
  for (const RankerInfo& info : rankers) {
    out += fmt::format("| [`{0}`](#{0}) | {1} | {2} | {3} | {4} |\n", info.name, cell(info.summary),
                       cell(info.paper), law_words(info.law), learns_words(info.learns));
  }
  for (const RankerInfo& info : rankers) {
    out += fmt::format("\n## {}\n\n{}\n\n- Guarantee: {}\n- Assumptions: {}\n", info.name,
                       info.summary, info.guarantee, info.assumptions);
    if (info.params.empty()) {
      continue;
    }
    out += "\n| parameter | default | may be | meaning |\n|---|---|---|---|\n";
    for (const ParamSpec& spec : info.params) {
      out +=
          fmt::format("| `{}` | {} | {} | {} |\n", spec.name, cell(to_string(spec.default_value)),
                      cell(range_words(spec)), cell(spec.help));
    }
  }
  return out;
}

}  // namespace hindsight::cli
