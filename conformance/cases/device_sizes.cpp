// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "conformance/cases/device_sizes.hpp"

#include <algorithm>
#include <array>

namespace tenon::conformance {
namespace {

struct Drawn {
  std::string_view name;
  std::array<uint64_t, 3> values;
};

/// That of vectors stays: programs are made of them.
constexpr Drawn kDrawn[] = {{"compute_units", {1, 5, 64}},
                            {"vector_registers", {8, 16, 32}},
                            {"l1_bytes", {256, 1024, 1 << 14}},
                            {"l2_bytes", {512, 4096, 1 << 16}},
                            {"l3_bytes", {512, 2048, 1 << 17}}};

}  // namespace

bool is_device_size(std::string_view name) {
  return std::ranges::count(kDrawn, name, &Drawn::name) > 0;
}

DeviceSizes draw_device_sizes(Random& random, uint64_t percent) {
  DeviceSizes out;
  for (const Drawn& drawn : kDrawn)
    if (random.chance(percent))
      out[std::string(drawn.name)] = drawn.values[random.below(drawn.values.size())];
  return out;
}

Capabilities with_sizes(Capabilities capabilities, const DeviceSizes& sizes) {
#define TN_LIMIT(type, name, unless_told)
#define TN_SIZE(type, name, unless_told)                        \
  if (const auto size = sizes.find(#name); size != sizes.end()) \
    capabilities.name = static_cast<type>(size->second);
#include "core/ir/limits.def"
  return capabilities;
}

}  // namespace tenon::conformance
