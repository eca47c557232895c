// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A Python process that runs workloads in other libraries (peers/driver.py).
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "tests/bench/workloads.hpp"

namespace tenon::bench {

class PeerProcess {
 public:
  /// Starts the interpreter. Throws kEnvironment if it does not come up.
  explicit PeerProcess(const std::string& python);
  ~PeerProcess();
  PeerProcess(const PeerProcess&) = delete;
  PeerProcess& operator=(const PeerProcess&) = delete;

  /// "torch 2.4", "torch 2.4 compiled", "oneDNN 3.5 of torch", ..: what it has.
  const std::vector<std::string>& names() const { return names_; }
  /// "tinygrad: ..": what it has not, and why.
  const std::vector<std::string>& missing() const { return missing_; }
  /// Makes a workload ready in one of them, on inputs [i] in files, and writes its result to
  /// `result`, f32. Gives why it cannot, or "". Without files it draws its inputs, and without
  /// `result` writes none. `gpu`: its name, where that is to run it, not the processor.
  std::string prepare(const std::string& name, const Workload& workload, int threads,
                      const std::vector<std::string>& files, const std::string& result,
                      const std::string& gpu = "");
  /// The same for a model of peers/models.py, whose tensors are those of a safetensors file; the
  /// results are those of so many first calls, at most 3.
  std::string prepare_model(const std::string& name, const std::string& model, int threads,
                            int checked_calls, const std::string& tensors,
                            const std::string& result, const std::string& gpu = "");
  /// Seconds of so many calls of what was prepared.
  double time(const std::string& name, int calls);

 private:
  std::string ask(const std::string& line);
  pid_t process_ = 0;
  int to_ = -1, from_ = -1;
  std::string rest_;  ///< of what was read
  std::vector<std::string> names_, missing_;
};

}  // namespace tenon::bench
