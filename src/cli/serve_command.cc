#include "src/cli/serve_command.h"

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
#include <string>

#include "src/cli/command.h"
#include "src/cli/demo.h"
#include "src/cli/kill_point.h"
#include "src/cli/stop_signal.h"
#include "src/core/check.h"
#include "src/engine/engine.h"
#include "src/server/config.h"
#include "src/server/descriptors.h"
#include "src/server/log.h"
#include "src/server/service.h"
#include "src/server/tls.h"
#include "src/store/file_sync.h"

namespace hindsight::cli {
namespace {

namespace fs = std::filesystem;

/// What stands on the command line: the words, and which of them were given.
struct Options {
  std::string config;
  bool demo = false;
  bool check_only = false;
  std::map<std::string_view, std::string> words;
  std::map<std::string_view, CLI::Option*> given;
};

Environment environment() {
  Environment variables;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const std::size_t equals = text.find('=');
    if (equals != std::string_view::npos) {
      variables.emplace_back(text.substr(0, equals), text.substr(equals + 1));
    }
  }
  return variables;
}

std::string variable(const Environment& variables, std::string_view name) {
  for (const auto& [key, value] : variables) {
    if (key == name) {
      return value;
    }
  }
  return {};
}

Result<ServerConfig> read_config_file(const std::string& path) {
  HINDSIGHT_ASSIGN_OR_RETURN(const std::vector<std::byte> bytes, read_file(path));
  Result<ServerConfig> config =
      parse_config({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  if (!config.ok()) {
    return Error{config.error().code, to_string(config.error()), path};
  }
  return config;
}

/// flags > environment > file > defaults
Result<ServerConfig> gather(const Options& options, const Environment& variables) {
  const std::string path =
      options.config.empty() ? variable(variables, "HINDSIGHT_CONFIG") : options.config;
  ServerConfig config;
  if (!path.empty()) {
    HINDSIGHT_ASSIGN_OR_RETURN(config, read_config_file(path));
  }
  HINDSIGHT_RETURN_IF_ERROR(apply_environment(config, variables));
  for (const Setting& setting : settings()) {
    if (options.given.at(setting.name)->count() == 0) {
      continue;
    }
    Result<void> set = set_from_text(config, setting, options.words.at(setting.name));
    if (!set.ok()) {
      return Error{set.error().code, set.error().message, flag_name(setting)};
    }
  }
  return config;
}

/// As one word of the shell.
std::string shell_word(const std::string& text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'') {
      out += "'\\''";
    } else {
      out += c;
    }
  }
  return out + "'";
}

void print_welcome(const ServerConfig& config, const Service& service, bool demo) {
  const fs::path folder = fs::absolute(config.data).lexically_normal();
  const fs::path key_file = folder / "admin.key";
  const bool wide = config.address.find(':') != std::string::npos;
  const std::string base =
      fmt::format("{}://{}{}{}:{}", config.tls_cert.empty() ? "http" : "https", wide ? "[" : "",
                  config.address, wide ? "]" : "", service.port());
  fmt::print("hindsight {} listens on {}\n", HINDSIGHT_VERSION, base);
  fmt::print("data: {}\n", folder.string());
  std::error_code failed;
  if (fs::exists(key_file, failed)) {
    fmt::print("key:  {}\n", key_file.string());
  } else {
    fmt::print("key:  make one with `hindsight key add --role admin --data DIR`\n");
  }
  if (service.first_key() && isatty(STDOUT_FILENO) == 1) {
    fmt::print("      {}\n", service.first_key()->text);
  }
  if (demo) {
    fmt::print("demo: readers search the collection `{}`; see it learn at {}/\n", Demo::kCollection,
               base);
  }
  const std::string common = fmt::format(
      "curl -sS -H \"Authorization: Bearer $(cat {})\" -H \"Content-Type: application/json\"",
      shell_word(key_file.string()));
  fmt::print("\nMake a collection, and let it order three books:\n");
  fmt::print("  {} -X PUT {}/v1/collections/books -d '{{}}'\n", common, base);
  fmt::print(
      "  {} {}/v1/collections/books/rank -d '{{\"candidates\":[\"b1\",\"b2\",\"b3\"],\"k\":3}}'\n",
      common, base);
  std::fflush(stdout);
}

void keep_descriptors_for_files(ServerConfig& config, const Log& log) {
  const std::uint64_t limit = raise_descriptor_limit();
  const int most = connections_within(config.max_connections, limit);
  if (most < config.max_connections) {
    log.write(LogLevel::kWarning,
              fmt::format("the system allows {} open files, so max_connections is {} in place of "
                          "{}; raise that limit (ulimit -n, LimitNOFILE)",
                          limit, most, config.max_connections));
    config.max_connections = most;
  }
}

Result<void> run(const Options& options) {
  const Environment variables = environment();
  HINDSIGHT_ASSIGN_OR_RETURN(ServerConfig config, gather(options, variables));
  if (options.check_only) {
    HINDSIGHT_RETURN_IF_ERROR(check_config(config));
    HINDSIGHT_RETURN_IF_ERROR(open_tls(config, [](std::string_view text) {
      fmt::print(stderr, "hindsight: warning: {}\n", text);
    }));
    fmt::print("the settings are good\n");
    return {};
  }
  HINDSIGHT_ASSIGN_OR_RETURN(auto at_point, kill_point(variable(variables, "HINDSIGHT_KILL_AT")));
  StopSignal stop;
  const Log log({.level = config.log_level, .format = config.log_format, .clock = system_clock_ms});
  keep_descriptors_for_files(config, log);
  HINDSIGHT_ASSIGN_OR_RETURN(const std::unique_ptr<Service> service,
                             Service::start({.config = config,
                                             .log = log,
                                             .version = HINDSIGHT_VERSION,
                                             .at_point = std::move(at_point)}));
  std::unique_ptr<Demo> demo;
  if (options.demo) {
    const auto warn = [&log](std::string_view text) { log.write(LogLevel::kWarning, text); };
    HINDSIGHT_ASSIGN_OR_RETURN(demo, Demo::start(service->engine(), warn));
  }
  stop.started();
  print_welcome(config, *service, options.demo);
  stop.wait();
  demo.reset();
  service->stop();
  return {};
}

std::string value_name(const Setting& setting) {
  switch (setting.kind) {
    case SettingKind::kText:
      return setting.name == "data"             ? "DIR"
             : setting.name == "listen"         ? "ADDR"
             : setting.name.starts_with("tls_") ? "FILE"
                                                : "WORD";
    case SettingKind::kList:
      return "A,B";
    default:
      return "N";
  }
}

void add_settings(CLI::App& command, Options& options) {
  for (const Setting& setting : settings()) {
    std::string& word = options.words[setting.name];
    const std::string help(setting.help);
    CLI::Option*& added = options.given[setting.name];
    if (setting.kind == SettingKind::kSwitch) {
      // The word is "true" unless one was given, as in --allow-remote=false.
      added = command.add_flag(flag_name(setting), word, help)->take_last();
    } else {
      added = command.add_option(flag_name(setting), word, help)
                  ->type_name(value_name(setting))
                  ->take_last();  // so that a script can give defaults
      if (!setting.fallback.empty()) {
        added->default_str(std::string(setting.fallback));
      }
    }
  }
}

}  // namespace

void add_serve_command(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("serve", "Run the server: rank, click, learn, over HTTP");
  command->add_option("--config", options->config, "TOML file with settings (HINDSIGHT_CONFIG)")
      ->type_name("FILE");
  command->add_flag("--demo", options->demo,
                    "Also make a library in which simulated readers search and click");
  command->add_flag("--check-config", options->check_only,
                    "Check the settings and the certificate, and end");
  add_settings(*command, *options);
  command->footer(
      "Flags come before the environment (HINDSIGHT_LISTEN for --listen), the environment before\n"
      "the file, the file before the defaults. The first start writes a key to DIR/admin.key.\n"
      "Examples:\n"
      "  hindsight serve\n"
      "  hindsight serve --demo\n"
      "  hindsight serve --data /var/lib/hindsight --listen 127.0.0.1:9000 --log-format json\n"
      "  HINDSIGHT_THREADS=4 hindsight serve --config hindsight.toml");
  command->callback([options, &exit_code] {
    const Result<void> result = run(*options);
    exit_code = result.ok() ? 0 : fail(result.error());
  });
}

}  // namespace hindsight::cli
