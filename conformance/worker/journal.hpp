// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which case a worker is at, on disk before the device sees it. The newest lines stay: what is
// older than some MB is given up.
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>

namespace tenon::conformance::worker {

class Journal {
 public:
  /// Goes on with the file that is there. "" for none. Throws kEnvironment.
  explicit Journal(std::string path);
  ~Journal();
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;

  void line(const std::string& text);

 private:
  void open();

  std::string path_;
  FILE* file_ = nullptr;
  uint64_t bytes_ = 0;
};

/// Keeps the end of a log that a plugin has made too long, beside it as "<path>.old".
void bound_log(const std::string& path);

}  // namespace tenon::conformance::worker
