#include "src/cli/ranking_reader.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "src/core/check.h"
#include "src/engine/api.h"
#include "src/sim/utf8.h"

namespace hindsight::cli {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

bool separates(char c) { return c == ' ' || c == '\t' || c == ',' || c == '\r'; }

std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> words;
  while (true) {
    const auto begin = std::find_if_not(line.begin(), line.end(), separates);
    if (begin == line.end()) {
      return words;
    }
    const auto end = std::find_if(begin, line.end(), separates);
    words.emplace_back(&*begin, static_cast<std::size_t>(end - begin));
    line.remove_prefix(static_cast<std::size_t>(end - line.begin()));
  }
}

bool is_control(char c) {
  return (static_cast<unsigned char>(c) < 0x20 && !separates(c)) || c == 0x7F;
}

/// An id in a message: the beginning of a long one.
std::string shown(std::string_view id) {
  constexpr std::size_t kLongest = 40;
  return id.size() <= kLongest ? fmt::format("\"{}\"", id)
                               : as_utf8(fmt::format("\"{}...\"", id.substr(0, kLongest)));
}

}  // namespace

void RankingReader::Close::operator()(std::FILE* file) const {
  if (file != stdin) {
    std::fclose(file);
  }
}

RankingReader::RankingReader(std::string name, std::FILE* file)
    : name_(std::move(name)), file_(file) {}

Result<RankingReader> RankingReader::open(const std::string& path) {
  if (path == "-") {
    return RankingReader("standard input", stdin);
  }
  std::FILE* file = std::fopen(path.c_str(), "rb");
  if (file == nullptr) {
    const ErrorCode code = errno == ENOENT ? ErrorCode::kInvalidArgument : ErrorCode::kIo;
    return Error{code, fmt::format("cannot be opened: {}", std::strerror(errno)), path};
  }
  RankingReader reader(path, file);
  struct stat status = {};
  if (fstat(fileno(file), &status) == 0 && S_ISDIR(status.st_mode)) {
    return Error{ErrorCode::kInvalidArgument, "is a folder; name a file of rankings", path};
  }
  reader.size_ = S_ISREG(status.st_mode) ? static_cast<std::uint64_t>(status.st_size) : 0;
  return reader;
}

Error RankingReader::broken(std::string reason, ErrorCode code) const {
  return {code, std::move(reason), fmt::format("{}:{}", name_, line_number_)};
}

Result<bool> RankingReader::read_line() {
  line_.clear();
  ++line_number_;
  int c = 0;
  while ((c = std::getc(file_.get())) != EOF) {
    ++bytes_;
    if (c == '\n') {
      break;
    }
    line_.push_back(static_cast<char>(c));
    if (line_.size() > kMaxRankingBytes) {
      return broken(fmt::format("a line of more than {} bytes", kMaxRankingBytes),
                    ErrorCode::kTooLarge);
    }
  }
  if (std::ferror(file_.get()) != 0) {
    return broken(fmt::format("cannot be read: {}", std::strerror(errno)), ErrorCode::kIo);
  }
  if (line_number_ == 1 && line_.starts_with(kByteOrderMark)) {
    line_.erase(0, kByteOrderMark.size());
  }
  return c != EOF || !line_.empty();
}

Result<std::span<const ItemIndex>> RankingReader::next() {
  while (true) {
    HINDSIGHT_ASSIGN_OR_RETURN(const bool more, read_line());
    if (!more) {
      return std::span<const ItemIndex>();
    }
    if (line_.starts_with('#')) {
      continue;
    }
    const std::vector<std::string_view> words = words_of(line_);
    if (words.empty()) {
      continue;
    }
    if (as_utf8(line_) != line_) {
      return broken("is not valid UTF-8");
    }
    if (std::any_of(line_.begin(), line_.end(), is_control)) {
      return broken("has a control character");
    }
    HINDSIGHT_RETURN_IF_ERROR(ids_.empty() ? read_first(words) : read_other(words));
    return std::span<const ItemIndex>(ranking_);
  }
}

Result<void> RankingReader::read_first(std::span<const std::string_view> words) {
  if (words.size() < 2) {
    return broken("a ranking has at least two items");
  }
  if (words.size() > kMaxRankedItems) {
    return broken(fmt::format("a ranking has at most {} items", kMaxRankedItems),
                  ErrorCode::kTooLarge);
  }
  for (const std::string_view word : words) {
    if (word.size() > kMaxIdBytes) {
      return broken(fmt::format("{} is an id of more than {} bytes", shown(word), kMaxIdBytes),
                    ErrorCode::kTooLarge);
    }
    const auto item = static_cast<ItemIndex>(ranking_.size());
    if (!index_.emplace(word, item).second) {
      return broken(shown(word) + " stands here twice");
    }
    ranking_.push_back(item);
  }
  ids_.assign(words.begin(), words.end());
  last_seen_.assign(words.size(), line_number_);
  return {};
}

Result<void> RankingReader::read_other(std::span<const std::string_view> words) {
  ranking_.clear();
  for (const std::string_view word : words) {
    const auto found = index_.find(std::string(word));
    if (found == index_.end()) {
      return broken(shown(word) + " is not among the items of the first ranking");
    }
    if (std::exchange(last_seen_[found->second], line_number_) == line_number_) {
      return broken(shown(word) + " stands here twice");
    }
    ranking_.push_back(found->second);
  }
  if (ranking_.size() != ids_.size()) {
    const auto missing = std::find_if(last_seen_.begin(), last_seen_.end(),
                                      [this](std::uint64_t line) { return line != line_number_; });
    return broken(shown(ids_[static_cast<std::size_t>(missing - last_seen_.begin())]) +
                  " is missing; a ranking names every item once");
  }
  return {};
}

}  // namespace hindsight::cli
