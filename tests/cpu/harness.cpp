// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Opens the built CPU plugin through the ABI.
#include "tests/cpu/harness.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <random>
#include <stdexcept>

#include "sdk/program/op_info.hpp"
#include "sdk/program/view.hpp"

namespace tenon::cpu_test {

uint64_t element(const Bytes& bytes, size_t i, uint32_t size) {
  uint64_t value = 0;
  std::memcpy(&value, bytes.data() + i * size, size);
  return value;
}

void set_element(Bytes& bytes, size_t i, uint32_t size, uint64_t value) {
  std::memcpy(bytes.data() + i * size, &value, size);
}

const tn_plugin& plugin() {
  static const tn_plugin* const kPlugin = [] {
    const char* path = TENON_BINARY_DIR "/lib/tenon/libtenon_cpu.so";
    void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library) throw std::runtime_error(dlerror());
    const auto query = reinterpret_cast<tn_plugin_query_fn>(dlsym(library, TN_PLUGIN_QUERY));
    if (!query) throw std::runtime_error(dlerror());
    static tn_host host = TN_INIT(tn_host);
    host.abi_version = TN_ABI_VERSION;
    host.name = "test_cpu";
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

Device::Device(const char* options) {
  tn_error error = TN_INIT(tn_error);
  require_ok(plugin().device_open(0, options, &device_, &error), error);
}

Device::~Device() { plugin().device_close(device_); }

tn_target Device::target() const {
  tn_target target = TN_INIT(tn_target);
  target.device = device_;
  return target;
}

const tn_properties& Device::properties() const {
  tn_error error = TN_INIT(tn_error);
  const tn_properties* properties = nullptr;
  const tn_target to = target();
  require_ok(plugin().properties(&to, &properties, &error), error);
  return *properties;
}

tn_executable* Device::compile(const sdk::Program& program, tn_compile_report* report) const {
  tn_error error = TN_INIT(tn_error);
  tn_executable* executable = nullptr;
  const tn_target to = target();
  require_ok(plugin().compile(&to, program.get(), report, &executable, &error), error);
  return executable;
}

tn_memory* Device::allocate(uint64_t size) const {
  tn_error error = TN_INIT(tn_error);
  tn_memory* memory = nullptr;
  require_ok(plugin().memory_allocate(device_, 0, size, &memory, &error), error);
  return memory;
}

void* Device::map(tn_memory* memory, uint64_t size) const {
  tn_error error = TN_INIT(tn_error);
  void* pointer = nullptr;
  require_ok(plugin().memory_map(memory, 0, size, &pointer, &error), error);
  return pointer;
}

tn_command launch_command(tn_executable* executable, Grid grid,
                          std::span<const tn_argument> arguments) {
  tn_command command = TN_INIT(tn_command);
  command.kind = TN_COMMAND_LAUNCH;
  command.executable = executable;
  command.grid[0] = grid.x;
  command.grid[1] = grid.y;
  command.grid[2] = grid.z;
  std::fill_n(command.block, 3, 1u);
  std::fill_n(command.cluster, 3, 1u);
  command.argument_count = static_cast<uint32_t>(arguments.size());
  command.argument_stride = sizeof(tn_argument);
  command.arguments = arguments.data();
  return command;
}

void Device::submit_and_wait(std::span<const tn_command> commands) const {
  tn_error error = TN_INIT(tn_error);
  tn_timeline* timeline = nullptr;
  require_ok(plugin().timeline_create(device_, 0, &timeline, &error), error);
  const tn_point done{timeline, 1};
  tn_submission submission = TN_INIT(tn_submission);
  submission.command_count = static_cast<uint32_t>(commands.size());
  submission.command_stride = sizeof(tn_command);
  submission.commands = commands.data();
  submission.signals = &done;
  submission.signal_count = 1;
  int32_t status = plugin().submit(device_, &submission, &error);
  if (status == TN_OK) status = plugin().timeline_wait(timeline, 1, UINT64_MAX, &error);
  plugin().timeline_destroy(timeline);
  require_ok(status, error);
}

void Device::launch(tn_executable* executable, Grid grid,
                    std::span<const Argument> arguments) const {
  std::vector<tn_argument> bound;
  std::vector<tn_memory*> memories;
  for (const Argument& argument : arguments) {
    tn_argument row = {};
    row.kind = argument.buffer ? TN_ARGUMENT_BUFFER : TN_ARGUMENT_SCALAR;
    row.scalar = argument.scalar;
    if (argument.buffer && !argument.buffer->empty()) {
      row.size = argument.buffer->size();
      row.memory = memories.emplace_back(allocate(row.size));
      std::memcpy(map(row.memory, row.size), argument.buffer->data(), row.size);
      plugin().memory_unmap(row.memory, nullptr);
    }
    bound.push_back(row);
  }
  const tn_command command = launch_command(executable, grid, bound);
  submit_and_wait({&command, 1});
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (!bound[i].memory) continue;
    std::memcpy(arguments[i].buffer->data(), map(bound[i].memory, bound[i].size), bound[i].size);
  }
  for (tn_memory* memory : memories) plugin().memory_free(memory);
}

void Device::run(const sdk::Program& program, Grid grid,
                 std::initializer_list<Argument> arguments) const {
  tn_executable* executable = compile(program);
  launch(executable, grid, {arguments.begin(), arguments.size()});
  plugin().executable_destroy(executable);
}

const Device& shared_device() {
  static const Device* const kDevice = new Device();
  return *kDevice;
}

std::vector<tn_dtype> dtypes_where(bool (*is)(const sdk::DTypeInfo&)) {
  std::vector<tn_dtype> out;
  for (const sdk::DTypeInfo& row : sdk::all_dtypes())
    if (is(row)) out.push_back(static_cast<tn_dtype>(row.dtype));
  return out;
}

sdk::Program elementwise_program(tn_opcode op, std::span<const tn_dtype> inputs, tn_dtype output,
                                 uint16_t lanes, uint64_t imm) {
  using Value = sdk::ProgramBuilder::Value;
  sdk::ProgramBuilder b("elementwise");
  std::vector<Value> buffers;
  for (size_t i = 0; i < inputs.size(); ++i)
    buffers.push_back(b.buffer("in" + std::to_string(i), inputs[i], TN_ACCESS_READ));
  const Value out = b.buffer("out", output, TN_ACCESS_WRITE | TN_ACCESS_NOALIAS);
  const Value group = b.index(TN_AXIS_GRID_X, TN_DTYPE_I64);
  const Value width = b.constant(TN_DTYPE_I64, lanes);
  const Value first = b.op(TN_OP_MUL, TN_DTYPE_I64, 1, {group, width}, 0, TN_OP_NO_WRAP);
  std::vector<Value> operands;
  for (size_t i = 0; i < inputs.size(); ++i)
    operands.push_back(b.op(TN_OP_TAKE, inputs[i], lanes, {buffers[i], first}));
  const Value result = b.op(op, output, lanes, operands, imm);
  b.op(TN_OP_STORE, TN_DTYPE_VOID, 0, {out, first, result});
  return b.finish();
}

std::vector<uint64_t> interesting_values(tn_dtype dtype, size_t random_count) {
  const uint32_t bits = sdk::dtype_bytes(dtype) * 8;
  const uint64_t mask = bits == 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1;
  if (dtype == TN_DTYPE_BOOL) return {0, 1};
  std::vector<uint64_t> values;
  for (uint64_t small = 0; small < 4; ++small) {
    values.push_back(small);
    values.push_back(~small & mask);                            // -1 .. or NaN
    values.push_back((uint64_t{1} << (bits - 1)) + small);      // the smallest, or -0
    values.push_back((uint64_t{1} << (bits - 1)) - 1 - small);  // the largest, or NaN
  }
  if (sdk::is_float(dtype)) {
    const int mantissa = sdk::dtype_info(static_cast<uint8_t>(dtype))->format.mantissa_bits;
    // 0 and infinity, 1/2 to 4, the smallest normal, and their neighbours; either sign.
    const uint64_t one = (((uint64_t{1} << (bits - 2 - mantissa)) - 1) << mantissa);
    const uint64_t unit = uint64_t{1} << mantissa;
    const uint64_t infinity = ((uint64_t{1} << (bits - 1 - mantissa)) - 1) << mantissa;
    for (uint64_t magnitude : {unit, one - unit, one, one + unit / 2, one + unit, one + 2 * unit,
                               infinity, infinity + unit / 2}) {
      for (uint64_t near : {magnitude - 1, magnitude, magnitude + 1}) {
        values.push_back(near & mask);
        values.push_back((near | uint64_t{1} << (bits - 1)) & mask);
      }
    }
  }
  std::mt19937_64 random(dtype);
  for (size_t i = 0; i < random_count; ++i) {
    const uint64_t raw = random();
    // Every magnitude of an integer; every exponent of a float.
    values.push_back(sdk::is_float(dtype) || raw % 2 ? raw & mask
                                                     : (raw >> (random() % bits)) & mask);
  }
  return values;
}

}  // namespace tenon::cpu_test
