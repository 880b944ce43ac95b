#include "src/server/metrics.h"

#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdio>
#include <sstream>
#include <vector>

#include "src/server/access.h"
#include "src/server/audit.h"
#include "src/server/fair_share.h"
#include "src/server/http_server.h"
#include "src/server/tls.h"

namespace hindsight {
namespace {

using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;

/// The statuses that this server sends; anything else is counted under the last.
constexpr std::array kStatuses = {200, 201, 204, 400, 401, 403, 404, 405,
                                  409, 413, 415, 429, 500, 503, 507, 0};

/// Counted from the start, from 0: a counter that begins at 1 hides its first failure, for what
/// looks at it sees no rise.
constexpr std::array kAlarming = {500, 507};

std::size_t status_index(int status) {
  std::size_t index = 0;
  while (index + 1 < kStatuses.size() && kStatuses.at(index) != status) {
    ++index;
  }
  return index;
}

/// From 10 microseconds to 10 seconds.
const prometheus::Histogram::BucketBoundaries& latency_buckets() {
  static const prometheus::Histogram::BucketBoundaries buckets = {
      1e-5, 2e-5, 5e-5, 1e-4, 2e-4, 5e-4, 1e-3, 2e-3, 5e-3, 1e-2, 2e-2, 5e-2, 0.1, 0.5, 1, 10};
  return buckets;
}

/// In the order of Refusal.
constexpr std::array<const char*, 8> kRefusals = {"address_rate",    "key_rate", "publishable_rate",
                                                  "collection_rate", "waiting",  "bodies",
                                                  "clicks",          "behind"};

ClientMetric value_of(double value, bool counter) {
  ClientMetric metric;
  (counter ? metric.counter.value : metric.gauge.value) = value;
  return metric;
}

double resident_bytes() {
  std::FILE* file = std::fopen("/proc/self/statm", "r");
  if (file == nullptr) {
    return 0.0;
  }
  unsigned long total = 0;
  unsigned long resident = 0;
  const int read = std::fscanf(file, "%lu %lu", &total, &resident);  // NOLINT(cert-err34-c)
  std::fclose(file);
  return read == 2 ? static_cast<double>(resident) * static_cast<double>(sysconf(_SC_PAGESIZE))
                   : 0.0;
}

/// Families that are made anew for each reading, since collections come and go.
class CollectionFamilies {
 public:
  void add(const std::string& name, const CollectionStats& stats) {
    gauge(kPosition, name, stats.position);
    gauge(kLag, name, stats.head >= stats.position ? stats.head - stats.position : 0);
    gauge(kMemory, name, stats.memory_bytes);
    gauge(kItems, name, stats.items);
    gauge(kOpen, name, stats.open_decisions);
    gauge(kEra, name, stats.era);
    gauge(kBuildFailed, name, stats.build_error ? 1 : 0);
    add_costs(name, stats);
    add_arms(name, stats);
    counter(kDecisions, {{"collection", name}}, stats.decisions);
    counter(kLost, {{"collection", name}}, stats.lost_decisions);
    const std::pair<const char*, std::uint64_t> outcomes[] = {
        {"pending", stats.clicks.pending},     {"learned", stats.clicks.learned},
        {"duplicate", stats.clicks.duplicate}, {"late", stats.clicks.late},
        {"unjoined", stats.clicks.unjoined},   {"quarantined", stats.clicks.quarantined},
    };
    for (const auto& [outcome, count] : outcomes) {
      // Pending goes down as clicks are learned, so the family as a whole is a gauge.
      gauge_of(kClicks, {{"collection", name}, {"outcome", outcome}}, count);
    }
  }
  const std::vector<MetricFamily>& families() const { return families_; }

 private:
  enum Which : std::size_t {
    kPosition,
    kLag,
    kMemory,
    kItems,
    kOpen,
    kDecisions,
    kLost,
    kClicks,
    kEra,
    kBuildFailed,
    kCost,
    kRegret,
    kBound,
    kClickRate,
    kRegretError,
    kRegretSample,
    kRegretClicks,
    kArmDecisions,
    kArmClicked,
    kArmClicks,
    kArmFirstClicks
  };

