// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How a Context is made, what a run of it took, and what it made.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tenon/precision.hpp"

namespace tenon {

/// What is set here comes before the environment variables (docs/environment.md).
struct ContextOptions {
  std::optional<std::string> devices;    ///< as TENON_DEVICES
  std::vector<std::string> plugins;      ///< files that come before all others
  std::optional<std::string> cache_dir;  ///< as TENON_CACHE_DIR
  std::optional<bool> validate;          ///< as TENON_VALIDATE
  std::optional<bool> profile;           ///< as TENON_PROFILE, and nothing is printed
  /// As TENON_MATMUL: of every contraction that says nothing of its own (tenon/precision.hpp).
  std::optional<Precision> matmul;
  bool disk_cache = true;       ///< false: executables are not kept on disk
  bool use_environment = true;  ///< false: the variables are not read
};

/// What one run took.
struct RunStats {
  int kernels = 0;        ///< launches
  int programs = 0;       ///< that the plan's kernels were compiled from; 0 when it was cached
  double compile_ms = 0;  ///< 0 when plan and kernels were there
  double run_ms = 0;
  int64_t arena_bytes = 0;  ///< planned for temporaries
  int64_t sum_bytes = 0;    ///< of temporaries without reuse
  bool plan_cached = false;
};

/// A kernel of a plan that a context keeps.
struct KernelInfo {
  /// "reduce_0123456789abcdef": what it does and the hash of what it computes on its device. Equal
  /// in every process; another version of Tenon may name it otherwise.
  std::string name;
  std::string device;      ///< "cpu:0"
  std::string graph;       ///< what it computes, in the text form of graphs
  std::string loops;       ///< its loops before the transforms, with the names of axes and buffers
  std::string transforms;  ///< "split a0 12; bind a0.o grid.x", as chosen; "" for none
  std::string program;     ///< what the device compiles, in the text form of programs
  /// That it is launched in; 0 along an axis where symbols decide.
  std::array<int64_t, 3> workgroups{};
};

}  // namespace tenon
