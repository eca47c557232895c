// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The template backend behind properties that claim little, the kind that its file is named after.
// A program that goes beyond them fails to compile, so the conformance tool tests legalisation with
// it.
#include <string>

#include "sdk/backend/backend.hpp"
#include "sdk/program/verify.hpp"
#include "tests/plugin_name.hpp"
#undef TENON_BACKEND
#define TENON_BACKEND(Type)  // its classes are wanted, not its entry
#include "examples/90_null_backend/null_backend.cpp"

namespace {

#define KINDS(X)                                                                     \
  X(webgpu) /* 32-bit numbers alone, in memory too; workgroups, barriers, atomics */ \
  X(tight)  /* the same with small limits */                                         \
  X(bare)   /* 32-bit numbers, the principal operators, one thread a workgroup */
TN_TEST_VARIANT(Kind, KINDS, "limited_");
constexpr uint32_t kRegisters = 8;  ///< what loops carry beyond these is said to be spilled

const tn_properties& limited_properties() {
  static const sdk::PropertyTable* const table = [] {
    auto* t = new sdk::PropertyTable(TN_DEVICE_COMPUTE | TN_DEVICE_DETERMINISTIC |
                                     TN_DEVICE_SYMBOLIC | TN_DEVICE_SAVE);
    t->compute({TN_DTYPE_BOOL, TN_DTYPE_I32, TN_DTYPE_U32, TN_DTYPE_F32});
    t->store_all(2);
    t->add_memory(sdk::host_memory_space(64));
    tn_properties& p = t->fields();
    p.index_bits = 32;
    p.storage_bytes = 4;
    p.compute_units = 4;
    p.max_bindings = kKind == Kind::tight ? 4 : 8;
    p.max_buffer_bytes = kKind == Kind::tight ? 1 << 20 : 128 << 20;
    for (uint32_t& limit : p.max_grid) limit = kKind == Kind::tight ? 3 : 65535;
    if (kKind == Kind::bare) return t;
    t->claim(sdk::kArithmeticOps).claim(sdk::kMathOps).claim(sdk::kWorkgroupOps);
    t->atomics({TN_DTYPE_I32, TN_DTYPE_U32});
    p.max_shared_bytes = kKind == Kind::tight ? 1024 : 16384;
    return kKind == Kind::tight ? &t->workgroup(8, 2, 1, 8) : &t->workgroup(256, 256, 64, 256);
  }();
  return table->get();
}

bool is_narrow(uint32_t dtype) { return sdk::dtype_bytes(static_cast<uint8_t>(dtype)) < 4; }

class LimitedDevice : public NullDevice {
 public:
  const tn_properties& properties() const override { return limited_properties(); }

 protected:
  void launch(const sdk::HostCommand& command, std::span<const sdk::HostArgument> args) override {
    for (int d = 0; d < 3; ++d) {
      if (command.grid[d] > limited_properties().max_grid[d]) {
        throw sdk::Failure(TN_ERROR_INVALID_ARGUMENT, "a grid beyond the limits");
      }
    }
    for (const sdk::HostArgument& argument : args) {
      if (argument.size % 4 || reinterpret_cast<uintptr_t>(argument.data) % 4) {
        throw sdk::Failure(TN_ERROR_INVALID_ARGUMENT, "a buffer that is not in whole words");
      }
    }
    NullDevice::launch(command, args);
  }
};

class LimitedBackend : public NullBackend {
 public:
  static inline const sdk::BackendInfo kInfo = {tenon::test::plugin_name().c_str(), "0.1.0",
                                                "Apache-2.0 WITH LLVM-exception", -200};

  std::unique_ptr<sdk::Device> open(uint32_t, sdk::Options&) override {
    return std::make_unique<LimitedDevice>();
  }
  const tn_properties* target(std::string_view) override { return nullptr; }
  std::unique_ptr<sdk::Executable> compile(const sdk::Target& target,
                                           const sdk::ProgramView& program,
                                           tn_compile_report& report) override {
    uint32_t carried = 0;
    for (uint32_t i = 0; i < program.op_count(); ++i) {
      const tn_op& op = program.op(i);
      carried += op.op == TN_OP_CARRY;
      if (op.lanes && op.dtype != TN_DTYPE_BOOL && is_narrow(op.dtype)) {
        throw sdk::Failure(TN_ERROR_COMPILE_FAILED,
                           "op " + std::to_string(i) + " is narrower than a word");
      }
    }
    report.registers = kRegisters;
    report.spills = carried > kRegisters ? carried - kRegisters : 0;
    return NullBackend::compile(target, program, report);
  }
};

const tn_plugin* table_made = nullptr;

/// Yes to what the core lowered, so that a program beyond the properties is a failure and no
/// refusal; the truth about what the conformance tool offers to be refused. Nothing of a program is
/// read before it is verified: of a malformed one even the name may lie anywhere.
int32_t supports(const tn_target* target, const tn_program* program, uint32_t capacity,
                 char* reason) {
  if (program && sdk::verify_program(program, program->total_size).empty() &&
      sdk::ProgramView(program).name().find('_') != std::string_view::npos)
    return TN_SUPPORT_YES;
  return table_made->supports(target, program, capacity, reason);
}

}  // namespace

extern "C" TN_EXPORT const tn_plugin* tn_plugin_query(const tn_host* host, uint32_t abi_min,
                                                      uint32_t abi_max, tn_error* error) {
  const tn_plugin* const made =
      sdk::BackendTable<LimitedBackend>::query(host, abi_min, abi_max, error);
  if (!made) return nullptr;  // what was handed out before still works
  table_made = made;
  static tn_plugin table;
  table = *table_made;
  table.supports = supports;
  return &table;
}
