// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/vulkan/harness.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cstring>
#include <stdexcept>

namespace tenon::vulkan_test {

const tn_plugin& plugin() {
  static const tn_plugin* const kPlugin = [] {
    const char* path = TENON_BINARY_DIR "/lib/tenon/libtenon_vulkan.so";
    void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library) throw std::runtime_error(dlerror());
    const auto query = reinterpret_cast<tn_plugin_query_fn>(dlsym(library, TN_PLUGIN_QUERY));
    if (!query) throw std::runtime_error(dlerror());
    static tn_host host = TN_INIT(tn_host);
    host.abi_version = TN_ABI_VERSION;
    host.name = "test_vulkan";
    tn_error error = TN_INIT(tn_error);
    const tn_plugin* table = query(&host, 1, TN_ABI_VERSION, &error);
    if (!table) throw std::runtime_error(error.message);
    return table;
  }();
  return *kPlugin;
}

void require_ok(int32_t status, const tn_error& error) {
  if (status != TN_OK)
    throw std::runtime_error("status " + std::to_string(status) + ": " + error.message);
}

uint32_t device_count(std::string& reason) {
  tn_error error = TN_INIT(tn_error);
  char text[512] = {};
  uint32_t count = 0;
  require_ok(plugin().device_enumerate(0, 0, nullptr, sizeof text, text, &count, &error), error);
  reason = text;
  return count;
}

void append_text(void* user, const void* bytes, size_t size) {
  static_cast<std::string*>(user)->append(static_cast<const char*>(bytes), size);
}

Timeline::Timeline(tn_device* device, uint64_t value) {
  tn_error error = TN_INIT(tn_error);
  require_ok(plugin().timeline_create(device, value, &handle_, &error), error);
}
Timeline::~Timeline() { plugin().timeline_destroy(handle_); }

int32_t Timeline::wait(uint64_t value, uint64_t timeout_ns) const {
  tn_error error = TN_INIT(tn_error);
  const int32_t status = plugin().timeline_wait(handle_, value, timeout_ns, &error);
  message = error.message;
  return status;
}
int32_t Timeline::query(uint64_t& value) const {
  tn_error error = TN_INIT(tn_error);
  return plugin().timeline_query(handle_, &value, &error);
}
int32_t Timeline::signal(uint64_t value) const {
  tn_error error = TN_INIT(tn_error);
  return plugin().timeline_signal(handle_, value, &error);
}

Memory::Memory(tn_device* device, uint64_t size, uint32_t space) {
  tn_error error = TN_INIT(tn_error);
  require_ok(plugin().memory_allocate(device, space, size, &handle_, &error), error);
}
Memory::~Memory() { plugin().memory_free(handle_); }

std::vector<uint8_t> Memory::read(uint64_t offset, uint64_t size) const {
  tn_error error = TN_INIT(tn_error);
  void* pointer = nullptr;
  require_ok(plugin().memory_map(handle_, offset, size, &pointer, &error), error);
  const auto* bytes = static_cast<const uint8_t*>(pointer);
  std::vector<uint8_t> out(bytes, bytes + size);
  require_ok(plugin().memory_unmap(handle_, &error), error);
  return out;
}
void Memory::write(uint64_t offset, std::span<const uint8_t> bytes) const {
  tn_error error = TN_INIT(tn_error);
  void* pointer = nullptr;
  require_ok(plugin().memory_map(handle_, offset, bytes.size(), &pointer, &error), error);
  std::ranges::copy(bytes, static_cast<uint8_t*>(pointer));
  require_ok(plugin().memory_unmap(handle_, &error), error);
}

Device::Device(const char* options) {
  tn_error error = TN_INIT(tn_error);
  require_ok(plugin().device_open(0, options, &handle_, &error), error);
}
Device::~Device() { plugin().device_close(handle_); }

tn_target Device::target() const {
  tn_target target = TN_INIT(tn_target);
  target.device = handle_;
  return target;
}

const tn_properties& Device::properties() const {
  tn_error error = TN_INIT(tn_error);
  const tn_properties* properties = nullptr;
  const tn_target to = target();
  require_ok(plugin().properties(&to, &properties, &error), error);
  return *properties;
}

tn_executable* Device::compile(const sdk::Program& program) const {
  tn_error error = TN_INIT(tn_error);
  tn_executable* executable = nullptr;
  const tn_target to = target();
  require_ok(plugin().compile(&to, program.get(), nullptr, &executable, &error), error);
  return executable;
}

