// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Executes a plan on buffers.
#pragma once

#include "core/runtime/plan.hpp"
#include "core/runtime/plan_use.hpp"
#include "core/runtime/run_state.hpp"
#include "core/runtime/runtime.hpp"

namespace tenon {

class KernelTimes;

struct RunOptions {
  bool validate = false;
  RunStats* stats = nullptr;     ///< adds kernels and memory of the run
  const Fills* fills = nullptr;  ///< before the first step of the whole run
  KernelTimes* times = nullptr;  ///< null: kernels are not timed
};

/// Runs a plan on checked inputs. Returns after submission; IF and LOOP wait for their conditions.
std::vector<BufferRef> run_plan(const SchedulePlan& plan, const std::vector<BufferRef>& inputs,
                                const SymbolValues& symbols, const RunOptions& options);

/// Runs a region of an IF or LOOP into given buffers. All iterations share its frame.
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
/// Allocates the arenas of temporaries. With guard zones, each temporary gets its own buffer.
void allocate_temporaries(const SchedulePlan& plan, const Layout& layout, Frame& frame);
void run_if(const SchedulePlan& plan, const Layout& layout, Frame& frame, size_t step,
            const SymbolValues& symbols, const RunOptions& options);
void run_loop(const SchedulePlan& plan, const Layout& layout, Frame& frame, size_t step,
              const SymbolValues& symbols, const RunOptions& options);
/// Copies `size` bytes; ranges must not overlap. On one device this is a command. Between devices
/// it is queued on the destination and recorded in the frame.
void copy_bytes(const Location& from, const Location& to, uint64_t size, Frame& frame);
/// A command that writes one value of 1, 2, 4 or 8 bytes.
tn_command fill_command(const Location& at, uint64_t value, uint32_t bytes);
/// Waits for the frame's copies between devices. Throws the failure of one.
void wait_for_device_copies(Frame& frame);
/// Runs one kernel and compares what it wrote with the reference. Throws kInternal.
void run_validated(const SchedulePlan& plan, const Layout& layout, Frame& frame, size_t segment,
                   const SymbolValues& symbols);
/// Runs the commands of a segment one by one and records the time of each kernel.
void run_timed(const SchedulePlan& plan, const Layout& layout, const Frame& frame, size_t segment,
               const SymbolValues& symbols, KernelTimes& times);

}  // namespace tenon
