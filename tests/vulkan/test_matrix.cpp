// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Matrix atoms on a device that has them, as lavapipe of Mesa 26 does.
#include <catch2/catch_test_macros.hpp>

#include "tests/sdk/matrix_tile.hpp"
#include "tests/vulkan/harness.hpp"

namespace tenon::vulkan_test {
TEST_CASE("matrix atoms of the device, from buffers and shared memory, in either order") {
  const Device& device = shared_device();
  const tn_properties& p = device.properties();
  if (p.matrix_atom_count == 0) SKIP("the device has no cooperative matrices");
  for (uint32_t i = 0; i < p.matrix_atom_count; ++i) {
    for (unsigned bits = 0; bits < 16; ++bits) {
      const sdk::MatrixTile t{p.matrix_atoms[i],
                              {(bits & 1) != 0, (bits & 2) != 0, (bits & 4) != 0},
                              (bits & 8) != 0,
                              16};
      CAPTURE(t.text());
      const auto element = [&](uint32_t role, uint32_t row, uint32_t column) {
        return t.small(role, row, column);
      };
      Bytes a = t.stored(0, element), b = t.stored(1, element);
      Bytes out(size_t{t.count(2)} * sdk::dtype_bytes(t.dtype(2)));
      device.run(sdk::tile_program(t), {1}, {{&a}, {&b}, {&out}});
      CHECK(t.differences(out) == 0);
    }
  }
}

}  // namespace tenon::vulkan_test
