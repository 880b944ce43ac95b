#include "src/server/json_input.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <string>
#include <unordered_set>
#include <utility>

#include "hindsight/types.h"
#include "src/server/json_reader.h"

namespace hindsight {
namespace {

using namespace std::string_view_literals;  // NOLINT(google-build-using-namespace)

constexpr TextLimits kIdLimits = {.min_bytes = 1, .max_bytes = kMaxIdBytes};
constexpr TextLimits kOptionalIdLimits = {.min_bytes = 0, .max_bytes = kMaxIdBytes};
constexpr TextLimits kQueryLimits = {.max_bytes = kMaxTextBytes, .allow_controls = true};
/// In the order of OnUnknown.
constexpr std::array kOnUnknownWords = {"add"sv, "append"sv, "error"sv};
/// In the order of History.
constexpr std::array kHistoryWords = {"replay"sv, "discard"sv};

Result<void> read_string(JsonValue value, const Place& at, const TextLimits& limits,
                         std::string& out) {
  HINDSIGHT_ASSIGN_OR_RETURN(const std::string_view text, read_text(value, at, limits));
  out.assign(text);
  return {};
}

Result<void> read_strings(JsonValue value, const Place& at, const CountLimits& limits,
                          std::vector<std::string>& out) {
  HINDSIGHT_ASSIGN_OR_RETURN(const simdjson::dom::array array, read_array(value, at, limits));
  out.reserve(array.size());
  for (const JsonValue element : array) {
    HINDSIGHT_ASSIGN_OR_RETURN(const std::string_view text,
                               read_text(element, at.element(out.size()), kIdLimits));
    out.emplace_back(text);
  }
  return {};
}

/// The names of an object whose names are the caller's: as ids, and each once.
class NameCheck {
 public:
  explicit NameCheck(std::size_t count) {
    if (count > kFew) {
      many_.reserve(count);
    }
  }

  Result<void> add(std::string_view name, const Place& at) {
    HINDSIGHT_RETURN_IF_ERROR(check_text(name, at, kIdLimits));
    const bool repeated = few_count_ < kFew ? !add_few(name) : !add_many(name);
    if (repeated) {
      return repeated_field(at);
    }
    return {};
  }

 private:
  static constexpr std::size_t kFew = 16;

  bool add_few(std::string_view name) {
    const auto end = few_.begin() + few_count_;
    if (std::find(few_.begin(), end, name) != end) {
      return false;
    }
    few_[few_count_++] = name;
    if (few_count_ == kFew) {
      many_.insert(few_.begin(), few_.end());
    }
    return true;
  }
  bool add_many(std::string_view name) { return many_.insert(name).second; }

