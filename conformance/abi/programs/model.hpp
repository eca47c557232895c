// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a program means: all threads of a workgroup in step, one op after the other, a mask saying
// who takes part. Written from tenon/program.h alone, for programs of any origin: one that has no
// certain meaning (a race, an element outside) is refused. Of one that takes long nothing is known:
// it may be legal, and the device is not to blame.
//
// One of the two interpreters of programs. This one computes by the core's ops (core/ir/scalar_op)
// and judges plugins and, in tests/lower, the core's own lowering. The other computes by
// sdk/program/scalar.hpp: the template backend, which the selftest's plugin and the test doubles
// are made from. They share no arithmetic, so that a fault of either shows as a difference.
#pragma once

#include <functional>
#include <span>
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

struct ModelRules {
  /// Every value is known that this host computes from known ones, floats that round too, and
  /// threads may write one value to one place.
  bool is_host = false;
  /// Elements narrower than a word share it: integer atomic adds may come beside loads of the word
  /// and one another, since each changes bits of its own.
  bool shares_words = false;
  Specials keeps = {};
  const Profile* profile = nullptr;  ///< outlives the model; see ValueRules
  uint64_t most_lanes = 8'000'000;   ///< a second, on a slow machine
};

class ProgramModel {
 public:
  /// `memory` by param: the contents of BUFFERs, one element for a SCALAR, none for allocations.
  ProgramModel(const sdk::ProgramView& program, std::vector<std::vector<ModelValue>> memory,
               const uint32_t (&grid)[3], const ModelRules& rules = {});
  ProgramModel(ProgramModel&&) = default;
  virtual ~ProgramModel() = default;

  /// Throws kInvalid where the program has no certain meaning, ProgramTooLong where it goes on.
  void run();
  const ModelMemory& memory(uint32_t param) const { return memory_[param]; }
  uint64_t spent() const { return rules_.most_lanes - left_; }  ///< lanes, of all ops
  /// Iterations of the loops of one thread, the last looks at their ends too.
  int64_t most_trips() const { return most_trips_; }

 protected:
  using Mask = std::vector<uint8_t>;

  /// An op that this class does not know; false where it is none either.
  virtual bool run_other(uint32_t, const Mask&) { return false; }
  [[noreturn]] void refuse(uint32_t op, const std::string& expected) const;
  /// Calls `run` with the first thread of each subgroup whose threads are there, which are all or
  /// none.
  void each_subgroup(uint32_t op, const Mask& mask, const std::function<void(uint32_t)>& run) const;
  void spend(uint32_t op, uint64_t lanes);
  std::vector<ModelValue>& values(uint32_t value) { return values_[value]; }
  ModelValue& at(uint32_t value, uint32_t thread, uint32_t lane) {
    const uint32_t lanes = program_.op(value).lanes;
    return values_[value][thread * lanes + (lanes == 1 ? 0 : lane)];
  }
  /// What must be certain: indices, masks, conditions, bounds.
  uint64_t certain(uint32_t op, uint32_t value, uint32_t thread, uint32_t lane);
  int64_t counter(uint32_t op, uint32_t value, uint32_t thread, uint32_t lane = 0);
  ThreadId thread_id(uint32_t thread) const {
    const uint32_t subgroup = thread / subgroup_size_;
    return {group_number_, thread, phase_, subgroup, subgroup_phases_[subgroup]};
  }
  ValueRules value_rules() const { return {rules_.is_host, rules_.keeps, rules_.profile}; }
  /// Known as its operands are, by the rules of a host; else as it is.
  ModelValue settled(ModelValue value, std::span<const ModelValue> operands) const;
  /// What a PARAM stands for in a thread.
  ModelMemory& memory_of(uint32_t value, uint32_t thread);

  sdk::ProgramView program_;
  uint32_t threads_ = 1;  ///< of a workgroup

 private:
  void run_group(const uint32_t (&group)[3]);
  void run_ops(uint32_t first, uint32_t last, const Mask& mask);
  void run_barrier(uint32_t i, const Mask& mask);
  void run_if(uint32_t i, const Mask& mask);
  void run_loop(uint32_t i, Mask mask);
  void run_subgroups(uint32_t i, const Mask& mask);
  void compute(uint32_t i, uint32_t thread);
  void load(uint32_t i, uint32_t thread);
  void store(uint32_t i, uint32_t thread);
  void atomic(uint32_t i, uint32_t thread);
  void add_products(uint32_t i, uint32_t thread);  ///< a DOT
  uint64_t coordinate(uint64_t axis, uint32_t thread, uint32_t lane) const;
  size_t element(uint32_t i, uint32_t thread, uint32_t lane, uint32_t lanes);
  bool is_on(uint32_t i, size_t mask_operand, uint32_t thread, uint32_t lane);
  ModelMemory& touched(uint32_t i, uint32_t thread);

  const uint32_t (&grid_)[3];
  ModelRules rules_;
  uint32_t subgroup_size_ = 1;  ///< the workgroup's where there are none
  std::vector<uint32_t> closes_;
  std::vector<uint8_t> is_used_;               ///< by value
  std::vector<ModelMemory> memory_;            ///< by param
  std::vector<std::vector<ModelMemory>> own_;  ///< by param and thread
  std::vector<std::vector<ModelValue>> values_;
  uint32_t group_[3] = {}, group_number_ = 0, phase_ = 0;
  std::vector<uint32_t> subgroup_phases_;
  std::vector<int64_t> trips_;  ///< by thread
  int64_t most_trips_ = 0;
  uint64_t left_;  ///< lanes that may still be computed
};

}  // namespace tenon::conformance::abi::programs
