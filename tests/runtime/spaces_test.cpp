// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Claims of a plugin about its memory spaces.
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cstddef>

#include "core/plugin/properties.hpp"
#include "core/support/error.hpp"

using namespace tenon;
using Catch::Matchers::ContainsSubstring;

namespace {

/// Of one space, aligned to 64 bytes, of a plugin whose header has so many bytes of the struct.
DeviceFacts facts_of(uint32_t read_alignment, uint32_t bytes = sizeof(tn_memory_space)) {
  tn_memory_space space = TN_INIT(tn_memory_space);
  space.struct_size = bytes;
  space.flags = TN_MEMORY_DEVICE;
  space.alignment = 64;
  space.read_alignment = read_alignment;
  tn_properties p = TN_INIT(tn_properties);
  p.flags = TN_DEVICE_COMPUTE;
  p.memory_spaces = &space;
  p.memory_space_count = 1, p.memory_space_stride = bytes;
  return read_properties(&p, "test");
}

}  // namespace

TEST_CASE("a read_alignment is a power of two up to the alignment, and 0 is that one") {
  CHECK(facts_of(1).capabilities.read_alignment == 1);
  CHECK(facts_of(64).capabilities.read_alignment == 64);
  CHECK(facts_of(0).capabilities.read_alignment == 64);
  CHECK(facts_of(0).spaces[0].read_alignment == 64);
  CHECK(facts_of(1, offsetof(tn_memory_space, read_alignment)).capabilities.read_alignment == 64);
  for (const uint32_t bad : {3U, 48U, 128U})
    CHECK_THROWS_WITH(facts_of(bad), ContainsSubstring("expected a read_alignment of memory space "
                                                       "0 that is 0 or a power of two up to 64"));
}
