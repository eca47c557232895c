// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Emits a program as an LLVM module.
//
// The module has two functions. `tenon_kernel` takes its arguments by name, so that no-alias holds,
// and loops over a range of workgroups; `tenon_entry` unpacks the arguments of a launch and calls
// it.
//   void tenon_entry(const sdk::HostArgument* arguments, const u32* grid, u64 begin, u64 end, u8*
//   scratch,
//                    u64 thread)
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "plugins/cpu/lane_index.hpp"
#include "plugins/cpu/types.hpp"
#include "sdk/program/view.hpp"

namespace tenon::cpu {

inline constexpr const char* kEntryName = "tenon_entry";

struct EmitOptions {
  bool fuse_multiply_add = false;  ///< the target has FMA: TN_OP_CONTRACT is used
  bool avx512 = false;             ///< as Builder::avx512
  uint32_t vector_bytes = 16;      ///< of a register
};

class Emitter {
 public:
  Emitter(llvm::LLVMContext& context, const sdk::ProgramView& program, std::string triple,
          EmitOptions options);
  /// Throws std::invalid_argument for programs that supports() refuses.
  std::unique_ptr<llvm::Module> run();
  /// Scratch bytes of each thread, passed to the entry, aligned to 64.
  uint64_t scratch_bytes() const { return scratch_bytes_; }
  bool wants_unroll() const { return wants_unroll_; }

 private:
  static constexpr uint32_t kNone = ~0u;
  struct Carry {
    llvm::PHINode* value = nullptr;
    // For a carried MAX or MIN: lanes where a NaN occurred, and those after this iteration.
    llvm::PHINode* nan = nullptr;
    llvm::Value* next_nan = nullptr;
  };
  struct Region {
    bool is_loop = false, in_else = false;
    // loop
    const tn_op* op = nullptr;
    uint32_t value = 0;
    llvm::PHINode* induction = nullptr;
    llvm::Value *end = nullptr, *step = nullptr;
    llvm::Value* value_at_end =
        nullptr;  ///< of the induction variable; set: the loop is tested in the latch
    std::vector<Carry> carries;
    llvm::BasicBlock* header = nullptr;
    // both
    llvm::BasicBlock *otherwise = nullptr, *after = nullptr;
  };
  struct Pointer {
    llvm::Value* base = nullptr;
    llvm::Align alignment;
  };

  // emitter.cpp: functions, arguments, the loop over workgroups
  void place_allocations();
  llvm::Function* make_kernel();
  void make_entry(llvm::Function* kernel);
  void emit_grid();
  void emit_body();
  void emit_op(uint32_t i);
  llvm::Value* emit_index(const tn_op& op);
  llvm::Value* emit_value(uint32_t i, const tn_op& op);
  llvm::Value* contracted(const tn_op& op);
  llvm::Value* operand(const tn_op& op, uint32_t i) { return values_[program_.operands(op)[i]]; }
  tn_dtype operand_dtype(const tn_op& op, uint32_t i) const {
    return static_cast<tn_dtype>(program_.op(program_.operands(op)[i]).dtype);
  }
  llvm::BasicBlock* block(const char* name);

  // emit_memory.cpp
  llvm::Value* emit_load(uint32_t i, const tn_op& op);
  void emit_store(uint32_t i, const tn_op& op);
  void fetch(llvm::Value* at, uint64_t bytes);
  Pointer element(const tn_op& op, tn_dtype dtype, unsigned lanes);
  llvm::Value* wide_index(const tn_op& op);
  llvm::Value* widened(uint32_t value);
  bool emit_wide(uint32_t i, const tn_op& op);

  // emit_strided.cpp
  void find_strides();
  llvm::Value* address_at_offset(const tn_op& op, tn_dtype dtype, uint32_t base, int64_t offset);
  llvm::Value* load_at_offset(const tn_op& op, uint32_t base, int64_t offset,
                              llvm::ArrayRef<llvm::Constant*> mask = {});
  llvm::Value* moved_lanes(const tn_op& op);
  void load_transposed(uint32_t i);
  llvm::Value* load_spread(const tn_op& op, const LaneIndex& at, llvm::Value* mask,
                           llvm::Value* fill);
  /// The value of gather i by contiguous loads; null: it must be a gather.
  llvm::Value* load_strided(uint32_t i, llvm::Value* mask, llvm::Value* fill);
  void find_interleaved();
  void store_interleaved(const std::vector<uint32_t>& stores);

  // emit_extremes.cpp
  void find_extremes();
  llvm::Value* emit_running_extreme(uint32_t i);

  // emit_control.cpp
  void begin_loop(uint32_t i, const tn_op& op);
  void end_loop(const tn_op& end, Region& region);
  void begin_if(const tn_op& op);
  void begin_else();
  void end_region(const tn_op& op);

  llvm::LLVMContext& context_;
  sdk::ProgramView program_;
  std::string triple_;
  EmitOptions options_;
  Builder builder_;
  std::unique_ptr<llvm::Module> module_;
  llvm::Function* kernel_ = nullptr;
  std::vector<llvm::Value*> values_;
  std::vector<llvm::Value*> wide_;  ///< of positions below 64 bits: the same as i64; null: none
  std::vector<std::optional<LaneIndex>> strides_;  ///< of gathers, by op
  std::unordered_map<uint32_t, llvm::Value*>
      loaded_;  ///< gathers loaded together with an earlier one
  std::unordered_map<uint32_t, uint64_t> prefetch_;  ///< as prefetch_rows()
  std::vector<uint32_t> extremes_;  ///< of a carry its MAX or MIN and the reverse; or kNone
  /// Interleaved stores, by the last of them; entries of the others are empty.
  std::unordered_map<uint32_t, std::vector<uint32_t>> interleaved_;
  std::vector<llvm::Value*> params_;       ///< by tn_param: pointer or scalar
  std::vector<uint64_t> scratch_offsets_;  ///< by tn_param; kOnStack where it is an alloca
  std::vector<Region> regions_;
  llvm::Value *grid_[3] = {}, *begin_ = nullptr, *end_ = nullptr, *thread_ = nullptr;
  llvm::Value* position_[3] = {};
  uint64_t scratch_bytes_ = 0;
  bool wants_unroll_ = false, streams_ = false;
};

}  // namespace tenon::cpu
