// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "conformance/abi/saved.hpp"

#include <algorithm>
#include <memory>
#include <thread>

#include "conformance/cases/random.hpp"

namespace tenon::conformance::abi {

bool can_save(const OpenDevice& device) { return device.properties().flags & TN_DEVICE_SAVE; }

std::vector<uint8_t> save(const OpenDevice& device, tn_executable* executable,
                          std::chrono::microseconds pause) {
  struct Taken {
    std::vector<uint8_t> bytes;
    std::chrono::microseconds pause;
    int pauses = 50;
  } taken{{}, pause};
  const tn_sink sink = [](void* user, const void* data, size_t size) {
    auto& all = *static_cast<Taken*>(user);
    if (all.pause.count() && all.pauses-- > 0) std::this_thread::sleep_for(all.pause);
    const auto* begin = static_cast<const uint8_t*>(data);
    all.bytes.insert(all.bytes.end(), begin, begin + size);
  };
  tn_error error = abi_struct<tn_error>();
  expect_ok(device.table().executable_save(executable, sink, &taken, &error), error,
            "executable_save");
  expect(!taken.bytes.empty(), "executable_save: expected bytes, got none");
  return std::move(taken.bytes);
}

LoadAnswer load(const OpenDevice& device, std::span<const uint8_t> bytes) {
  // At the very end of what was allocated, and nowhere aligned, so that overreads are seen.
  const auto copy = std::make_unique<uint8_t[]>(bytes.size() + 1);
  std::copy(bytes.begin(), bytes.end(), copy.get() + 1);
  const tn_target target = device.target();
  tn_error error = abi_struct<tn_error>();
  tn_executable* made = nullptr;
  LoadAnswer answer;
  answer.status =
      device.table().executable_load(&target, copy.get() + 1, bytes.size(), &made, &error);
  if (answer.status == TN_ERROR_DEVICE_LOST) throw Lost{error_message(answer.status, error)};
  expect(answer.status == TN_OK ? made != nullptr : made == nullptr,
         "executable_load: expected an executable with TN_OK only");
  if (made) answer.executable = device.own(made);
  return answer;
}

namespace {

/// Damage that a sum, or an XOR, of bytes or words does not see. Empty where nothing was changed.
std::string keep_sums(std::vector<uint8_t>& bytes, Random& random) {
  constexpr uint64_t kWord = 4;
  const uint64_t words = bytes.size() / kWord;
  if (words < 2) return {};
  const std::vector<uint8_t> before = bytes;
  const uint64_t one = random.below(words), other = random.below(words);
  const auto byte = [&](uint64_t word) { return bytes.begin() + static_cast<ptrdiff_t>(word * 4); };
  std::string what;
  switch (random.below(3)) {
    case 0:
      std::swap_ranges(byte(one), byte(one) + kWord, byte(other));
      what = fmt::format("words {} and {} exchanged", one, other);
      break;
    case 1: {
      const auto bit = static_cast<unsigned>(random.below(8));
      for (const uint64_t word : {one, other})
        *byte(word) = static_cast<uint8_t>(*byte(word) ^ (1u << bit));
      what = fmt::format("bit {} of words {} and {} turned", bit, one, other);
      break;
    }
    default:
      ++*byte(one);
      --*byte(other);
      what = fmt::format("1 added to byte {} and taken from byte {}", one * kWord, other * kWord);
  }
  return bytes == before ? std::string() : what;
}

}  // namespace

void expect_damage_is_refused(const OpenDevice& device, std::vector<uint8_t> bytes, uint64_t seed) {
  Random random(seed);
  std::string what;
  if (seed % 4 == 0) {
    bytes.resize(random.below(bytes.size()));
    what = fmt::format("the first {} bytes", bytes.size());
  } else if (seed % 16 == 1) {
    const uint64_t more = 1 + random.below(40), way = random.below(3);
    for (uint64_t i = 0; i < more; ++i)
      bytes.push_back(way == 0 ? uint8_t{0} : way == 1 ? uint8_t{0xFF} : bytes[i]);
    what = fmt::format("{} bytes more at their end, {:#04x}", more, bytes.back());
  } else if (const std::string kept = seed % 4 == 2 ? keep_sums(bytes, random) : "";
             !kept.empty()) {
    what = kept;
  } else {
    const uint64_t at = random.below(bytes.size());
    const auto bit = static_cast<unsigned>(random.below(8));
    bytes[at] = static_cast<uint8_t>(bytes[at] ^ (1u << bit));
    what = fmt::format("bit {} of byte {} turned", bit, at);
  }
  expect_refused_bytes(device, bytes, what);
}

void expect_refused_bytes(const OpenDevice& device, std::span<const uint8_t> bytes,
                          const std::string& what) {
  const LoadAnswer answer = load(device, bytes);
  if (answer.status != TN_ERROR_INCOMPATIBLE)
    find("error", "executable_load: expected TN_ERROR_INCOMPATIBLE with {}, got {}", what,
         answer.status == TN_OK ? "TN_OK" : status_text(answer.status));
}

}  // namespace tenon::conformance::abi