  void add_costs(const std::string& name, const CollectionStats& stats) {
    if (!stats.regret) {
      return;
    }
    const auto of_kind = [&](Which which, const char* kind, double value) {
      gauge_of(which, {{"collection", name}, {"kind", kind}, {"choice_set", stats.choice_set}},
               value);
    };
    const auto plain = [&](Which which, auto value) {
      gauge_of(which, {{"collection", name}, {"choice_set", stats.choice_set}}, value);
    };
    if (stats.era_arm.decisions > 0) {
      plain(kClickRate, static_cast<double>(stats.era_arm.clicked) /
                            static_cast<double>(stats.era_arm.decisions));
    }
    of_kind(kCost, "learned", stats.regret->learned_cost);
    of_kind(kCost, "served", stats.regret->served_cost);
    of_kind(kBound, "theorem", stats.regret->theorem_bound);
    of_kind(kBound, "data", stats.regret->data_bound);
    if (stats.measured && stats.measured->regret()) {
      of_kind(kCost, "hindsight", stats.measured->hindsight->cost);
      plain(kRegret, *stats.measured->regret());
      plain(kRegretError, stats.measured->hindsight->error);
      plain(kRegretSample, stats.measured->hindsight->sample);
      plain(kRegretClicks, stats.measured->cost->clicks);
    }
  }

  void add_arms(const std::string& name, const CollectionStats& stats) {
    if (stats.drawn_ranker_arm.decisions + stats.drawn_control_arm.decisions == 0) {
      return;
    }
    const std::pair<const char*, const ArmStats&> arms[] = {{"ranker", stats.drawn_ranker_arm},
                                                            {"control", stats.drawn_control_arm}};
    for (const auto& [arm, counts] : arms) {
      const std::vector<ClientMetric::Label> labels = {{"collection", name}, {"arm", arm}};
      counter(kArmDecisions, labels, counts.decisions);
      counter(kArmClicked, labels, counts.clicked);
      counter(kArmClicks, labels, counts.clicks);
      counter(kArmFirstClicks, labels, counts.first_clicks);
    }
  }

  template <class Number>
  void gauge_of(Which which, std::vector<ClientMetric::Label> labels, Number value) {
    ClientMetric metric;
    metric.label = std::move(labels);
    metric.gauge.value = static_cast<double>(value);
    families_.at(which).metric.push_back(std::move(metric));
  }
  void gauge(Which which, const std::string& collection, std::uint64_t value) {
    gauge_of(which, {{"collection", collection}}, value);
  }
  void counter(Which which, std::vector<ClientMetric::Label> labels, std::uint64_t value) {
    ClientMetric metric;
    metric.label = std::move(labels);
    metric.counter.value = static_cast<double>(value);
    families_.at(which).metric.push_back(std::move(metric));
  }

