// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Checks with the structs of older and newer hosts, chains, and null where it is allowed.
#include <cstring>

#include "conformance/abi/canary.hpp"
#include "conformance/abi/checks/check.hpp"
#include "conformance/abi/counting_host.hpp"
#include "conformance/abi/slab.hpp"

namespace tenon::conformance::abi::checks {
namespace {

/// A call that must fail, for its error.
int32_t fail_on_purpose(const CheckContext& c, tn_error* error) {
  tn_target target = abi_struct<tn_target>();
  target.name = "no-such-target-is-known";
  const tn_properties* properties = nullptr;
  return c.table().properties(&target, &properties, error);
}

void short_error(const CheckContext& c) {
  constexpr uint32_t kHeader = 16;
  for (const uint32_t size : {kHeader, kHeader + 4, kHeader + 8, kHeader + 9, kHeader + 40,
                              uint32_t{sizeof(tn_error)}, uint32_t{sizeof(tn_error)} + 64}) {
    Canary<tn_error> error(size);
    const int32_t status = fail_on_purpose(c, error.get());
    error.expect_intact("tn_error");
    if (size >= kHeader + 4)
      expect(error.get()->code == status, "tn_error: expected code {} as returned, got {}", status,
             error.get()->code);
    if (size > kHeader + 8) {
      const size_t room = std::min<size_t>(size - kHeader - 8, sizeof error.get()->message);
      expect(strnlen(error.get()->message, room) < room,
             "tn_error: expected a NUL inside the message's {} bytes, got none", room);
    }
    tn_error other = abi_struct<tn_error>();
    if (size < sizeof(tn_error)) continue;
    fail_on_purpose(c, &other);
    expect(other.message[0], "tn_error: expected a sentence, got an empty message");
  }
  if (!c.subject.query(&counting_host(), 900, 901, nullptr)) {
    Canary<tn_error> error(24);
    c.subject.query(&counting_host(), 900, 901, error.get());
    error.expect_intact("tn_plugin_query");
  }
}

void short_report(const CheckContext& c) {
  const OpenDevice device = c.open();
  const Loaded loaded = any_kernel(device);
  const sdk::Program program = loaded.kernel.build();
  const tn_target target = device.target();
  for (const uint32_t size : {16u, 24u, 32u, 36u, uint32_t{sizeof(tn_compile_report)},
                              uint32_t{sizeof(tn_compile_report)} + 32}) {
    c.alive();
    Canary<tn_compile_report> report(size);
    tn_executable* made = nullptr;
    tn_error error = abi_struct<tn_error>();
    expect_ok(c.table().compile(&target, program.get(), report.get(), &made, &error), error,
              "compile");
    const ExecutableHandle executable = device.own(made);
    report.expect_intact("tn_compile_report");
  }
}

/// Structs whose end an older host did not know, with anything after it.
struct Sizes {
  uint32_t target, command, submission;
  uint32_t apart = 0;  ///< bytes between commands
};

/// A fill and a launch through structs of these sizes must do what they do otherwise.
void run_with_sizes(const CheckContext& c, const Sizes& sizes, const tn_chain* chain) {
  const OpenDevice device = c.open();
  const MemoryHandle memory = any_memory(device, 256);
  need(device.submits(), "the device takes no submissions");
  tn_target whole_target = device.target();
  whole_target.next = chain;
  Canary<tn_target> target(sizes.target, whole_target);
  target.fill_tail(0xAB);
  const tn_properties* properties = nullptr;
  tn_error error = abi_struct<tn_error>();
  expect_ok(c.table().properties(target.get(), &properties, &error), error, "properties");

  std::vector<tn_command> commands = {fill_command(memory.get(), 0, 256, 0x04030201, 4)};
  LaunchArguments arguments;
  ExecutableHandle executable;
  Slab expected;
  expected.resize(256);
  expected.fill(0, 256, 0x04030201, 4, 0);
  if (device.computes()) {
    KernelSpec spec;
    spec.kind = "accumulate";
    auto kernel = Kernel::fit(spec, device);
    if (kernel) {
      const sdk::Program program = kernel->build();
      tn_executable* made = nullptr;
      const int32_t status = c.table().compile(target.get(), program.get(), nullptr, &made, &error);
      expect_ok(status, error, "compile");
      executable = device.own(made);
      const auto extent = kernel->extent(8);
      commands.push_back(
          launch_command(*kernel, executable.get(), extent, {memory.get(), 0}, {}, 0, arguments));
      kernel->apply(extent, {}, expected.range(0, extent.outputs * kernel->element_bytes()), 0);
    }
  }
  for (tn_command& command : commands) command.next = chain;
  const uint32_t stride = (std::max<uint32_t>(sizes.command, 16) + 7) / 8 * 8 + sizes.apart;
  std::vector<unsigned char> rows(stride * commands.size() + sizeof(tn_command), 0xAB);
  for (size_t i = 0; i < commands.size(); ++i) {
    const uint32_t size =
        sizes.command < sizeof(tn_command) && commands[i].kind == TN_COMMAND_LAUNCH
            ? std::min<uint32_t>(sizes.command, offsetof(tn_command, destination))
            : sizes.command;
    std::memcpy(rows.data() + i * stride, &commands[i], std::min<size_t>(size, sizeof(tn_command)));
    std::memcpy(rows.data() + i * stride, &size, sizeof size);
  }
  tn_submission whole = submission_of(commands);
  whole.next = chain;
  whole.commands = reinterpret_cast<const tn_command*>(rows.data());
  whole.command_stride = stride;
  TimelineHandle timeline;
  tn_point signal{};
  if (device.is_async()) {
    timeline = device.make_timeline(0);
    signal = {timeline.get(), 1};
    whole.signals = &signal;
    whole.signal_count = 1;
  }
  Canary<tn_submission> submission(sizes.submission, whole);
  submission.fill_tail(0xAB);
  expect_ok(c.table().submit(device.handle(), submission.get(), &error), error, "submit");
  if (timeline) device.wait(timeline.get(), 1);
  std::vector<uint8_t> got(256);
  device.read(memory.get(), 0, 0, got);
  expected.compare(0, 0, got, "through structs of other sizes");
}

void short_inputs(const CheckContext& c) {
  // A synchronous device needs nothing after the commands; a fill nothing after its pattern.
  const bool async = c.open().is_async();
  const uint32_t submission =
      async ? offsetof(tn_submission, reserved1) : offsetof(tn_submission, waits);
  run_with_sizes(c, {offsetof(tn_target, name), offsetof(tn_command, reserved2), submission},
                 nullptr);
}

void long_inputs(const CheckContext& c) {
  for (const uint32_t apart : {0u, 256u, 65'536u})
    run_with_sizes(
        c, {sizeof(tn_target) + 64, sizeof(tn_command) + 64, sizeof(tn_submission) + 64, apart},
        nullptr);
}

/// Arguments of a launch further apart than they are long.
void long_arguments(const CheckContext& c) {
  const OpenDevice device = c.open();
  need(device.submits() && device.computes(), "the device launches nothing");
  const auto loaded = load_kernel({}, device);
  need(loaded && loaded->kernel.has_input(), "the device takes no such program");
  const MemoryHandle out = any_memory(device, 256), in = any_memory(device, 256);
  LaunchArguments arguments;
  const auto extent = loaded->kernel.extent(8);
  const tn_command fill = fill_command(in.get(), 0, 256, 0x01020304, 4);
  tn_command launch = launch_command(loaded->kernel, loaded->executable.get(), extent,
                                     {out.get(), 0}, {in.get(), 0}, 0, arguments);
  Slab input, expected;
  input.resize(256);
  expected.resize(256);
  input.fill(0, 256, 0x01020304, 4, 0);
  const uint64_t bytes = loaded->kernel.element_bytes();
  loaded->kernel.apply(extent, input.range(0, extent.inputs * bytes),
                       expected.range(0, extent.outputs * bytes), 0);
  for (const uint32_t stride : {64u, 264u, 4104u, 65'544u}) {
    std::vector<uint8_t> rows(size_t{stride} * launch.argument_count, 0xAB);
    for (uint32_t i = 0; i < launch.argument_count; ++i)
      std::memcpy(rows.data() + size_t{i} * stride, &arguments.rows[i], sizeof(tn_argument));
    launch.arguments = reinterpret_cast<const tn_argument*>(rows.data());
    launch.argument_stride = stride;
    const tn_command clear = fill_command(out.get(), 0, 256, 0, 4);
    const tn_command commands[] = {clear, fill, launch};
    device.run(commands);
    std::vector<uint8_t> got(256);
    device.read(out.get(), 0, 0, got);
    expected.compare_bound(
        0, 0, extent.outputs * bytes, got,
        fmt::format("after a launch whose arguments are {} bytes apart", stride));
  }
}

void unknown_chain(const CheckContext& c) {
  const std::string long_id = "org.example." + std::string(300, 'x');
  for (const char* id : {"org.example.nothing.v1", "org.tenon.nothing.v1", "x", long_id.c_str()}) {
    c.alive();
    tn_chain chain[20] = {};
    for (size_t i = 0; i < std::size(chain); ++i) {
      chain[i].struct_size = sizeof(tn_chain);
      chain[i].id = i % 2 ? "org.example.more.v7" : id;
      chain[i].next = i + 1 < std::size(chain) ? &chain[i + 1] : nullptr;
    }
    run_with_sizes(c, {sizeof(tn_target), sizeof(tn_command), sizeof(tn_submission)}, chain);
  }
}

/// Structs that the plugin fills, with a chain that it does not know.
void chains_of_results(const CheckContext& c) {
  tn_chain chain{};
  chain.struct_size = sizeof(tn_chain);
  chain.id = "org.example.nothing.v1";
  const auto chained = [&](auto value) {
    value.next = &chain;
    return value;
  };
  const auto expect_header = [&](const auto& value, const char* what) {
    expect(value.next == &chain && value.struct_size == sizeof value,
           "{}: expected its struct_size and next as they were, got others", what);
  };
  auto error = chained(abi_struct<tn_error>());
  const int32_t status = fail_on_purpose(c, &error);
  expect(error.code == status && error.message[0],
         "tn_error with a chain: expected code {} and a message", status);
  expect_header(error, "tn_error");
  std::vector<tn_device_info> infos(c.subject.devices, chained(abi_struct<tn_device_info>()));
  uint32_t count = 0;
  expect_ok(c.table().device_enumerate(c.subject.devices, sizeof(tn_device_info), infos.data(), 0,
                                       nullptr, &count, &error),
            error, "device_enumerate");
  for (const tn_device_info& info : infos) expect_header(info, "tn_device_info");
  const OpenDevice device = c.open();
  if (!device.computes()) return;
  const Loaded loaded = any_kernel(device);
  const sdk::Program program = loaded.kernel.build();
  const tn_target target = device.target();
  auto report = chained(abi_struct<tn_compile_report>());
  tn_executable* made = nullptr;
  expect_ok(c.table().compile(&target, program.get(), &report, &made, &error), error, "compile");
  const ExecutableHandle executable = device.own(made);
  expect_header(report, "tn_compile_report");
}

void null_allowed(const CheckContext& c) {
  const tn_plugin& t = c.table();
  expect(fail_on_purpose(c, nullptr) == TN_ERROR_NOT_FOUND,
         "properties: expected TN_ERROR_NOT_FOUND with error null");
  uint32_t count = 0;
  expect(t.device_enumerate(0, 0, nullptr, 0, nullptr, &count, nullptr) == TN_OK,
         "device_enumerate: expected TN_OK with reason and error null");
  const OpenDevice device = c.open();
  tn_memory* memory = nullptr;
  expect(t.memory_allocate(device.handle(), 0, 64, &memory, nullptr) == TN_OK,
         "memory_allocate: expected TN_OK with error null");
  const MemoryHandle kept = device.own(memory);
  if (device.is_visible(0)) {
    void* pointer = nullptr;
    expect(t.memory_map(memory, 0, 64, &pointer, nullptr) == TN_OK,
           "memory_map: expected TN_OK with error null");
    expect(t.memory_unmap(memory, nullptr) == TN_OK,
           "memory_unmap: expected TN_OK with error null");
  }
  if (!device.computes()) return;
  const Loaded loaded = any_kernel(device);
  c.alive();
  const sdk::Program program = loaded.kernel.build();
  const tn_target target = device.target();
  expect(t.supports(&target, program.get(), 0, nullptr) != TN_SUPPORT_NO,
         "supports: expected the same answer with reason null");
  tn_executable* made = nullptr;
  expect(t.compile(&target, program.get(), nullptr, &made, nullptr) == TN_OK,
         "compile: expected TN_OK with report and error null");
  const ExecutableHandle executable = device.own(made);
}

}  // namespace

std::span<const CheckRow> struct_checks() {
  static constexpr CheckRow kRows[] = {
      {"short_error", short_error, 43},      {"short_report", short_report, 7},
      {"short_inputs", short_inputs, 7},     {"long_inputs", long_inputs, 8},
      {"long_arguments", long_arguments, 8}, {"unknown_chain", unknown_chain, 9},
      {"null_allowed", null_allowed, 41},    {"chains_of_results", chains_of_results, 9},
  };
  return kRows;
}

}  // namespace tenon::conformance::abi::checks
