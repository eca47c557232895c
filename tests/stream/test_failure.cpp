// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Every call of the driver fails once; devices are lost; nothing is left behind, nothing hangs.
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>

#include "tests/stream/rig.hpp"

using namespace tenon::sdk;

namespace {

/// At the end of a scope, also one that an exception ends, waits until the streams are empty: the
/// caller never destroys what is in use. One call at most fails, so the second try does not, but on
/// a device that it ended.
struct Drain {
  std::vector<StreamDevice*> devices;
  ~Drain() {
    for (StreamDevice* device : devices) {
      for (bool is_empty = false; !is_empty && !device->context()->lost();) {
        try {
          const auto timeline = device->make_timeline(0);
          Work().signal(*timeline, 1).submit(*device);
          timeline->wait(1, kForEver);
          is_empty = true;
        } catch (const Failure&) {
        }
      }
    }
  }
};

/// A bit of everything; throws the first failure that reaches the caller.
void scenario() {
  Rig rig;
  StreamDevice& device = rig.device(0);
  StreamDevice& other = rig.device(1);
  const auto a = device.allocate(kDeviceSpace, 64), b = device.allocate(kDeviceSpace, 64);
  const auto host = device.allocate(kPinnedSpace, 64);
  std::vector<int32_t> own(16);
  const auto import = device.import_host(kPinnedSpace, own.data(), 64);
  const auto add = compiled(rig, device, add_program(16, 1));
  const auto timeline = device.make_timeline(0), there = other.make_timeline(0);
  std::unique_ptr<StreamGraph> graph;
  const Drain drain{{&device, &other}};
  Work().fill(*a, 0, 64, 0x100000002, 8).launch(*add, *a, *b).signal(*timeline, 1).submit(device);
  graph = Work().launch(*add, *b, *a).copy(*host, 0, *a, 0, 64).record(device);
  Work().wait(*timeline, 1).signal(*timeline, 2).launch_graph(*graph);
  Work().fill(*import, 0, 64, 7, 4).wait(*timeline, 2).signal(*there, 1).submit(other);
  there->wait(1, kForEver);
  timeline->wait(2, kForEver);
  Work().launch(*add, *a, *b).run_timed(device);
  REQUIRE(*static_cast<int32_t*>(host->map(0, 4)) == 4);
  REQUIRE(own[15] == 7);
}

}  // namespace

TEST_CASE("every call fails once, and leaves nothing behind") {
  for (const bool pools : {true, false}) {
    for (const int code : {701, 2, 999}) {
      uint64_t n = 1;
      for (bool is_over = false; !is_over; ++n) {
        Double::reset();
        Double::set_abilities(pools, true);
        Double::fail_call(n, code);
        Double::set_current(2);  // the caller's own
        const tn_status status = status_of(scenario);
        CHECK(Double::contexts() == "2");
        is_over = Double::calls() < n;
        INFO("call " << n << " of " << Double::recorded() << "\n" << Double::violations());
        if (is_over) {
          CHECK(status == TN_OK);
        } else if (code == 2 && status != TN_OK && status != TN_ERROR_NOT_FOUND) {
          CHECK(status == TN_ERROR_OUT_OF_MEMORY);
        } else if (code == 999 && status != TN_OK && status != TN_ERROR_NOT_FOUND) {
          CHECK(status == TN_ERROR_DEVICE_LOST);
        }
        CHECK(Double::violations().empty());
        CHECK(Double::leftovers() == "");
      }
      CHECK(n > 25);  // the scenario did make calls
    }
  }
}

TEST_CASE("a failed command fails its signals, and what waits for them") {
  Double::reset();
  Rig rig;
  StreamDevice& device = rig.device();
  {
    const auto a = device.allocate(kDeviceSpace, 64);
    const auto timeline = device.make_timeline(0), next = device.make_timeline(0);
    Work().fill(*a, 0, 64, 1, 4).signal(*timeline, 1).submit(device);
    Double::fail_call(3, 701);  // event, fill, copy
    Work().fill(*a, 0, 64, 2, 4).copy(*a, 0, *a, 32, 32).signal(*timeline, 2).submit(device);
    Work().fill(*a, 0, 64, 3, 4).wait(*timeline, 2).signal(*next, 1).submit(device);
    timeline->wait(1, kForEver);  // was promised before
    CHECK(status_of([&] { timeline->wait(2, kForEver); }) == TN_ERROR_INTERNAL);
    CHECK_THROWS_WITH(next->wait(1, kForEver), "copy: DOUBLE_ERROR_701");
    CHECK_THROWS_WITH(next->query(), "copy: DOUBLE_ERROR_701");
    const auto fresh = device.make_timeline(0);  // the device goes on
    Work().fill(*a, 0, 64, 4, 4).signal(*fresh, 1).submit(device);
    fresh->wait(1, kForEver);
    Double::fail_call(2, 701);
    CHECK_THROWS(Work().fill(*a, 0, 64, 5, 4).submit(device));  // no timeline to tell
  }
  rig.check();
}