  /// In the order of Which.
  std::vector<MetricFamily> families_ = {
      {"hindsight_log_position", "Position of the last event in the model", MetricType::Gauge, {}},
      {"hindsight_learning_lag",
       "Log positions between the last durable event and the model",
       MetricType::Gauge,
       {}},
      {"hindsight_memory_bytes", "Estimated memory of the collection", MetricType::Gauge, {}},
      {"hindsight_items", "Items in the library", MetricType::Gauge, {}},
      {"hindsight_open_decisions", "Decisions that wait for clicks", MetricType::Gauge, {}},
      {"hindsight_decisions_total", "Decisions in the log", MetricType::Counter, {}},
      {"hindsight_lost_decisions_total",
       "Lists whose decision the log did not take; their clicks will be unjoined",
       MetricType::Counter,
       {}},
      {"hindsight_clicks",
       "Clicks by outcome; their sum is what was received",
       MetricType::Gauge,
       {}},
      {"hindsight_era", "How many times the ranker was changed", MetricType::Gauge, {}},
      {"hindsight_build_failed",
       "Whether the chosen ranker could not learn the history, and the one before it serves",
       MetricType::Gauge,
       {}},
      {"hindsight_kl_cost",
       "K-L cost of the era's clicks, when learned, as served, and of the best fixed policy as of "
       "the last measurement",
       MetricType::Gauge,
       {}},
      {"hindsight_regret",
       "Cost when learned minus that of the best fixed policy, as of the last measurement",
       MetricType::Gauge,
       {}},
      {"hindsight_regret_bound",
       "What the regret cannot exceed, by theorem and with the steps that occurred",
       MetricType::Gauge,
       {}},
      {"hindsight_click_rate",
       "Share of the ranker's decisions of the era that got a click",
       MetricType::Gauge,
       {}},
      {"hindsight_regret_error",
       "How far the regret may be off, 95% of the sampling or what the solver left open",
       MetricType::Gauge,
       {}},
      {"hindsight_regret_sample",
       "Clicks that the last measurement looked at; fewer than hindsight_regret_clicks: a sample",
       MetricType::Gauge,
       {}},
      {"hindsight_regret_clicks", "Clicks that the last measurement is of", MetricType::Gauge, {}},
      {"hindsight_arm_decisions_total",
       "Lists that were drawn for the arm: the ranker's or the caller's own order",
       MetricType::Counter,
       {}},
      {"hindsight_arm_clicked_total", "Of these, lists with a click", MetricType::Counter, {}},
      {"hindsight_arm_clicks_total", "Clicks on these lists", MetricType::Counter, {}},
      {"hindsight_arm_first_clicks_total",
       "Of these clicks, those on the first item",
       MetricType::Counter,
       {}},
  };
};

}  // namespace

class ApiMetrics::Impl {
 public:
  explicit Impl(std::string_view version)
      : requests_(prometheus::BuildCounter()
                      .Name("hindsight_requests_total")
                      .Help("Requests by route and status")
                      .Register(registry_)),
        memory_(prometheus::BuildGauge()
                    .Name("process_resident_memory_bytes")
                    .Help("Memory of the process")
                    .Register(registry_)
                    .Add({})) {
    prometheus::BuildGauge()
        .Name("hindsight_build_info")
        .Help("The version that runs")
        .Register(registry_)
        .Add({{"version", std::string(version)}})
        .Set(1.0);
    auto& latencies = prometheus::BuildHistogram()
                          .Name("hindsight_request_seconds")
                          .Help("Time to answer, by route")
                          .Register(registry_);
    for (const Route& route : route_table()) {
      rows_.push_back(std::make_unique<Row>());
      rows_.back()->labels = {{"method", std::string(route.method)},
                              {"route", std::string(route.pattern)}};
      rows_.back()->latency = &latencies.Add(rows_.back()->labels, latency_buckets());
    }
    rows_.push_back(std::make_unique<Row>());
    rows_.back()->labels = {{"method", "other"}, {"route", "none"}};
    rows_.back()->latency = &latencies.Add(rows_.back()->labels, latency_buckets());
    for (const auto& row : rows_) {
      for (const int status : kAlarming) {
        counter_of(*row, status);
      }
    }
    auto& refusals = prometheus::BuildCounter()
                         .Name("hindsight_refused_total")
                         .Help("Requests refused that might be served at another time, by reason")
                         .Register(registry_);
    for (const char* reason : kRefusals) {
      refusals_.push_back(&refusals.Add({{"reason", reason}}));
    }
  }

  void count_refusal(Refusal reason) {
    refusals_.at(static_cast<std::size_t>(reason))->Increment();
  }

  void watch(WatchedParts parts) { parts_ = std::move(parts); }

