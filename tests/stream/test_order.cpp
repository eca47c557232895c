// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Submissions and timelines: order within a device, between devices, and against the host.
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <chrono>
#include <cstring>
#include <thread>

#include "tests/stream/rig.hpp"

using namespace tenon::sdk;

namespace {

std::vector<int32_t> values(Memory& pinned, size_t count) {
  std::vector<int32_t> out(count);
  std::memcpy(out.data(), pinned.map(0, count * 4), count * 4);
  return out;
}

}  // namespace

TEST_CASE_METHOD(Fresh, "devices come in the order of their buses, with uuid and target") {
  Rig rig;
  std::string reason;
  const auto infos = rig.backend().enumerate(reason);
  REQUIRE(infos.size() == kDoubleDevices);
  CHECK(infos[0].uuid[0] == 3);
  CHECK(infos[2].uuid[15] == 1);
  CHECK(std::string(infos[1].target) == "double");
  CHECK(std::string(infos[1].driver) == "double 12040");
}

TEST_CASE_METHOD(Fresh, "launches, copies and fills of a submission run in order") {
  for (const bool pools : {true, false}) {
    Double::set_abilities(pools, true);
    Rig rig;
    StreamDevice& device = rig.device();
    {
      const auto a = device.allocate(kDeviceSpace, 64), b = device.allocate(kDeviceSpace, 64);
      const auto host = device.allocate(kPinnedSpace, 64);
      CHECK_THROWS_WITH(a->map(0, 4), "memory_map: expected memory that the host sees");
      const auto add = compiled(rig, device, add_program(16, 5));
      const auto timeline = device.make_timeline(0);
      std::vector<int32_t> in(16);
      for (int i = 0; i < 16; ++i) in[static_cast<size_t>(i)] = i;
      std::memcpy(host->map(0, 64), in.data(), 64);
      Work().copy(*a, 0, *host, 0, 64).launch(*add, *a, *b).signal(*timeline, 1).submit(device);
      Work()
          .launch(*add, *b, *a)
          .copy(*host, 0, *a, 0, 64)
          .wait(*timeline, 1)
          .signal(*timeline, 2)
          .submit(device);
      CHECK(timeline->query() < 2);  // nothing runs before somebody waits for it
      timeline->wait(2, kForEver);
      for (int& value : in) value += 10;
      CHECK(values(*host, 16) == in);
      CHECK(timeline->query() == 2);
    }
    rig.check();
  }
}

TEST_CASE_METHOD(Fresh, "commands are timed by events, and have ended then") {
  Rig rig;
  StreamDevice& device = rig.device();
  {
    const auto a = device.allocate(kDeviceSpace, 64), b = device.allocate(kDeviceSpace, 64);
    const auto host = device.allocate(kPinnedSpace, 64);
    const auto add = compiled(rig, device, add_program(16, 5));
    const auto begin = std::chrono::steady_clock::now();
    const uint64_t nanoseconds = Work()
                                     .fill(*a, 0, 64, 1, 4)
                                     .launch(*add, *a, *b)
                                     .copy(*host, 0, *b, 0, 64)
                                     .run_timed(device);
    const std::chrono::nanoseconds passed = std::chrono::steady_clock::now() - begin;
    CHECK(values(*host, 16) == std::vector<int32_t>(16, 6));
    CHECK(nanoseconds > 0);
    CHECK(nanoseconds < static_cast<uint64_t>(passed.count()) + 1000000);  // of floats
    const auto* timing = static_cast<const tn_timing*>(rig.backend().extension(TN_TIMING_ID));
    REQUIRE(timing);
    tn_submission elsewhere = TN_INIT(tn_submission);
    elsewhere.queue = 1;
    CHECK_THROWS_WITH(device.run_timed(elsewhere), "submit: expected queue 0, got 1");
  }
  rig.check();
}

TEST_CASE_METHOD(Fresh, "fills of every width, unaligned too") {
  Rig rig;
  StreamDevice& device = rig.device();
  {
    const auto memory = device.allocate(kPinnedSpace, 100);
    const auto timeline = device.make_timeline(0);
    const uint64_t pattern = 0x8877665544332211;
    uint64_t raised = 0;
    for (const uint32_t width : {1u, 2u, 4u, 8u}) {
      for (const uint64_t offset : {0u, 1u, 6u}) {
        for (const uint64_t count : {1u, 3u, 7u}) {
          Work()
              .fill(*memory, 0, 100, 0, 1)
              .fill(*memory, offset, count * width, pattern, width)
              .signal(*timeline, ++raised)
              .submit(device);
          timeline->wait(raised, kForEver);
          const auto* bytes = static_cast<const unsigned char*>(memory->map(0, 100));
          for (uint64_t i = 0; i < 100; ++i) {
            const bool is_inside = i >= offset && i < offset + count * width;
            const uint64_t expected =
                is_inside ? pattern >> (8 * ((i - offset) % width)) & 0xff : 0;
            if (bytes[i] != expected) FAIL(width << " bytes at " << offset << ", byte " << i);
          }
        }
      }
    }
  }
  rig.check();
}

TEST_CASE_METHOD(Fresh, "a pattern of equal parts is one call of the driver") {
  Rig rig;
  StreamDevice& device = rig.device();
  const auto memory = device.allocate(kDeviceSpace, 64);
  const auto timeline = device.make_timeline(0);
  Double::recorded();
  Work().fill(*memory, 0, 64, 0, 8).signal(*timeline, 1).submit(device);
  CHECK(Double::recorded() == "event_create fill8 event_record");
  Work().fill(*memory, 0, 64, 0x0000000100000001, 8).signal(*timeline, 2).submit(device);
  CHECK(Double::recorded() == "event_create fill32 event_record");
  timeline->wait(2, kForEver);
}

