// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The HIP plugin where there need be no GPU.
#include <catch2/catch_test_macros.hpp>

#include "tests/plugin/device.hpp"
#include "tests/stream/offline.hpp"

using namespace tenon;
using namespace tenon::sdk;

namespace {

OfflinePlugin& plugin() {
  static OfflinePlugin instance("hip");
  return instance;
}

const OfflineExpectation kExpected = {
    "gfx90a",
    "gfx1030",
    {"gfx", "gfx9", "gfx90a:", "gfx90a:nonsense+", "sm_90", "", "gfx1", "nonsense"},
    "{}.kd",
    "{}"};

}  // namespace

TEST_CASE("hip: no driver is no device, with the reason") {
  const std::string reason = plugin_test::no_device(plugin().table());
  if (reason.empty()) SKIP("there is a device");
  INFO(reason);
  CHECK((reason.starts_with("libamdhip64.so") || reason.starts_with("init: ") ||
         reason.starts_with("device count: ") || reason == "the driver lists no device"));
  CHECK(plugin_test::no_device(plugin().table()) == reason);
}

TEST_CASE("hip: limits and atoms of an architecture") {
  const tn_properties* p = plugin().properties("gfx90a");
  if (!p) SKIP("no compiler: " << plugin().error());
  CHECK(p->subgroup_min == 64);
  CHECK(p->matrix_atom_count == 9);
  for (int axis = 0; axis < 3; ++axis) {  // HIP refuses 2^32 threads along an axis
    CHECK(uint64_t{p->max_grid[axis]} * p->max_workgroup[axis] < uint64_t{1} << 32);
  }
  REQUIRE(plugin().properties("gfx1030"));
  CHECK(plugin().properties("gfx1030")->subgroup_min == 32);
}

TEST_CASE("hip: targets by name") { check_targets(plugin(), kExpected); }
TEST_CASE("hip: every sample compiles, and its entry is in the binary") {
  check_samples(plugin(), kExpected);
}
TEST_CASE("hip: several threads compile at once") { check_threads(plugin(), kExpected); }
TEST_CASE("hip: extensions") { check_extensions(plugin()); }
