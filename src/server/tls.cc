#include "src/server/tls.h"

#include <fmt/chrono.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <sys/stat.h>

#include <array>
#include <cstring>
#include <ctime>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "src/core/check.h"
#include "src/server/file_stamp.h"
#include "src/store/file_sync.h"

namespace hindsight {
namespace {

namespace fs = std::filesystem;

// For TLS 1.2; those of TLS 1.3 are all sound.
constexpr const char* kCiphers = "ECDHE+AESGCM:ECDHE+CHACHA20:!aNULL:!eNULL:!PSK:!SRP";
constexpr const char* kCertificateField = "tls_cert";
constexpr const char* kKeyField = "tls_key";
constexpr std::int64_t kMsPerSecond = 1000;

using Context = std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)>;
using Certificate = std::unique_ptr<X509, decltype(&X509_free)>;
using PrivateKey = std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)>;
using Memory = std::unique_ptr<BIO, decltype(&BIO_free)>;

/// What OpenSSL says of its last failure, in words.
std::string reason() {
  const unsigned long code = ERR_peek_last_error();
  const char* text = code == 0 ? nullptr : ERR_reason_error_string(code);
  ERR_clear_error();
  return text == nullptr ? "unknown reason" : text;
}

Error problem(ErrorCode code, const char* field, const fs::path& path, const std::string& what) {
  return {code, path.string() + ": " + what, field};
}

/// RETURNS: the bytes of a file, which name the setting when they cannot be had.
Result<std::vector<std::byte>> read_for(const char* field, const fs::path& path) {
  Result<std::vector<std::byte>> bytes = read_file(path);
  if (!bytes.ok()) {
    return Error{bytes.error().code, bytes.error().message, field};
  }
  return bytes;
}

Memory memory_of(const std::vector<std::byte>& bytes) {
  return {BIO_new_mem_buf(bytes.data(), static_cast<int>(bytes.size())), BIO_free};
}

/// A key that asks for a password must fail, not wait at a terminal.
int no_password(char* /*buffer*/, int /*size*/, int /*writing*/, void* /*data*/) { return -1; }

/// RETURNS: unix time; 0 where the certificate does not say.
std::int64_t unix_seconds(const ASN1_TIME* time) {
  std::tm parts = {};
  return ASN1_TIME_to_tm(time, &parts) == 1 ? timegm(&parts) : 0;
}

std::string utc(std::int64_t unix_s) {
  return fmt::format("{:%Y-%m-%d %H:%M:%S} UTC", fmt::gmtime(static_cast<std::time_t>(unix_s)));
}

Result<void> use_certificates(SSL_CTX* context, const fs::path& path) {
  HINDSIGHT_ASSIGN_OR_RETURN(const std::vector<std::byte> bytes, read_for(kCertificateField, path));
  const Memory memory = memory_of(bytes);
  const Certificate own(PEM_read_bio_X509(memory.get(), nullptr, no_password, nullptr), X509_free);
  if (own == nullptr || SSL_CTX_use_certificate(context, own.get()) != 1) {
    return problem(ErrorCode::kParse, kCertificateField, path,
                   "holds no certificate in PEM form (" + reason() + ")");
  }
  for (;;) {
    X509* next = PEM_read_bio_X509(memory.get(), nullptr, no_password, nullptr);
    if (next == nullptr) {
      break;
    }
    if (SSL_CTX_add0_chain_cert(context, next) != 1) {
      X509_free(next);
      return problem(ErrorCode::kParse, kCertificateField, path, reason());
    }
  }
  const bool at_end = ERR_GET_REASON(ERR_peek_last_error()) == PEM_R_NO_START_LINE;
  const std::string why = reason();
  return at_end ? Result<void>()
                : problem(ErrorCode::kParse, kCertificateField, path, "is damaged (" + why + ")");
}

Result<void> check_mode(const fs::path& path) {
  struct stat info = {};
  constexpr mode_t kOthers = S_IRWXO;
  if (::stat(path.c_str(), &info) == 0 && (info.st_mode & kOthers) != 0) {
    return problem(ErrorCode::kInvalidArgument, kKeyField, path,
                   "every user of this machine may read this key; chmod o= it");
  }
  return {};
}

Result<void> use_key(SSL_CTX* context, const fs::path& path) {
  HINDSIGHT_ASSIGN_OR_RETURN(const std::vector<std::byte> bytes, read_for(kKeyField, path));
  HINDSIGHT_RETURN_IF_ERROR(check_mode(path));
  const Memory memory = memory_of(bytes);
  const PrivateKey key(PEM_read_bio_PrivateKey(memory.get(), nullptr, no_password, nullptr),
                       EVP_PKEY_free);
  if (key == nullptr) {
    return problem(ErrorCode::kParse, kKeyField, path,
                   "holds no private key in PEM form without a password (" + reason() + ")");
  }
  if (SSL_CTX_use_PrivateKey(context, key.get()) != 1 || SSL_CTX_check_private_key(context) != 1) {
    ERR_clear_error();
    return problem(ErrorCode::kInvalidArgument, kKeyField, path,
                   "is not the key of the certificate in tls_cert");
  }
  return {};
}

