// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A driver that fails: what the timelines and the device say, and what still works.
#include <dlfcn.h>

#include <catch2/catch_test_macros.hpp>

#include "tests/vulkan/harness.hpp"

namespace tenon::vulkan_test {
namespace {

constexpr int kOutOfHostMemory = -1, kDeviceLost = -4;  // VkResult

/// What vkQueueSubmit of the driver answers; restored at the end.
class Failing {
 public:
  explicit Failing(int result) : slot_(slot()) { *slot_ = result; }
  ~Failing() { *slot_ = 0; }
  void set(int result) { *slot_ = result; }

 private:
  static int* slot() {
    void* library = dlopen(TENON_LOSSY_ICD, RTLD_NOW | RTLD_NOLOAD);
    REQUIRE(library);
    return static_cast<int*>(dlsym(library, "lossy_result"));
  }
  int* slot_;
};

}  // namespace

TEST_CASE("cooperative matrices of a subgroup are atoms, those of other kinds are not") {
  const tn_properties& p = shared_device().properties();
  REQUIRE(p.matrix_atom_count == 2);
  const tn_matrix_atom &halves = p.matrix_atoms[0], &bytes = p.matrix_atoms[1];
  CHECK(halves.subgroup == p.subgroup_min);
  CHECK(halves.c_lanes * halves.subgroup == 16 * 8);
  CHECK(halves.accumulator_dtype == TN_DTYPE_F32);
  // lavapipe promises no denormals, and Vulkan no exact sums.
  CHECK(halves.numerics == (TN_ATOM_TRUNCATES | TN_ATOM_FLUSHES_SUBNORMALS));
  CHECK(bytes.k == 32);
  CHECK(bytes.n == 16);
  CHECK(bytes.numerics == 0);
  const Device packed(plugin(), "packed=1");
  CHECK(packed.properties().matrix_atom_count == 0);
}

TEST_CASE("a submission that fails fails its signals, and those of what waits for it") {
  const Device& device = shared_device();
  const Timeline gate(device), first(device), second(device), third(device);
  const tn_point opened = gate.at(1), one = first.at(1), two = second.at(1), three = third.at(1);
  REQUIRE(device.submit({}, {&opened, 1}, {&one, 1}) == TN_OK);
  REQUIRE(device.submit({}, {&one, 1}, {&two, 1}) == TN_OK);
  Failing failing(kOutOfHostMemory);
  REQUIRE(gate.signal(1) == TN_OK);
  failing.set(0);
  CHECK(first.wait(1) == TN_ERROR_OUT_OF_MEMORY);
  CHECK(second.wait(1) == TN_ERROR_OUT_OF_MEMORY);
  CHECK(!second.message.empty());
  uint64_t value = 7;
  CHECK(second.query(value) == TN_ERROR_OUT_OF_MEMORY);
  CHECK(value == 7);
  REQUIRE(device.submit({}, {&two, 1}, {&three, 1}) == TN_OK);
  CHECK(third.wait(1) == TN_ERROR_OUT_OF_MEMORY);
  // The device itself goes on.
  CHECK(gate.wait(1) == TN_OK);
  CHECK_NOTHROW(device.run({}));
}

TEST_CASE("what was reached before a failure stays reached") {
  const Device& device = shared_device();
  const Timeline timeline(device);
  const tn_point one = timeline.at(1), two = timeline.at(2);
  REQUIRE(device.submit({}, {}, {&one, 1}) == TN_OK);
  Failing failing(kOutOfHostMemory);
  REQUIRE(device.submit({}, {&one, 1}, {&two, 1}) == TN_OK);
  CHECK(timeline.wait(1) == TN_OK);
  CHECK(timeline.wait(2) == TN_ERROR_OUT_OF_MEMORY);
  CHECK(timeline.signal(5) == TN_OK);
  CHECK(timeline.wait(5) == TN_ERROR_OUT_OF_MEMORY);
}

TEST_CASE("a lost device stays lost, and what destroys still works") {
  shared_device();
  {
    const Device device(plugin());
    const Memory memory(device, 64);
    const Executable executable = device.compile(add_program(10, 8));
    const Timeline timeline(device), waits(device);
    const tn_point one = timeline.at(1), never = waits.at(1);
    Failing failing(kDeviceLost);
    REQUIRE(device.submit({}, {}, {&one, 1}) == TN_OK);
    failing.set(0);
    CHECK(timeline.wait(1) == TN_ERROR_DEVICE_LOST);
    CHECK(waits.wait(1) == TN_ERROR_DEVICE_LOST);
    CHECK(device.submit({}, {}, {&never, 1}) == TN_ERROR_DEVICE_LOST);
    CHECK_THROWS(Memory(device, 64));
    CHECK_THROWS(device.compile(add_program(10, 8)));
    CHECK_THROWS(memory.read(0, 1));
  }
  // Another device of the same driver is not touched.
  const Device other(plugin());
  CHECK_NOTHROW(other.run({}));
}

}  // namespace tenon::vulkan_test
