// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A recording double of a GPU driver: the functions of StreamApi over host memory.
//
// Streams are queues that run only when somebody asks for their end, in an odd order across
// streams, so work that is not ordered by events goes wrong. Everything is counted and checked:
// memory that is freed while queued work uses it, work on memory that is gone, objects that are
// left over, calls without the right device. Any call can be made to fail, and a device to be lost.
//
// It refuses what drivers refuse: grids, blocks and shared memory beyond their limits, in HIP's
// manner 2^32 threads along an axis, machine code for another GPU or a newer driver, host memory
// that is registered already. Each thread has a stack of current contexts, which a call of a plugin
// must leave as it was. A code that ends a context does so. Sources: cuda.h of CUDA 13.0, CUDA
// Driver API (cuLaunchKernel, cuFuncSetAttribute, cuMemHostRegister, cuCtxPushCurrent), CUDA C++
// Programming Guide (Technical Specifications per Compute Capability), hip_runtime_api.h.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "sdk/stream/backend.hpp"

namespace tenon::sdk {

inline constexpr int kDoubleDevices = 3;
inline constexpr int kDoubleDriver = 12040, kDoubleArchitecture = 80;

/// The one simulated machine of the process; all functions may be called from any thread.
struct Double {
  /// As new: no objects, nothing recorded, no failure.
  static void reset();
  /// The n-th call from now on that may fail (n = 1 is the next) answers `code`.
  static void fail_call(uint64_t n, int code);
  /// Calls that may fail since the last reset().
  /// Pairs of devices of which one may reach the other's pool.
  static size_t pools_reached();
  static uint64_t calls();
  /// What the calling thread's own context is, below all that a plugin enters; -1 for none.
  static void set_current(int device);
  /// The stack of the calling thread's contexts, as "1 0": 0 is current; empty for none.
  static std::string contexts();
  /// In HIP's manner, which the environment variable TENON_DOUBLE=hip makes that of all tests.
  static bool is_hip();
  /// Versions of the driver and of the compiler's toolkit, as 12040, and the GPU that it compiles
  /// for; until the next reset().
  static void set_versions(int driver, int toolkit, int architecture);
  /// Whether the code ends a context: that is said for it in cuda.h.
  static bool is_deadly(int code);
  /// From now on everything on the device answers 719, and what is queued never runs.
  static void lose(uint32_t device);
  /// Whether drivers with memory pools, or with graphs, are simulated; takes effect in drivers that
  /// are opened later.
  static void set_abilities(bool pools, bool graphs);
  /// What was done wrong, a line each; empty if nothing was.
  static std::string violations();
  /// Objects that are there, as "2 events, 1 memory"; empty if there are none.
  static std::string leftovers();
  /// Calls by name in order, as "stream_create event_record", since the last call of this.
  static std::string recorded();
};

/// A driver of kDoubleDevices devices.
std::unique_ptr<StreamVendor> open_double_driver();
/// A compiler whose binary is the program itself. Targets: "double".
std::unique_ptr<StreamCompiler> open_double_compiler(int driver_version);
/// Programs whose name begins with "lose" make the device lost when they run.
const StreamPlatform& double_platform();

}  // namespace tenon::sdk