TEST_CASE("a lost device stays lost, its objects can be destroyed, the others go on") {
  Double::reset();
  Rig rig;
  StreamDevice& device = rig.device(0);
  StreamDevice& other = rig.device(1);
  {
    const auto a = device.allocate(kDeviceSpace, 64), host = device.allocate(kPinnedSpace, 64);
    const auto b = other.allocate(kDeviceSpace, 64);
    const auto timeline = device.make_timeline(0), there = other.make_timeline(0);
    const auto later = other.make_timeline(0);
    const auto lose = compiled(rig, device, add_program(16, 1, "lose"));
    const auto add = compiled(rig, other, add_program(16, 1));
    Work().launch(*lose, *a, *a).signal(*timeline, 1).submit(device);
    // Waits on the stream for what never comes.
    Work().fill(*b, 0, 64, 1, 4).wait(*timeline, 1).signal(*there, 1).submit(other);
    CHECK(status_of([&] { timeline->wait(1, kForEver); }) == TN_ERROR_DEVICE_LOST);
    CHECK(status_of([&] { timeline->query(); }) == TN_ERROR_DEVICE_LOST);
    CHECK(status_of([&] { there->wait(1, kForEver); }) == TN_ERROR_DEVICE_LOST);
    for (int i = 0; i < 2; ++i) {
      CHECK(status_of([&] { device.allocate(kDeviceSpace, 64); }) == TN_ERROR_DEVICE_LOST);
      CHECK(status_of([&] { device.make_timeline(0); }) == TN_ERROR_DEVICE_LOST);
      CHECK(status_of([&] { host->map(0, 64); }) == TN_ERROR_DEVICE_LOST);
      CHECK(status_of([&] { Work().fill(*a, 0, 64, 1, 4).submit(device); }) ==
            TN_ERROR_DEVICE_LOST);
      CHECK(status_of([&] { Work().fill(*a, 0, 64, 1, 4).record(device); }) ==
            TN_ERROR_DEVICE_LOST);
      CHECK(status_of([&] { compiled(rig, device, add_program(16, 1)); }) == TN_ERROR_DEVICE_LOST);
    }
    Work().launch(*add, *b, *b).signal(*later, 1).submit(other);
    later->wait(1, kForEver);
  }
  rig.check();
}

TEST_CASE("every code that ends a context makes the device lost") {
  int deadly = 0;
  for (int code = 1; code < 1000; ++code) {
    if (code == 600) continue;  // not ready: no error
    Double::reset();
    Rig rig;
    StreamDevice& device = rig.device();
    {
      INFO(code);
      const auto a = device.allocate(kDeviceSpace, 64);
      const auto timeline = device.make_timeline(0);
      Double::fail_call(2, code);  // event, fill
      Work().fill(*a, 0, 64, 1, 4).signal(*timeline, 1).submit(device);
      const tn_status status = status_of([&] { timeline->wait(1, kForEver); });
      CHECK((status == TN_ERROR_DEVICE_LOST) == Double::is_deadly(code));
      CHECK(status != TN_OK);
      const tn_status next = status_of([&] { device.allocate(kDeviceSpace, 64); });
      CHECK(next == (Double::is_deadly(code) ? TN_ERROR_DEVICE_LOST : TN_OK));
      deadly += Double::is_deadly(code);
    }
    rig.check();
  }
  CHECK(deadly == 20);
}

TEST_CASE("a device that is closed fails what has not started") {
  Double::reset();
  Rig rig;
  StreamDevice& device = rig.device();
  const auto gate = device.make_timeline(0), done = device.make_timeline(0);
  {
    const auto a = device.allocate(kDeviceSpace, 64);
    Work().fill(*a, 0, 64, 1, 4).wait(*gate, 1).signal(*done, 1).submit(device);
  }
  rig.close();
  CHECK(status_of([&] { done->wait(1, kForEver); }) == TN_ERROR_DEVICE_LOST);
  rig.check();
}

TEST_CASE("out of memory has no side effect") {
  Double::reset();
  Rig rig;
  StreamDevice& device = rig.device();
  {
    const auto a = device.allocate(kDeviceSpace, 1 << 20);
    CHECK(status_of([&] { device.allocate(kDeviceSpace, 64 << 20); }) == TN_ERROR_OUT_OF_MEMORY);
    CHECK(status_of([&] { device.allocate(kPinnedSpace, 64 << 20); }) == TN_ERROR_OUT_OF_MEMORY);
    const auto timeline = device.make_timeline(0);
    Work().fill(*a, 0, 64, 1, 4).signal(*timeline, 1).submit(device);
    timeline->wait(1, kForEver);
  }
  rig.check();
}