  std::array<std::string_view, kFew> few_ = {};  // most items have no more features than this
  std::size_t few_count_ = 0;
  std::unordered_set<std::string_view> many_;
};

Result<void> read_features(JsonValue value, const Place& at, NamedFeatures& out) {
  HINDSIGHT_ASSIGN_OR_RETURN(const simdjson::dom::object object,
                             read_map(value, at, {.maximum = kMaxFeaturesPerItem}));
  out.reserve(object.size());
  NameCheck names(object.size());
  for (const simdjson::dom::key_value_pair field : object) {
    const Place place = at.field(field.key);
    HINDSIGHT_RETURN_IF_ERROR(names.add(field.key, place));
    HINDSIGHT_ASSIGN_OR_RETURN(const double number, read_number(field.value, place));
    out.emplace_back(field.key, number);
  }
  return {};
}

Result<void> read_params(JsonValue value, const Place& at, ParamMap& out) {
  HINDSIGHT_ASSIGN_OR_RETURN(const simdjson::dom::object object,
                             read_map(value, at, {.maximum = kMaxParams}));
  NameCheck names(object.size());
  for (const simdjson::dom::key_value_pair field : object) {
    const Place place = at.field(field.key);
    HINDSIGHT_RETURN_IF_ERROR(names.add(field.key, place));
    ParamValue& param = out[std::string(field.key)];
    if (field.value.is_bool()) {
      HINDSIGHT_ASSIGN_OR_RETURN(param, read_flag(field.value, place));
    } else if (field.value.is_string()) {
      HINDSIGHT_ASSIGN_OR_RETURN(const std::string_view word,
                                 read_text(field.value, place, kOptionalIdLimits));
      param = std::string(word);
    } else if (field.value.is_number()) {
      HINDSIGHT_ASSIGN_OR_RETURN(param, read_number(field.value, place));
    } else {
      return wrong_type(field.value, place, "a number, a string, or true or false");
    }
  }
  return {};
}

// Candidates: "b1", or {"id":"b1","features":{…},"prior":0.5}.

enum CandidateField : std::size_t { kCandidateId, kCandidateFeatures, kCandidatePrior };
constexpr std::array kCandidateFields = {"id"sv, "features"sv, "prior"sv};

Result<void> read_candidate(JsonValue value, const Place& at, RankInput& input) {
  CandidateInput& candidate = input.candidates.emplace_back();
  if (value.is_string()) {
    return read_string(value, at, kIdLimits, candidate.id);
  }
  if (!value.is_object()) {
    return wrong_type(value, at, "an item's id or an object with one");
  }
  const auto each = [&](std::size_t field, JsonValue of, const Place& place) -> Result<void> {
    if (field == kCandidateId) {
      return read_string(of, place, kIdLimits, candidate.id);
    }
    if (field == kCandidateFeatures) {
      input.has_features = true;
      return read_features(of, place, candidate.features);
    }
    input.has_prior = true;
    HINDSIGHT_ASSIGN_OR_RETURN(
        candidate.prior, read_number(of, place, {.minimum = -kMaxPrior, .maximum = kMaxPrior}));
    return {};
  };
  HINDSIGHT_RETURN_IF_ERROR(read_fields(value, at, kCandidateFields, each));
  if (candidate.id.empty()) {
    return missing_field(at.field("id"));
  }
  return {};
}

Result<void> read_candidates(JsonValue value, const Place& at, RankInput& input) {
  HINDSIGHT_ASSIGN_OR_RETURN(const simdjson::dom::array array,
                             read_array(value, at, {.maximum = kMaxCandidates}));
  if (array.size() == 0) {
    return Error{ErrorCode::kEmptyCandidates,
                 "must name at least one item; leave it out to rank a topic or the whole library",
                 at.text()};
  }
  input.candidates.reserve(array.size());
  for (const JsonValue element : array) {
    HINDSIGHT_RETURN_IF_ERROR(read_candidate(element, at.element(input.candidates.size()), input));
  }
  return {};
}

Result<OnUnknown> read_on_unknown(JsonValue value, const Place& at) {
  HINDSIGHT_ASSIGN_OR_RETURN(const std::size_t index, read_word(value, at, kOnUnknownWords));
  return static_cast<OnUnknown>(index);
}

enum RankField : std::size_t {
  kRankQuery,
  kRankCandidates,
  kRankTopic,
  kRankK,
  kRankUser,
  kRankSession,
  kRankGroup,
  kRankContextKey,
  kRankOnUnknown,
  kRankDecision,
  kRankOffset,
};
constexpr std::array kRankFields = {"query"sv,      "candidates"sv, "topic"sv, "k"sv,
                                    "user"sv,       "session"sv,    "group"sv, "context_key"sv,
                                    "on_unknown"sv, "decision"sv,   "offset"sv};

Result<void> read_rank_field(std::size_t field, JsonValue value, const Place& at,
                             RankInput& input) {
  switch (field) {
    case kRankQuery:
      return read_string(value, at, kQueryLimits, input.query);
    case kRankCandidates:
      return read_candidates(value, at, input);
    case kRankTopic:
      return read_string(value, at, kIdLimits, input.topic);
    case kRankK: {
      HINDSIGHT_ASSIGN_OR_RETURN(input.k,
                                 read_whole(value, at, {.minimum = 1, .maximum = kMaxShown}));
      return {};
    }
    case kRankUser:
      return read_string(value, at, kOptionalIdLimits, input.user);
    case kRankSession:
      return read_string(value, at, kOptionalIdLimits, input.session);
    case kRankGroup:
      return read_string(value, at, kOptionalIdLimits, input.group);
    case kRankContextKey:
      return read_string(value, at, kOptionalIdLimits, input.context_key);
    case kRankOnUnknown: {
      HINDSIGHT_ASSIGN_OR_RETURN(input.on_unknown, read_on_unknown(value, at));
      return {};
    }
    case kRankDecision:
      return read_string(value, at, kIdLimits, input.decision);
    default: {
      HINDSIGHT_ASSIGN_OR_RETURN(input.offset, read_whole(value, at, {.maximum = kMaxCandidates}));
      return {};
    }
  }
}

constexpr std::uint32_t bit(std::size_t field) { return std::uint32_t{1} << field; }

/// Wishes that contradict each other.
Result<void> check_rank(std::uint32_t seen, const Place& at) {
  const auto given = [&](std::size_t field) { return (seen & bit(field)) != 0; };
  if (given(kRankCandidates) && given(kRankTopic)) {
    return invalid(at.field("topic"), "give candidates or a topic, not both");
  }
  if (given(kRankDecision) && (given(kRankCandidates) || given(kRankTopic))) {
    return invalid(at.field("decision"),
                   "a further page has the candidates of its first page; give none");
  }
  if (given(kRankDecision) != given(kRankOffset)) {
    return invalid(at.field(given(kRankOffset) ? "decision" : "offset"),
                   "a further page needs both decision and offset");
  }
  return {};
}

enum ClickField : std::size_t {
  kClickDecision,
  kClickItem,
  kClickEvent,
  kClickPosition,
  kClickRanking,
};
constexpr std::array kClickFields = {"decision"sv, "item"sv, "event"sv, "position"sv, "ranking"sv};

Result<void> read_ranking(JsonValue value, const Place& at, std::vector<std::string>& out) {
  HINDSIGHT_RETURN_IF_ERROR(read_strings(value, at, {.minimum = 1, .maximum = kMaxShown}, out));
  std::unordered_set<std::string_view> ids;
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (!ids.insert(out[i]).second) {
      return Error{ErrorCode::kDuplicateItem, "the same id stands here twice",
                   at.element(i).text()};
    }
  }
  return {};
}

Result<void> read_click_field(std::size_t field, JsonValue value, const Place& at,
                              ClickInput& click) {
  switch (field) {
    case kClickDecision:
      return read_string(value, at, kIdLimits, click.decision);
    case kClickItem:
      return read_string(value, at, kIdLimits, click.item);
    case kClickEvent:
      return read_string(value, at, kOptionalIdLimits, click.event);
    case kClickPosition: {
      HINDSIGHT_ASSIGN_OR_RETURN(const std::uint64_t position,
                                 read_whole(value, at, {.minimum = 1, .maximum = kMaxShown}));
      click.position = static_cast<std::uint32_t>(position);
      return {};
    }
    default:
      return read_ranking(value, at, click.ranking);
  }
}

Result<void> read_click(JsonValue value, const Place& at, ClickInput& click) {
  const auto each = [&](std::size_t field, JsonValue of, const Place& place) {
    return read_click_field(field, of, place, click);
  };
  HINDSIGHT_ASSIGN_OR_RETURN(const std::uint32_t seen, read_fields(value, at, kClickFields, each));
  if ((seen & bit(kClickDecision)) == 0) {
    return missing_field(at.field("decision"));
  }
  const std::uint32_t what = seen & (bit(kClickItem) | bit(kClickPosition) | bit(kClickRanking));
  if (what == 0) {
    return missing_field(at.field("item"));
  }
  if (!std::has_single_bit(what)) {
    return invalid(at, "give one of item, position and ranking");
  }
  return {};
}

enum ItemField : std::size_t { kItemId, kItemTopics, kItemFeatures, kItemLinks };
constexpr std::array kItemFields = {"id"sv, "topics"sv, "features"sv, "links"sv};

Result<void> read_item(JsonValue value, const Place& at, ItemInput& item) {
  const auto each = [&](std::size_t field, JsonValue of, const Place& place) {
    switch (field) {
      case kItemId:
        return read_string(of, place, kIdLimits, item.id);
      case kItemTopics:
        return read_strings(of, place, {.maximum = kMaxTopicsPerItem}, item.topics);
      case kItemFeatures:
        return read_features(of, place, item.features);
      default:
        return read_strings(of, place, {.maximum = kMaxLinksPerItem}, item.links);
    }
  };
  HINDSIGHT_RETURN_IF_ERROR(read_fields(value, at, kItemFields, each));
  if (item.id.empty()) {
    return missing_field(at.field("id"));
  }
  return {};
}

/// A body of one field that holds a list: {"clicks":[…]}.
template <class T, class ReadOne>
Result<std::vector<T>> read_list(std::string_view body, std::string_view name, std::size_t maximum,
                                 ReadOne read_one) {
  HINDSIGHT_ASSIGN_OR_RETURN(const JsonValue root, parse_json(body));
  std::vector<T> list;
  const auto each = [&](std::size_t, JsonValue value, const Place& at) -> Result<void> {
    HINDSIGHT_ASSIGN_OR_RETURN(const simdjson::dom::array array,
                               read_array(value, at, {.minimum = 1, .maximum = maximum}));
    list.resize(array.size());
    std::size_t index = 0;
    for (const JsonValue element : array) {
      HINDSIGHT_RETURN_IF_ERROR(read_one(element, at.element(index), list[index]));
      ++index;
    }
    return {};
  };
  const Place top;
  HINDSIGHT_ASSIGN_OR_RETURN(const std::uint32_t seen, read_fields(root, top, {&name, 1}, each));
  if (seen == 0) {
    return missing_field(top.field(name));
  }
  return list;
}

enum ConfigField : std::size_t {
  kConfigRanker,
  kConfigParams,
  kConfigSeed,
  kConfigWindow,
  kConfigOnUnknown,
  kConfigControl,
  kConfigLogQueries,
  kConfigLogCandidates,
  kConfigDecisionsBeforeReply,
  kConfigMaxOpen,
  kConfigMaxScan,
  kConfigMemoryBudget,
  kConfigRetainDays,
  kConfigHistory,
};
constexpr std::array kConfigFields = {
    "ranker"sv,         "params"sv,         "seed"sv,
    "window_seconds"sv, "on_unknown"sv,     "control"sv,
    "log_queries"sv,    "log_candidates"sv, "decisions_before_reply"sv,
    "max_open"sv,       "max_scan"sv,       "memory_budget"sv,
    "retain_days"sv,    "history"sv};

Result<void> read_whole_into(JsonValue value, const Place& at, const WholeLimits& limits,
                             std::optional<std::uint64_t>& out) {
  HINDSIGHT_ASSIGN_OR_RETURN(out, read_whole(value, at, limits));
  return {};
}

/// Texts, numbers and words of the configuration; its limits are in read_config_field.
Result<void> read_setting(std::size_t field, JsonValue value, const Place& at,
                          CollectionPatch& patch) {
  switch (field) {
    case kConfigRanker:
      return read_string(value, at, kIdLimits, patch.ranker.emplace());
    case kConfigParams:
      return read_params(value, at, patch.params.emplace());
    case kConfigWindow: {
      HINDSIGHT_ASSIGN_OR_RETURN(
          const double seconds,
          read_number(value, at, {.minimum = kMinWindowSeconds, .maximum = kMaxWindowSeconds}));
      patch.window_ms = std::llround(seconds * 1000.0);
      return {};
    }
    case kConfigOnUnknown: {
      HINDSIGHT_ASSIGN_OR_RETURN(patch.on_unknown, read_on_unknown(value, at));
      return {};
    }
    case kConfigControl: {
      HINDSIGHT_ASSIGN_OR_RETURN(patch.control,
                                 read_number(value, at, {.minimum = 0.0, .maximum = 1.0}));
      return {};
    }
    case kConfigLogQueries: {
      HINDSIGHT_ASSIGN_OR_RETURN(patch.log_queries, read_flag(value, at));
      return {};
    }
    case kConfigLogCandidates: {
      HINDSIGHT_ASSIGN_OR_RETURN(patch.log_candidates, read_flag(value, at));
      return {};
    }
    case kConfigDecisionsBeforeReply: {
      HINDSIGHT_ASSIGN_OR_RETURN(patch.decisions_before_reply, read_flag(value, at));
      return {};
    }
    default: {
      HINDSIGHT_ASSIGN_OR_RETURN(const std::size_t index, read_word(value, at, kHistoryWords));
      patch.history = static_cast<History>(index);
      return {};
    }
  }
}

Result<void> read_config_field(std::size_t field, JsonValue value, const Place& at,
                               CollectionPatch& patch) {
  switch (field) {
    case kConfigSeed:
      return read_whole_into(value, at, {}, patch.seed);
    case kConfigMaxOpen:
      return read_whole_into(value, at, {.minimum = 1, .maximum = kMaxOpenLimit}, patch.max_open);
    case kConfigMaxScan:
      return read_whole_into(value, at, {.minimum = 1, .maximum = kMaxScanLimit}, patch.max_scan);
    case kConfigMemoryBudget:
      return read_whole_into(value, at, {.minimum = kMinMemoryBudget, .maximum = kMaxMemoryBudget},
                             patch.memory_budget);
    case kConfigRetainDays: {
      HINDSIGHT_ASSIGN_OR_RETURN(const std::uint64_t days,
                                 read_whole(value, at, {.maximum = kMaxRetainDays}));
      patch.retain_days = static_cast<std::uint32_t>(days);
      return {};
    }
    default:
      return read_setting(field, value, at, patch);
  }
}

}  // namespace

