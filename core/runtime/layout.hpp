// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A schedule plan for given symbol values, and command lists that are patched for each run.
#pragma once

#include "core/runtime/plan.hpp"

namespace tenon {

/// Where a buffer of a schedule lies in one run.
struct Location {
  Buffer* buffer = nullptr;
  uint64_t offset = 0;  ///< bytes from the start of the buffer
};

/// Steps [first, first + count) are commands of one device, or (count 1) one step for the host.
struct Segment {
  int first = 0, count = 1;
  int device = 0;
  bool is_commands = false;
};

/// The commands of all segments with their arguments; one run uses it at a time.
struct Frame {
  struct Patch {
    size_t argument;  ///< index into arguments
    int buffer;
  };
  struct CopyPatch {
    size_t segment, command;
    int source, destination;
    uint64_t offset;  ///< bytes, in the source
  };
  std::vector<std::vector<tn_command>> commands;  ///< one list a segment
  std::vector<tn_argument> arguments;
  std::vector<Patch> patches;
  std::vector<CopyPatch> copies;
  std::vector<int> launches;    ///< of each segment
  std::vector<int> command_of;  ///< of each step, its place in its segment's list; -1: none
  // State of one run.
  std::vector<Location> where;                              ///< of each buffer
  std::vector<BufferRef> owned;                             ///< arenas
  std::vector<Buffer*> used;                                ///< of all devices, each once
  std::vector<std::pair<Device*, uint64_t>> device_copies;  ///< destination and submission number

  void bind();  ///< writes `where` into the commands
};

struct Layout {
  SymbolValues symbols;
  MemoryPlan memory;
  std::vector<Segment> segments;
  std::map<size_t, KernelPlan> sized;  ///< kernels of steps whose sizes are known at launch

  const KernelPlan& kernel(const SchedulePlan& plan, size_t step) const {
    const auto made = sized.find(step);
    return made == sized.end() ? plan.steps()[step].kernel : made->second;
  }
  /// A frame that no run uses. Return it with release().
  std::unique_ptr<Frame> acquire(const SchedulePlan& plan);
  void release(std::unique_ptr<Frame> frame);

 private:
  std::unique_ptr<Frame> make_frame(const SchedulePlan& plan) const;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Frame>> frames_;
};

/// Bytes to bind of a buffer, rounded up to words where the device packs narrow elements. Blocks of
/// the pool end on a word boundary, so the padding exists.
uint64_t whole_words(uint64_t bytes, const Capabilities& capabilities);
/// Byte offset of the copied range in the source.
uint64_t copy_offset(const Schedule& schedule, const CopyCall& copy, const SymbolValues& symbols);

std::shared_ptr<Layout> make_layout(const SchedulePlan& plan, const SymbolValues& symbols,
                                    int64_t alignment);

}  // namespace tenon
