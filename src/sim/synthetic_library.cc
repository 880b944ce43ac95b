#include "src/sim/synthetic_library.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>
#include <vector>

#include "hindsight/random.h"
#include "src/core/check.h"
#include "src/core/det_math.h"

namespace hindsight {
namespace {

constexpr std::uint64_t kStream = 0x5379'6e74'6865'7469;  // apart from other uses of the seed
constexpr int kTries = 8;                                 // to find a paper that is not cited yet

/// Why the parameters cannot be used; empty where they can.
std::string_view objection(const SyntheticLibraryParams& params) {
  const auto within = [](double x, double low, double high) { return x >= low && x <= high; };
  if (params.papers < 1 || params.papers > 10'000'000) {
    return "papers must be 1 to 10,000,000";
  }
  if (params.topics < 1 || params.topics > params.papers) {
    return "topics must be 1 to the number of papers";
  }
  if (!within(params.topic_skew, 0.0, 10.0)) {
    return "topic_skew must be 0 to 10";
  }
  if (!within(params.citations_per_paper, 1e-3, 1000.0)) {
    return "citations_per_paper must be 0.001 to 1000";
  }
  if (!within(params.own_topic_share, 0.0, 1.0)) {
    return "own_topic_share must be 0 to 1";
  }
  if (!within(params.attractiveness, 1e-6, 1e6)) {
    return "attractiveness must be 0.000001 to 1,000,000";
  }
  if (!within(params.papers_per_year, 1.0, 1e7) || !within(params.yearly_growth, 1.0, 10.0)) {
    return "papers_per_year must be 1 to 10,000,000 and yearly_growth 1 to 10";
  }
  if (!within(params.change_at, 0.0, 1.0) || params.latest < 1) {
    return "change_at must be 0 to 1 and latest at least 1";
  }
  return {};
}

class Generator {
 public:
  Generator(const SyntheticLibraryParams& params, std::uint64_t seed)
      : params_(params), rng_(seed, kStream), papers_(params.topics), cited_(params.topics) {
    double total = 0.0;
    for (std::uint32_t topic = 0; topic < params.topics; ++topic) {
      total += det_exp(-params.topic_skew * det_log(topic + 1.0));
      cumulated_share_.push_back(total);
    }
  }

  GrowingLibrary make() {
    GrowingLibrary library;
    library.name = params_.change_at < 1.0 ? "synthetic-change" : "synthetic";
    double year_left = params_.papers_per_year;
    double year_size = params_.papers_per_year;
    std::int32_t year = params_.first_year;
    std::vector<std::uint32_t> number_of(params_.topics, kUnnumbered);
    for (ItemIndex paper = 0; paper < params_.papers; ++paper) {
      for (; year_left < 1.0; year_left += year_size) {
        ++year;
        year_size *= params_.yearly_growth;
      }
      year_left -= 1.0;
      changed_ = paper >= params_.change_at * params_.papers;
      const std::uint32_t topic = draw_topic();
      if (number_of[topic] == kUnnumbered) {  // topics are numbered by first arrival
        number_of[topic] = static_cast<std::uint32_t>(library.topics.size());
        library.topics.push_back(fmt::format("topic {}", topic + 1));
      }
      library.ids.push_back(fmt::format("p{}", paper + 1));
      library.years.push_back(year);
      library.topic_of.push_back(number_of[topic]);
      cite(topic, library.citations);
      papers_[topic].push_back(paper);
    }
    library.counts.paper_rows = library.size();
    library.counts.citation_rows = library.citations.values.size();
    return library;
  }

 private:
  static constexpr std::uint32_t kUnnumbered = 0xFFFFFFFF;

  std::uint32_t draw_topic() {
    const double at = rng_.uniform() * cumulated_share_.back();
    const auto found = std::upper_bound(cumulated_share_.begin(), cumulated_share_.end(), at);
    return static_cast<std::uint32_t>(
        std::min<std::ptrdiff_t>(found - cumulated_share_.begin(), params_.topics - 1));
  }

  /// A geometric number of the wanted mean.
  std::uint32_t draw_citation_count() {
    const double stay = params_.citations_per_paper / (1.0 + params_.citations_per_paper);
    return static_cast<std::uint32_t>(rng_.exponential() / -det_log(stay));
  }

  /// An earlier paper of the topic, in proportion to citations + attractiveness: a citation drawn
  /// at random names its paper in proportion to its citations.
  ItemIndex draw_paper(std::uint32_t topic) {
    const auto& papers = papers_[topic];
    if (changed_) {
      return papers[papers.size() - 1 -
                    rng_.below(std::min<std::size_t>(papers.size(), params_.latest))];
    }
    const auto& cited = cited_[topic];
    const double fresh = params_.attractiveness * static_cast<double>(papers.size());
    const double total = fresh + static_cast<double>(cited.size());
    return rng_.uniform() * total < fresh ? papers[rng_.below(papers.size())]
                                          : cited[rng_.below(cited.size())];
  }

  void cite(std::uint32_t own_topic, PackedLists& citations) {
    const std::size_t begin = citations.values.size();
    const std::uint32_t count = draw_citation_count();
    for (std::uint32_t i = 0; i < count; ++i) {
      const bool own = rng_.uniform() < params_.own_topic_share;
      const std::uint32_t topic = own ? own_topic : draw_topic();
      if (papers_[topic].empty()) {
        continue;
      }
      for (int attempt = 0; attempt < kTries; ++attempt) {
        const ItemIndex paper = draw_paper(topic);
        const auto first = citations.values.begin() + static_cast<std::ptrdiff_t>(begin);
        if (std::find(first, citations.values.end(), paper) == citations.values.end()) {
          citations.values.push_back(paper);
          cited_[topic].push_back(paper);
          break;
        }
      }
    }
    citations.close_list();
  }

  const SyntheticLibraryParams& params_;
  Rng rng_;
  bool changed_ = false;
  std::vector<double> cumulated_share_;
  std::vector<std::vector<ItemIndex>> papers_;  // of each topic
  std::vector<std::vector<ItemIndex>> cited_;   // of each topic, once per citation
};

}  // namespace

Result<GrowingLibrary> make_synthetic_library(const SyntheticLibraryParams& params,
                                              std::uint64_t seed) {
  if (const std::string_view reason = objection(params); !reason.empty()) {
    return Error{ErrorCode::kInvalidArgument, std::string(reason), "synthetic"};
  }
  return Generator(params, seed).make();
}

}  // namespace hindsight
