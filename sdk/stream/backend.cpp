// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Devices, properties and compilation.
#include "sdk/stream/backend.hpp"

#include <unistd.h>

#include <fmt/format.h>

#include <algorithm>

#include "sdk/render/c_printer.hpp"
#include "sdk/render/gpu_dialect.hpp"
#include "sdk/stream/device.hpp"

namespace tenon::sdk {
namespace {

constexpr uint32_t kAlignment = 256;   // of every allocation, in both drivers
constexpr uint32_t kAccessBytes = 16;  // widest load of one thread

tn_memory_space device_space(uint64_t total) {
  tn_memory_space space = TN_INIT(tn_memory_space);
  space.flags = TN_MEMORY_DEVICE;
  space.alignment = kAlignment;
  space.total = total;
  space.copy_from = 1u << kDeviceSpace | 1u << kPinnedSpace;
  return space;
}

tn_memory_space pinned_space() {
  tn_memory_space space = TN_INIT(tn_memory_space);
  space.flags = TN_MEMORY_HOST_VISIBLE | TN_MEMORY_COHERENT | TN_MEMORY_IMPORT;
  space.alignment = kAlignment;
  space.copy_from = 1u << kDeviceSpace | 1u << kPinnedSpace;
  return space;
}

/// Claims the ops of the dialect.
void claim_words(PropertyTable& table, const Dialect& dialect) {
  table.claim(dialect.data().ops).claim(kVectorOps).claim(kWorkgroupOps).claim(kSubgroupOps);
  table.store_all().compute_registers(kAccessBytes);
  table.atomics(
      {TN_DTYPE_I32, TN_DTYPE_U32, TN_DTYPE_F32, TN_DTYPE_I64, TN_DTYPE_U64, TN_DTYPE_F64});
}

}  // namespace

std::shared_ptr<PropertyTable> StreamBackend::make_table(const StreamLimits& limits,
                                                         std::string_view target) {
  auto table = std::make_shared<PropertyTable>(TN_DEVICE_COMPUTE | TN_DEVICE_ASYNC |
                                               TN_DEVICE_DETERMINISTIC | TN_DEVICE_SYMBOLIC |
                                               TN_DEVICE_SAVE | TN_DEVICE_SUBGROUP_BARRIER);
  claim_words(*table, platform_.dialect());
  if (limits.async_copies) table->claim(kAsyncOps);
  table->add_memory(device_space(limits.memory_bytes)).add_memory(pinned_space());
  const std::span<const tn_matrix_atom> matrix = platform_.atoms(target);
  for (const tn_matrix_atom& atom : matrix) table->add_atom(atom);
  if (!matrix.empty()) table->claim(kMatrixOps);
  table->workgroup(limits.workgroup[0], limits.workgroup[1], limits.workgroup[2],
                   limits.workgroup_threads);
  tn_properties& fields = table->fields();
  for (int axis = 0; axis < 3; ++axis) fields.max_grid[axis] = most_workgroups(limits, axis);
  fields.max_shared_bytes = limits.shared_bytes;
  fields.subgroup_min = fields.subgroup_max = limits.subgroup;
  fields.compute_units = limits.compute_units;
  fields.vector_registers = limits.registers;
  fields.l2_bytes = limits.l2_bytes;
  fields.rates = limits.rates;
  return table;
}

const std::vector<StreamDeviceFacts>& StreamBackend::devices() {
  std::call_once(discovered_, [this] {
    try {
      process_ = getpid();
      driver_ = platform_.open_driver();
      driver_version_ = driver_->version();
      devices_ = driver_->devices();
      if (devices_.empty()) reason_ = "the driver lists no device";
    } catch (const Failure& failure) {
      reason_ = failure.what();
    }
  });
  return devices_;
}

/// Opened at first use; tried again if it was missing.
const StreamCompiler& StreamBackend::compiler() {
  devices();  // opens the driver, which must be able to load the code
  const std::lock_guard lock(mutex_);
  if (!compiler_) compiler_ = platform_.open_compiler(driver_version_);
  return *compiler_;
}

std::vector<tn_device_info> StreamBackend::enumerate(std::string& reason) {
  std::vector<tn_device_info> infos;
  for (const StreamDeviceFacts& facts : devices()) infos.push_back(facts.info);
  reason = reason_;
  return infos;
}

std::unique_ptr<Device> StreamBackend::open(uint32_t index, Options&) {
  const StreamDeviceFacts& facts = devices().at(index);
  // Drivers of neither vendor work in a child of fork, where calls may hang.
  if (process_ != getpid()) {
    throw Failure(TN_ERROR_UNSUPPORTED,
                  fmt::format("the driver was opened by process {}, of which this one, {}, is a "
                              "child made by fork: open it in the child first, or start the child "
                              "as a program of its own",
                              process_, getpid()));
  }
  return std::make_unique<StreamDevice>(*driver_, facts.ordinal, facts.info.target,
                                        make_table(facts.limits, facts.info.target), scheduler_);
}

const tn_properties* StreamBackend::target(std::string_view name) {
  return targets_.find(name, [&] {
    const std::optional<StreamLimits> limits = compiler().find_target(name);
    return limits ? make_table(*limits, name) : nullptr;
  });
}

tn_support StreamBackend::supports(const Target&, const ProgramView& program, std::string& reason) {
  try {
    print_source(program, platform_.dialect());
    return TN_SUPPORT_YES;
  } catch (const Failure& failure) {
    reason = failure.what();
    return TN_SUPPORT_NO;
  }
}

std::unique_ptr<Executable> StreamBackend::compile(const Target& target, const ProgramView& program,
                                                   tn_compile_report& report) {
  StreamCode code;
  code.source = print_source(program, platform_.dialect());
  code.entry = Dialect::function_name(program);
  code.target = target_name(target);
  if (has_dynamic_shared(program, platform_.dialect()))
    code.dynamic_shared_bytes = program.header().shared_bytes;
  compiler().compile(program, code);
  report.binary_bytes = code.binary.size();
  report.registers = code.registers;
  report.spills = code.spills;
  report.shared_bytes = program.header().shared_bytes;
  return make_executable(target, Program(program), std::move(code));
}

std::unique_ptr<Executable> StreamBackend::load(const Target& target,
                                                std::span<const std::byte> bytes) {
  const std::string name = target_name(target);
  SavedStreamCode saved = unpack_stream_code(bytes, identity(name), name);
  return make_executable(target, std::move(saved.program), std::move(saved.code));
}

std::unique_ptr<Executable> StreamBackend::make_executable(const Target& target, Program program,
                                                           StreamCode code) {
  auto* device = static_cast<StreamDevice*>(target.device);
  std::string made_by = identity(code.target);
  return std::make_unique<StreamExecutable>(
      std::move(program), std::move(code), std::move(made_by),
      [this](const StreamCode& from) { return compiler().disassemble(from); },
      device ? device->context() : nullptr);
}

std::string StreamBackend::target_name(const Target& target) {
  if (!target.device) return std::string(target.name);
  return static_cast<StreamDevice*>(target.device)->target();
}

std::string StreamBackend::identity(const std::string& target) {
  return fmt::format("{} {}|{}|{}", platform_.dialect().data().name, version_,
                     compiler().identity(), target);
}

const void* StreamBackend::extension(std::string_view id) {
  if (id == TN_GRAPHS_ID) return &stream_graphs();
  if (id == TN_PEERS_ID) return &stream_peers();
  if (id == TN_TIMING_ID) return &timing_table();
  return nullptr;
}

}  // namespace tenon::sdk
