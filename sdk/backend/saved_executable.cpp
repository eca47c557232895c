// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Layout: header, sizes of the sections, sections. The first section is the identity.
#include "sdk/backend/saved_executable.hpp"

#include <fmt/format.h>

#include <cstring>

#include "sdk/backend/build_id.hpp"
#include "sdk/backend/checksum.hpp"
#include "sdk/support/failure.hpp"

namespace tenon::sdk {
namespace {

constexpr char kMagic[8] = {'T', 'N', 'S', 'A', 'V', 'E', 'D', '2'};

struct Header {
  char magic[8];
  uint64_t checksum;  // of everything after this field
  uint64_t sections;
};

std::string full_identity(std::string_view identity) {
  static const auto& kBuild = *new std::string(build_id());
  return fmt::format("{}|{}", identity, kBuild);
}

uint64_t checksum_of(std::span<const std::byte> bytes) {
  constexpr size_t kStart = offsetof(Header, sections);
  return checksum(bytes.data() + kStart, bytes.size() - kStart);
}

[[noreturn]] void incompatible(const std::string& why) {
  throw Failure(TN_ERROR_INCOMPATIBLE, "executable_load: " + why);
}

}  // namespace

std::vector<std::byte> pack_saved(std::string_view identity,
                                  std::span<const std::span<const std::byte>> sections) {
  const std::string made_by = full_identity(identity);
  std::vector<std::span<const std::byte>> all = {std::as_bytes(std::span(made_by))};
  all.insert(all.end(), sections.begin(), sections.end());
  Header header{};
  std::memcpy(header.magic, kMagic, sizeof kMagic);
  header.sections = all.size();
  std::vector<std::byte> bytes;
  const auto append = [&](const void* from, size_t size) {
    const auto* first = static_cast<const std::byte*>(from);
    bytes.insert(bytes.end(), first, first + size);
  };
  append(&header, sizeof header);
  for (const auto& section : all) {
    const uint64_t size = section.size();
    append(&size, sizeof size);
  }
  for (const auto& section : all) append(section.data(), section.size());
  header.checksum = checksum_of(bytes);
  std::memcpy(bytes.data(), &header, sizeof header);
  return bytes;
}

std::vector<std::span<const std::byte>> unpack_saved(std::span<const std::byte> bytes,
                                                     std::string_view identity, size_t sections) {
  Header header;
  if (bytes.size() < sizeof header) incompatible("expected a saved executable, got fewer bytes");
  std::memcpy(&header, bytes.data(), sizeof header);
  if (std::memcmp(header.magic, kMagic, sizeof kMagic) != 0)
    incompatible("expected a saved executable, got other bytes");
  if (header.sections != sections + 1)
    incompatible(fmt::format("expected {} sections, got {}", sections + 1, header.sections));
  size_t at = sizeof header + (sections + 1) * sizeof(uint64_t);
  if (bytes.size() < at) incompatible("expected whole bytes, got them cut");
  std::vector<std::span<const std::byte>> found;
  for (size_t i = 0; i <= sections; ++i) {
    uint64_t size;
    std::memcpy(&size, bytes.data() + sizeof header + i * sizeof size, sizeof size);
    if (size > bytes.size() - at) incompatible("expected whole bytes, got them cut");
    found.push_back(bytes.subspan(at, size));
    at += size;
  }
  if (at != bytes.size()) incompatible("expected whole bytes, got them extended");
  if (header.checksum != checksum_of(bytes))
    incompatible("expected the bytes that were saved, got damaged ones");
  const std::string_view made_by(reinterpret_cast<const char*>(found[0].data()), found[0].size());
  if (const std::string ours = full_identity(identity); made_by != ours)
    incompatible(fmt::format("expected {:.180}, got {:.180}", ours, made_by));
  found.erase(found.begin());
  return found;
}

}  // namespace tenon::sdk
