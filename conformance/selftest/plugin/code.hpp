// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A program made ready for the interpreter: one step for each op, with all that the variant does
// otherwise already decided.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "conformance/selftest/plugin/variants.hpp"
#include "sdk/backend/host_device.hpp"
#include "sdk/program/scalar.hpp"

namespace tenon::planted {

/// What a step does that its op does not say.
enum class Quirk : uint8_t {
  none,
  shift_index,       ///< of a load: by `amount`, not below 0
  short_stride,      ///< of a load: one short for each iteration of loop `other`
  shared_neighbour,  ///< of a load: threads with the index of the one before read on
  wrap_index,        ///< of a load: `amount` elements and no more
  zero_fill,         ///< of a masked-off load
  read_padding,      ///< of a masked-off load
  spill_after,       ///< of a store: the vector that holds the last element, whole
  spill_before,      ///< of a store: the byte before byte 0
  skip_tail,         ///< of a store: nothing in the last workgroup if it is not full
  lose_last,         ///< of a store: nothing by the last thread that takes part
  no_barrier,        ///< of a barrier
  fuse,              ///< of an add: with the multiply `other`; operand `amount` is the other one
  bf16_sum,          ///< of an add
  backwards,         ///< of a loop or a lane_reduce: from the last to the first
  every_second,      ///< the same in every second launch
  halves,            ///< of a loop: even and odd iterations apart; of a lane_reduce: in pairs
  short_count,       ///< of a loop of more than 8 iterations: a multiple of 4
  few_iterations,    ///< of a loop: `amount` iterations and no more
  short_counter,     ///< of a loop: its variable in 32 bits
  keeps_carry,       ///< of a loop: carries begin with what they had in the last launch
  keeps_end,         ///< of a while loop: what its condition ended in the last launch
  mask_in_halves,    ///< of a where: quarters of 16 lanes of its condition in the order 0, 2, 1, 3
  far_distance,      ///< of a memory op: its index is `amount` off, in the array
  few_lanes,         ///< of a store: `amount` and no more
  takes_value,       ///< of a load: lane `amount` of value `other`, in place of what memory has
};

struct Step {
  uint16_t op = 0;
  uint8_t dtype = 0, bytes = 0;  ///< of the value; of a memory op `bytes` of one element
  Quirk quirk = Quirk::none;
  bool global = false;  ///< of a memory op: on a buffer of the launch
  uint32_t lanes = 0;
  uint32_t closes = 0;  ///< of a region: the op that closes it
  uint64_t imm = 0;
  size_t value = 0;  ///< where its value begins, in words: [threads, lanes]
  sdk::ScalarFunction function = nullptr;
  std::vector<uint32_t> operands;
  int64_t amount = 0;
  uint32_t other = 0;
};

/// What loops leave for the next launch, where a variant lets them.
struct LoopState {
  std::mutex mutex;
  std::map<uint32_t, std::vector<uint64_t>> carries;  ///< by CARRY
  std::map<uint32_t, bool> ended;                     ///< by LOOP
};

/// What the device keeps of a program. Shared by executables of one key.
struct Code {
  Code(Variant variant, sdk::Program source);
  sdk::ProgramView view() const { return program.view(); }

  Variant variant;
  sdk::Program program;
  std::vector<sdk::AllocationPlace> places;  ///< by param
  std::vector<Step> steps;
  uint32_t threads = 1;
  size_t value_count = 0;
  bool has_barrier = false;
  bool all_single = true;  ///< every buffer has one element
  bool hangs = false;
  bool reads_own_output = false;  ///< loads from a buffer that it stores to
  mutable std::atomic<uint64_t> launches{0};
  mutable LoopState loops;
  mutable std::atomic<bool> gone{false};  ///< an executable of it was destroyed
};

/// What an executable keeps of its launches, where a variant lets it.
struct LaunchState {
  std::mutex mutex;
  std::vector<sdk::HostArgument> arguments;
  uint32_t grid[3] = {};
  std::vector<std::pair<const tn_memory*, std::byte*>> slabs;  ///< by argument
  bool is_told = false, is_saved = false;                      ///< was asked for a text, saved
};

/// What the host holds.
class PlantedExecutable final : public sdk::ProgramExecutable {
 public:
  PlantedExecutable(sdk::Program own, std::shared_ptr<const Code> code)
      : ProgramExecutable(std::move(own)), code_(std::move(code)) {}
  ~PlantedExecutable() override { code_->gone = true; }
  const std::shared_ptr<const Code>& code() const { return code_; }
  LaunchState& state() const { return state_; }

 private:
  mutable LaunchState state_;
  std::shared_ptr<const Code> code_;
};

/// Decides the quirks of a program's steps in its variant.
void mark(Code& code);

}  // namespace tenon::planted
