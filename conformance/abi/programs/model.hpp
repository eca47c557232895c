// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a program means: all threads of a workgroup in step, one op after the other, a mask saying
// who takes part. Written from tenon/program.h alone, for programs of any origin: one that has no
// certain meaning (a race, an element outside) is refused. Of one that takes long nothing is known:
// it may be legal, and the device is not to blame.
#pragma once

#include <string>
#include <vector>

#include "conformance/abi/programs/model_memory.hpp"
#include "core/support/error.hpp"

namespace tenon::conformance::abi::programs {

/// More steps than the model takes.
class ProgramTooLong : public Error {
 public:
  using Error::Error;
};

class ProgramModel {
 public:
  /// `memory` by param: the contents of BUFFERs, one element for a SCALAR, none for allocations.
  ProgramModel(const sdk::ProgramView& program, std::vector<std::vector<ModelValue>> memory,
               const uint32_t (&grid)[3]);

  /// Throws kInvalid where the program has no certain meaning, ProgramTooLong where it goes on.
  void run();
  const ModelMemory& memory(uint32_t param) const { return memory_[param]; }
  uint64_t spent() const { return kMostLanes - left_; }  ///< lanes, of all ops

 private:
  using Mask = std::vector<uint8_t>;
  static constexpr uint64_t kMostLanes = 8'000'000;  ///< a second, on a slow machine

  [[noreturn]] void refuse(uint32_t op, const std::string& expected) const;
  void spend(uint32_t op, uint64_t lanes);
  std::vector<ModelValue>& values(uint32_t value) { return values_[value]; }
  ModelValue& at(uint32_t value, uint32_t thread, uint32_t lane) {
    const uint32_t lanes = program_.op(value).lanes;
    return values_[value][thread * lanes + (lanes == 1 ? 0 : lane)];
  }
  /// What must be certain: indices, masks, conditions, bounds.
  uint64_t certain(uint32_t op, uint32_t value, uint32_t thread, uint32_t lane);
  int64_t counter(uint32_t op, uint32_t value, uint32_t thread, uint32_t lane = 0);
  ThreadId thread_id(uint32_t thread) const { return {group_number_, thread, phase_}; }

  void run_group(const uint32_t (&group)[3]);
  void run_ops(uint32_t first, uint32_t last, const Mask& mask);
  void run_if(uint32_t i, const Mask& mask);
  void run_loop(uint32_t i, Mask mask);
  void run_subgroups(uint32_t i, const Mask& mask);
  void compute(uint32_t i, uint32_t thread);
  void load(uint32_t i, uint32_t thread);
  void store(uint32_t i, uint32_t thread);
  void atomic(uint32_t i, uint32_t thread);
  uint64_t coordinate(uint64_t axis, uint32_t thread, uint32_t lane) const;
  size_t element(uint32_t i, uint32_t thread, uint32_t lane, uint32_t lanes);
  bool is_on(uint32_t i, size_t mask_operand, uint32_t thread, uint32_t lane);
  ModelMemory& touched(uint32_t i, uint32_t thread);

  sdk::ProgramView program_;
  const uint32_t (&grid_)[3];
  uint32_t threads_ = 1;  ///< of a workgroup
  std::vector<uint32_t> closes_;
  std::vector<uint8_t> is_used_;               ///< by value
  std::vector<ModelMemory> memory_;            ///< by param
  std::vector<std::vector<ModelMemory>> own_;  ///< by param and thread
  std::vector<std::vector<ModelValue>> values_;
  uint32_t group_[3] = {}, group_number_ = 0, phase_ = 0;
  uint64_t left_ = kMostLanes;  ///< that may still be computed
};

}  // namespace tenon::conformance::abi::programs
