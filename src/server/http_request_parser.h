// RequestParser: Boost.Beast's parser, keeping only what the server uses, and stricter.
//
// Beast refuses conflicting lengths, doubled encodings and broken chunks. Refused here beyond that,
// because programs disagree about what it means: any transfer encoding but "chunked" alone, any at
// all in HTTP/1.0, a length that is said twice, a missing or second Host, a second field of those
// that decide something, a version other than 1.0 and 1.1. (Lines that go on in the next one are
// seen by the session, which has the header as it came.) Fields after a chunked body are read and
// dropped: a field that decides something must come before the body.
//
// Only for the http_*.cc files and the fuzzer: the include is expensive.
//
// Thread-safety: one thread at a time.

#pragma once

// Beast 1.81 asserts that the last chunk follows another one, and is wrong where a body is empty
// and comes byte by byte; without the assertion it reads it correctly.
#ifndef BOOST_DISABLE_ASSERTS
#define BOOST_DISABLE_ASSERTS
#endif

#include <boost/beast/core/error.hpp>
#include <boost/beast/core/string.hpp>
#include <boost/beast/http/basic_parser.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/field.hpp>
#include <boost/beast/http/verb.hpp>
#include <string>
#include <string_view>

namespace hindsight {

class RequestParser final : public boost::beast::http::basic_parser<true> {
 public:
  // What was read, complete once is_header_done().
  const std::string& method() const { return method_; }
  const std::string& target() const { return target_; }
  const std::string& authorization() const { return authorization_.value; }
  const std::string& content_type() const { return content_type_.value; }
  const std::string& content_encoding() const { return content_encoding_.value; }
  const std::string& origin() const { return origin_.value; }
  const std::string& expect() const { return expect_.value; }
  const std::string& forwarded_for() const { return forwarded_for_; }
  const std::string& forwarded() const { return forwarded_; }
  int version() const { return version_; }  // 10 or 11
  /// Complete once is_done().
  const std::string& body() const { return body_; }
  /// From now on the body is read over, and not kept.
  void skip_body() {
    skip_body_ = true;
    body_ = {};
  }

 private:
  using ErrorCode = boost::beast::error_code;
  using View = boost::beast::string_view;
  using Field = boost::beast::http::field;
  using Problem = boost::beast::http::error;

  /// A field that may stand once.
  struct Single {
    std::string value;
    bool seen = false;

    void set(View text, ErrorCode& ec) {
      if (seen) {
        ec = Problem::bad_field;
        return;
      }
      seen = true;
      value.assign(text.data(), text.size());
    }
  };

  void on_request_impl(boost::beast::http::verb /*method*/, View method_text, View target,
                       int version, ErrorCode& ec) override {
    if (version != 10 && version != 11) {
      ec = Problem::bad_version;
      return;
    }
    method_.assign(method_text.data(), method_text.size());
    target_.assign(target.data(), target.size());
    version_ = version;
  }

  void on_response_impl(int /*code*/, View /*reason*/, int /*version*/, ErrorCode& ec) override {
    ec = Problem::bad_method;
  }

  void on_field_impl(Field field, View name, View value, ErrorCode& ec) override {
    if (in_body_) {
      return;
    }
    switch (field) {
      case Field::host:
        host_.set(value, ec);
        break;
      case Field::authorization:
        authorization_.set(value, ec);
        break;
      case Field::content_type:
        content_type_.set(value, ec);
        break;
      case Field::content_encoding:
        content_encoding_.set(value, ec);
        break;
      case Field::origin:
        origin_.set(value, ec);
        break;
      case Field::expect:
        expect_.set(value, ec);
        break;
      case Field::content_length:
        content_length_.set(value, ec);
        if (value.find(',') != View::npos) {
          ec = Problem::bad_content_length;
        }
        break;
      case Field::transfer_encoding:
        if (version_ != 11 || !boost::beast::iequals(value, "chunked")) {
          ec = Problem::bad_transfer_encoding;
        }
        break;
      case Field::forwarded:
        append(forwarded_, value);
        break;
      case Field::unknown:
        if (boost::beast::iequals(name, "X-Forwarded-For")) {
          append(forwarded_for_, value);
        }
        break;
      default:
        break;
    }
  }

  /// Every proxy on the way may add a field of its own; together they are one list.
  static void append(std::string& list, View value) {
    if (!list.empty()) {
      list += ',';
    }
    list.append(value.data(), value.size());
  }

  void on_header_impl(ErrorCode& ec) override {
    if (version_ == 11 && !host_.seen) {
      ec = Problem::bad_field;
    }
    in_body_ = true;
  }

  void on_body_init_impl(const boost::optional<std::uint64_t>& length, ErrorCode& ec) override {
    // The caller has compared the length with its limit; what is promised but never sent costs
    // address space only.
    if (length && !skip_body_) {
      body_.reserve(static_cast<std::size_t>(*length));
    }
    ec = {};
  }
  std::size_t on_body_impl(View piece, ErrorCode& ec) override {
    if (!skip_body_) {
      body_.append(piece.data(), piece.size());
    }
    ec = {};
    return piece.size();
  }
  void on_chunk_header_impl(std::uint64_t /*size*/, View /*extensions*/, ErrorCode& ec) override {
    ec = {};
  }
  std::size_t on_chunk_body_impl(std::uint64_t /*remain*/, View piece, ErrorCode& ec) override {
    return on_body_impl(piece, ec);
  }
  void on_finish_impl(ErrorCode& ec) override { ec = {}; }

  std::string method_;
  std::string target_;
  int version_ = 0;
  Single host_;
  Single authorization_;
  Single content_type_;
  Single content_encoding_;
  Single origin_;
  Single expect_;
  Single content_length_;
  std::string forwarded_for_;
  std::string forwarded_;
  bool in_body_ = false;
  bool skip_body_ = false;
  std::string body_;
};

}  // namespace hindsight