TEST_CASE_METHOD(Fresh, "a submission that waits for the host starts when the host signals") {
  Rig rig;
  StreamDevice& device = rig.device();
  {
    const auto host = device.allocate(kPinnedSpace, 8);
    const auto gate = device.make_timeline(0), done = device.make_timeline(0);
    Work().fill(*host, 0, 4, 7, 4).wait(*gate, 1).signal(*done, 1).submit(device);
    Work().fill(*host, 4, 4, 9, 4).signal(*done, 0).submit(device);  // others go on meanwhile
    CHECK_THROWS_WITH(done->wait(1, 1'000'000), "timeline_wait: 1 not reached, at 0");
    std::thread waiter([&] { done->wait(1, kForEver); });
    gate->signal(1);
    waiter.join();
    CHECK(values(*host, 2) == std::vector<int32_t>{7, 9});
  }
  rig.check();
}

TEST_CASE_METHOD(Fresh, "devices wait for each other on the stream") {
  Rig rig;
  StreamDevice &first = rig.device(0), &second = rig.device(1);
  {
    const auto shared = first.allocate(kPinnedSpace, 4);
    const auto a = first.make_timeline(0), b = second.make_timeline(0);
    Double::recorded();
    for (uint64_t i = 1; i <= 40; ++i) {
      Work().fill(*shared, 0, 4, i, 4).wait(*b, i - 1).signal(*a, i).submit(first);
      Work().fill(*shared, 0, 4, i + 1000, 4).wait(*a, i).signal(*b, i).submit(second);
    }
    const std::string calls = Double::recorded();
    CHECK(calls.find("stream_wait_event") != std::string::npos);
    CHECK(calls.find("synchronize") == std::string::npos);
    b->wait(40, kForEver);
    CHECK(values(*shared, 1)[0] == 1040);
    CHECK(a->query() == 40);
  }
  rig.check();
}

TEST_CASE_METHOD(Fresh, "a wait for what another device has yet to promise is put off") {
  Rig rig;
  StreamDevice &first = rig.device(0), &second = rig.device(1);
  {
    const auto shared = first.allocate(kPinnedSpace, 4);
    const auto a = first.make_timeline(0), b = second.make_timeline(0);
    const auto gate = first.make_timeline(0);
    Work().fill(*shared, 0, 4, 2, 4).wait(*a, 1).signal(*b, 1).submit(second);
    Work().fill(*shared, 0, 4, 1, 4).wait(*gate, 1).signal(*a, 1).submit(first);
    gate->signal(1);
    b->wait(1, kForEver);
    CHECK(values(*shared, 1)[0] == 2);
  }
  rig.check();
}

TEST_CASE_METHOD(Fresh, "copies from a peer's memory, where it can be reached") {
  Rig rig;
  StreamDevice &first = rig.device(0), &second = rig.device(1), &third = rig.device(2);
  {
    CHECK(first.can_copy_from(second));
    CHECK(first.can_copy_from(first));
    CHECK(!first.can_copy_from(third));
    CHECK(Double::pools_reached() == 1);
    const auto a = first.allocate(kDeviceSpace, 16), b = second.allocate(kDeviceSpace, 16);
    const auto c = third.allocate(kDeviceSpace, 16), host = first.allocate(kPinnedSpace, 16);
    const auto there = second.make_timeline(0), here = first.make_timeline(0);
    Work().fill(*b, 0, 16, 3, 4).signal(*there, 1).submit(second);
    Work()
        .copy(*a, 0, *b, 0, 16)
        .copy(*host, 0, *a, 0, 16)
        .wait(*there, 1)
        .signal(*here, 1)
        .submit(first);
    here->wait(1, kForEver);
    CHECK(values(*host, 4) == std::vector<int32_t>{3, 3, 3, 3});
    CHECK_THROWS_WITH(Work().copy(*a, 0, *c, 0, 16).submit(first),
                      "submit: expected memory of device 0, got some of device 2");
    CHECK_THROWS(Work().copy(*b, 0, *a, 0, 16).submit(first));  // into a peer
  }
  rig.check();
}

TEST_CASE_METHOD(Fresh, "host memory is imported, and let go") {
  Rig rig;
  StreamDevice& device = rig.device();
  std::vector<int32_t> own = {1, 2, 3, 4};
  {
    CHECK_THROWS(device.import_host(kDeviceSpace, own.data(), 16));
    const auto import = device.import_host(kPinnedSpace, own.data(), 16);
    const auto memory = device.allocate(kDeviceSpace, 16);
    const auto timeline = device.make_timeline(5);
    const auto add = compiled(rig, device, add_program(4, 10));
    Work()
        .launch(*add, *import, *memory)
        .copy(*import, 0, *memory, 0, 16)
        .signal(*timeline, 6)
        .submit(device);
    timeline->wait(6, kForEver);
  }
  CHECK(own == std::vector<int32_t>{11, 12, 13, 14});
  rig.check();
}

TEST_CASE_METHOD(Fresh, "memory of the double that is freed in flight is seen") {
  Rig rig;
  StreamDevice& device = rig.device();
  {
    auto memory = device.allocate(kDeviceSpace, 16);
    const auto timeline = device.make_timeline(0);
    Work().fill(*memory, 0, 16, 1, 4).signal(*timeline, 1).submit(device);
    memory.reset();
    CHECK(Double::violations().find("while queued work uses it") != std::string::npos);
    CHECK(Double::leftovers().find("streams") != std::string::npos);
  }
  rig.close();
  Double::reset();
}
