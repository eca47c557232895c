// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "conformance/abi/checks/last_groups.hpp"

#include <algorithm>
#include <cstring>

#include "conformance/abi/checks/check.hpp"
#include "conformance/abi/checks/probe_programs.hpp"

namespace tenon::conformance::abi::checks {
namespace {

constexpr uint32_t kLast = 4;
constexpr size_t kGroupBytes = 32;

/// out[k] = the number of the last workgroup but k, for the last four. sizes: the grid along x and
/// y, and all of it.
sdk::Program last_program() {
  sdk::ProgramBuilder b("last");
  const auto out = b.buffer("out", TN_DTYPE_I32, kReadWrite, kGroupBytes / 4);
  const auto sizes = b.buffer("sizes", TN_DTYPE_I32, TN_ACCESS_READ, kGroupBytes / 4);
  const auto whole = [&](uint32_t n) { return b.constant(TN_DTYPE_I32, n); };
  const auto size = [&](uint32_t n) {
    return b.op(TN_OP_TAKE, TN_DTYPE_I32, 1, {sizes, whole(n)});
  };
  const auto index = [&](tn_opcode op, auto x, auto y) {
    return b.op(op, TN_DTYPE_I32, 1, {x, y});
  };
  auto group = b.index(TN_AXIS_GRID_Z, TN_DTYPE_I32);
  for (const uint32_t axis : {1u, 0u})
    group = index(TN_OP_ADD, index(TN_OP_MUL, group, size(axis)),
                  b.index(static_cast<tn_axis>(TN_AXIS_GRID_X + axis), TN_DTYPE_I32));
  // By ops that every device has.
  const auto from_end = index(TN_OP_ADD, index(TN_OP_ADD, size(2), whole(UINT32_MAX)),
                              index(TN_OP_MUL, group, whole(UINT32_MAX)));
  b.begin_if(b.op(TN_OP_CMPLT, TN_DTYPE_BOOL, 1, {from_end, whole(kLast)}));
  b.op(TN_OP_STORE, TN_DTYPE_VOID, 0, {out, from_end, group});
  b.end();
  return b.finish();
}

}  // namespace

LastGroups::LastGroups(const OpenDevice& device)
    : device_(device),
      executable_(device.compile(*last_program().get()).executable),
      out_(any_memory(device, kGroupBytes)),
      sizes_(any_memory(device, kGroupBytes)) {}

void LastGroups::run(const uint32_t (&grid)[3]) const {
  const uint32_t groups = grid[0] * grid[1] * grid[2];
  const uint32_t sizes[kGroupBytes / 4] = {grid[0], grid[1], groups};
  device_.write(sizes_.get(), 0, 0, {reinterpret_cast<const uint8_t*>(sizes), kGroupBytes});
  device_.write(out_.get(), 0, 0, std::vector<uint8_t>(kGroupBytes, 0xEE));
  const tn_argument arguments[] = {buffer_argument(out_.get(), 0, kGroupBytes),
                                   buffer_argument(sizes_.get(), 0, kGroupBytes)};
  const tn_command command =
      launch_command(executable_.get(), {grid[0], grid[1], grid[2]}, {}, arguments);
  device_.run({&command, 1});
  std::vector<uint8_t> got(kGroupBytes);
  device_.read(out_.get(), 0, 0, got);
  for (uint32_t i = 0; i < std::min(kLast, groups); ++i) {
    uint32_t word = 0;
    std::memcpy(&word, got.data() + size_t{i} * 4, 4);
    if (word != groups - 1 - i)
      find("mismatch",
           "a grid of {} x {} x {}, which is within what is claimed: expected workgroup {} to have "
           "run, got {:#x} from it",
           grid[0], grid[1], grid[2], groups - 1 - i, word);
  }
}

}  // namespace tenon::conformance::abi::checks
