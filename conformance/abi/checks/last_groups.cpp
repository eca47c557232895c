// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "conformance/abi/checks/last_groups.hpp"

#include <algorithm>
#include <cstring>

#include "sdk/program/builder.hpp"

namespace tenon::conformance::abi::checks {
namespace {

constexpr uint32_t kLast = 4;
constexpr size_t kGroupBytes = 32;

/// out[k] = the number of the last workgroup but k, for the last four.
sdk::Program last_program(const uint32_t (&grid)[3]) {
  sdk::ProgramBuilder b("last");
  const auto out = b.buffer("out", TN_DTYPE_I32, TN_ACCESS_READ | TN_ACCESS_WRITE, 8);
  const auto whole = [&](uint32_t n) { return b.constant(TN_DTYPE_I32, n); };
  const auto index = [&](tn_opcode op, auto x, auto y) {
    return b.op(op, TN_DTYPE_I32, 1, {x, y});
  };
  auto group = b.index(TN_AXIS_GRID_Z, TN_DTYPE_I32);
  for (const int axis : {1, 0})
    group = index(TN_OP_ADD, index(TN_OP_MUL, group, whole(grid[axis])),
                  b.index(static_cast<tn_axis>(TN_AXIS_GRID_X + axis), TN_DTYPE_I32));
  // By ops that every device has.
  const auto from_end = index(TN_OP_ADD, whole(grid[0] * grid[1] * grid[2] - 1),
                              index(TN_OP_MUL, group, whole(UINT32_MAX)));
  b.begin_if(b.op(TN_OP_CMPLT, TN_DTYPE_BOOL, 1, {from_end, whole(kLast)}));
  b.op(TN_OP_STORE, TN_DTYPE_VOID, 0, {out, from_end, group});
  b.end();
  return b.finish();
}

}  // namespace

bool run_last_groups(const OpenDevice& device, tn_memory* memory, const uint32_t (&grid)[3]) {
  const sdk::Program program = last_program(grid);
  const CompileAnswer answer = device.compile(*program.get());
  if (!answer.executable) return false;
  const tn_argument argument = buffer_argument(memory, 0, kGroupBytes);
  const tn_command command =
      launch_command(answer.executable.get(), {grid[0], grid[1], grid[2]}, {}, {&argument, 1});
  device.write(memory, 0, 0, std::vector<uint8_t>(kGroupBytes, 0xEE));
  device.run({&command, 1});
  std::vector<uint8_t> got(kGroupBytes);
  device.read(memory, 0, 0, got);
  const uint32_t groups = grid[0] * grid[1] * grid[2];
  for (uint32_t i = 0; i < std::min(kLast, groups); ++i) {
    uint32_t word = 0;
    std::memcpy(&word, got.data() + size_t{i} * 4, 4);
    if (word != groups - 1 - i)
      find("mismatch",
           "a grid of {} x {} x {}, which is within what is claimed: expected workgroup {} to have "
           "run, got {:#x} from it",
           grid[0], grid[1], grid[2], groups - 1 - i, word);
  }
  return true;
}

}  // namespace tenon::conformance::abi::checks