Result<Context> load(const TlsOptions& options) {
  ERR_clear_error();
  Context context(SSL_CTX_new(TLS_server_method()), SSL_CTX_free);
  if (context == nullptr || SSL_CTX_set_min_proto_version(context.get(), TLS1_2_VERSION) != 1 ||
      SSL_CTX_set_cipher_list(context.get(), kCiphers) != 1) {
    return Error{ErrorCode::kIo, "OpenSSL cannot be set up: " + reason(), kCertificateField};
  }
  SSL_CTX_set_options(context.get(), SSL_OP_NO_COMPRESSION | SSL_OP_NO_RENEGOTIATION |
                                         SSL_OP_CIPHER_SERVER_PREFERENCE |
                                         SSL_OP_IGNORE_UNEXPECTED_EOF);
  // Who comes back resumes from a ticket that it holds itself; nothing is kept here.
  SSL_CTX_set_session_cache_mode(context.get(), SSL_SESS_CACHE_OFF);
  HINDSIGHT_RETURN_IF_ERROR(use_certificates(context.get(), options.certificate));
  HINDSIGHT_RETURN_IF_ERROR(use_key(context.get(), options.key));
  return context;
}

}  // namespace

class TlsFiles::Impl {
 public:
  explicit Impl(TlsOptions options)
      : options_(std::move(options)), timer_(options_.look_every_ms, options_.clock()) {}

  /// REQUIRES: one caller at a time
  Result<void> read() {
    // Before reading: a change while they are read is then seen at the next look. What could not be
    // used is not seen: the next look tries again.
    const auto now = stamps();
    seen_.reset();
    HINDSIGHT_ASSIGN_OR_RETURN(Context context, load(options_));
    const X509* const own = SSL_CTX_get0_certificate(context.get());
    const std::lock_guard lock(mutex_);
    status_ = {.not_before_s = unix_seconds(X509_get0_notBefore(own)),
               .not_after_s = unix_seconds(X509_get0_notAfter(own))};
    context_ = std::move(context);
    seen_ = now;
    warned_of_.clear();
    return {};
  }

  /// Warns, once for each certificate, when clients refuse it for its days. REQUIRES: as read()
  void look_at_days() {
    const std::int64_t now_s = options_.clock() / kMsPerSecond;
    const CertificateStatus now = status();
    const std::string path = options_.certificate.string();
    std::string trouble;
    if (now_s > now.not_after_s) {
      trouble = path + " has expired: its last moment was " + utc(now.not_after_s);
    } else if (now_s < now.not_before_s) {
      trouble = path + " is not yet valid: its first moment is " + utc(now.not_before_s);
    }
    if (trouble != warned_of_ && !trouble.empty() && options_.warn) {
      options_.warn(trouble + "; clients refuse it");
    }
    warned_of_ = trouble;
  }

  CertificateStatus status() const {
    const std::lock_guard lock(mutex_);
    return status_;
  }

  SSL* new_session() const {
    const std::lock_guard lock(mutex_);
    return SSL_new(context_.get());
  }

  void look_again() {
    if (!timer_.due(options_.clock())) {
      return;
    }
    const std::unique_lock lock(read_mutex_, std::try_to_lock);
    if (!lock.owns_lock()) {
      return;
    }
    if (stamps() != seen_) {
      const Result<void> done = read();
      report_.tell(done, "the certificate has changed and was read again",
                   "the certificate read before it stays in force", options_.warn);
      if (!done.ok()) {
        const std::lock_guard status_lock(mutex_);
        status_.unusable = true;
      }
    }
    look_at_days();
  }

 private:
  std::array<FileStamp, 2> stamps() const {
    return {stamp_of(options_.certificate), stamp_of(options_.key)};
  }

  const TlsOptions options_;
  LookTimer timer_;
  std::mutex read_mutex_;
  std::optional<std::array<FileStamp, 2>> seen_;  // of what was read last
  RereadReport report_;
  std::string warned_of_;  // the days of the certificate in force, as it was told last
  mutable std::mutex mutex_;
  CertificateStatus status_;
  Context context_{nullptr, SSL_CTX_free};
};

TlsFiles::TlsFiles(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
TlsFiles::~TlsFiles() = default;

Result<std::unique_ptr<TlsFiles>> TlsFiles::open(TlsOptions options) {
  HINDSIGHT_CHECK(options.clock != nullptr);
  auto impl = std::make_unique<Impl>(std::move(options));
  HINDSIGHT_RETURN_IF_ERROR(impl->read());
  impl->look_at_days();
  return std::unique_ptr<TlsFiles>(new TlsFiles(std::move(impl)));
}

SSL* TlsFiles::new_session() const { return impl_->new_session(); }
void TlsFiles::look_again() { impl_->look_again(); }
CertificateStatus TlsFiles::status() const { return impl_->status(); }

}  // namespace hindsight
