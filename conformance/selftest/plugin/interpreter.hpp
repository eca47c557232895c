// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One launch, all threads of a workgroup in lockstep, op by op. A mask says which threads take
// part; ops without effect run in every thread, whatever the mask.
#pragma once

#include <map>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "conformance/selftest/plugin/code.hpp"

namespace tenon::planted {

/// Bytes on both sides of every slab: what a variant writes or reads too far ends in them.
inline constexpr uint64_t kSlack = 512;

class Interpreter {
 public:
  Interpreter(const Code& code, std::span<const sdk::HostArgument> arguments,
              const uint32_t (&grid)[3]);
  ~Interpreter();
  Interpreter(const Interpreter&) = delete;
  Interpreter& operator=(const Interpreter&) = delete;
  void run_group(const uint32_t (&group)[3]);

 private:
  using Mask = std::vector<uint8_t>;
  /// A write to shared memory that no barrier has made visible yet.
  struct Pending {
    const std::byte* at;
    uint64_t before;
    uint32_t wave;
  };

  uint64_t* words(uint32_t value) { return words_.get() + code_.steps[value].value; }
  uint64_t& word(uint32_t value, uint32_t thread, uint32_t lane) {
    const uint32_t lanes = code_.steps[value].lanes;
    return words(value)[thread * lanes + (lanes == 1 ? 0 : lane)];  // one lane serves all
  }
  int64_t integer(uint32_t value, uint32_t thread, uint32_t lane = 0);

  void prepare();  ///< values that no workgroup changes
  void run(uint32_t first, uint32_t last, const Mask& mask);
  void run_loop(uint32_t i, const Mask& outer);
  void next_iteration(uint32_t loop, const Mask& mask);
  void turn_in_place(uint32_t loop, std::vector<uint64_t>& fresh) const;
  void begin_carries(uint32_t loop, uint32_t carries);
  uint64_t iterations_of(const Step& loop, uint32_t thread);
  void compute(uint32_t i);
  void reduce_lanes(const Step& step);
  void exchange(uint32_t i);
  bool reverses(const Step& step) const;

  // cooperation.cpp
  /// What an ASYNC_COPY has read and not yet written.
  struct LateCopy {
    std::byte* to;
    std::vector<std::byte> data;
  };
  void copy_later(uint32_t i, const Mask& mask);
  void close_group();
  void arrive(uint64_t most);
  void matrix_access(uint32_t i, const Mask& mask);
  void matrix_multiply(uint32_t i, const Mask& mask);
  bool skips_subgroup(uint32_t first) const;
  /// An operand that stays in shared memory: where it is, and its elements, row by row.
  void name_tile(uint32_t i, const Mask& mask);
  std::vector<uint64_t> read_tile(uint32_t value, uint32_t first);
  void dot(uint32_t i);

  // access.cpp
  std::span<std::byte> memory(uint32_t param_value, uint32_t thread);
  void load(uint32_t i, const Mask& mask);
  void store(uint32_t i, const Mask& mask);
  void atomic(uint32_t i, const Mask& mask);
  uint64_t combine(uint32_t i, uint64_t old, uint64_t value, uint64_t wanted) const;
  uint64_t quirky_index(const Step& step, uint64_t index, uint32_t thread, uint64_t count,
                        uint64_t before);
  uint64_t masked_off(const Step& step, uint32_t thread, uint32_t lane);
  bool skips(const Step& step, const Mask& mask);
  void spill(const Step& step, std::span<std::byte> room, uint64_t index, uint64_t value);
  uint64_t visible(const std::byte* at, uint64_t now, uint32_t thread) const;
  /// Buffers that the program does not store to and that share bytes with others of another dtype
  /// stay as they are.
  void keep_unlike();
  bool sees_itself_alone() const;
  bool overlaps(std::span<const sdk::HostArgument> arguments) const;
  [[noreturn]] void outside(uint32_t i) const;

  const Code& code_;
  sdk::ProgramView view_;
  const uint32_t (&grid_)[3];
  uint32_t group_[3] = {};
  std::unique_ptr<uint64_t[]> words_;
  std::vector<sdk::HostArgument> bound_;     ///< by param: what the launch or `own_` gives it
  std::vector<std::vector<std::byte>> own_;  ///< by param: of allocations, for all threads
  std::map<uint64_t, std::vector<std::byte>> unlike_;  ///< by param: as they were
  std::vector<uint8_t> is_private_;                    ///< by param: each thread has its own
  Mask everybody_, first_half_, second_half_;
  uint32_t depth_ = 0;      ///< of regions
  bool in_halves_ = false;  ///< a kernel in place whose wide stores spill
  bool spills_wide_ = false;
  bool odd_launch_ = false;
  std::vector<Pending> pending_;
  std::map<std::pair<uint32_t, uint32_t>, std::vector<uint64_t>> taken_;  ///< tiles, when named
  std::vector<LateCopy> copies_;                                          ///< of no group yet
  std::vector<std::vector<LateCopy>> groups_;                             ///< the oldest first
  std::map<uint32_t, bool> ended_;  ///< loops by their condition
};

}  // namespace tenon::planted
