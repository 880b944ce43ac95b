// The bodies of answers, as docs/openapi.yaml describes them.
//
// Thread-safety: pure functions.

#pragma once

#include <span>
#include <string>
#include <vector>

#include "hindsight/registry.h"
#include "hindsight/result.h"
#include "src/engine/api.h"
#include "src/engine/evaluation.h"

namespace hindsight {

/// RETURNS: whether an error names files of the server, which are not for clients to know.
bool names_files(const Error& error);
/// What clients are told of an error: its message, or a sentence that names no files. The view is
/// good while the error is.
std::string_view public_message(const Error& error);
/// {"error":{"code","message","field"}}; the field only where there is one. Of an error that names
/// files there is a sentence without them.
std::string error_json(const Error& error);
/// Of errors that have no ErrorCode, because only the protocol knows them.
std::string error_json(std::string_view code, std::string_view message,
                       std::string_view field = {});

std::string collections_json(const std::vector<CollectionInfo>& collections);
std::string collection_json(const CollectionInfo& info);
/// The collection, and "outcome": created, changed or unchanged.
std::string put_json(const CollectionInfo& info, PutOutcome outcome);

std::string items_json(const ItemsReply& reply);
std::string item_json(const ItemView& item);
std::string explanation_json(const Explanation& explanation);
std::string item_page_json(const ItemPage& page);

std::string rank_json(const RankReply& reply);
std::string clicks_json(const ClicksReply& reply);
std::string decision_json(const DecisionView& decision);
std::string decisions_json(const std::vector<DecisionView>& decisions);
std::string erased_json(std::uint64_t events);

struct StatsFormat {
  bool arms = false;  // both sides of the comparison with the caller's own order
};
std::string stats_json(const CollectionStats& stats, const StatsFormat& format);

std::string history_json(const std::vector<CurvePoint>& points);

/// A job, with its result once it is done.
std::string evaluation_json(const EvaluationJob& job);

std::string rankers_json(std::span<const RankerInfo> rankers);

}  // namespace hindsight
