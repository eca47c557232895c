// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The CUDA plugin where there need be no GPU.
#include <catch2/catch_test_macros.hpp>

#include "tests/plugin/device.hpp"
#include "tests/stream/offline.hpp"

using namespace tenon;
using namespace tenon::sdk;

namespace {

OfflinePlugin& plugin() {
  static OfflinePlugin instance("cuda");
  return instance;
}

const OfflineExpectation kExpected = {
    "sm_80",
    "sm_90a",
    {"sm_", "sm_9", "sm_80a", "sm_90ab", "sm_12345", "gfx90a", "", "sm_81"},
    ".text.{}",
    ".entry {}"};

}  // namespace

TEST_CASE("cuda: no driver is no device, with the reason") {
  const std::string reason = plugin_test::no_device(plugin().table());
  if (reason.empty()) SKIP("there is a device");
  INFO(reason);
  CHECK((reason.starts_with("libcuda.so.1: ") || reason.starts_with("init: ") ||
         reason.starts_with("device count: ") || reason == "the driver lists no device"));
  CHECK(plugin_test::no_device(plugin().table()) == reason);
}

TEST_CASE("cuda: limits and atoms of an architecture") {
  const tn_properties* p = plugin().properties("sm_90a");
  if (!p) SKIP("no compiler: " << plugin().error());
  CHECK(p->max_shared_bytes == 227u << 10);
  CHECK(p->subgroup_min == 32);
  CHECK(p->matrix_atom_count == 14);
  CHECK(p->storage_bytes == 0);
}

TEST_CASE("cuda: targets by name") { check_targets(plugin(), kExpected); }
TEST_CASE("cuda: every sample compiles, and its entry is in the binary") {
  check_samples(plugin(), kExpected);
}
TEST_CASE("cuda: several threads compile at once") { check_threads(plugin(), kExpected); }
TEST_CASE("cuda: extensions") { check_extensions(plugin()); }
