// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runs kernels that were compiled for the host: the threads of a workgroup are fibres that meet at
// barriers and subgroup operations. Threads that do not all meet, or not at the same kind of
// operation, addresses that are not aligned, and threads that touch a byte with no barrier between
// them end the launch with an error. In every other workgroup threads run in the opposite order,
// and asynchronous copies arrive at once.
#pragma once

#include <ucontext.h>

#include <cstdint>
#include <cstring>
#include <deque>
#include <vector>

#include "tests/emulator/calls.hpp"
#include "tests/emulator/races.hpp"
#include "tests/emulator/stacks.hpp"

namespace emulator {

/// Threads that meet: a subgroup, or a workgroup. Two rounds of slots, so that a fast thread does
/// not overwrite what a slow one still reads.
struct Meeting {
  unsigned size = 0, arrived = 0;
  uint64_t round = 0, fences = 0;
  bool is_barrier = false;  ///< what they meet at, not a subgroup op
  struct Slot {
    alignas(16) unsigned char bytes[256];
  };
  std::vector<Slot> slots[2];
};

struct Copy {
  void* to;
  const void* from;
  unsigned size;
};

struct Thread {
  ucontext_t context;
  char* stack;
  const char* deepest;  ///< place on the stack that was seen
  Place at;
  unsigned number;
  bool is_done = false;
  std::vector<Copy> open;                ///< copies of the group that is not committed
  std::deque<std::vector<Copy>> groups;  ///< in flight
  bool multiplies = false;               ///< products of tiles are in flight
  bool fenced = false, shown = false;    ///< what it wrote, for matrix units: by a fence, a barrier
};

struct Machine {
  std::vector<Thread> threads;
  Stacks* stacks = nullptr;
  std::vector<Meeting> subgroups;
  Meeting block;
  Thread* current = nullptr;
  ucontext_t scheduler;
  unsigned subgroup_size = 32;
  Place grid;
  bool is_odd = false;  ///< of the workgroup: the other order
  uint64_t progress = 0;
  const char* error = nullptr;
  void (*body)(void* const*) = nullptr;
  void* const* arguments = nullptr;
};
extern Machine machine;

void meet(Meeting& meeting, bool is_barrier);

inline Meeting& subgroup() {
  return machine.subgroups[machine.current->number / machine.subgroup_size];
}

/// Everybody's values, by lane.
template <class T>
std::vector<T> gather(const T& mine) {
  static_assert(sizeof(T) <= sizeof(Meeting::Slot));
  Meeting& meeting = subgroup();
  auto& slots = meeting.slots[meeting.round & 1];
  memcpy(slots[lane()].bytes, &mine, sizeof(T));
  meet(meeting, false);
  std::vector<T> all(meeting.size);
  for (unsigned l = 0; l < meeting.size; ++l) memcpy(&all[l], slots[l].bytes, sizeof(T));
  return all;
}

}  // namespace emulator
