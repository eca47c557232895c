// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A plugin that fails on demand, for the tests of core/runtime. Three devices: 0 a synchronous cpu,
// 1 an asynchronous gpu whose memory the host does not see, 2 an accelerator. What a kernel does is
// told by its name: fill7 writes 7 into argument 0, overrun one byte past it, broken fails. Three
// arguments are added as i32, as the self-test wants it; device 2 does not, and fails that.
//
// Options of device_open: oom=BYTES of memory there are, lose=N the device is lost at submission N,
// slow=MILLISECONDS a submission takes, stale=1 saved executables are refused, gated=1 submissions
// begin once the gate is open: get_extension("org.tenon.fake.gate") is 1 while it is closed. Device
// 1 imports host memory that begins with a page; get_extension("org.tenon.fake.imports") counts how
// often it did.
#include <atomic>
#include <chrono>
#include <cstring>
#include <optional>
#include <thread>

#include "sdk/backend/host_device.hpp"
#include "sdk/backend/property_table.hpp"
#include "sdk/backend/timeline.hpp"

namespace {
namespace sdk = tenon::sdk;

std::atomic<uint64_t> imports{0}, gate_is_closed{0};

/// A minute at most: whoever closed it may be waiting for this submission.
void wait_for_gate() {
  for (int i = 0; i < 60000 && gate_is_closed; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  if (gate_is_closed)
    throw sdk::Failure(TN_ERROR_TIMEOUT, "the gate of the fake device stays closed");
}

tn_memory_space space_of(uint32_t flags, uint32_t alignment, uint32_t copy_from) {
  tn_memory_space space = TN_INIT(tn_memory_space);
  space.flags = flags;
  space.alignment = alignment;
  space.copy_from = copy_from;
  return space;
}

const tn_properties& properties_of(bool is_async) {
  static const auto make = [](uint32_t flags, std::initializer_list<tn_memory_space> spaces) {
    auto* table = new sdk::PropertyTable(TN_DEVICE_COMPUTE | flags);
    table->compute_all().workgroup(1, 1, 1, 1);
    for (const tn_memory_space& space : spaces) table->add_memory(space);
    return table;
  };
  static const sdk::PropertyTable* const near =
      make(TN_DEVICE_SAVE,
           {space_of(TN_MEMORY_DEVICE | TN_MEMORY_HOST_VISIBLE | TN_MEMORY_COHERENT, 64, 1)});
  static const sdk::PropertyTable* const far = make(
      TN_DEVICE_ASYNC, {space_of(TN_MEMORY_DEVICE, 256, 7), space_of(TN_MEMORY_HOST_VISIBLE, 64, 3),
                        space_of(TN_MEMORY_IMPORT, 64, 1)});
  return (is_async ? far : near)->get();
}

class FakeDevice : public sdk::HostDevice {
 public:
  FakeDevice(uint32_t index, sdk::Options& options)
      : index_(index),
        oom_(number(options, "oom", INT64_MAX)),
        lose_(number(options, "lose", 0)),
        slow_(number(options, "slow", 0)),
        is_stale_(number(options, "stale", 0) != 0),
        is_gated_(number(options, "gated", 0) != 0) {}

  const tn_properties& properties() const override { return properties_of(is_async()); }
  bool is_stale() const { return is_stale_; }

  std::unique_ptr<sdk::Memory> allocate(uint32_t, uint64_t size) override {
    if (size > oom_ || (held_ += size) > oom_) {
      if (size <= oom_) held_ -= size;
      throw sdk::Failure(TN_ERROR_OUT_OF_MEMORY, "the fake memory is full");
    }
    return std::make_unique<Slab>(*this, size);
  }
  std::unique_ptr<sdk::Memory> import_host(uint32_t space, void* pointer, uint64_t size) override {
    if (space != 2 || !is_async() || reinterpret_cast<uintptr_t>(pointer) % 4096)
      throw sdk::Failure(TN_ERROR_UNSUPPORTED, "the fake device imports whole pages");
    ++imports;
    return HostDevice::import_host(space, pointer, size);
  }
  std::unique_ptr<sdk::Timeline> make_timeline(uint64_t value) override {
    return std::make_unique<sdk::HostTimeline>(value);
  }

  /// The waits are reached or failed: all is run at once here.
  void submit(const sdk::Submission& work) override {
    if (!is_async()) return run(work);
    std::optional<sdk::Failure> failure;
    for (uint32_t i = 0; i < work.wait_count(); ++i)
      if (auto failed = timeline(work.wait(i)).failure()) failure = failed;
    try {
      if (!failure) run(work);
    } catch (...) {
      failure = sdk::current_failure();
    }
    for (uint32_t i = 0; i < work.signal_count(); ++i) {
      sdk::HostTimeline& signalled = timeline(work.signal(i));
      failure ? signalled.fail(*failure) : signalled.signal(work.signal(i).value);
    }
  }

 protected:
  void launch(const sdk::HostCommand& command,
              std::span<const sdk::HostArgument> arguments) override {
    const auto& code = static_cast<const sdk::ProgramExecutable&>(*command.executable);
    const std::string_view name = code.program().name();
    if (arguments.size() == 3 && index_ != 2) {
      for (uint64_t at = 0; at < arguments[2].size; at += sizeof(int32_t)) {
        int32_t x = 0, y = 0;
        std::memcpy(&x, arguments[0].data + at, sizeof x);
        std::memcpy(&y, arguments[1].data + at, sizeof y);
        x += y;
        std::memcpy(arguments[2].data + at, &x, sizeof x);
      }
      return;
    }
    if (name == "broken") throw sdk::Failure(TN_ERROR_INTERNAL, "a broken kernel");
    std::memset(arguments[0].data, 7, arguments[0].size + (name == "overrun"));
  }

 private:
  struct Slab : sdk::HostMemory {
    Slab(FakeDevice& of, uint64_t size) : HostMemory(size, 256), device(of) {
      std::memset(data(), 0xCD, size);
    }
    ~Slab() override { device.held_ -= size(); }
    FakeDevice& device;
  };

  static uint64_t number(sdk::Options& options, std::string_view key, int64_t otherwise) {
    return static_cast<uint64_t>(options.take_integer(key, 0, INT64_MAX, otherwise));
  }
  static sdk::HostTimeline& timeline(const tn_point& point) {
    return static_cast<sdk::HostTimeline&>(*sdk::timeline_of(point.timeline));
  }
  bool is_async() const { return index_ == 1; }

  void run(const sdk::Submission& work) {
    const uint64_t number = ++submissions_;
    std::this_thread::sleep_for(std::chrono::milliseconds(slow_));
    if (is_gated_) wait_for_gate();
    if (lose_ && number >= lose_)
      throw sdk::Failure(TN_ERROR_DEVICE_LOST, "the fake device fell off the bus");
    sdk::run_work(sdk::read_work(work), [this](const sdk::HostCommand& command, auto arguments) {
      launch(command, arguments);
    });
  }

  uint32_t index_;
  uint64_t oom_, lose_, slow_;
  bool is_stale_, is_gated_;
  std::atomic<uint64_t> held_{0}, submissions_{0};
};

class FakeBackend : public sdk::Backend {
 public:
  static constexpr sdk::BackendInfo kInfo = {"fake", "1.0", "Apache-2.0 WITH LLVM-exception", -100};

  std::vector<tn_device_info> enumerate(std::string&) override {
    std::vector<tn_device_info> infos;
    for (const tn_device_kind kind : {TN_DEVICE_CPU, TN_DEVICE_GPU, TN_DEVICE_ACCELERATOR})
      infos.push_back(
          sdk::device_info(kind, "fake device " + std::to_string(infos.size()), "fake", "fake 1"));
    for (uint8_t b = 0; b < 16; ++b) infos[1].uuid[b] = 0x10 + b;
    return infos;
  }
  std::unique_ptr<sdk::Device> open(uint32_t index, sdk::Options& options) override {
    return std::make_unique<FakeDevice>(index, options);
  }
  tn_support supports(const sdk::Target&, const sdk::ProgramView& program,
                      std::string& reason) override {
    if (program.name() != "refused") return TN_SUPPORT_YES;
    reason = "the fake device has principles";
    return TN_SUPPORT_NO;
  }
  std::unique_ptr<sdk::Executable> compile(const sdk::Target&, const sdk::ProgramView& program,
                                           tn_compile_report&) override {
    return std::make_unique<sdk::ProgramExecutable>(sdk::Program(program));
  }
  std::unique_ptr<sdk::Executable> load(const sdk::Target& target,
                                        std::span<const std::byte> bytes) override {
    if (static_cast<const FakeDevice*>(target.device)->is_stale())
      throw sdk::Failure(TN_ERROR_INCOMPATIBLE, "not saved by this build");
    return std::make_unique<sdk::ProgramExecutable>(sdk::ProgramExecutable::saved_program(bytes));
  }
  const void* extension(std::string_view id) override {
    if (id == "org.tenon.fake.gate") return &gate_is_closed;
    return id == "org.tenon.fake.imports" ? &imports : nullptr;
  }
};

}  // namespace

TENON_BACKEND(FakeBackend)