Result<RankInput> parse_rank(std::string_view body) {
  HINDSIGHT_ASSIGN_OR_RETURN(const JsonValue root, parse_json(body));
  RankInput input;
  const Place top;
  const auto each = [&](std::size_t field, JsonValue value, const Place& at) {
    return read_rank_field(field, value, at, input);
  };
  HINDSIGHT_ASSIGN_OR_RETURN(const std::uint32_t seen, read_fields(root, top, kRankFields, each));
  HINDSIGHT_RETURN_IF_ERROR(check_rank(seen, top));
  return input;
}

Result<std::vector<ClickInput>> parse_clicks(std::string_view body) {
  return read_list<ClickInput>(body, "clicks", kMaxClicksPerCall, read_click);
}

Result<std::vector<ItemInput>> parse_items(std::string_view body) {
  return read_list<ItemInput>(body, "items", kMaxItemsPerCall, read_item);
}

Result<CollectionPatch> parse_collection(std::string_view body) {
  CollectionPatch patch;
  if (body.empty()) {
    return patch;
  }
  HINDSIGHT_ASSIGN_OR_RETURN(const JsonValue root, parse_json(body));
  const auto each = [&](std::size_t field, JsonValue value, const Place& at) {
    return read_config_field(field, value, at, patch);
  };
  HINDSIGHT_RETURN_IF_ERROR(read_fields(root, Place{}, kConfigFields, each));
  return patch;
}

