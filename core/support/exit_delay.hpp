// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Holds exit() off while a driver or compiler constructs static objects.
//
// A library that is loaded, and a compiler that runs for the first time, register destructors as
// they go. exit() on another thread runs the newest first: it would destroy what is still being
// constructed. No handler can prevent that, as all were registered before. Destructors of
// thread_local objects of the thread that calls exit() run earlier: one of them waits.
#pragma once

namespace tenon {

/// While one lives, exit() on another thread waits at its start. Scopes may nest.
class ExitDelay {
 public:
  ExitDelay();
  ~ExitDelay();
  ExitDelay(const ExitDelay&) = delete;
  ExitDelay& operator=(const ExitDelay&) = delete;
};

/// Once another thread has called exit(), waits, usually until the process is gone. To be called
/// before something is loaded, by a thread that exit() does not wait for.
void wait_if_exiting();

/// Makes exit() on this thread wait. The thread that loads the library does so by itself.
void wait_in_exit_of_this_thread();

}  // namespace tenon
