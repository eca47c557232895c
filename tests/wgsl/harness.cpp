// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/wgsl/harness.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>

#include "sdk/program/text.hpp"

namespace tenon::wgsl_test {

const tn_plugin& load_plugin(const std::string& path) {
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) throw std::runtime_error(dlerror());
  tn_error error = TN_INIT(tn_error);
  const auto query = reinterpret_cast<tn_plugin_query_fn>(dlsym(library, TN_PLUGIN_QUERY));
  const tn_plugin* found = query ? query(nullptr, 1, TN_ABI_VERSION, &error) : nullptr;
  if (!found) throw std::runtime_error(path + ": " + error.message);
  return *found;
}

const tn_plugin& plugin() {
  static const tn_plugin& loaded = load_plugin(TENON_BINARY_DIR "/lib/tenon/libtenon_wgsl.so");
  return loaded;
}

std::string no_device() {
  char reason[512] = "";
  uint32_t count = 0;
  tn_error error = TN_INIT(tn_error);
  plugin().device_enumerate(0, 0, nullptr, sizeof reason, reason, &count, &error);
  return count ? "" : reason;
}

Device::Device(const tn_plugin& plugin, uint32_t index) : plugin_(plugin) {
  check(plugin_.device_open(index, nullptr, &device_, &error_));
}

Device::~Device() {
  if (device_) plugin_.device_close(device_);
}

void Device::check(int32_t status) const {
  if (status != TN_OK) throw Failed{status, error_.message};
}

const tn_properties& Device::properties() const {
  tn_target target = TN_INIT(tn_target);
  target.device = device_;
  const tn_properties* out = nullptr;
  check(plugin_.properties(&target, &out, &error_));
  return *out;
}

Memory Device::allocate(uint32_t space, uint64_t size) const {
  tn_memory* memory = nullptr;
  check(plugin_.memory_allocate(device_, space, size, &memory, &error_));
  return {memory, plugin_.memory_free};
}

Executable Device::compile(const sdk::Program& program) const {
  tn_target target = TN_INIT(tn_target);
  target.device = device_;
  tn_executable* executable = nullptr;
  check(plugin_.compile(&target, program.get(), nullptr, &executable, &error_));
  return {executable, plugin_.executable_destroy};
}

Bytes Device::save(const Executable& executable) const {
  Bytes bytes;
  const tn_sink sink = [](void* user, const void* from, size_t size) {
    const auto* first = static_cast<const std::byte*>(from);
    static_cast<Bytes*>(user)->insert(static_cast<Bytes*>(user)->end(), first, first + size);
  };
  check(plugin_.executable_save(executable.get(), sink, &bytes, &error_));
  return bytes;
}

Executable Device::load(std::span<const std::byte> bytes) const {
  tn_target target = TN_INIT(tn_target);
  target.device = device_;
  tn_executable* executable = nullptr;
  check(plugin_.executable_load(&target, bytes.data(), bytes.size(), &executable, &error_));
  return {executable, plugin_.executable_destroy};
}

uint32_t Device::host_space() const {
  return properties().memory_spaces[0].flags & TN_MEMORY_HOST_VISIBLE ? 0 : 1;
}

void Device::write(tn_memory* to, uint64_t offset, std::span<const std::byte> bytes) const {
  if (bytes.empty()) return;
  const Memory staging = allocate(host_space(), bytes.size());
  void* mapped = nullptr;
  check(plugin_.memory_map(staging.get(), 0, bytes.size(), &mapped, &error_));
  std::memcpy(mapped, bytes.data(), bytes.size());
  check(plugin_.memory_unmap(staging.get(), &error_));
  submit(std::vector{copy_command(staging.get(), 0, to, offset, bytes.size())});
}

Bytes Device::read(tn_memory* from, uint64_t offset, uint64_t size) const {
  Bytes bytes(size);
  if (bytes.empty()) return bytes;
  const Memory staging = allocate(host_space(), size);
  submit(std::vector{copy_command(from, offset, staging.get(), 0, size)});
  void* mapped = nullptr;
  check(plugin_.memory_map(staging.get(), 0, size, &mapped, &error_));
  std::memcpy(bytes.data(), mapped, size);
  check(plugin_.memory_unmap(staging.get(), &error_));
  return bytes;
}

