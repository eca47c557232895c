// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/formats/event_record.hpp"

#include <array>
#include <bit>

namespace tenon::formats {
namespace {

constexpr std::array<uint32_t, 256> kTable = [] {
  std::array<uint32_t, 256> table{};
  for (uint32_t i = 0; i < 256; ++i) {
    uint32_t crc = i;
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ ((crc & 1) != 0 ? 0x82f63b78 : 0);
    table[i] = crc;
  }
  return table;
}();

template <class T>
std::string little_endian(T value) {
  std::string bytes;
  for (size_t i = 0; i < sizeof(T); ++i, value >>= 8) bytes += static_cast<char>(value & 0xff);
  return bytes;
}

std::string varint(uint64_t value) {
  std::string bytes;
  for (; value >= 0x80; value >>= 7) bytes += static_cast<char>(value | 0x80);
  return bytes + static_cast<char>(value);
}

/// A field of a protocol buffer: its number and the kind of what follows, then that.
enum class Wire : uint8_t { kVarint = 0, kEight = 1, kBytes = 2, kFour = 5 };
std::string field(int number, Wire wire, const std::string& value) {
  return varint(static_cast<uint64_t>(number) << 3 | static_cast<uint64_t>(wire)) + value;
}
std::string bytes_field(int number, std::string_view value) {
  return field(number, Wire::kBytes, varint(value.size())).append(value);
}

std::string time_field(double wall_time) {
  return field(1, Wire::kEight, little_endian(std::bit_cast<uint64_t>(wall_time)));
}

std::string masked_crc(std::string_view data) {
  return little_endian(std::rotr(crc32c(data), 15) + 0xa282ead8);
}

}  // namespace

uint32_t crc32c(std::string_view data) {
  uint32_t crc = ~uint32_t{0};
  for (const char c : data) crc = crc >> 8 ^ kTable[(crc ^ static_cast<uint8_t>(c)) & 0xff];
  return ~crc;
}

std::string version_event(double wall_time) {
  return time_field(wall_time) + bytes_field(3, "brain.Event:2");
}

std::string scalar_event(double wall_time, int64_t step, std::string_view tag, float value) {
  const std::string scalar =
      bytes_field(1, tag) + field(2, Wire::kFour, little_endian(std::bit_cast<uint32_t>(value)));
  return time_field(wall_time) + field(2, Wire::kVarint, varint(static_cast<uint64_t>(step))) +
         bytes_field(5, bytes_field(1, scalar));
}

std::string event_record(std::string_view data) {
  const std::string length = little_endian(static_cast<uint64_t>(data.size()));
  return length + masked_crc(length) + std::string(data) + masked_crc(data);
}

}  // namespace tenon::formats
