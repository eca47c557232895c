// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sees two threads that touch a byte, one of them writing, with no barrier between them. The
// kernels are compiled with the calls of a thread sanitizer, and races.cpp has the functions
// called.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>

namespace emulator {

struct Touch {
  uint32_t block = 0;
  uint32_t round = 0, fence = 0;  ///< barriers of the workgroup, of the subgroup, before it
  uint16_t thread = 0;
  bool is_there = false, is_atomic = false;
};
/// Of a byte: the last write, and the last reads since then by two threads.
struct Byte {
  Touch write, reads[2];
};
struct Line {
  Byte bytes[16];
};

/// What threads of one launch did to memory; shared memory is new in each workgroup.
struct Memory {
  std::unordered_map<uintptr_t, Line> global, shared;
  uintptr_t shared_begin = 0, shared_end = 0;
  uintptr_t own_begin = 0, own_end = 0;  ///< of the emulator: what is compiled with the kernels
};
extern Memory memory;

/// Nothing is in it but numbers that are none.
void new_shared_memory();

// Of machine.cpp.
Touch this_touch();          // of the thread that runs
bool is_own(const void* p);  // on its stack
void note_depth();           // of its stack
unsigned subgroup_threads();
[[noreturn]] void fail(const char* error);

}  // namespace emulator
