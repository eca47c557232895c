// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Recorded graphs.
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>

#include "tests/stream/rig.hpp"

using namespace tenon::sdk;

TEST_CASE("a graph is recorded once and launched often, as one submission each") {
  Double::reset();
  Rig rig;
  StreamDevice& device = rig.device();
  {
    const auto a = device.allocate(kDeviceSpace, 16), b = device.allocate(kDeviceSpace, 16);
    const auto host = device.allocate(kPinnedSpace, 16);
    const auto timeline = device.make_timeline(0), gate = device.make_timeline(0);
    const auto add = compiled(rig, device, add_program(4, 1));
    const auto graph =
        Work().launch(*add, *a, *b).launch(*add, *b, *a).copy(*host, 0, *a, 0, 16).record(device);
    Work().fill(*a, 0, 16, 0, 4).signal(*timeline, 1).submit(device);
    Double::recorded();
    for (uint64_t i = 1; i <= 5; ++i) {
      Work().wait(*timeline, i).signal(*timeline, i + 1).launch_graph(*graph);
    }
    CHECK(Double::recorded() ==
          "event_create graph_launch event_record event_create graph_launch event_record "
          "event_create graph_launch event_record event_create graph_launch event_record "
          "event_create graph_launch event_record");
    Work().wait(*gate, 1).signal(*timeline, 7).launch_graph(*graph);  // put off
    gate->signal(1);
    timeline->wait(7, kForEver);
    CHECK(*static_cast<int32_t*>(host->map(0, 4)) == 12);
  }
  rig.check();
}

TEST_CASE("a driver without graphs says so") {
  Double::reset();
  Double::set_abilities(true, false);
  Rig rig;
  StreamDevice& device = rig.device();
  {
    const auto a = device.allocate(kDeviceSpace, 16);
    CHECK_THROWS_WITH(Work().fill(*a, 0, 16, 0, 4).record(device),
                      "graph record: expected a driver that has graphs");
  }
  rig.check();
}
