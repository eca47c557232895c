// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/device/selector.hpp"

#include <algorithm>
#include <charconv>
#include <limits>

#include "core/support/error.hpp"

namespace tenon {
namespace {

bool is_name_char(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_hex_digit(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

constexpr const char* kDeviceForms =
    "all, cpu, gpu, accelerator, storage, an index, uuid= or a path";

/// Escapes control bytes and bytes outside ASCII as \xNN.
std::string printable_ascii(std::string_view text) {
  std::string out;
  for (const char c : text.substr(0, 80)) {
    if (c >= ' ' && c <= '~') {
      out += c;
    } else {
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    }
  }
  return out + (text.size() > 80 ? "..." : "");
}

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  std::vector<SelectorTerm> parse() {
    if (text_.empty()) wrong("a backend");
    std::vector<SelectorTerm> terms{term()};
    while (at_ < text_.size()) {
      expect(',', "',' or '@' or ':' or the end");
      terms.push_back(term());
    }
    return terms;
  }

 private:
  bool next_is(char c) const { return at_ < text_.size() && text_[at_] == c; }
  bool accept(char c) {
    if (!next_is(c)) return false;
    ++at_;
    return true;
  }
  void expect(char c, const char* what) {
    if (!accept(c)) wrong(what);
  }
  [[noreturn]] void wrong(std::string_view expected, size_t length = 1) const {
    fail(ErrorKind::kInvalid, "[devices] column {} of '{}': expected {}, got {}", at_ + 1,
         printable_ascii(text_), expected,
         at_ < text_.size() ? "'" + printable_ascii(text_.substr(at_, length)) + "'"
                            : std::string("the end"));
  }

  std::string name(const char* what) {
    const size_t begin = at_;
    while (at_ < text_.size() && is_name_char(text_[at_])) ++at_;
    if (at_ == begin) wrong(what);
    return std::string(text_.substr(begin, at_ - begin));
  }

  SelectorTerm term() {
    SelectorTerm term;
    const size_t begin = at_;
    term.negative = accept('-');
    term.backend = name("a backend (letters a-z, digits, _)");
    if (accept(':')) {
      do term.devices.push_back(device());
      while (accept('+'));
    }
    while (accept('@')) option(term);
    const auto is_path = [](const SelectorDevice& d) {
      return d.kind == SelectorDevice::Kind::kPath;
    };
    if (std::ranges::any_of(term.devices, is_path) &&
        (term.negative || term.options.contains("path"))) {
      at_ = begin;
      wrong(term.negative ? "no path on a negative term" : "one path, as BACKEND:PATH or @path=");
    }
    term.text = std::string(text_.substr(begin, at_ - begin));
    return term;
  }

  SelectorDevice device() {
    constexpr std::string_view kUuid = "uuid=";
    SelectorDevice device;
    if (text_.substr(at_).starts_with(kUuid)) {
      at_ += kUuid.size();
      device.kind = SelectorDevice::Kind::kUuid;
      const size_t begin = at_;
      while (at_ < text_.size() && (is_name_char(text_[at_]) || text_[at_] == '-')) ++at_;
      if (at_ == begin) wrong("a uuid (hexadecimal digits and -)");
      device.text = std::string(text_.substr(begin, at_ - begin));
      return device;
    }
    const size_t path_end = std::min(text_.find_first_of(",+@", at_), text_.size());
    if (text_.substr(at_, path_end - at_).find('/') != std::string_view::npos)
      return path(path_end);
    if (at_ < text_.size() && is_digit(text_[at_])) {
      device.kind = SelectorDevice::Kind::kIndex;
      const auto [end, error] =
          std::from_chars(text_.data() + at_, text_.data() + text_.size(), device.index);
      if (error != std::errc()) {
        const size_t all = std::min(text_.find_first_not_of("0123456789", at_), text_.size());
        wrong("an index below 2147483648", all - at_);
      }
      at_ = static_cast<size_t>(end - text_.data());
      return device;
    }
    const size_t begin = at_;
    device.text = name(kDeviceForms);
    if (device.text == "all") {
      device.text.clear();
    } else if (device.text == "cpu" || device.text == "gpu" || device.text == "accelerator" ||
               device.text == "storage") {
      device.kind = SelectorDevice::Kind::kKind;
    } else {
      at_ = begin;
      wrong(kDeviceForms);
    }
    return device;
  }

  SelectorDevice path(size_t end) {
    SelectorDevice device;
    device.kind = SelectorDevice::Kind::kPath;
    device.text = std::string(text_.substr(at_, end - at_));
    for (; at_ < end; ++at_) {
      const auto c = static_cast<unsigned char>(text_[at_]);
      if (c < ' ' || c == 0x7f) wrong("a printable character of a path");
      if (c != '%') continue;
      const std::string_view code = text_.substr(at_ + 1, 2);
      if (code.size() < 2 || !is_hex_digit(code[0]) || !is_hex_digit(code[1]) || code == "00")
        wrong("two hexadecimal digits after the % of a path");
    }
    return device;
  }

  void option(SelectorTerm& term) {
    const size_t begin = at_;
    const std::string key = name("an option's name");
    std::string value;
    if (accept('=')) {
      const size_t value_begin = at_;
      while (at_ < text_.size() && text_[at_] != ',' && text_[at_] != '@') {
        if (text_[at_] < '!' || text_[at_] > '~') wrong("a printable character");
        ++at_;
      }
      if (at_ == value_begin) wrong("a value after '='");
      value = std::string(text_.substr(value_begin, at_ - value_begin));
    }
    const auto refuse = [&](const char* expected) {
      at_ = begin;
      wrong(expected);
    };
    if (term.negative) refuse("no option on a negative term");
    if (key == "optional" && !value.empty()) refuse("@optional without a value");
    if (key == "noprobe" && !value.empty()) refuse("@noprobe without a value");
    if (key == "pool") parse_bytes(value);
    if (!term.options.emplace(key, value).second) refuse("each option once");
  }

  std::string_view text_;
  size_t at_ = 0;
};

}  // namespace

std::vector<SelectorTerm> parse_selector(std::string_view text) { return Parser(text).parse(); }

uint64_t parse_bytes(std::string_view text) {
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const std::string_view unit = text.substr(static_cast<size_t>(end - text.data()));
  int shift = -1;
  if (unit.empty()) shift = 0;
  if (unit == "K") shift = 10;
  if (unit == "M") shift = 20;
  if (unit == "G") shift = 30;
  if (unit == "T") shift = 40;
  TN_REQUIRE(error == std::errc() && shift >= 0 && value > 0 &&
                 value <= std::numeric_limits<uint64_t>::max() >> shift,
             "[@pool] expected a positive number with K, M, G or T or none, got '{}'",
             printable_ascii(text));
  return value << shift;
}

}  // namespace tenon
