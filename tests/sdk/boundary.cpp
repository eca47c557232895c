// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Exceptions to statuses, structs of other sizes, options, timelines, queries.
#include <atomic>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <cstring>
#include <new>
#include <thread>

#include "sdk/backend/backend.hpp"
#include "sdk/backend/timeline.hpp"

using namespace tenon::sdk;

TEST_CASE("what is thrown becomes a status and a sentence") {
  tn_error error = TN_INIT(tn_error);
  CHECK(guarded(&error, [] {}) == TN_OK);
  CHECK(guarded(&error, [] { throw Failure(TN_ERROR_IO, "no disk", 42); }) == TN_ERROR_IO);
  CHECK(std::string(error.message) == "no disk");
  CHECK(error.vendor_code == 42);
  CHECK(guarded(&error, [] { throw std::bad_alloc(); }) == TN_ERROR_OUT_OF_MEMORY);
  CHECK(guarded(&error, [] { throw std::runtime_error("odd"); }) == TN_ERROR_INTERNAL);
  CHECK(std::string(error.message) == "odd");
  CHECK(guarded(&error, [] { throw 7; }) == TN_ERROR_INTERNAL);
  CHECK(guarded(nullptr, [] { throw 7; }) == TN_ERROR_INTERNAL);
  CHECK(guarded(&error, [] { throw Failure(TN_ERROR_IO, std::string(2000, 'x')); }) == TN_ERROR_IO);
  CHECK(std::strlen(error.message) == sizeof error.message - 1);
}

TEST_CASE("fields past the writer's end are zero") {
  tn_target target = TN_INIT(tn_target);
  target.name = "there";
  CHECK(read_struct(&target).name == target.name);
  target.struct_size = offsetof(tn_target, name);
  CHECK(read_struct(&target).name == nullptr);
  CHECK(field_or_zero(&target, &tn_target::name) == nullptr);
  target.struct_size = offsetof(tn_target, name) + 4;  // half a field is none
  CHECK(field_or_zero(&target, &tn_target::name) == nullptr);
}

TEST_CASE("options are all taken or an error") {
  Options options("threads=2,fast,name=a=b");
  CHECK(options.take_integer("threads", 1, 8, 4) == 2);
  CHECK(options.take_integer("other", 1, 8, 4) == 4);
  CHECK(options.take("fast") == "");
  CHECK_THROWS_WITH(options.require_all_taken(),
                    "option name: expected a key that the backend knows");
  CHECK(options.take("name") == "a=b");
  CHECK_NOTHROW(options.require_all_taken());
  CHECK_THROWS_WITH(Options("threads=x").take_integer("threads", 1, 8, 4),
                    "option threads: expected a number from 1 to 8, got \"x\"");
  CHECK_THROWS(Options("threads=9").take_integer("threads", 1, 8, 4));
}

TEST_CASE("timelines wake their waiters, and carry failure") {
  HostTimeline timeline(3);
  CHECK(timeline.query() == 3);
  timeline.wait(3, 0);
  CHECK_THROWS_WITH(timeline.wait(4, 1000), "timeline_wait: 4 not reached, at 3");
  std::atomic<int> woken = 0;
  std::thread first([&] { timeline.wait(5, UINT64_MAX), ++woken; });
  std::thread second([&] { timeline.wait(10, 60'000'000'000), ++woken; });
  timeline.signal(5);
  first.join();
  timeline.signal(4);  // lower: nothing
  CHECK(timeline.query() == 5);
  timeline.signal(10);
  second.join();
  CHECK(woken == 2);
  std::thread third([&] {
    try {
      timeline.wait(11, UINT64_MAX);
    } catch (const Failure& failure) {
      woken += failure.code() == TN_ERROR_DEVICE_LOST;
    }
  });
  timeline.fail(Failure(TN_ERROR_DEVICE_LOST, "gone"));
  third.join();
  CHECK(woken == 3);
  timeline.signal(20);
  CHECK_THROWS_WITH(timeline.query(), "gone");
  CHECK_THROWS_WITH(timeline.wait(11, 0), "gone");
  timeline.wait(10, 0);  // had been reached before
}

namespace {
/// Holds no device, and throws where it is asked to.
class Broken : public Backend {
 public:
  static constexpr BackendInfo kInfo = {"broken", "1", "none", 7};
  std::vector<tn_device_info> enumerate(std::string& reason) override {
    reason = "libbroken.so not found";
    return {};
  }
  std::unique_ptr<Device> open(uint32_t, Options&) override { throw 1; }
};
}  // namespace

TEST_CASE("a table speaks its version, and says why there are no devices") {
  tn_error error = TN_INIT(tn_error);
  CHECK(BackendTable<Broken>::query(nullptr, 2, 9, &error) == nullptr);
  CHECK(error.code == TN_ERROR_INCOMPATIBLE);
  CHECK(std::string(error.message) == "broken: speaks ABI 1 to 1, the host asked for 2 to 9");
  const tn_plugin* plugin = BackendTable<Broken>::query(nullptr, 1, 9, &error);
  REQUIRE(plugin);
  CHECK(plugin->priority == 7);
  uint32_t count = 9;
  char reason[12];
  CHECK(plugin->device_enumerate(0, 0, nullptr, sizeof reason, reason, &count, &error) == TN_OK);
  CHECK(count == 0);
  CHECK(std::string(reason) == "libbroken.s");
  CHECK(plugin->device_enumerate(0, 0, nullptr, 0, nullptr, nullptr, &error) ==
        TN_ERROR_INVALID_ARGUMENT);
  tn_target target = TN_INIT(tn_target);
  target.name = "nothing";
  const tn_properties* properties = nullptr;
  CHECK(plugin->properties(&target, &properties, &error) == TN_ERROR_NOT_FOUND);
  CHECK(plugin->submit(nullptr, nullptr, &error) == TN_ERROR_INVALID_ARGUMENT);
  CHECK(plugin->get_extension("org.tenon.none") == nullptr);
}