  /// What others count, as it is now.
  std::vector<MetricFamily> watched(const Engine& engine) const {
    std::vector<MetricFamily> all;
    const auto add = [&all](const char* name, const char* help, double value, bool counter) {
      all.push_back({name,
                     help,
                     counter ? MetricType::Counter : MetricType::Gauge,
                     {value_of(value, counter)}});
    };
    const auto number = [](const auto& counter) { return static_cast<double>(counter.load()); };
    add("hindsight_ready", "Whether the log takes events, as /readyz says",
        engine.failure() ? 0.0 : 1.0, false);
    if (parts_.server != nullptr) {
      add("hindsight_connections", "Clients connected", number(parts_.server->connections), false);
      add("hindsight_handshakes", "TLS handshakes under way", number(parts_.server->handshakes),
          false);
      add("hindsight_waiting_requests", "Requests that wait for their turn",
          number(parts_.server->waiting), false);
      add("hindsight_body_bytes", "Bytes of bodies, and of long answers, under way",
          number(parts_.server->body_bytes), false);
      add("hindsight_refused_answers_total", "Answers that found no memory, and became a 503",
          number(parts_.server->refused_answers), true);
      add("hindsight_turned_away_total", "Connections beyond max_connections",
          number(parts_.server->turned_away), true);
      add("hindsight_given_up_total",
          "Connections without a request under way that made room for others",
          number(parts_.server->given_up), true);
      add("hindsight_handshakes_failed_total", "TLS handshakes that came to nothing",
          number(parts_.server->handshakes_failed), true);
      add("hindsight_handshakes_total", "TLS handshakes that ended, whatever came of them",
          number(parts_.server->handshakes_ended), true);
    }
    if (parts_.tls != nullptr) {
      const CertificateStatus certificate = parts_.tls->status();
      add("hindsight_certificate_not_after_seconds",
          "The last moment of the certificate in force, as unix time",
          static_cast<double>(certificate.not_after_s), false);
      add("hindsight_certificate_unusable",
          "Whether the certificate and key on the disk cannot be used in place of those in force",
          certificate.unusable ? 1.0 : 0.0, false);
    }
    if (parts_.waiting != nullptr) {
      add("hindsight_waiting_clicks", "Clicks, about, that wait for the log",
          static_cast<double>(parts_.waiting->taken()), false);
    }
    if (parts_.audit != nullptr) {
      add("hindsight_audit_lines_total", "Lines written to the audit log",
          static_cast<double>(parts_.audit->written()), true);
      add("hindsight_audit_failures_total", "Lines that the audit log misses",
          static_cast<double>(parts_.audit->failed()), true);
    }
    return all;
  }

  void count(const Route* route, int status, double seconds) {
    Row& row = *rows_[route == nullptr ? rows_.size() - 1 : route_index(*route)];
    counter_of(row, status).Increment();
    row.latency->Observe(seconds);
  }

  std::vector<MetricFamily> collect() const {
    memory_.Set(resident_bytes());
    return registry_.Collect();
  }

 private:
  struct Row {
    prometheus::Labels labels;
    std::array<std::atomic<prometheus::Counter*>, kStatuses.size()> counters = {};
    prometheus::Histogram* latency = nullptr;
  };

  prometheus::Counter& counter_of(Row& row, int status) {
    std::atomic<prometheus::Counter*>& slot = row.counters.at(status_index(status));
    prometheus::Counter* counter = slot.load(std::memory_order_acquire);
    if (counter == nullptr) {
      // The first of its kind. Two threads that come here at once get the same counter.
      prometheus::Labels labels = row.labels;
      labels["status"] = std::to_string(status);
      counter = &requests_.Add(labels);
      slot.store(counter, std::memory_order_release);
    }
    return *counter;
  }

  prometheus::Registry registry_;
  prometheus::Family<prometheus::Counter>& requests_;
  prometheus::Gauge& memory_;
  std::vector<std::unique_ptr<Row>> rows_;      // one per route, and one for all other paths
  std::vector<prometheus::Counter*> refusals_;  // in the order of Refusal
  WatchedParts parts_;
};

ApiMetrics::ApiMetrics(std::string_view version) : impl_(std::make_unique<Impl>(version)) {}
ApiMetrics::~ApiMetrics() = default;

void ApiMetrics::count(const Route* route, int status, double seconds) {
  impl_->count(route, status, seconds);
}

void ApiMetrics::count_refusal(Refusal reason) { impl_->count_refusal(reason); }

void ApiMetrics::watch(WatchedParts parts) { impl_->watch(std::move(parts)); }

std::string ApiMetrics::text(const Engine& engine, const Principal& principal) const {
  CollectionFamilies collections;
  for (const CollectionInfo& info : engine.collections()) {
    if (!in_scope(principal, info.name)) {
      continue;
    }
    const Result<CollectionStats> stats = engine.stats(info.name, false);
    if (stats.ok()) {  // else it was deleted a moment ago
      collections.add(info.name, *stats);
    }
  }
  std::ostringstream out;
  const prometheus::TextSerializer serializer;
  serializer.Serialize(out, impl_->collect());
  serializer.Serialize(out, impl_->watched(engine));
  serializer.Serialize(out, collections.families());
  return std::move(out).str();
}

}  // namespace hindsight
