// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Executables as bytes, whole and damaged.
#pragma once

#include <chrono>
#include <cstdint>
#include <span>
#include <vector>

#include "conformance/abi/open_device.hpp"

namespace tenon::conformance::abi {

bool can_save(const OpenDevice& device);
/// The sink rests so long before it reads the first pieces.
std::vector<uint8_t> save(const OpenDevice& device, tn_executable* executable,
                          std::chrono::microseconds pause = {});

struct LoadAnswer {
  ExecutableHandle executable;
  int32_t status = TN_OK;
};
LoadAnswer load(const OpenDevice& device, std::span<const uint8_t> bytes);

/// Cuts the bytes or changes one, by the seed; load must say TN_ERROR_INCOMPATIBLE.
void expect_damage_is_refused(const OpenDevice& device, std::vector<uint8_t> bytes, uint64_t seed);
/// A Finding unless bytes that are saved ones but for `what` are refused.
void expect_refused_bytes(const OpenDevice& device, std::span<const uint8_t> bytes,
                          const std::string& what);

}  // namespace tenon::conformance::abi
