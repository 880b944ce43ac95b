// Every reader of what a client sends: bodies, queries, paths. Whatever the bytes are, the answer
// is a value within its limits or an error in words that JSON can carry.

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "src/core/check.h"
#include "src/server/http.h"
#include "src/server/json_input.h"
#include "src/server/json_output.h"
#include "src/server/json_reader.h"
#include "src/server/query_params.h"
#include "src/server/routes.h"

namespace {

using namespace hindsight;  // NOLINT(google-build-using-namespace)

void check_id(std::string_view id) {
  HINDSIGHT_CHECK(!id.empty() && id.size() <= kMaxIdBytes);
  HINDSIGHT_CHECK(!has_controls(id));
  HINDSIGHT_CHECK(simdjson::validate_utf8(id.data(), id.size()));
}

void check_features(const NamedFeatures& features) {
  HINDSIGHT_CHECK(features.size() <= kMaxFeaturesPerItem);
  for (const auto& [name, value] : features) {
    check_id(name);
    HINDSIGHT_CHECK(std::isfinite(value));
  }
}

/// An error is a sentence, and its JSON can be read again.
void check_error(const Error& error) {
  HINDSIGHT_CHECK(!error.message.empty() && error.message.size() < 1000);
  HINDSIGHT_CHECK(error.field.size() < 1000);
  HINDSIGHT_CHECK(parse_json(error_json(error)).ok());
}

void fuzz_rank(std::string_view body) {
  const auto input = parse_rank(body);
  if (!input.ok()) {
    check_error(input.error());
    return;
  }
  HINDSIGHT_CHECK(input->k >= 1 && input->k <= kMaxShown);
  HINDSIGHT_CHECK(input->query.size() <= kMaxTextBytes);
  HINDSIGHT_CHECK(input->candidates.size() <= kMaxCandidates);
  HINDSIGHT_CHECK(input->candidates.empty() || input->topic.empty());
  for (const CandidateInput& candidate : input->candidates) {
    check_id(candidate.id);
    check_features(candidate.features);
    HINDSIGHT_CHECK(std::isfinite(candidate.prior));
  }
}

void fuzz_clicks(std::string_view body) {
  const auto clicks = parse_clicks(body);
  if (!clicks.ok()) {
    check_error(clicks.error());
    return;
  }
  HINDSIGHT_CHECK(!clicks->empty() && clicks->size() <= kMaxClicksPerCall);
  for (const ClickInput& click : *clicks) {
    check_id(click.decision);
    HINDSIGHT_CHECK((click.item.empty() ? 0 : 1) + (click.position == 0 ? 0 : 1) +
                        (click.ranking.empty() ? 0 : 1) ==
                    1);
    if (!click.item.empty()) {
      check_id(click.item);
    }
    for (const std::string& id : click.ranking) {
      check_id(id);
    }
    HINDSIGHT_CHECK(click.event.size() <= kMaxIdBytes);
  }
}

void fuzz_items(std::string_view body) {
  const auto items = parse_items(body);
  if (!items.ok()) {
    check_error(items.error());
    return;
  }
  HINDSIGHT_CHECK(!items->empty() && items->size() <= kMaxItemsPerCall);
  for (const ItemInput& item : *items) {
    check_id(item.id);
    check_features(item.features);
    for (const std::string& topic : item.topics) {
      check_id(topic);
    }
    for (const std::string& link : item.links) {
      check_id(link);
    }
  }
}

void fuzz_collection(std::string_view body) {
  const auto patch = parse_collection(body);
  if (!patch.ok()) {
    check_error(patch.error());
    return;
  }
  HINDSIGHT_CHECK(!patch->control || (*patch->control >= 0.0 && *patch->control <= 1.0));
  HINDSIGHT_CHECK(!patch->window_ms || *patch->window_ms >= 1);
}

void fuzz_target(std::string_view text) {
  const std::size_t mark = text.find('?');
  const RouteMatch match = match_route("GET", text.substr(0, mark));
  HINDSIGHT_CHECK(match.route == nullptr || match.known_path);
  HINDSIGHT_CHECK(match.known_path == !allowed_methods(text.substr(0, mark)).empty());
  if (match.route != nullptr && !match.id.empty()) {
    if (check_path_id(match.id, "id").ok()) {
      check_id(match.id);
    }
  }
  constexpr std::string_view kKnown[] = {"cursor", "limit"};
  const auto values =
      parse_query(mark == std::string_view::npos ? "" : text.substr(mark + 1), kKnown);
  if (!values.ok()) {
    check_error(values.error());
  } else if ((*values)[1]) {
    const auto limit = whole_param(*(*values)[1], "limit", 1, 1000);
    HINDSIGHT_CHECK(!limit.ok() || (*limit >= 1 && *limit <= 1000));
  }
}

}  // namespace

/// The first byte says who reads the rest.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) {
    return 0;
  }
  const std::string_view text(reinterpret_cast<const char*>(data + 1), size - 1);
  switch (data[0] % 5) {
    case 0:
      fuzz_rank(text);
      break;
    case 1:
      fuzz_clicks(text);
      break;
    case 2:
      fuzz_items(text);
      break;
    case 3:
      fuzz_collection(text);
      break;
    default:
      fuzz_target(text);
      break;
  }
  return 0;
}
