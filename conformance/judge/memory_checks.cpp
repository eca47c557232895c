// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "conformance/judge/memory_checks.hpp"

#include <algorithm>

#include "conformance/judge/declared.hpp"
#include "core/plugin/discovery.hpp"
#include "core/support/error.hpp"
#include "sdk/program/command.hpp"
#include "tenon/ext/files.h"

namespace tenon::conformance::judge {
namespace {

/// Bytes that differ from place to place and from `seed` to `seed`.
std::vector<uint8_t> pattern(uint64_t size, uint64_t seed) {
  std::vector<uint8_t> bytes(size);
  for (uint64_t i = 0; i < size; ++i)
    bytes[i] = static_cast<uint8_t>((i * 31 + seed * 17) ^ (i >> 8));
  return bytes;
}

void expect(const Buffer& buffer, const std::vector<uint8_t>& expected, const char* what) {
  std::vector<uint8_t> got(buffer.size());
  buffer.device().read(buffer, 0, got.data(), got.size());
  const auto at = std::ranges::mismatch(got, expected).in1 - got.begin();
  if (got != expected)
    fail(ErrorKind::kInternal, "{}: of {} bytes expected byte {} to be {}, got {}", what,
         got.size(), at, expected[static_cast<size_t>(at)], got[static_cast<size_t>(at)]);
}

BufferRef filled(Device& device, const std::vector<uint8_t>& bytes) {
  BufferRef buffer = device.allocate(bytes.size(), "check");
  device.write(*buffer, 0, bytes.data(), bytes.size());
  return buffer;
}

void check_whole(Device& device) {
  for (const uint64_t size : {1, 63, 4096, (1 << 20) + 1, 9 << 20}) {
    const auto bytes = pattern(size, size);
    expect(*filled(device, bytes), bytes, "written whole");
  }
}

void check_ranges(Device& device) {
  auto bytes = pattern(300'001, 1);
  const BufferRef buffer = filled(device, bytes);
  for (const uint64_t begin : {1, 4095, 65'535, 299'000}) {
    const auto part = pattern(std::min<uint64_t>(70'001, bytes.size() - begin), begin);
    device.write(*buffer, begin, part.data(), part.size());
    std::ranges::copy(part, bytes.begin() + static_cast<std::ptrdiff_t>(begin));
    expect(*buffer, bytes, "written in part");
    std::vector<uint8_t> got(part.size());
    device.read(*buffer, begin, got.data(), got.size());
    if (got != part) fail(ErrorKind::kInternal, "a range at {} reads otherwise than alone", begin);
  }
}

void check_neighbours(Device& device) {
  std::vector<BufferRef> buffers;
  for (uint64_t i = 0; i < 200; ++i) buffers.push_back(filled(device, pattern(1 + i * 37, i)));
  for (uint64_t i = 0; i < buffers.size(); ++i)
    expect(*buffers[i], pattern(1 + i * 37, i), "beside others");
}

void check_commands(Device& device) {
  auto bytes = pattern(100'000, 2);
  const BufferRef from = filled(device, bytes), to = filled(device, pattern(100'000, 3));
  device.copy(*from, 0, *to, 0, bytes.size());
  const tn_command fill =
      sdk::fill_command(to->memory(), to->offset() + 64, 4000, 0x0102030405060708, 4);
  device.submit({fill}, std::vector<BufferRef>{to});
  for (uint64_t i = 0; i < fill.size; ++i)
    bytes[64 + i] = static_cast<uint8_t>(fill.pattern >> 8 * (i % 4));
  expect(*to, bytes, "copied and filled");
}

void check_growth(Device& device) {
  std::vector<BufferRef> held;
  const auto bytes = pattern(24 << 20, 4);
  for (int i = 0; i < 4; ++i) held.push_back(filled(device, bytes));
  for (const BufferRef& buffer : held) expect(*buffer, bytes, "of 96 MiB");
  held.clear();
  device.trim();
  if (device.bytes_reserved() != 0)
    fail(ErrorKind::kInternal, "expected all memory to be given back, got {} bytes held",
         device.bytes_reserved());
}

/// Of a file only while it is empty: what someone keeps in it is not ours to write over.
void check_file(Device& device) {
  const auto* files = static_cast<const tn_files*>(
      device.plugin().get_extension ? device.plugin().get_extension(TN_FILES_ID) : nullptr);
  uint64_t size = 0;
  tn_error error = TN_INIT(tn_error);
  if (!files || files->file_size(device.handle(), &size, &error) != TN_OK || size != 0) return;
  const auto bytes = pattern(70'000, 5);
  const BufferRef range = device.open_range(130'000, bytes.size(), true);
  device.write(*range, 0, bytes.data(), bytes.size());
  expect(*device.open_range(130'000, bytes.size(), false), bytes, "a range of the file");
  expect(*device.open_range(0, 130'000, false), std::vector<uint8_t>(130'000), "before the range");
  bool refused = false;
  try {
    device.open_range(199'999, 2, false);
  } catch (const Error&) {
    refused = true;
  }
  if (!refused) fail(ErrorKind::kInternal, "a range beyond the end of the file is not refused");
}

constexpr struct {
  const char* name;
  void (*run)(Device&);
} kChecks[] = {{"whole", check_whole},           {"ranges", check_ranges},
               {"neighbours", check_neighbours}, {"commands", check_commands},
               {"growth", check_growth},         {"file", check_file}};

RuntimeOptions memory_options(const Target& target) {
  RuntimeOptions options;
  options.devices = target.backend;
  if (target.plugin) options.plugins.push_back(*target.plugin);
  options.probe = false;  // a worker process is one
  options.require_compute = false;
  return options;
}

Outcome from_exception(const Error& error) {
  if (error.kind() == ErrorKind::kDeviceLost) return {Status::kDeviceLost, "lost", error.what()};
  return failed("memory content", error.what());
}

}  // namespace

MemoryHarness::MemoryHarness(const Target& target)
    : target_(target), runtime_(std::make_unique<Runtime>(memory_options(target))) {}

std::string MemoryHarness::plugin_path() const {
  if (target_.plugin) return target_.plugin->string();
  const Discovery found = installed_plugins();
  const PluginCandidate* candidate = find_backend(found, target_.backend_name());
  return candidate ? candidate->path.string() : target_.backend;
}

std::string MemoryHarness::properties() const { return declared_properties(device()); }

std::string MemoryHarness::known_answer() {
  try {
    const auto bytes = pattern(64, 1);
    expect(*filled(device(), bytes), bytes, "written whole");
    return {};
  } catch (const std::exception& error) {
    return error.what();
  }
}

Outcome MemoryHarness::run(const std::string& check) {
  const auto* row = std::ranges::find(kChecks, check, [](const auto& one) { return one.name; });
  if (row == std::end(kChecks)) return failed("memory content", "no such check: " + check);
  try {
    row->run(device());
    return {};
  } catch (const Error& error) {
    return from_exception(error);
  } catch (const std::exception& error) {
    return failed("memory content", error.what());
  }
}

}  // namespace tenon::conformance::judge