int32_t Device::submit(std::span<const tn_command> commands, std::span<const tn_point> waits,
                       std::span<const tn_point> signals, std::string* message) const {
  tn_submission submission = TN_INIT(tn_submission);
  submission.command_count = static_cast<uint32_t>(commands.size());
  submission.command_stride = sizeof(tn_command);
  submission.commands = commands.data();
  submission.wait_count = static_cast<uint32_t>(waits.size());
  submission.waits = waits.data();
  submission.signal_count = static_cast<uint32_t>(signals.size());
  submission.signals = signals.data();
  tn_error error = TN_INIT(tn_error);
  const int32_t status = plugin().submit(handle_, &submission, &error);
  if (message) *message = error.message;
  return status;
}

void Device::run(std::span<const tn_command> commands) const {
  const Timeline done(handle_, 0);
  const tn_point signal = done.at(1);
  std::string message;
  if (submit(commands, {}, {&signal, 1}, &message) != TN_OK) throw std::runtime_error(message);
  if (done.wait(1) != TN_OK) throw std::runtime_error(done.message);
}

const Device& shared_device() {
  std::string reason;
  if (device_count(reason) == 0) SKIP(reason);
  static const Device* const kDevice = new Device();
  return *kDevice;
}

tn_command launch(tn_executable* executable, uint32_t grid, uint32_t block,
                  std::span<const tn_argument> arguments) {
  tn_command command = TN_INIT(tn_command);
  command.kind = TN_COMMAND_LAUNCH;
  command.executable = executable;
  std::fill_n(command.grid, 3, 1u);
  std::fill_n(command.block, 3, 1u);
  std::fill_n(command.cluster, 3, 1u);
  command.grid[0] = grid;
  command.block[0] = block;
  command.argument_count = static_cast<uint32_t>(arguments.size());
  command.argument_stride = sizeof(tn_argument);
  command.arguments = arguments.data();
  return command;
}

tn_command copy(const Memory& to, uint64_t to_offset, const Memory& from, uint64_t from_offset,
                uint64_t size) {
  tn_command command = TN_INIT(tn_command);
  command.kind = TN_COMMAND_COPY;
  command.destination = to.get();
  command.destination_offset = to_offset;
  command.source = from.get();
  command.source_offset = from_offset;
  command.size = size;
  return command;
}

tn_command fill(const Memory& to, uint64_t offset, uint64_t size, uint64_t pattern,
                uint32_t pattern_size) {
  tn_command command = TN_INIT(tn_command);
  command.kind = TN_COMMAND_FILL;
  command.destination = to.get();
  command.destination_offset = offset;
  command.size = size;
  command.pattern = pattern;
  command.pattern_size = pattern_size;
  return command;
}

tn_argument buffer(const Memory& memory, uint64_t offset, uint64_t size) {
  tn_argument argument = {};
  argument.kind = TN_ARGUMENT_BUFFER;
  argument.memory = memory.get();
  argument.offset = offset;
  argument.size = size;
  return argument;
}

tn_argument scalar(uint64_t bits) {
  tn_argument argument = {};
  argument.kind = TN_ARGUMENT_SCALAR;
  argument.scalar = bits;
  return argument;
}

sdk::Program add_program(uint64_t count, uint32_t threads) {
  using Value = sdk::ProgramBuilder::Value;
  sdk::ProgramBuilder b("add");
  const Value in = b.buffer("in", TN_DTYPE_I32, TN_ACCESS_READ);
  const Value out = b.buffer("out", TN_DTYPE_I32, TN_ACCESS_WRITE);
  const Value add = b.scalar("add", TN_DTYPE_I32, INT32_MIN, INT32_MAX);
  b.workgroup(threads, 1, 1);
  const Value group = b.index(TN_AXIS_GRID_X, TN_DTYPE_I32);
  const Value thread = b.index(TN_AXIS_BLOCK_X, TN_DTYPE_I32);
  const Value width = b.constant(TN_DTYPE_I32, threads);
  const Value first = b.op(TN_OP_MUL, TN_DTYPE_I32, 1, {group, width});
  const Value i = b.op(TN_OP_ADD, TN_DTYPE_I32, 1, {first, thread});
  const Value end = b.constant(TN_DTYPE_I32, count);
  const Value inside = b.op(TN_OP_CMPLT, TN_DTYPE_BOOL, 1, {i, end});
  const Value zero = b.constant(TN_DTYPE_I32, 0);
  const Value value = b.op(TN_OP_TAKE, TN_DTYPE_I32, 1, {in, i, inside, zero});
  const Value sum = b.op(TN_OP_ADD, TN_DTYPE_I32, 1, {value, add});
  b.op(TN_OP_STORE, TN_DTYPE_VOID, 0, {out, i, sum, inside});
  return b.finish();
}

}  // namespace tenon::vulkan_test
