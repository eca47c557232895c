// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A driver of one queue whose commands run when a test says so.
#include "sdk/shader/queue_device.hpp"

#include <catch2/catch_test_macros.hpp>

#include "tests/sdk/commands.hpp"
#include "tests/sdk/null_device.hpp"
#include "tests/sdk/recorded.hpp"

namespace tenon::sdk {
namespace {

struct Queue {
  std::vector<std::string> log;
  uint64_t marks = 0, reached = 0;
  bool fails = false;
};

class CountedMark : public Mark {
 public:
  explicit CountedMark(Queue& queue) : queue_(queue), number_(++queue.marks) {}
  bool is_reached() override {
    if (queue_.fails) throw Failure(TN_ERROR_DEVICE_LOST, "the driver said so");
    return queue_.reached >= number_;
  }
  void wait() override { queue_.reached = std::max(queue_.reached, number_); }

 private:
  Queue& queue_;
  const uint64_t number_;
};

class LoggingDevice : public QueueDevice {
 public:
  ~LoggingDevice() override { close(); }
  const tn_properties& properties() const override { return table_->get(); }
  std::unique_ptr<Memory> allocate(uint32_t, uint64_t size) override {
    return std::make_unique<HostMemory>(size, 64);
  }
  int32_t run(std::span<const tn_command> commands, const tn_point* wait = nullptr,
              const tn_point* signal = nullptr) {
    tn_submission from = submission_of(commands);
    from.wait_count = wait != nullptr;
    from.waits = wait;
    from.signal_count = signal != nullptr;
    from.signals = signal;
    return guarded(nullptr, [&] { submit(Submission(&from)); });
  }
  Queue queue;
  bool refuses_copies = false;

 private:
  void launch(const Launch& launch) override {
    std::string line = "launch " + std::to_string(launch.grid[0]);
    for (const auto& [buffer, scalar] : launch.arguments)
      line += scalar.empty() ? " at " + std::to_string(buffer.offset)
                             : " scalar of " + std::to_string(scalar.size()) + ": " +
                                   std::to_string(std::to_integer<int>(scalar[0]));
    queue.log.push_back(line);
  }
  void copy(const Range&, const Range&) override {
    if (refuses_copies) throw Failure(TN_ERROR_OUT_OF_MEMORY, "copy: no room");
    queue.log.push_back("copy");
  }
  void fill_words(const Range& to, uint32_t) override {
    queue.log.push_back("fill " + std::to_string(to.offset) + " " + std::to_string(to.size));
  }
  void write(const Range& to, std::span<const std::byte> bytes) override {
    queue.log.push_back("write " + std::to_string(to.offset) + " " + std::to_string(bytes.size()));
  }
  std::unique_ptr<Mark> mark() override { return std::make_unique<CountedMark>(queue); }
  void drain() noexcept override {
    queue.log.push_back("drain");
    queue.reached = queue.marks;
  }

  const std::unique_ptr<PropertyTable> table_ = recorded_properties();
};

constexpr const char* kProgram =
    R"(program p(%x: global f32 read, %n: i32 in [0, 4], %b: u8 in [0, 4], %y: global f32 write) workgroup 1 1 1 {
}
)";

}  // namespace

TEST_CASE("commands of a queue are enqueued in order when their waits are reached") {
  LoggingDevice device;
  const auto memory = device.allocate(0, 64);
  const auto gate = device.make_timeline(0), ended = device.make_timeline(0);
  const tn_point opened = at(*gate, 1), done = at(*ended, 7);
  const tn_command commands[] = {fill_command(*memory, 3, 9, 5, 1),
                                 copy_command(*memory, 32, *memory, 0, 16)};
  REQUIRE(device.run(commands, &opened, &done) == TN_OK);
  CHECK(device.queue.log.empty());
  gate->signal(1);
  CHECK(device.queue.log == std::vector<std::string>{"write 3 1", "fill 4 8", "copy"});
  CHECK(ended->query() == 0);
  device.queue.reached = 1;
  CHECK(ended->query() == 7);
}

TEST_CASE("waiting for a submission waits for its mark") {
  LoggingDevice device;
  const auto ended = device.make_timeline(0);
  const tn_point first = at(*ended, 1), second = at(*ended, 2);
  REQUIRE(device.run({}, nullptr, &first) == TN_OK);
  REQUIRE(device.run({}, nullptr, &second) == TN_OK);
  ended->wait(1, UINT64_MAX);
  CHECK(device.queue.reached == 1);
  ended->wait(2, UINT64_MAX);
  CHECK(device.queue.reached == 2);
}

TEST_CASE("what the queue refuses fails the signals when nothing runs any more") {
  LoggingDevice device;
  const auto memory = device.allocate(0, 64);
  const auto ended = device.make_timeline(0);
  const tn_point done = at(*ended, 1);
  device.refuses_copies = true;
  const tn_command commands[] = {fill_command(*memory, 0, 4, 5, 4),
                                 copy_command(*memory, 32, *memory, 0, 16)};
  REQUIRE(device.run(commands, nullptr, &done) == TN_OK);
  CHECK(device.queue.log == std::vector<std::string>{"fill 0 4", "drain"});
  CHECK(guarded(nullptr, [&] { ended->wait(1, UINT64_MAX); }) == TN_ERROR_OUT_OF_MEMORY);
}

TEST_CASE("a mark that fails loses the device") {
  LoggingDevice device;
  const auto ended = device.make_timeline(0);
  const tn_point done = at(*ended, 1);
  REQUIRE(device.run({}, nullptr, &done) == TN_OK);
  device.queue.fails = true;
  CHECK(guarded(nullptr, [&] { ended->query(); }) == TN_ERROR_DEVICE_LOST);
  device.queue.fails = false;
  CHECK(device.run({}) == TN_ERROR_DEVICE_LOST);
}

TEST_CASE(
    "a launch has its arguments in the order of the params, scalars as wide as their dtypes") {
  LoggingDevice device;
  const auto memory = device.allocate(0, 64);
  ShaderExecutable code(parsed(kProgram), &device);
  const tn_argument arguments[] = {{TN_ARGUMENT_BUFFER, 0, handle_of(*memory), 16, 16, 0},
                                   {TN_ARGUMENT_SCALAR, 0, nullptr, 0, 0, 1},
                                   {TN_ARGUMENT_SCALAR, 0, nullptr, 0, 0, 2},
                                   {TN_ARGUMENT_BUFFER, 0, handle_of(*memory), 32, 16, 0}};
  const tn_command launch = launch_command(handle_of(code), {2}, {}, arguments);
  REQUIRE(device.run(std::span(&launch, 1)) == TN_OK);
  CHECK(device.queue.log ==
        std::vector<std::string>{"launch 2 at 16 scalar of 4: 1 scalar of 1: 2 at 32"});
}

}  // namespace tenon::sdk
