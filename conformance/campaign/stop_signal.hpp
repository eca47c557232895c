// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SIGINT and SIGTERM ask a run to stop; the second one ends the program.
#pragma once

#include <signal.h>

#include <string>

namespace tenon::conformance::campaign {

class StopSignal {
 public:
  explicit StopSignal(bool watch);  ///< false: signals do what they did before
  ~StopSignal();
  StopSignal(const StopSignal&) = delete;
  StopSignal& operator=(const StopSignal&) = delete;

  int number() const;        ///< 0 if none has come
  std::string name() const;  ///< "SIGINT"; "" if none has come

 private:
  bool watch_;
  struct sigaction before_[2]{};
};

}  // namespace tenon::conformance::campaign
