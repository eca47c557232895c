// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What kernels take, each run alone (docs/profiling.md).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tenon/export.hpp"

namespace tenon {

/// What a device reached in this process, to hold its kernels against. 0: it could not be measured.
struct DeviceRates {
  std::string device;           ///< "cpu:0"
  bool by_device = false;       ///< times are by the device's clock; else by the host's
  double launch_seconds = 0;    ///< of a kernel of one element; the host waits in it
  double bytes_per_second = 0;  ///< read and written by a copy that is beyond its caches
  double flops_per_second = 0;  ///< of Tenon's own product of large f32 matrices
};

/// Launches of one kernel by one function. The first is told apart, as drivers compile then: the
/// numbers below it are of the others, together, or of the first where it is the only one.
struct KernelTime {
  std::string graph;   ///< the function or graph that asked for it
  std::string kernel;  ///< as KernelInfo::name
  std::string device;
  std::string work;        ///< "mul reduce.add -> f32[64, 10]"
  int64_t launches = 0;    ///< all
  bool by_device = false;  ///< by the device's clock; else by the host's, until the wait ended
  double first_seconds = 0;
  double seconds = 0;
  double least_seconds = 0;   ///< of a launch
  double flops = 0;           ///< of floats: one for each element and op, two for an fma
  double bytes = 0;           ///< of what is read and written, each once a launch
  double share_of_limit = 0;  ///< of the nearer of the device's two rates
};

struct KernelProfile {
  std::vector<DeviceRates> devices;
  std::vector<KernelTime> kernels;  ///< those that took most first
};

/// A table for people, a line for each kernel.
TENON_API std::string to_string(const KernelProfile& profile);

}  // namespace tenon
