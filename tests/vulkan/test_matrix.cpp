// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Matrix atoms on a device that has them, as lavapipe of Mesa 26 does.
#include <catch2/catch_test_macros.hpp>

#include "tests/sdk/matrix_tile.hpp"
#include "tests/vulkan/harness.hpp"

namespace tenon::vulkan_test {
namespace {

std::vector<uint8_t> bytes_of(const std::vector<std::byte>& from) {
  const auto* first = reinterpret_cast<const uint8_t*>(from.data());
  return {first, first + from.size()};
}

}  // namespace

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
      const auto a = bytes_of(t.stored(0, element)), b = bytes_of(t.stored(1, element));
      const uint64_t size = uint64_t{t.count(2)} * sdk::dtype_bytes(t.dtype(2));
      const Memory x(device.get(), a.size()), y(device.get(), b.size()), z(device.get(), size);
      x.write(0, a);
      y.write(0, b);
      tn_executable* executable = device.compile(sdk::tile_program(t));
      const tn_argument arguments[] = {buffer(x, 0, a.size()), buffer(y, 0, b.size()),
                                       buffer(z, 0, size)};
      const tn_command command = launch(executable, 1, t.atom.subgroup, arguments);
      device.run({&command, 1});
      const std::vector<uint8_t> out = z.read(0, size);
      CHECK(t.differences(std::as_bytes(std::span(out))) == 0);
      plugin().executable_destroy(executable);
    }
  }
}

}  // namespace tenon::vulkan_test