void Device::submit(std::span<const tn_command> commands) const {
  tn_submission submission = TN_INIT(tn_submission);
  submission.command_count = static_cast<uint32_t>(commands.size());
  submission.command_stride = sizeof(tn_command);
  submission.commands = commands.data();
  if (!(properties().flags & TN_DEVICE_ASYNC))
    return check(plugin_.submit(device_, &submission, &error_));
  tn_timeline* made = nullptr;
  check(plugin_.timeline_create(device_, 0, &made, &error_));
  const std::unique_ptr<tn_timeline, void (*)(tn_timeline*)> done(made, plugin_.timeline_destroy);
  const tn_point signal = {made, 1};
  submission.signals = &signal;
  submission.signal_count = 1;
  check(plugin_.submit(device_, &submission, &error_));
  check(plugin_.timeline_wait(made, 1, UINT64_MAX, &error_));
}

void Device::run(const Executable& executable, const sdk::Program& program, uint32_t groups,
                 std::initializer_list<Bytes*> buffers,
                 std::initializer_list<uint64_t> scalars) const {
  std::vector<Memory> memories;
  std::vector<tn_argument> arguments;
  for (Bytes* bytes : buffers) {
    memories.push_back(allocate(0, std::max<size_t>(bytes->size(), 1)));
    write(memories.back().get(), 0, *bytes);
    arguments.push_back(buffer_argument(memories.back().get(), 0, bytes->size()));
  }
  for (const uint64_t scalar : scalars) {
    arguments.push_back({});
    arguments.back().kind = TN_ARGUMENT_SCALAR;
    arguments.back().scalar = scalar;
  }
  submit(std::vector{launch_command(executable.get(), program, groups, arguments)});
  size_t i = 0;
  for (Bytes* bytes : buffers) *bytes = read(memories[i++].get(), 0, bytes->size());
}

tn_command copy_command(tn_memory* from, uint64_t from_offset, tn_memory* to, uint64_t to_offset,
                        uint64_t size) {
  tn_command command = TN_INIT(tn_command);
  command.kind = TN_COMMAND_COPY;
  command.source = from;
  command.source_offset = from_offset;
  command.destination = to;
  command.destination_offset = to_offset;
  command.size = size;
  return command;
}

tn_command fill_command(tn_memory* to, uint64_t offset, uint64_t size, uint64_t pattern,
                        uint32_t pattern_size) {
  tn_command command = TN_INIT(tn_command);
  command.kind = TN_COMMAND_FILL;
  command.destination = to;
  command.destination_offset = offset;
  command.size = size;
  command.pattern = pattern;
  command.pattern_size = pattern_size;
  return command;
}

tn_command launch_command(tn_executable* executable, const sdk::Program& program, uint32_t groups,
                          std::span<const tn_argument> arguments) {
  tn_command command = TN_INIT(tn_command);
  command.kind = TN_COMMAND_LAUNCH;
  command.executable = executable;
  command.grid[0] = groups;
  command.grid[1] = command.grid[2] = 1;
  std::copy_n(program.get()->workgroup, 3, command.block);
  std::fill_n(command.cluster, 3, 1u);
  command.argument_count = static_cast<uint32_t>(arguments.size());
  command.argument_stride = sizeof(tn_argument);
  command.arguments = arguments.data();
  return command;
}

tn_argument buffer_argument(tn_memory* memory, uint64_t offset, uint64_t size) {
  tn_argument argument = {};
  argument.kind = TN_ARGUMENT_BUFFER;
  argument.memory = memory;
  argument.offset = offset;
  argument.size = size;
  return argument;
}

sdk::Program scaled_program(uint32_t threads) {
  std::string error;
  const std::string text = fmt::format(
      R"(program scaled(%x: global f32 read, %y: global f32 write, %n: i32 in [0, 1000], %count: i32 in [0, 1000]) workgroup {0} 1 1 {{
  %4 = index grid.x : i32
  %5 = index block.x : i32
  %6 = const {0} : i32
  %7 = mul %4, %6 : i32
  %8 = add %7, %5 : i32
  %9 = cmplt %8, %count : bool
  if %9 {{
    %11 = load %x, %8 : f32
    %12 = add %11, %11 : f32
    %13 = cast %n : f32
    %14 = add %12, %13 : f32
    store %y, %8, %14
  }}
}}
)",
      threads);
  sdk::Program program = sdk::parse_program(text, error);
  if (!error.empty()) throw std::runtime_error(error);
  return program;
}

Bytes floats(std::initializer_list<float> values) {
  const auto bytes = std::as_bytes(std::span(values.begin(), values.size()));
  return {bytes.begin(), bytes.end()};
}

Bytes counting(size_t size, unsigned first) {
  Bytes bytes(size);
  for (size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::byte>(first + i * 7 + i / 256);
  return bytes;
}

}  // namespace tenon::wgsl_test
