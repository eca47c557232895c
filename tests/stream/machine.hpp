// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the simulated machine is made of.
#pragma once

#include <array>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "tests/sdk/c_kernel.hpp"
#include "tests/stream/double.hpp"

namespace tenon::sdk {

/// Bytes that queued work will touch.
struct Touched {
  uint64_t address = 0, size = 0;
};

struct QueuedOp {
  std::function<void()> run;
  std::vector<Touched> touched;
  ApiEvent* wait = nullptr;  ///< runs when the event has got to `generation`
  uint64_t generation = 0;
};

struct Machine {
  struct Block {
    uint64_t size;
    int device;  ///< -1 for pinned host memory
    bool is_import;
    bool is_pooled;
  };
  std::recursive_mutex mutex;
  std::mt19937 random{7};
  std::set<ApiStream*> streams;
  std::set<ApiEvent*> events;
  std::set<ApiModule*> modules;
  std::set<ApiGraph*> graphs;
  std::set<ApiGraphExec*> execs;
  std::map<uint64_t, Block> memory;
  std::array<int, kDoubleDevices> retained = {};
  std::array<int, kDoubleDevices> lost = {};  ///< the code that ended the context; 0: it lives
  std::vector<std::string> violations, recorded;
  uint64_t calls = 0, fail_at = 0;
  int fail_code = 0;
  bool has_pools = true, has_graphs = true;
  std::set<std::pair<int, int>> reached;  ///< a device, and the one whose pool it may reach
  int driver = kDoubleDriver, toolkit = kDoubleDriver, architecture = kDoubleArchitecture;

  /// Counts a call that may fail; its status.
  int begin(const char* name, bool needs_device = true);
  void violation(const std::string& text) { violations.push_back(text); }
  /// Runs one op of the stream if it can.
  bool step(ApiStream* stream);
  /// One step of some stream; false if none can.
  bool step_any();
  void run_until(const std::function<bool()>& is_over, const char* what);
  void check_touched(const std::vector<Touched>& touched, int device);
  /// Whether queued work touches the block; `but` is left out.
  bool is_in_flight(uint64_t address, uint64_t size, const ApiStream* but) const;
};

Machine& machine();
std::vector<int>& context_stack();  ///< of the thread
int current_device();               ///< of the thread; -1 for none

/// What stands before the program in a binary of the double's.
struct ImageHeader {
  char magic[4] = {'D', 'B', 'L', 'E'};
  int toolkit = 0, architecture = 0;
};

/// Fills the table with functions on machine().
void fill_double(StreamApi& api);

}  // namespace tenon::sdk

/// Opaque to the host logic.
struct tenon::sdk::ApiStream {
  int device;
  std::deque<QueuedOp> queue;
  bool is_capturing = false;
  std::vector<QueuedOp> captured;
};
struct tenon::sdk::ApiEvent {
  int device;
  bool is_timed;
  uint64_t recorded = 0, done = 0;
  double milliseconds = 0;  ///< when it was reached last
};
struct tenon::sdk::ApiFunction {
  const CKernel* kernel;
  LaunchSignature signature;
  int device;
  bool loses;
  unsigned most_dynamic;  ///< bytes of shared memory that a launch may bring
};
struct tenon::sdk::ApiModule {
  int device;
  std::string entry;
  ApiFunction function;
};
struct tenon::sdk::ApiGraph {
  std::vector<QueuedOp> ops;
};
struct tenon::sdk::ApiGraphExec {
  int device;
  std::vector<QueuedOp> ops;
};
