// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/emulator/machine.hpp"

emulator::Place blockIdx, threadIdx;
int warpSize;

namespace emulator {

Machine machine;

namespace {

void yield() {
  note_depth();
  swapcontext(&machine.current->context, &machine.scheduler);
}

void enter() {
  machine.body(machine.arguments);
  machine.current->is_done = true;
  ++machine.progress;
  yield();
}

void start(unsigned number, Place workgroup) {
  Thread& thread = machine.threads[number];
  const unsigned x = workgroup.x, y = workgroup.y;
  thread.number = number;
  thread.at = {number % x, number / x % y, number / x / y};
  thread.stack = machine.stacks->stack(number);
  thread.deepest = thread.stack + Stacks::kSize;
  getcontext(&thread.context);
  thread.context.uc_stack.ss_sp = thread.stack;
  thread.context.uc_stack.ss_size = Stacks::kSize;
  makecontext(&thread.context, enter, 0);
  ++machine.subgroups[number / machine.subgroup_size].size;
}

void run_block(Place workgroup) {
  const unsigned count = workgroup.x * workgroup.y * workgroup.z;
  machine.is_odd = (blockIdx.x + blockIdx.y + blockIdx.z) % 2 != 0;
  new_shared_memory();
  machine.threads = std::vector<Thread>(count);
  machine.subgroups.assign((count + machine.subgroup_size - 1) / machine.subgroup_size, {});
  machine.block = {};
  machine.block.size = count;
  for (unsigned i = 0; i < count; ++i) start(i, workgroup);
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
  for (const Thread& thread : machine.threads) machine.stacks->clean(thread.number, thread.deepest);
}

}  // namespace

void fail(const char* error) {
  machine.error = error;
  for (;;) yield();
}

void expect_aligned(const void* p, unsigned bytes) {
  if (reinterpret_cast<uintptr_t>(p) % bytes) fail("an address is not aligned");
}

unsigned lane() { return machine.current->number % machine.subgroup_size; }
unsigned subgroup_threads() { return machine.subgroup_size; }

bool is_own(const void* p) {
  const char* stack = machine.current->stack;
  return p >= stack && p < stack + Stacks::kSize;
}

void note_depth() {
  const auto* here = static_cast<const char*>(__builtin_frame_address(0));
  Thread& thread = *machine.current;
  if (here < thread.deepest) thread.deepest = here;
}

Touch this_touch() {
  Touch now;
  now.block = (blockIdx.z * machine.grid.y + blockIdx.y) * machine.grid.x + blockIdx.x;
  now.round = static_cast<uint32_t>(machine.block.round);
  now.fence = static_cast<uint32_t>(subgroup().fences);
  now.thread = static_cast<uint16_t>(machine.current->number);
  now.is_there = true;
  return now;
}

void meet(Meeting& meeting, bool is_barrier) {
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

}  // namespace emulator

extern "C" __attribute__((visibility("default"))) const char* launch(size_t number,
                                                                     const unsigned* grid,
                                                                     void* const* arguments,
                                                                     emulator::Stacks* stacks) {
  using namespace emulator;
  const Kernel& kernel = kernels[number];
  machine.body = kernel.body;
  machine.arguments = arguments;
  machine.subgroup_size = kernel.subgroup_size;
  machine.error = nullptr;
  machine.stacks = stacks;
  machine.grid = {grid[0], grid[1], grid[2]};
  warpSize = static_cast<int>(kernel.subgroup_size);
  for (unsigned z = 0; z < grid[2]; ++z) {
    for (unsigned y = 0; y < grid[1]; ++y) {
      for (unsigned x = 0; x < grid[0] && !machine.error; ++x) {
        blockIdx = {x, y, z};
        run_block(kernel.workgroup);
      }
    }
  }
  machine.threads = std::vector<Thread>();
  memory.global.clear();
  memory.shared.clear();
  return machine.error;
}

// ---- What kernels call ----
void __syncthreads() {
  emulator::Thread& thread = *emulator::machine.current;
  if (thread.multiplies) emulator::fail("a barrier while products read shared memory");
  thread.shown = thread.fenced;
  thread.fenced = false;
  emulator::meet(emulator::machine.block, true);
}
void __syncwarp() { emulator::meet(emulator::subgroup(), true); }

#define EMULATE_SHUFFLE(type)             \
  type __shfl(type v, unsigned l) {       \
    const auto all = emulator::gather(v); \
    return all[l % all.size()];           \
  }
EMULATE_SHUFFLE(int)
EMULATE_SHUFFLE(unsigned)
EMULATE_SHUFFLE(long long)
EMULATE_SHUFFLE(unsigned long long)
EMULATE_SHUFFLE(float)
EMULATE_SHUFFLE(double)
