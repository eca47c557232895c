// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Lets the C++ compiler of the host compile printed CUDA and HIP sources, and runs them: the
// threads of a workgroup are fibres that meet at barriers and subgroup operations. Threads that do
// not all meet, or not at the same kind of operation, addresses that are not aligned, and threads
// that touch a byte with no barrier between them end the launch with an error. In every other
// workgroup threads run in the opposite order, and asynchronous copies arrive at once.
// Included by the sources that gpu_kernels.cpp writes, and by nothing else.
#pragma once

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <ucontext.h>

#include <deque>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "gpu_emulator_races.hpp"

namespace emulator {

struct Place {
  unsigned x, y, z;
};

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
  std::unique_ptr<char[]> stack;
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
inline Machine machine;

}  // namespace emulator

inline emulator::Place blockIdx, threadIdx;
inline int warpSize;

namespace emulator {

constexpr size_t kStack = 128 << 10;

inline void yield() { swapcontext(&machine.current->context, &machine.scheduler); }

[[noreturn]] inline void fail(const char* error) {
  const Unseen unseen;
  machine.error = error;
  for (;;) yield();
}

inline Meeting& subgroup() {
  return machine.subgroups[machine.current->number / machine.subgroup_size];
}
inline unsigned lane() { return machine.current->number % machine.subgroup_size; }

inline unsigned subgroup_threads() { return machine.subgroup_size; }
inline bool is_own(const void* p) {
  const char* stack = machine.current->stack.get();
  return p >= stack && p < stack + kStack;
}
inline Touch this_touch() {
  Touch now;
  now.block = (blockIdx.z * machine.grid.y + blockIdx.y) * machine.grid.x + blockIdx.x;
  now.round = static_cast<uint32_t>(machine.block.round);
  now.fence = static_cast<uint32_t>(subgroup().fences);
  now.thread = static_cast<uint16_t>(machine.current->number);
  now.is_there = true;
  return now;
}

inline void meet(Meeting& meeting, bool is_barrier) {
  const Unseen unseen;
  const uint64_t round = meeting.round;
  if (meeting.arrived && meeting.is_barrier != is_barrier)
    fail("some threads meet at a barrier, some at another operation");
  meeting.is_barrier = is_barrier;
  if (++meeting.arrived == meeting.size) {
    meeting.arrived = 0;
    ++meeting.round;
    meeting.fences += is_barrier;
    ++machine.progress;
  }
  while (meeting.round == round) yield();
}

/// Everybody's values, by lane.
template <class T>
inline std::vector<T> gather(const T& mine) {
  const Unseen unseen;
  static_assert(sizeof(T) <= sizeof(Meeting::Slot));
  Meeting& meeting = subgroup();
  auto& slots = meeting.slots[meeting.round & 1];
  memcpy(slots[lane()].bytes, &mine, sizeof(T));
  meet(meeting, false);
  std::vector<T> all(meeting.size);
  for (unsigned l = 0; l < meeting.size; ++l) memcpy(&all[l], slots[l].bytes, sizeof(T));
  return all;
}

EMULATOR_UNSEEN inline void enter() {
  is_unseen = false;
  machine.body(machine.arguments);
  is_unseen = true;
  machine.current->is_done = true;
  ++machine.progress;
  yield();
}

inline void run_block(Place workgroup) {
  const unsigned count = workgroup.x * workgroup.y * workgroup.z;
  machine.is_odd = (blockIdx.x + blockIdx.y + blockIdx.z) % 2 != 0;
  new_shared_memory();
  machine.threads = std::vector<Thread>(count);
  machine.subgroups.assign((count + machine.subgroup_size - 1) / machine.subgroup_size, {});
  machine.block = {};
  machine.block.size = count;
  for (unsigned i = 0; i < count; ++i) {
    Thread& thread = machine.threads[i];
    thread.number = i;
    thread.at = {i % workgroup.x, i / workgroup.x % workgroup.y, i / workgroup.x / workgroup.y};
    thread.stack = std::unique_ptr<char[]>(new char[kStack]);
    memset(thread.stack.get(), 0xff, kStack);  // registers are not zero
    getcontext(&thread.context);
    thread.context.uc_stack.ss_sp = thread.stack.get();
    thread.context.uc_stack.ss_size = kStack;
    makecontext(&thread.context, enter, 0);
    ++machine.subgroups[i / machine.subgroup_size].size;
  }
  for (Meeting& meeting : machine.subgroups) {
    for (auto& slots : meeting.slots) slots.resize(meeting.size);
  }
  for (bool is_running = true; is_running && !machine.error;) {
    is_running = false;
    const uint64_t before = machine.progress;
    for (unsigned i = 0; i < count; ++i) {
      Thread& thread = machine.threads[machine.is_odd ? count - 1 - i : i];
      if (thread.is_done || machine.error) continue;
      is_running = true;
      machine.current = &thread;
      threadIdx = thread.at;
      swapcontext(&machine.scheduler, &thread.context);
    }
    if (is_running && machine.progress == before && !machine.error) {
      machine.error = "threads wait for some that never come";
    }
  }
}

/// Calls a kernel with what the launch binds: a pointer for each buffer, one to each scalar.
template <class T>
T argument(void* bound) {
  if constexpr (std::is_pointer_v<T>) {
    return static_cast<T>(bound);
  } else {
    return *static_cast<T*>(bound);
  }
}
template <class... T, size_t... I>
void call(void (*kernel)(T...), void* const* bound, std::index_sequence<I...>) {
  kernel(argument<T>(bound[I])...);
}
template <class... T>
void call(void (*kernel)(T...), void* const* bound) {
  call(kernel, bound, std::index_sequence_for<T...>());
}

struct Entry {
  void (*body)(void* const*);
  Place workgroup;
  unsigned subgroup_size;
};

inline const char* launch(const Entry& entry, Place grid, void* const* arguments) {
  machine.body = entry.body;
  machine.arguments = arguments;
  machine.subgroup_size = entry.subgroup_size;
  machine.error = nullptr;
  machine.grid = grid;
  memory.global.clear();
  warpSize = static_cast<int>(entry.subgroup_size);
  for (unsigned z = 0; z < grid.z; ++z) {
    for (unsigned y = 0; y < grid.y; ++y) {
      for (unsigned x = 0; x < grid.x && !machine.error; ++x) {
        blockIdx = {x, y, z};
        run_block(entry.workgroup);
      }
    }
  }
  return machine.error;
}

inline void expect_aligned(const void* p, unsigned bytes) {
  if (reinterpret_cast<uintptr_t>(p) % bytes) fail("an address is not aligned");
}

inline float half(uint16_t bits) { return static_cast<float>(__builtin_bit_cast(_Float16, bits)); }
inline float brain(uint16_t bits) { return __builtin_bit_cast(float, uint32_t{bits} << 16); }

}  // namespace emulator

