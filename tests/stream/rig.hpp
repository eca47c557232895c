// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Devices on the double, and short words for what tests do with them.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "sdk/stream/device.hpp"
#include "sdk/stream/graph.hpp"
#include "tests/stream/double.hpp"

namespace tenon::sdk {

/// A backend on the double. At the end of its scope nothing may be left and nothing have gone
/// wrong: call check() when all that was made is gone.
class Rig {
 public:
  Rig();
  ~Rig();
  Rig(const Rig&) = delete;
  Rig& operator=(const Rig&) = delete;

  StreamBackend& backend() { return *backend_; }
  /// By the driver's number. The devices are closed by check().
  StreamDevice& device(uint32_t ordinal = 0);
  /// Closes the devices; Catch2 assertions that no object is left and no rule was broken.
  void check();
  void close() { devices_.clear(); }

 private:
  std::unique_ptr<StreamBackend> backend_;
  std::vector<std::unique_ptr<Device>> devices_;
  const std::string contexts_ = Double::contexts();
};

/// out[i] = in[i] + add, of i32.
Program add_program(uint64_t count, int32_t add, const std::string& name = "add");
std::unique_ptr<Executable> compiled(Rig& rig, StreamDevice& device, const Program& program);

/// Commands and points of one submission.
class Work {
 public:
  Work& copy(Memory& to, uint64_t to_offset, Memory& from, uint64_t from_offset, uint64_t size);
  Work& fill(Memory& to, uint64_t offset, uint64_t size, uint64_t pattern, uint32_t pattern_size);
  Work& launch(Executable& executable, Memory& in, Memory& out);
  Work& wait(Timeline& timeline, uint64_t value);
  Work& signal(Timeline& timeline, uint64_t value);

  /// Throws Failure.
  void submit(StreamDevice& device) const;
  std::unique_ptr<StreamGraph> record(StreamDevice& device) const;
  uint64_t run_timed(StreamDevice& device) const;  ///< nanoseconds
  void launch_graph(const StreamGraph& graph) const;

 private:
  tn_submission header() const;
  std::vector<tn_command> commands_;
  std::vector<std::unique_ptr<tn_argument[]>> arguments_;
  std::vector<tn_point> waits_, signals_;
};

/// A fixture: the double is as new.
struct Fresh {
  Fresh() { Double::reset(); }
};

/// TN_OK, or what the action's failure says.
inline tn_status status_of(const std::function<void()>& action) {
  try {
    action();
    return TN_OK;
  } catch (const Failure& failure) {
    return failure.code();
  }
}

inline constexpr uint64_t kForEver = UINT64_MAX;

}  // namespace tenon::sdk
