// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// tenon-probe: loads one plugin and says what it found, so that a crash is not the caller's.
#include "frontend/probe/probe_process.hpp"

#if defined(__SANITIZE_ADDRESS__)
/// Leaks are a matter for tests; drivers leave some, and a probe asks how the process ends.
extern "C" const char* __asan_default_options() { return "detect_leaks=0"; }
#endif

int main(int argc, char** argv) { return tenon::probe_main(argc, argv); }
