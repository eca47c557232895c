// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Refuses launches that would access memory outside their arguments.
#include "sdk/backend/launch.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tenon::sdk {
namespace {

void check_argument(const tn_argument& from, const LaunchSignature::Argument& expected,
                    uint32_t i) {
  const bool is_buffer = expected.kind == TN_PARAM_BUFFER;
  if (from.kind != (is_buffer ? TN_ARGUMENT_BUFFER : TN_ARGUMENT_SCALAR)) {
    refuse(fmt::format("launch: expected a {} as argument {}, got kind {}",
                       is_buffer ? "buffer" : "scalar", i, from.kind));
  }
  if (!is_buffer) return;
  if (from.size < expected.bytes) {
    refuse(fmt::format("launch: expected {} bytes as argument {}, got {}", expected.bytes, i,
                       from.size));
  }
  check_range(from.memory, from.offset, from.size, "an argument");
}

}  // namespace

LaunchSignature::LaunchSignature(const ProgramView& program) {
  for (uint32_t i = 0; i < program.param_count(); ++i) {
    const tn_param& param = program.param(i);
    if (param.kind == TN_PARAM_ALLOC) continue;
    const uint64_t bytes = param.count * dtype_bytes(static_cast<uint8_t>(param.dtype));
    arguments.push_back(
        {param.kind, param.alignment, param.kind == TN_PARAM_BUFFER ? bytes : 0, param.access});
  }
  std::copy(program.header().workgroup, program.header().workgroup + 3, workgroup);
}

void check_range(const tn_memory* handle, uint64_t offset, uint64_t size, const char* what) {
  if (size == 0) return;
  if (!handle) refuse(fmt::format("submit: expected memory as {}, got null", what));
  const uint64_t whole = memory_of(const_cast<tn_memory*>(handle))->size();
  if (offset > whole || size > whole - offset) {
    refuse(fmt::format("submit: expected {} inside {} bytes, got {} at {}", what, whole, size,
                       offset));
  }
}

void check_launch(const tn_command& command, const LaunchSignature& signature) {
  if (command.argument_count != signature.arguments.size()) {
    refuse(fmt::format("launch: expected {} arguments, got {}", signature.arguments.size(),
                       command.argument_count));
  }
  for (int axis = 0; axis < 3; ++axis) {
    if (command.block[axis] != signature.workgroup[axis]) {
      refuse(fmt::format("launch: expected block[{}] {}, got {}", axis, signature.workgroup[axis],
                         command.block[axis]));
    }
    if (command.cluster[axis] > 1) refuse("launch: expected a cluster of 1");
  }
  if (command.dynamic_shared_bytes) refuse("launch: expected no dynamic shared memory");
  for (uint32_t i = 0; i < command.argument_count; ++i)
    check_argument(Submission::argument(command, i), signature.arguments[i], i);
}

}  // namespace tenon::sdk
