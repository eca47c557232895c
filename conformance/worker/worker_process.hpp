// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A child process with two pipes: spawned and executed, never forked after a driver has started.
#pragma once

#include <string>
#include <vector>

namespace tenon::conformance {

class WorkerProcess {
 public:
  /// Starts `program` with the arguments; its standard output and error go to `log` ("" for none).
  /// Throws kEnvironment.
  WorkerProcess(const std::string& program, const std::vector<std::string>& arguments,
                const std::string& log);
  ~WorkerProcess();  ///< kills it
  WorkerProcess(const WorkerProcess&) = delete;
  WorkerProcess& operator=(const WorkerProcess&) = delete;

  int result_fd() const { return result_; }
  /// False if the process does not read any more.
  bool send(const std::string& bytes);
  /// Reads what is there, waiting at most so long; false at the end of the pipe.
  bool read(double timeout_seconds, std::vector<std::string>& lines);
  void kill();
  /// After the end of the pipe: "SIGSEGV", "exit code 3", or "" for a clean end.
  std::string wait();

 private:
  int pid_ = -1, command_ = -1, result_ = -1;
  std::string partial_;
};

/// The path of the running program.
std::string own_program();

}  // namespace tenon::conformance
