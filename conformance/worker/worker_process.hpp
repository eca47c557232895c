// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A child process with two pipes: spawned and executed, never forked after a driver has started. It
// leads a group of its own, which is killed as a whole.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

namespace tenon::conformance::worker {

class WorkerProcess {
 public:
  /// Starts `program` with the arguments; its standard output and error go to `log`, or, where that
  /// is "", into memory as far as they are needed here. Throws kEnvironment.
  WorkerProcess(const std::string& program, const std::vector<std::string>& arguments,
                const std::string& log);
  ~WorkerProcess();  ///< kills it
  WorkerProcess(const WorkerProcess&) = delete;
  WorkerProcess& operator=(const WorkerProcess&) = delete;

  int pid() const { return pid_; }
  int result_fd() const { return result_; }
  /// False if the process does not read any more, or not in time.
  bool send(const std::string& bytes);
  /// Reads what is there, waiting at most so long; false at the end of the pipe or process. What
  /// goes on for too long without the end of a line comes as one.
  bool read(double timeout_seconds, std::vector<std::string>& lines);
  bool ended() const;
  uint64_t memory_mib() const;  ///< resident; 0 if it has ended
  void kill();

  /// How it ended: kind "SIGSEGV", "exit", or "protocol" if it closed its pipes and lived on.
  struct End {
    std::string kind, text;
    std::string said = {};  ///< for the sentence: last_words
  };
  End wait();
  /// The last line that it wrote on standard output or error, cut short; "" if there is none.
  std::string last_words() const;

 private:
  bool ended_within(double seconds) const;

  int pid_ = -1, command_ = -1, result_ = -1, output_ = -1;
  off_t output_begin_ = 0;
  std::string partial_;
};

/// The path of the running program.
std::string own_program();

}  // namespace tenon::conformance::worker
