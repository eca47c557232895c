// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Executes a plan on buffers.
#pragma once

#include "core/runtime/run_state.hpp"
#include "core/runtime/plan.hpp"
#include "core/runtime/plan_use.hpp"
#include "core/runtime/runtime.hpp"

namespace tenon {

class KernelTimes;

struct RunOptions {
  bool validate = false;
  RunStats* stats = nullptr;     ///< kernels and memory are added to
  const Fills* fills = nullptr;  ///< before the first step of the whole run
  KernelTimes* times = nullptr;  ///< null: kernels need not run alone
};

/// Inputs are checked already. Returns after submission; IF and LOOP wait for what decides
/// them.
std::vector<BufferRef> run_plan(const SchedulePlan& plan, const std::vector<BufferRef>& inputs,
                                const SymbolValues& symbols, const RunOptions& options);

/// A region of an IF or LOOP: outputs go to given places. Its frame serves every iteration.
class RegionRun {
 public:
  RegionRun(const SchedulePlan& plan, const SymbolValues& symbols, const RunOptions& options);
  ~RegionRun();
  RegionRun(const RegionRun&) = delete;
  RegionRun& operator=(const RegionRun&) = delete;

  void run(const std::vector<Location>& inputs, const std::vector<Location>& outputs);
  uint64_t output_bytes(size_t i) const;

 private:
  const SchedulePlan& plan_;
  const SymbolValues& symbols_;
  const RunOptions& options_;
  std::shared_ptr<Layout> layout_;
  std::unique_ptr<Frame> frame_;
};

// Shared by the files of the executor.
/// Binds the frame and executes every step.
void execute(const SchedulePlan& plan, const Layout& layout, Frame& frame,
             const SymbolValues& symbols, const RunOptions& options, const Fills* fills = nullptr);
/// Gives the temporaries their arenas (with guards: each a buffer of its own).
void allocate_temporaries(const SchedulePlan& plan, const Layout& layout, Frame& frame);
void run_if(const SchedulePlan& plan, const Layout& layout, Frame& frame, size_t step,
            const SymbolValues& symbols, const RunOptions& options);
void run_loop(const SchedulePlan& plan, const Layout& layout, Frame& frame, size_t step,
              const SymbolValues& symbols, const RunOptions& options);
/// On one device as a command, between devices in the order of the destination's submissions; noted
/// in the frame. Ranges never overlap.
void copy_bytes(const Location& from, const Location& to, uint64_t size, Frame& frame);
/// Writes one value of 1, 2, 4 or 8 bytes.
tn_command fill_command(const Location& at, uint64_t value, uint32_t bytes);
/// Until the frame's copies between devices have ended; throws the failure of one.
void wait_for_crossings(Frame& frame);
/// Runs one kernel and compares what it wrote with the reference. Throws kInternal.
void run_validated(const SchedulePlan& plan, const Layout& layout, Frame& frame, size_t segment,
                   const SymbolValues& symbols);
/// Runs the commands of a segment one by one and writes down what each kernel takes.
void run_timed(const SchedulePlan& plan, const Layout& layout, const Frame& frame, size_t segment,
               const SymbolValues& symbols, KernelTimes& times);

}  // namespace tenon
