// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// tenon-probe: loads one plugin and says what it found, so that a crash is not the caller's.
#include "core/runtime/probe.hpp"

int main(int argc, char** argv) { return tenon::probe_main(argc, argv); }
