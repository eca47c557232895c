// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The work of one open device: what was submitted and may not have ended, what waits for what, and
// how far each timeline may be.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <set>
#include <vector>

#include "conformance/abi/open_device.hpp"
#include "conformance/abi/slab.hpp"

namespace tenon::conformance::abi::sequences {

/// Commands to submit at once, with all that they touch.
struct Batch {
  std::vector<tn_command> commands;
  std::deque<LaunchArguments> arguments;  ///< of launches; their places stay
  std::vector<Access> accesses;
  std::set<size_t> executables;  ///< slots
};

struct SubmitRequest {
  uint32_t queue = 0;
  size_t timeline = 0;
  bool gated = false;
  uint32_t style = 0;  ///< 1: signals two timelines; 2: waits for what is reached, in wide arrays
};

/// How many timelines a device has at a time.
inline constexpr size_t kTimelines = 4;

class Lane {
 public:
  explicit Lane(const OpenDevice& device);

  const OpenDevice& device() const { return device_; }

  /// Runs the batch after all that it must not overtake. On a synchronous device it has ended
  /// when this returns. Nothing is submitted from memory that lives on.
  void submit(const Batch& batch, const SubmitRequest& request);
  /// Waits until no work in flight conflicts, or uses the executable.
  void settle(const Access& access);
  void settle_executable(size_t slot);
  void settle_all();
  /// The host raises what gated submissions wait for.
  void raise();
  /// Throws a Finding "order" if a timeline is ahead of its work, or went back.
  void peek();
  /// A fresh timeline in place of number `at`, whose work is waited for.
  void renew(size_t at, uint64_t value);
  /// After a finding: whether all work ended in a second, so that its objects may be destroyed.
  bool give_up() noexcept;
  bool has_gates() const { return gate_raised_ < gate_next_; }

 private:
  struct Work {
    uint64_t id = 0;
    std::vector<Access> accesses;
    std::set<size_t> executables;
    std::set<uint64_t> before;  ///< work that has ended when this starts
    size_t timeline = 0;
    uint64_t value = 0;  ///< reached on `timeline` when it has ended
    uint64_t gate = 0;   ///< value of the gate that holds it back; 0: none
  };
  struct Line {
    TimelineHandle handle;
    uint64_t value = 0;                                    ///< the last that any submission raises
    uint64_t seen = 0;                                     ///< by the host
    std::set<uint64_t> values;                             ///< that it can have
    std::vector<std::pair<uint64_t, uint64_t>> raised_by;  ///< value, work
  };
  Work* find_work(uint64_t id);
  bool is_held(const Work& work) const;
  void wait_for(const Work& work);
  void forget_ended(uint64_t id);
  void follow(Work& work, uint64_t id, std::vector<tn_point>& waits);
  void add_signal(Work& work, size_t timeline, std::vector<tn_point>& waits,
                  std::vector<tn_point>& signals);
  bool has_queue(uint32_t queue);
  void hand_over(const Batch& batch, const SubmitRequest& request, std::vector<tn_point> waits,
                 std::vector<tn_point> signals);

  const OpenDevice& device_;
  std::vector<Line> lines_;
  TimelineHandle gate_;
  uint64_t gate_next_ = 0, gate_raised_ = 0;
  std::deque<Work> works_;  ///< that the host has not seen end
  uint64_t next_id_ = 1;
  std::vector<std::optional<bool>> queues_;
};

}  // namespace tenon::conformance::abi::sequences
