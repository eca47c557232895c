// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A driver and a compiler for StreamBackend.
#include <span>

#include "sdk/program/text.hpp"
#include "sdk/render/cuda_dialect.hpp"
#include "sdk/render/hip_dialect.hpp"
#include "tests/stream/machine.hpp"

namespace tenon::sdk {

int double_copy(uint64_t to, uint64_t from, size_t size, ApiStream* stream);

namespace {

class DoubleDriver : public StreamVendor {
 public:
  DoubleDriver() { fill_double(api_); }
  int retain(uint32_t device) override {
    const std::lock_guard lock(machine().mutex);
    if (const int code = machine().begin("retain", false)) return code;
    ++machine().retained[device];
    return 0;
  }
  void release(uint32_t device) override {
    const std::lock_guard lock(machine().mutex);
    if (--machine().retained[device] < 0) machine().violation("released more than retained");
  }
  /// CUDA pushes onto the thread's stack, HIP replaces what is current.
  int enter(uint32_t device, int& before) override {
    before = current_device();
    if (Double::is_hip()) Double::set_current(-1);
    context_stack().push_back(static_cast<int>(device));
    return 0;
  }
  void leave(int before) override {
    const std::lock_guard lock(machine().mutex);
    if (context_stack().empty()) return machine().violation("left more than entered");
    if (Double::is_hip()) return Double::set_current(before);
    context_stack().pop_back();
  }
  int copy(uint64_t to, uint64_t from, size_t size, ApiStream* stream) override {
    return double_copy(to, from, size, stream);
  }
  std::string describe(int code) const override { return "DOUBLE_ERROR_" + std::to_string(code); }

 protected:
  StreamAttributes attributes() const override {
    StreamAttributes numbers = {};
    numbers.memory_pools = 115;
    numbers.shared_bytes = 97;
    return numbers;
  }
  std::string driver_text(int version) const override {
    return "double " + std::to_string(version);
  }
  std::string target(uint32_t) const override { return "double"; }
  StreamLimits limits(std::string_view) const override { return one_thread(); }
  bool enable_peer(uint32_t, uint32_t peer) override { return peer != 2; }

 public:
  static StreamLimits one_thread() {
    StreamLimits limits;
    std::fill_n(limits.workgroup, 3, 1u);
    limits.workgroup_threads = 1;
    limits.subgroup = 0;
    if (Double::is_hip()) limits.axis_threads = UINT32_MAX;
    return limits;
  }
};

/// The binary is the program, which the driver's modules run.
class DoubleCompiler : public StreamCompiler {
 public:
  std::optional<StreamLimits> find_target(std::string_view name) const override {
    return name == "double" ? std::optional(DoubleDriver::one_thread()) : std::nullopt;
  }
  void compile(const ProgramView& program, StreamCode& code) const override {
    ImageHeader header;
    header.toolkit = machine().toolkit;
    header.architecture = machine().architecture;
    const auto first = std::as_bytes(std::span(&header, 1)), bytes = program.bytes();
    code.binary.assign(first.begin(), first.end());
    code.binary.insert(code.binary.end(), bytes.begin(), bytes.end());
    code.registers = 1;
  }
  std::string disassemble(const StreamCode& code) const override {
    constexpr size_t kBegin = sizeof(ImageHeader);
    return print_program(Program(code.binary.data() + kBegin, code.binary.size() - kBegin).view());
  }
  std::string identity() const override { return "double 1"; }
};

}  // namespace

std::unique_ptr<StreamVendor> open_double_driver() { return std::make_unique<DoubleDriver>(); }
std::unique_ptr<StreamCompiler> open_double_compiler(int) {
  return std::make_unique<DoubleCompiler>();
}

const StreamPlatform& double_platform() {
  static const StreamPlatform platform = {
      open_double_driver, open_double_compiler,
      []() -> const Dialect& { return Double::is_hip() ? hip_dialect() : cuda_dialect(); },
      [](std::string_view) { return std::span<const tn_matrix_atom>(); }};
  return platform;
}

}  // namespace tenon::sdk
