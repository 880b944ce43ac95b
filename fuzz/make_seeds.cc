// Writes the first inputs of every fuzz target: make_seeds FOLDER gives FOLDER/fuzz_NAME/….

#include <zstd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "hindsight/registry.h"
#include "hindsight/signals.h"
#include "src/core/check.h"
#include "src/engine/event.h"

namespace {

namespace fs = std::filesystem;

void write(const fs::path& path, std::string_view bytes) {
  fs::create_directories(path.parent_path());
  std::ofstream out(path, std::ios::binary);
  out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  HINDSIGHT_CHECK(out.good());
}

std::string compress(std::string_view text) {
  std::string out(ZSTD_compressBound(text.size()), '\0');
  const std::size_t size = ZSTD_compress(out.data(), out.size(), text.data(), text.size(), 3);
  HINDSIGHT_CHECK(ZSTD_isError(size) == 0);
  out.resize(size);
  return out;
}

/// The first byte says how the target reads the rest (fuzz_table_reader.cc).
void write_table_seeds(const fs::path& folder) {
  const std::string_view tables[] = {
      "id\tyear\nb1\t1999\nb2\t2001\n",
      "\xEF\xBB\xBFtitle\tyear\tid\r\nOn ranks\t1999\tb1\r\n\r\nLast line\t2003\tb2",
      "year\tid\n1999\tb\xC3\xA9\n2000\n",
      "id\ttitle\nb1\tno year\n",
  };
  int number = 0;
  for (const std::string_view table : tables) {
    const std::string name = std::to_string(number++);
    write(folder / (name + "-plain"), '\x06' + std::string(table));
    write(folder / (name + "-zstd"), '\x01' + compress(table));
  }
}

/// The defaults, and each switch and word of a row in another position.
std::vector<hindsight::ParamMap> variants(const hindsight::RankerInfo& info) {
  std::vector<hindsight::ParamMap> all = {{}};
  for (const hindsight::ParamSpec& spec : info.params) {
    const std::string name(spec.name);
    if (const bool* on = std::get_if<bool>(&spec.default_value)) {
      all.push_back({{name, !*on}});
    }
    if (name == "context_terms") {
      all.push_back({{name, 8.0}});  // few: seeds are short
    }
    for (const std::string_view word : spec.words) {
      all.push_back({{name, std::string(word)}});
      if (name == "phi") {
        all.back().emplace("feature_bound", 2.0);
      } else if (name == "optimiser") {
        all.back().insert({{"horizon", 100.0}, {"curvature", 0.5}});
      }
    }
  }
  return all;
}

/// Three items, four decisions, four clicks.
void teach(hindsight::Ranker& ranker) {
  const std::vector<hindsight::ItemIndex> candidates = {0, 1, 2};
  std::vector<hindsight::Item> items(candidates.size());
  hindsight::Signals signals;
  for (const hindsight::ItemIndex i : candidates) {
    items[i].index = i;
    items[i].dense = {0.5, -0.25};
    items[i].sparse_index = {i};
    items[i].sparse_value = {0.125};
    signals.item_added(i, 0);
  }
  items[2].links = {0};
  HINDSIGHT_CHECK(ranker.add_items(items).ok());
  hindsight::Rng rng(1);
  for (std::uint64_t n = 0; n < 4; ++n) {
    hindsight::Request request;
    request.decision = {.source = 0, .counter = n};
    request.candidates = candidates;
    request.k = 2;
    const auto terms = ranker.params().find("context_terms");
    if (terms != ranker.params().end() && std::get<double>(terms->second) == 8.0) {
      request.context_key = n;
    }
    const auto decision = ranker.rank(request, signals, rng);
    HINDSIGHT_CHECK(decision.ok());
    hindsight::Feedback feedback;
    feedback.decision = decision->id;
    feedback.clicked = {decision->shown().front()};
    HINDSIGHT_CHECK(ranker.learn(*decision, feedback, signals).ok());
  }
}

/// Small models of every ranker, empty and after a few clicks.
void write_model_seeds(const fs::path& folder) {
  for (const hindsight::RankerInfo& info : hindsight::ranker_registry()) {
    int number = 0;
    for (const hindsight::ParamMap& params : variants(info)) {
      const auto made = hindsight::make_ranker(info.name, params);
      if (!made.ok()) {
        continue;  // words that make no sense together
      }
      const auto save = [&](const char* suffix) {
        const std::vector<std::byte> bytes = save_ranker(**made);
        write(folder / (std::string(info.name) + std::to_string(number) + suffix),
              {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
      };
      save("-empty");
      teach(**made);
      save("-learned");
      ++number;
    }
  }
}

/// Logs of a few events: each entry its 16-bit length, then its bytes (fuzz_events.cc).
void write_event_seeds(const fs::path& folder) {
  using namespace hindsight;  // NOLINT(google-build-using-namespace)
  DecisionEvent decided;
  decided.decision.id = {.source = 1, .counter = 1};
  decided.decision.items = {0, 1};
  decided.decision.shown_count = 2;
  decided.decision.score = {0.0, 0.0};
  decided.decision.prob_first = {0.5, 0.5};
  decided.appended = {"z"};
  decided.candidates = {.kind = CandidateSet::Kind::kListed, .items = {1, 0}, .prior = {0.5, 0.0}};
  const ClickRecord click{
      .decision = decided.decision.id, .issued_here = true, .item = "a", .event = "e"};
  const ClickRecord third{.decision = decided.decision.id, .position = 3};
  const ClickRecord ranked{.decision = decided.decision.id, .event = "r", .ranking = {"b", "a"}};
  CurvePoint measured;
  measured.cost = RegretSummary{.clicks = 1, .learned_cost = 0.7};
  measured.hindsight = Hindsight{.cost = 0.6, .sample = 1};
  const std::vector<decltype(Event::body)> bodies = {
      ItemsEvent{.items = {{.id = "a", .topics = {"t"}, .features = {{"x", 0.5}}, .links = {}},
                           {.id = "b", .topics = {}, .features = {}, .links = {"a"}}},
                 .feature_names = {"y"},
                 .by_use = false},
      decided,
      ClicksEvent{.clicks = {click, click, third, ranked}},
      RemoveEvent{.id = "b"},
      WindowClosedEvent{.through_ms = 10},
      ClicksEvent{.clicks = {click}},
      MeasuredEvent{.point = measured}};
  std::string log;
  for (std::size_t i = 0; i < bodies.size(); ++i) {
    const std::vector<std::byte> bytes =
        encode_event({.id = {.source = 1, .sequence = i + 1}, .clock_ms = 10, .body = bodies[i]});
    log.push_back(static_cast<char>(bytes.size() % 256));
    log.push_back(static_cast<char>(bytes.size() / 256));
    log.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    write(folder / std::to_string(i), log);
  }
}

/// The first byte says who reads the rest (fuzz_requests.cc).
void write_request_seeds(const fs::path& folder) {
  const std::pair<char, std::string_view> requests[] = {
      {0, R"({"query":"q","candidates":["b1",{"id":"b2","features":{"f":1.5},"prior":-2}],"k":3})"},
      {0, R"({"topic":"t","user":"u","session":"s","group":"g","context_key":"c"})"},
      {0, R"({"decision":"d_1","offset":10,"k":10,"on_unknown":"append"})"},
      {1, R"({"clicks":[{"decision":"d_1","item":"b\u00e9","event":"e-1"}]})"},
      {2, R"({"items":[{"id":"b1","topics":["t"],"features":{"f":1e-3},"links":["b0"]}]})"},
      {3,
       R"({"ranker":"klrank","params":{"alpha":3,"start":"warm","redraw":true},"seed":7,)"
       R"("window_seconds":1.5,"on_unknown":"error","control":0.5,"log_queries":true,"log_candidates":false,)"
       R"("max_open":5,"memory_budget":1048576,"retain_days":3,"history":"discard"})"},
      {4, "/v1/collections/books/items/b%C3%A9?cursor=x%20y&limit=10"},
      {4, "/v1/collections/books/decisions/d_1"},
  };
  int number = 0;
  for (const auto& [reader, text] : requests) {
    write(folder / std::to_string(number++), reader + std::string(text));
  }
}

void write_texts(const fs::path& folder, const std::vector<std::string>& texts) {
  int number = 0;
  for (const std::string& text : texts) {
    write(folder / std::to_string(number++), text);
  }
}

void write_server_seeds(const fs::path& folder) {
  write_texts(
      folder / "fuzz_config",
      {"data = \"/srv/h\"\nlisten = \"[::1]:9000\"\nallow_remote = true\nthreads = 3\n",
       "key_rate = 2.5\ncors_origins = [\"https://a.example\"]\nlog_level = \"debug\"\n",
       "log_format = \"json\"\nnode = 65535\nsnapshot_events = 10\nheader_deadline_ms = 1\n"});
  const std::string key =
      "version = 1\n[[key]]\nid = \"0123456789ab\"\nhash = \"sha256:" + std::string(64, 'a') +
      "\"\n";
  write_texts(folder / "fuzz_keys",
              {"version = 1\n", key + "role = \"admin\"\ncreated_ms = 1\nrevoked_ms = 2\n",
               key + "role = \"publishable\"\norigins = [\"https://a.example\"]\n",
               key + "role = \"rank\"\ncollections = [\"books\", \"films\"]\n"});
  const std::string post = "POST /v1/x?y HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer k\r\n";
  write_texts(
      folder / "fuzz_http_request",
      {"GET / HTTP/1.1\r\nHost: h\r\n\r\n", "GET / HTTP/1.0\r\n\r\n",
       post + "Content-Length: 3\r\n\r\nabc",
       post + "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2;x=y\r\nde\r\n0\r\nT: v\r\n\r\n"});
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: make_seeds FOLDER\n");
    return 2;
  }
  write_table_seeds(fs::path(argv[1]) / "fuzz_table_reader");
  write_model_seeds(fs::path(argv[1]) / "fuzz_save_format");
  write_event_seeds(fs::path(argv[1]) / "fuzz_events");
  write_request_seeds(fs::path(argv[1]) / "fuzz_requests");
  write_server_seeds(argv[1]);
  return 0;
}