// ---- The languages ----
#define __device__
#define __global__ static
#define __forceinline__ inline __attribute__((unused))
#define __launch_bounds__(threads)
// A workgroup's threads are fibres of one thread: also legal after extern, as dynamic memory is.
#define __shared__ thread_local

inline void __syncthreads() {
  const emulator::Unseen unseen;
  emulator::Thread& thread = *emulator::machine.current;
  if (thread.multiplies) emulator::fail("a barrier while products read shared memory");
  thread.shown = thread.fenced;
  thread.fenced = false;
  emulator::meet(emulator::machine.block, true);
}
inline void __syncwarp() { emulator::meet(emulator::subgroup(), true); }
inline void __builtin_amdgcn_fence(int, const char*) {}
inline void __builtin_amdgcn_wave_barrier() { emulator::meet(emulator::subgroup(), true); }

// Overloads are those of CUDA: narrower integers become int.
#define EMULATE_SHUFFLE(type)                                                                  \
  inline type __shfl(type v, unsigned l) {                                                     \
    const emulator::Unseen unseen;                                                             \
    const auto all = emulator::gather(v);                                                      \
    return all[l % all.size()];                                                                \
  }                                                                                            \
  inline type __shfl_xor(type v, unsigned bits) { return __shfl(v, emulator::lane() ^ bits); } \
  inline type __shfl_sync(unsigned, type v, unsigned l) { return __shfl(v, l); }               \
  inline type __shfl_xor_sync(unsigned, type v, unsigned bits) { return __shfl_xor(v, bits); }
EMULATE_SHUFFLE(int)
EMULATE_SHUFFLE(unsigned)
EMULATE_SHUFFLE(long long)
EMULATE_SHUFFLE(unsigned long long)
EMULATE_SHUFFLE(float)
EMULATE_SHUFFLE(double)

inline const void* last_shared = nullptr;  ///< that was asked for its address
inline size_t __cvta_generic_to_shared(const void* p) {
  last_shared = p;
  return reinterpret_cast<size_t>(p);
}
inline float __uint_as_float(unsigned b) { return __builtin_bit_cast(float, b); }
inline unsigned __float_as_uint(float f) { return __builtin_bit_cast(unsigned, f); }
inline double __longlong_as_double(long long b) { return __builtin_bit_cast(double, b); }
inline long long __double_as_longlong(double f) { return __builtin_bit_cast(long long, f); }

struct uint2 {
  unsigned x, y;
};
struct uint4 {
  unsigned x, y, z, w;
};
inline uint2 make_uint2(unsigned x, unsigned y) { return {x, y}; }
inline uint4 make_uint4(unsigned x, unsigned y, unsigned z, unsigned w) { return {x, y, z, w}; }
template <class T>
T __ldcs(const T* p) {
  emulator::expect_aligned(p, sizeof(T));
  return *p;
}
template <class T>
void __stcs(T* p, T value) {
  emulator::expect_aligned(p, sizeof(T));
  *p = value;
}
template <class T>
T __builtin_nontemporal_load(const T* p) {
  return __ldcs(p);
}
template <class T, class P>
void __builtin_nontemporal_store(T value, P* p) {
  __stcs<P>(p, value);
}

// One thread runs at a time.
template <class T>
void emulate_atomic(T* p) {
  emulator::touch(p, sizeof(T), true, true);
}
template <class T>
T atomicAdd(T* p, T v) {
  emulate_atomic(p);
  const emulator::Unseen unseen;
  const T old = *p;
  *p = old + v;
  return old;
}
template <class T>
T atomicMax(T* p, T v) {
  emulate_atomic(p);
  const emulator::Unseen unseen;
  const T old = *p;
  *p = old < v ? v : old;
  return old;
}
template <class T>
T atomicMin(T* p, T v) {
  emulate_atomic(p);
  const emulator::Unseen unseen;
  const T old = *p;
  *p = old < v ? old : v;
  return old;
}
template <class T>
T atomicExch(T* p, T v) {
  emulate_atomic(p);
  const emulator::Unseen unseen;
  const T old = *p;
  *p = v;
  return old;
}
template <class T>
T atomicCAS(T* p, T compare, T v) {
  emulate_atomic(p);
  const emulator::Unseen unseen;
  const T old = *p;
  if (old == compare) *p = v;
  return old;
}
