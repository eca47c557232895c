// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Values computed from the params of a program.
#include "sdk/program/view.hpp"

namespace tenon::sdk {

uint32_t argument_count(const ProgramView& program) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < program.param_count(); ++i) {
    count += program.param(i).kind != TN_PARAM_ALLOC;
  }
  return count;
}

std::vector<AllocationPlace> allocation_places(const ProgramView& program) {
  std::vector<AllocationPlace> places(program.param_count());
  uint64_t end[TN_SPACE_CLUSTER + 1] = {};
  for (uint32_t i = 0; i < program.param_count(); ++i) {
    const tn_param& param = program.param(i);
    if (param.kind != TN_PARAM_ALLOC) continue;
    const uint64_t align = param.alignment;
    uint64_t& top = end[param.space];
    top = (top + align - 1) / align * align;
    places[i] = {top, param.count * dtype_bytes(static_cast<uint8_t>(param.dtype))};
    top += places[i].bytes;
  }
  return places;
}

std::vector<uint32_t> region_closes(const ProgramView& program) {
  std::vector<uint32_t> closes(program.op_count()), open;
  for (uint32_t i = 0; i < program.op_count(); ++i) {
    const uint16_t op = program.op(i).op;
    closes[i] = i;
    if (op == TN_OP_ELSE || op == TN_OP_END) {
      closes[open.back()] = i;
      open.pop_back();
    }
    if (op == TN_OP_LOOP || op == TN_OP_IF || op == TN_OP_ELSE) open.push_back(i);
  }
  return closes;
}

}  // namespace tenon::sdk
