#include "hindsight/registry.h"

#include <array>
#include <charconv>
#include <cmath>

#include "src/core/check.h"
#include "src/rankers/auto_ranker.h"
#include "src/rankers/cascade_linear.h"
#include "src/rankers/category_ranking.h"
#include "src/rankers/duel_ranker.h"
#include "src/rankers/feature_klrank.h"
#include "src/rankers/fpl.h"
#include "src/rankers/hits.h"
#include "src/rankers/klrank.h"
#include "src/rankers/mcrank.h"
#include "src/rankers/online_ranknet.h"
#include "src/rankers/onlinerank.h"
#include "src/rankers/pagerank.h"
#include "src/rankers/pdgd.h"
#include "src/rankers/random_ranker.h"
#include "src/rankers/recurrank.h"
#include "src/rankers/toprank.h"

namespace hindsight {

// The one table. A new ranker is a header, a source, a test and a row here.
std::span<const RankerInfo> ranker_registry() {
  static const std::vector<RankerInfo> table = {
      auto_info(),
      feature_klrank_info(),
      klrank_info(),
      noregret_klrank_info(),
      greedy_klrank_info(),
      online_ranknet_info(),
      category_ranking_info(),
      hits_info(),
      pagerank_info(),
      mcrank_info(),
      random_info(),
      onlinerank_info(),
      dbgd_info(),
      mgd_info(),
      pdgd_info(),
      recurrank_info(),
      cascade_linucb_info(),
      cascade_lints_info(),
      toprank_info(),
      fpl_info(),
  };
  return table;
}

namespace {

std::string number_text(double value) {
  std::array<char, 64> buffer{};
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value);
  return {buffer.data(), end.ptr};
}

Error out_of_range(const ParamSpec& spec) {
  return {ErrorCode::kInvalidArgument,
          std::string("must be a ") + (spec.whole_number ? "whole " : "") + "number " +
              (spec.minimum_excluded ? "above " : "of at least ") + number_text(spec.minimum) +
              " and at most " + number_text(spec.maximum),
          std::string(spec.name)};
}

Result<void> check_value(const ParamSpec& spec, const ParamValue& value) {
  const std::string field(spec.name);
  if (value.index() != spec.default_value.index()) {
    constexpr const char* kKinds[] = {"a number", "a word", "true or false"};
    return Error{ErrorCode::kInvalidArgument,
                 std::string("must be ") + kKinds[spec.default_value.index()], field};
  }
  if (const double* x = std::get_if<double>(&value)) {
    if (!std::isfinite(*x)) {
      return Error{ErrorCode::kNotFinite, "must be a finite number", field};
    }
    const bool low = spec.minimum_excluded ? *x <= spec.minimum : *x < spec.minimum;
    if (low || *x > spec.maximum || (spec.whole_number && *x != std::floor(*x))) {
      return out_of_range(spec);
    }
  }
  if (const std::string* text = std::get_if<std::string>(&value)) {
    std::string allowed;
    for (const std::string_view candidate : spec.words) {
      if (*text == candidate) {
        return {};
      }
      allowed += (allowed.empty() ? "" : ", ") + std::string(candidate);
    }
    return Error{ErrorCode::kInvalidArgument, "must be one of: " + allowed, field};
  }
  return {};
}

}  // namespace

std::string to_string(const ParamValue& value) {
  if (const double* x = std::get_if<double>(&value)) {
    return number_text(*x);
  }
  if (const bool* b = std::get_if<bool>(&value)) {
    return *b ? "true" : "false";
  }
  return std::get<std::string>(value);
}

Result<const RankerInfo*> find_ranker(std::string_view name) {
  std::string known;
  for (const RankerInfo& info : ranker_registry()) {
    if (info.name == name) {
      return &info;
    }
    known += (known.empty() ? "" : ", ") + std::string(info.name);
  }
  return Error{ErrorCode::kUnknownName,
               "there is no ranker '" + std::string(name) + "'; there are: " + known, "ranker"};
}

Result<ParamMap> check_params(const RankerInfo& info, const ParamMap& given) {
  ParamMap complete;
  for (const ParamSpec& spec : info.params) {
    const auto found = given.find(spec.name);
    const ParamValue& value = found == given.end() ? spec.default_value : found->second;
    HINDSIGHT_RETURN_IF_ERROR(check_value(spec, value));
    complete.emplace(spec.name, value);
  }
  for (const auto& [name, value] : given) {
    if (complete.find(name) == complete.end()) {
      return Error{
          ErrorCode::kUnknownName,
          std::string(info.name) + " has no parameter of this name; see `hindsight rankers`", name};
    }
  }
  return complete;
}

Result<std::unique_ptr<Ranker>> make_ranker(std::string_view name, const ParamMap& params) {
  HINDSIGHT_ASSIGN_OR_RETURN(const RankerInfo* info, find_ranker(name));
  HINDSIGHT_ASSIGN_OR_RETURN(ParamMap complete, check_params(*info, params));
  HINDSIGHT_ASSIGN_OR_RETURN(std::unique_ptr<Ranker> ranker, info->make(complete));
  ranker->name_ = info->name;
  ranker->params_ = std::move(complete);
  return ranker;
}

}  // namespace hindsight
