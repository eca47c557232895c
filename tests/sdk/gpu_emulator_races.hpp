// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sees two threads that touch a byte, one of them writing, with no barrier between them. The
// kernels are compiled with the calls of a thread sanitizer, and these are the functions called.
// Included by gpu_emulator.hpp alone.
#pragma once

#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <unordered_map>

#define EMULATOR_UNSEEN __attribute__((no_sanitize("thread")))

namespace emulator {

/// What the emulator itself does is not looked at.
inline bool is_unseen = true;
struct Unseen {
  bool before;
  EMULATOR_UNSEEN Unseen() : before(is_unseen) { is_unseen = true; }
  EMULATOR_UNSEEN ~Unseen() { is_unseen = before; }
};

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

  bool is_shared(const void* p) const {
    const auto at = reinterpret_cast<uintptr_t>(p);
    return at >= shared_begin && at < shared_end;
  }
};
inline Memory memory;

inline bool is_emulators(const void* p) {
  const auto at = reinterpret_cast<uintptr_t>(p);
  return at >= memory.own_begin && at < memory.own_end;
}

/// The kernels' shared variables are the thread-local ones of this library; one that is looked at
/// makes sure that there is memory for all.
inline thread_local volatile char anchor;

inline int find_shared(dl_phdr_info* info, size_t, void* own) {
  const auto at = reinterpret_cast<uintptr_t>(own);
  bool is_own = false;
  uintptr_t first = UINTPTR_MAX, last = 0;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const auto& part = info->dlpi_phdr[i];
    if (part.p_type != PT_LOAD) continue;
    const uintptr_t begin = info->dlpi_addr + part.p_vaddr, end = begin + part.p_memsz;
    is_own |= at >= begin && at < end;
    first = begin < first ? begin : first;
    last = end > last ? end : last;
  }
  if (is_own) memory.own_begin = first, memory.own_end = last;
  for (int i = 0; is_own && i < info->dlpi_phnum; ++i) {
    if (info->dlpi_phdr[i].p_type != PT_TLS || !info->dlpi_tls_data) continue;
    memory.shared_begin = reinterpret_cast<uintptr_t>(info->dlpi_tls_data);
    memory.shared_end = memory.shared_begin + info->dlpi_phdr[i].p_memsz;
  }
  return is_own;
}

/// Nothing is in it but numbers that are none.
inline void new_shared_memory() {
  memory.shared.clear();
  anchor = 0;
  dl_iterate_phdr(find_shared, &memory);
  memset(reinterpret_cast<void*>(memory.shared_begin), 0xff,
         memory.shared_end - memory.shared_begin);
}

Touch this_touch();          // of the thread that runs
bool is_own(const void* p);  // on its stack
[[noreturn]] void fail(const char* error);

inline bool are_ordered(const Touch& before, const Touch& now, unsigned subgroup_size) {
  if (!before.is_there || (before.is_atomic && now.is_atomic)) return true;
  if (before.block != now.block) return false;
  if (before.thread == now.thread || before.round < now.round) return true;
  return before.thread / subgroup_size == now.thread / subgroup_size && before.fence < now.fence;
}

unsigned subgroup_threads();

inline void touch(const void* p, size_t size, bool is_write, bool is_atomic = false) {
  const Unseen unseen;
  if (is_own(p) || is_emulators(p)) return;
  Touch now = this_touch();
  now.is_atomic = is_atomic;
  const bool is_shared = memory.is_shared(p);
  auto& lines = is_shared ? memory.shared : memory.global;
  const auto first = reinterpret_cast<uintptr_t>(p);
  Line* line = nullptr;
  for (uintptr_t at = first; at < first + size; ++at) {
    if (!line || at % 16 == 0) line = &lines[at / 16];
    Byte& byte = line->bytes[at % 16];
    const auto check = [&](const Touch& before) {
      if (are_ordered(before, now, subgroup_threads())) return;
      static char message[200];
      snprintf(message, sizeof message,
               "threads %u and %u touch the same %s memory, and nothing is between them",
               unsigned{before.thread}, unsigned{now.thread}, is_shared ? "shared" : "global");
      fail(message);
    };
    // A look before an atomic exchange is one that the exchange makes sure of.
    if (is_write || !byte.write.is_atomic) check(byte.write);
    if (is_write) {
      for (const Touch& read : byte.reads)
        if (!is_atomic) check(read);
      byte = {now, {}};
    } else {
      if (byte.reads[0].thread != now.thread || byte.reads[0].block != now.block)
        byte.reads[1] = byte.reads[0];
      byte.reads[0] = now;
    }
  }
}

EMULATOR_UNSEEN inline void seen(const void* p, size_t size, bool is_write) {
  if (!is_unseen) touch(p, size, is_write);
}

}  // namespace emulator

#define EMULATOR_SEES(size)                                                                      \
  extern "C" EMULATOR_UNSEEN void __tsan_read##size(void* p) { emulator::seen(p, size, false); } \
  extern "C" EMULATOR_UNSEEN void __tsan_write##size(void* p) { emulator::seen(p, size, true); } \
  extern "C" EMULATOR_UNSEEN void __tsan_unaligned_read##size(void* p) {                         \
    emulator::seen(p, size, false);                                                              \
  }                                                                                              \
  extern "C" EMULATOR_UNSEEN void __tsan_unaligned_write##size(void* p) {                        \
    emulator::seen(p, size, true);                                                               \
  }
EMULATOR_SEES(1)
EMULATOR_SEES(2)
EMULATOR_SEES(4)
EMULATOR_SEES(8)
EMULATOR_SEES(16)
extern "C" EMULATOR_UNSEEN void __tsan_read_range(void* p, size_t size) {
  emulator::seen(p, size, false);
}
extern "C" EMULATOR_UNSEEN void __tsan_write_range(void* p, size_t size) {
  emulator::seen(p, size, true);
}
extern "C" EMULATOR_UNSEEN unsigned char __tsan_atomic8_load(const volatile unsigned char* p, int) {
  return *p;  // whether a function's static variable is there
}
extern "C" EMULATOR_UNSEEN void __tsan_init() {}
extern "C" EMULATOR_UNSEEN void __tsan_func_entry(void*) {}
extern "C" EMULATOR_UNSEEN void __tsan_func_exit() {}
extern "C" EMULATOR_UNSEEN void __tsan_vptr_update(void**, void*) {}
extern "C" EMULATOR_UNSEEN void __tsan_vptr_read(void**) {}
