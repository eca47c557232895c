// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/emulator/races.hpp"

#include <link.h>

#include <cstdio>
#include <cstring>

#include "tests/emulator/calls.hpp"

namespace emulator {

Memory memory;

namespace {

/// The kernels' shared variables are the thread-local ones of this library; one that is looked at
/// makes sure that there is memory for all.
thread_local volatile char anchor;

int find_shared(dl_phdr_info* info, size_t, void* own) {
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

bool is_between(const void* p, uintptr_t begin, uintptr_t end) {
  const auto at = reinterpret_cast<uintptr_t>(p);
  return at >= begin && at < end;
}

bool are_ordered(const Touch& before, const Touch& now, unsigned subgroup_size) {
  if (!before.is_there || (before.is_atomic && now.is_atomic)) return true;
  if (before.block != now.block) return false;
  if (before.thread == now.thread || before.round < now.round) return true;
  return before.thread / subgroup_size == now.thread / subgroup_size && before.fence < now.fence;
}

}  // namespace

void new_shared_memory() {
  memory.shared.clear();
  anchor = 0;
  dl_iterate_phdr(find_shared, &memory);
  memset(reinterpret_cast<void*>(memory.shared_begin), 0xff,
         memory.shared_end - memory.shared_begin);
}

void touch(const void* p, size_t size, bool is_write, bool is_atomic) {
  note_depth();
  if (is_own(p) || is_between(p, memory.own_begin, memory.own_end)) return;
  Touch now = this_touch();
  now.is_atomic = is_atomic;
  const bool is_shared = is_between(p, memory.shared_begin, memory.shared_end);
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

}  // namespace emulator

#define EMULATOR_SEES(size)                                                      \
  void __tsan_read##size(void* p) { emulator::touch(p, size, false); }           \
  void __tsan_write##size(void* p) { emulator::touch(p, size, true); }           \
  void __tsan_unaligned_read##size(void* p) { emulator::touch(p, size, false); } \
  void __tsan_unaligned_write##size(void* p) { emulator::touch(p, size, true); }
extern "C" {
EMULATOR_SEES(1)
EMULATOR_SEES(2)
EMULATOR_SEES(4)
EMULATOR_SEES(8)
EMULATOR_SEES(16)
void __tsan_read_range(void* p, size_t size) { emulator::touch(p, size, false); }
void __tsan_write_range(void* p, size_t size) { emulator::touch(p, size, true); }
void __tsan_init() {}
void __tsan_func_entry(void*) {}
void __tsan_func_exit() {}
void __tsan_vptr_update(void**, void*) {}
void __tsan_vptr_read(void**) {}
}
