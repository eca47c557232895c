// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A driver and a compiler for StreamBackend.
#include "sdk/helpers/program_text.hpp"
#include "sdk/render/c_dialect.hpp"
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
  int activate(uint32_t device) override {
    current_device() = static_cast<int>(device);
    return 0;
  }
  int copy(uint64_t to, uint64_t from, size_t size, ApiStream* stream) override {
    return double_copy(to, from, size, stream);
  }
  std::string describe(int code) const override { return "DOUBLE_ERROR_" + std::to_string(code); }

 protected:
  StreamAttributes attributes() const override {
    StreamAttributes numbers = {};
    numbers.memory_pools = 115;
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
    const auto bytes = program.bytes();
    code.binary.assign(bytes.begin(), bytes.end());
    code.registers = 1;
  }
  std::string disassemble(const StreamCode& code) const override {
    return print_program(Program(code.binary.data(), code.binary.size()).view());
  }
  std::string identity() const override { return "double 1"; }
};

}  // namespace

std::unique_ptr<StreamVendor> open_double_driver() { return std::make_unique<DoubleDriver>(); }
std::unique_ptr<StreamCompiler> open_double_compiler() {
  return std::make_unique<DoubleCompiler>();
}

const StreamPlatform& double_platform() {
  static const StreamPlatform platform = {
      open_double_driver, open_double_compiler, c_dialect,
      [](std::string_view) { return std::span<const tn_matrix_atom>(); }};
  return platform;
}

}  // namespace tenon::sdk
