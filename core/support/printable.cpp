// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/support/printable.hpp"

#include <cstdint>

namespace tenon {
namespace {

constexpr uint32_t kReplacement = 0xfffd;

/// Decodes the character at `at` and moves past it.
uint32_t next(std::string_view text, size_t& at) {
  const auto byte = [&](size_t i) -> uint32_t { return static_cast<unsigned char>(text[i]); };
  const uint32_t first = byte(at++);
  if (first < 0x80) return first;
  const size_t more = first >= 0xf0 ? 3 : first >= 0xe0 ? 2 : 1;
  if (first < 0xc2 || first > 0xf4 || at + more > text.size()) return kReplacement;
  uint32_t code = first & (0x3f >> more);
  for (size_t i = 0; i < more; ++i) {
    if ((byte(at + i) & 0xc0) != 0x80) return kReplacement;
    code = code << 6 | (byte(at + i) & 0x3f);
  }
  constexpr uint32_t kLeast[] = {0, 0x80, 0x800, 0x10000};
  if (code < kLeast[more] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000))
    return kReplacement;
  at += more;
  return code;
}

void append(std::string& out, uint32_t code) {
  const auto put = [&](uint32_t byte) { out += static_cast<char>(byte); };
  if (code < 0x80) return put(code);
  if (code < 0x800) return put(0xc0 | code >> 6), put(0x80 | (code & 0x3f));
  if (code < 0x10000) {
    put(0xe0 | code >> 12);
  } else {
    put(0xf0 | code >> 18);
    put(0x80 | (code >> 12 & 0x3f));
  }
  put(0x80 | (code >> 6 & 0x3f));
  put(0x80 | (code & 0x3f));
}

/// Whether the character separates lines or paragraphs, or changes the direction of text.
bool changes_direction(uint32_t code) {
  return (code >= 0x2028 && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069);
}

uint32_t displayed(uint32_t code, bool lines) {
  if (lines && (code == '\n' || code == '\t')) return code;
  if (code < 0x20) return 0x2400 + code;
  if (code == 0x7f) return 0x2421;
  const bool is_control = code >= 0x80 && code < 0xa0;
  const bool is_none = (code & 0xfffe) == 0xfffe;  // noncharacters; XML forbids U+FFFE and U+FFFF
  return is_control || is_none || changes_direction(code) ? kReplacement : code;
}

std::string with_pictures(std::string_view text, bool lines) {
  std::string out;
  out.reserve(text.size());
  for (size_t at = 0; at < text.size();) {
    if (text[at] >= ' ' && text[at] < 0x7f)
      out += text[at++];
    else
      append(out, displayed(next(text, at), lines));
  }
  return out;
}

}  // namespace

std::string printable(std::string_view text) { return with_pictures(text, true); }

std::string printable_line(std::string_view text) { return with_pictures(text, false); }

std::string shortened_text(std::string_view text, size_t most) {
  if (text.size() <= most) return std::string(text);
  const auto continues = [&](size_t at) {
    return (static_cast<unsigned char>(text[at]) & 0xc0) == 0x80;
  };
  size_t end = most;
  while (end > 0 && most - end < 3 && continues(end)) --end;
  if (continues(end)) end = most;  // this is no UTF-8
  return std::string(text.substr(0, end)) + "...";
}

}  // namespace tenon