Result<RankerChoice> parse_evaluation(std::string_view body) {
  static constexpr std::array kFields = {"ranker"sv, "params"sv};
  HINDSIGHT_ASSIGN_OR_RETURN(const JsonValue root, parse_json(body));
  RankerChoice choice;
  const auto each = [&](std::size_t field, JsonValue value, const Place& at) {
    return field == 0 ? read_string(value, at, kIdLimits, choice.ranker)
                      : read_params(value, at, choice.params);
  };
  const Place top;
  HINDSIGHT_RETURN_IF_ERROR(read_fields(root, top, kFields, each));
  if (choice.ranker.empty()) {
    return missing_field(top.field("ranker"));
  }
  return choice;
}

bool is_collection_name(std::string_view name) {
  const auto allowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
  };
  return !name.empty() && name.size() <= kMaxNameBytes &&
         std::all_of(name.begin(), name.end(), allowed);
}

Result<void> check_path_id(std::string_view id, std::string_view field) {
  const Place at = {.name = field};
  if (!simdjson::validate_utf8(id.data(), id.size())) {
    return invalid(at, "is not valid UTF-8");
  }
  return check_text(id, at, kIdLimits);
}

std::string_view on_unknown_name(OnUnknown value) {
  return kOnUnknownWords.at(static_cast<std::size_t>(value));
}

}  // namespace hindsight
