// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The child's ends of the pipes to its parent. A plugin shares the process: it may close or write
// to descriptors that are not its own, and must not get away with it.
#pragma once

#include <sys/stat.h>

#include <string>

#include "conformance/worker/wire.hpp"

namespace tenon::conformance::worker {

/// Descriptors that the parent opens for the child: commands come in, lines of wire.hpp go out.
/// Standard output stays the plugin's.
inline constexpr int kCommandFd = 3, kResultFd = 4;
/// Exit code of a worker that has lost its pipes though the parent is there.
inline constexpr int kExitNoPipe = 97;

class Channel {
 public:
  /// Moves to descriptors that nobody guesses, and reads the session's token.
  Channel();

  /// Writes one line, or ends the process if there is nobody to read it.
  void send(const Message& message);
  bool line(std::string& out);  ///< false when the parent has closed the pipe
  bool bytes(size_t count, std::string& out);
  /// What became of the two descriptors of above, as a sentence; "" if they are as they were.
  std::string damage() const;

 private:
  struct End {
    int moved = -1;
    struct stat identity {};
  };
  static End move(int fd);
  bool more();

  End commands_, results_;
  std::string buffer_, token_;
};

}  // namespace tenon::conformance::worker
