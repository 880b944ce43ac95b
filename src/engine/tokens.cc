#include "src/engine/tokens.h"

#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/params.h>

#include <cstring>

#include "src/core/check.h"
#include "src/core/planted.h"

namespace hindsight {
namespace {

constexpr std::size_t kIdBytes = 24;  // source, counter, MAC
constexpr std::string_view kPrefix = "d_";
constexpr char kAlphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
constexpr std::uint8_t kDecisionDomain = 0;

// RETURNS: 0..63, or 64 for a letter outside the alphabet.
std::uint32_t letter_value(char c) {
  if (c >= 'A' && c <= 'Z') {
    return static_cast<std::uint32_t>(c - 'A');
  }
  if (c >= 'a' && c <= 'z') {
    return static_cast<std::uint32_t>(c - 'a') + 26;
  }
  if (c >= '0' && c <= '9') {
    return static_cast<std::uint32_t>(c - '0') + 52;
  }
  return c == '-' ? 62 : c == '_' ? 63 : 64;
}

}  // namespace

struct Tokens::Mac {
  EVP_MAC_CTX* keyed = nullptr;

  ~Mac() { EVP_MAC_CTX_free(keyed); }

  std::uint64_t of(std::uint8_t domain, LogId log, std::string_view bytes) const {
    EVP_MAC_CTX* context = EVP_MAC_CTX_dup(keyed);
    HINDSIGHT_CHECK(context != nullptr);
    std::array<unsigned char, 9> head{};
    head[0] = domain;
    std::memcpy(head.data() + 1, &log, sizeof(log));
    std::uint64_t out = 0;
    std::size_t size = 0;
    const bool done =
        EVP_MAC_update(context, head.data(), head.size()) == 1 &&
        EVP_MAC_update(context, reinterpret_cast<const unsigned char*>(bytes.data()),
                       bytes.size()) == 1 &&
        EVP_MAC_final(context, reinterpret_cast<unsigned char*>(&out), &size, sizeof(out)) == 1;
    EVP_MAC_CTX_free(context);
    HINDSIGHT_CHECK(done && size == sizeof(out));
    return out;
  }
};

Tokens::Tokens(const std::array<std::byte, 32>& secret, LogId log)
    : mac_(std::make_unique<Mac>()), log_(log) {
  EVP_MAC* algorithm = EVP_MAC_fetch(nullptr, "SIPHASH", nullptr);
  HINDSIGHT_CHECK(algorithm != nullptr);
  mac_->keyed = EVP_MAC_CTX_new(algorithm);
  EVP_MAC_free(algorithm);
  unsigned int size = sizeof(std::uint64_t);
  const OSSL_PARAM params[] = {OSSL_PARAM_construct_uint(OSSL_MAC_PARAM_SIZE, &size),
                               OSSL_PARAM_construct_end()};
  constexpr std::size_t kKeyBytes = 16;  // SipHash takes 128 bits
  HINDSIGHT_CHECK(mac_->keyed != nullptr &&
                  EVP_MAC_init(mac_->keyed, reinterpret_cast<const unsigned char*>(secret.data()),
                               kKeyBytes, params) == 1);
}

Tokens::~Tokens() = default;
Tokens::Tokens(Tokens&&) noexcept = default;

std::string Tokens::decision_text(const DecisionId& id) const {
  std::array<unsigned char, kIdBytes> raw{};
  std::memcpy(raw.data(), &id.source, 8);
  std::memcpy(raw.data() + 8, &id.counter, 8);
  const std::uint64_t mac =
      mac_->of(kDecisionDomain, log_, {reinterpret_cast<const char*>(raw.data()), 16});
  std::memcpy(raw.data() + 16, &mac, 8);
  std::string text(kPrefix);
  text.reserve(kPrefix.size() + kIdBytes / 3 * 4);
  for (std::size_t i = 0; i < kIdBytes; i += 3) {
    const std::uint32_t three = (std::uint32_t{raw[i]} << 16) | (std::uint32_t{raw[i + 1]} << 8) |
                                std::uint32_t{raw[i + 2]};
    for (int shift = 18; shift >= 0; shift -= 6) {
      text.push_back(kAlphabet[(three >> shift) & 63]);
    }
  }
  return text;
}

std::optional<Tokens::Parsed> Tokens::parse_decision(std::string_view text) const {
  if (text.size() != kPrefix.size() + kIdBytes / 3 * 4 || !text.starts_with(kPrefix)) {
    return std::nullopt;
  }
  text.remove_prefix(kPrefix.size());
  std::array<unsigned char, kIdBytes> raw{};
  for (std::size_t i = 0; i < kIdBytes / 3; ++i) {
    std::uint32_t three = 0;
    for (std::size_t j = 0; j < 4; ++j) {
      const std::uint32_t value = letter_value(text[4 * i + j]);
      if (value == 64) {
        return std::nullopt;
      }
      three = (three << 6) | value;
    }
    raw[3 * i] = static_cast<unsigned char>(three >> 16);
    raw[3 * i + 1] = static_cast<unsigned char>(three >> 8);
    raw[3 * i + 2] = static_cast<unsigned char>(three);
  }
  Parsed parsed;
  std::uint64_t mac = 0;
  std::memcpy(&parsed.id.source, raw.data(), 8);
  std::memcpy(&parsed.id.counter, raw.data() + 8, 8);
  std::memcpy(&mac, raw.data() + 16, 8);
  // The difference of two MACs in one comparison of words: no early exit to time.
  parsed.issued_here =
      mac == mac_->of(kDecisionDomain, log_, {reinterpret_cast<const char*>(raw.data()), 16}) ||
      planted(Fault::kSkipMac);
  return parsed;
}

std::uint64_t Tokens::identity(Kind kind, std::string_view text) const {
  if (text.empty()) {
    return 0;
  }
  const std::uint64_t mac = mac_->of(static_cast<std::uint8_t>(kind), log_, text);
  return mac == 0 ? 1 : mac;
}

}  // namespace hindsight
