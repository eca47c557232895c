// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An external compiler: a child process with a folder of its own and a time limit. For backends
// whose compiler is a program, or a library that changes the process it runs in (abi.md 64).
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace tenon::sdk {

/// Makes a folder below $TMPDIR (else /tmp). It is removed with the object; should this process be
/// killed, it and what still runs in it end too. Errors of the system are TN_ERROR_IO.
class CompilerProcess {
 public:
  /// `name` begins the folder's name and the messages, as in "gccjit".
  explicit CompilerProcess(std::string name);
  ~CompilerProcess();
  CompilerProcess(const CompilerProcess&) = delete;
  CompilerProcess& operator=(const CompilerProcess&) = delete;

  const std::string& folder() const { return folder_; }
  /// A file of the folder.
  void write(const std::string& file, std::span<const std::byte> bytes) const;
  std::vector<std::byte> read(const std::string& file) const;

  /// Runs a program, by its path or its name in PATH, and waits for it; children of it that still
  /// run are killed. It works in the folder, in the locale C, with no descriptor but the standard
  /// ones, and with signals as a new process has them. Returns what it wrote on its output and
  /// error streams, up to 16 KiB. Throws TN_ERROR_COMPILE_FAILED with that text if it does not exit
  /// with 0, TN_ERROR_TIMEOUT if it had to be killed after `limit`.
  std::string run(std::span<const std::string> command, std::chrono::milliseconds limit) const;

 private:
  std::string name_, folder_;
  int control_ = -1;  ///< to the janitor, which cleans up when it is closed
  pid_t janitor_ = -1;
};

}  // namespace tenon::sdk
