// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A device that ends a submission when a test says so: which recorder is used again, what waits,
// what fails.
#include "sdk/shader/recording_device.hpp"

#include <catch2/catch_test_macros.hpp>

#include "sdk/backend/driver_messages.hpp"
#include "tests/sdk/commands.hpp"
#include "tests/sdk/recorded.hpp"

namespace tenon::sdk {
namespace {

class SlowDevice : public RecordingDevice {
 public:
  ~SlowDevice() override {
    close([this] { done = started; });
  }
  const tn_properties& properties() const override { return table_->get(); }
  std::unique_ptr<Memory> allocate(uint32_t, uint64_t) override { return nullptr; }

  int32_t run(const tn_point* wait = nullptr, const tn_point* signal = nullptr) {
    tn_submission from = submission_of({});
    from.wait_count = wait != nullptr;
    from.waits = wait;
    from.signal_count = signal != nullptr;
    from.signals = signal;
    return guarded(nullptr, [&] { submit(Submission(&from)); });
  }
  uint64_t started = 0, done = 0;
  int recorders = 0;
  bool fails = false;

 private:
  std::unique_ptr<Recorder> make_recorder() override {
    ++recorders;
    return std::make_unique<LoggingRecorder>(*this);
  }
  void hand_over(Recorder&, uint64_t number, uint64_t) override {
    if (fails) throw Failure(TN_ERROR_OUT_OF_MEMORY, "submit: no room");
    started = number;
  }
  uint64_t last_ended() override { return done; }
  void wait_for(uint64_t number) override { done = std::max(done, number); }

  const std::unique_ptr<PropertyTable> table_ = recorded_properties();
};

}  // namespace

TEST_CASE("a recorder is used again when what it recorded has ended, and not before") {
  SlowDevice device;
  REQUIRE(device.run() == TN_OK);
  REQUIRE(device.run() == TN_OK);
  CHECK(device.recorders == 2);
  device.done = 1;
  REQUIRE(device.run() == TN_OK);
  CHECK(device.recorders == 2);
  REQUIRE(device.run() == TN_OK);
  CHECK(device.recorders == 3);
  device.done = device.started;
  for (int i = 0; i < 3; ++i) REQUIRE(device.run() == TN_OK);
  CHECK(device.recorders == 3);
}

TEST_CASE(
    "a submission is handed over when its waits are reached, and its failure fails its signals") {
  SlowDevice device;
  const auto gate = device.make_timeline(0), after = device.make_timeline(0);
  const tn_point opened = at(*gate, 1), ended = at(*after, 1), never = at(*after, 2);
  REQUIRE(device.run(&opened, &ended) == TN_OK);
  CHECK(device.started == 0);
  gate->signal(1);
  CHECK(device.started == 1);
  after->wait(1, UINT64_MAX);
  device.fails = true;
  REQUIRE(device.run(nullptr, &never) == TN_OK);
  CHECK(guarded(nullptr, [&] { after->wait(2, UINT64_MAX); }) == TN_ERROR_OUT_OF_MEMORY);
  CHECK(device.run() == TN_ERROR_OUT_OF_MEMORY);
}

TEST_CASE("a lost device takes nothing more") {
  SlowDevice device;
  const auto timeline = device.make_timeline(0);
  device.lose();
  CHECK(device.run() == TN_ERROR_DEVICE_LOST);
  CHECK(guarded(nullptr, [&] { device.make_timeline(0); }) == TN_ERROR_DEVICE_LOST);
  CHECK(guarded(nullptr, [&] { timeline->query(); }) == TN_ERROR_DEVICE_LOST);
  CHECK(device.started == 0);
}

TEST_CASE("messages of a driver fail the call that looks next, once") {
  DriverMessages messages;
  CHECK_NOTHROW(messages.check("layer"));
  messages.add("one");
  messages.add("two");
  tn_error error = TN_INIT(tn_error);
  CHECK(guarded(&error, [&] { messages.check("layer"); }) == TN_ERROR_INTERNAL);
  CHECK(std::string(error.message) == "layer: one; two");
  CHECK_NOTHROW(messages.check("layer"));
}

}  // namespace tenon::sdk
