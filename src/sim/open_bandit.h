// The Open Bandit Dataset: what a fashion shop showed at three places of a page, chosen by one of
// two policies with known probabilities, and what was clicked ([Saito20]).
//
// A folder holds {random,bts}_{CAMPAIGN}.csv (or .csv.zst), one row per place that was filled. The
// columns `item_id`, `position` (1, 2, 3), `click` (0, 1) and `propensity_score` are read; others
// do no harm.
//
// Thread-safety: functions of their arguments and of the files.

#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "hindsight/result.h"
#include "src/sim/table_reader.h"

namespace hindsight {

struct OpenBanditRow {
  std::uint32_t item = 0;
  std::uint32_t position = 0;  // from 0
  bool clicked = false;
  double propensity = 0.0;  // that the policy put this item here, in (0, 1]
};

/// The log of one policy in one campaign.
struct OpenBanditLog {
  std::string campaign;
  std::string policy;
  std::uint32_t items = 0;      // numbered from 0
  std::uint32_t positions = 0;  // likewise
  std::uint64_t clicks = 0;
  std::vector<OpenBanditRow> rows;
};

/// FAILS: kInvalidArgument (no such file, or none with rows), kParse (a number out of range),
/// kCorrupt, kTooLarge, kIo
Result<OpenBanditLog> read_open_bandit(const std::filesystem::path& folder,
                                       const std::string& policy, const std::string& campaign);

/// The same from a table in memory. FAILS: likewise
Result<OpenBanditLog> parse_open_bandit(std::string_view text,
                                        TextEncoding encoding = TextEncoding::kPlain);

/// RETURNS: the campaigns of which both policies' logs are there, in the order of their names.
std::vector<std::string> open_bandit_campaigns(const std::filesystem::path& folder);

}  // namespace hindsight
