// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The template backend behind a wrapper that treats its process badly, in the way that its file is
// named after. Most of them strike in a launch with an argument of more than 400 bytes.
#include <signal.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <set>
#include <string>
#include <thread>

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

#include "sdk/program/builder.hpp"
#include "tenon/plugin.h"
#include "tests/plugin_name.hpp"

extern "C" const tn_plugin* null_plugin_query(const tn_host*, uint32_t, uint32_t, tn_error*);

namespace {

#define WAYS(X)                                                                         \
  X(every_100th)  /* a launch of a process ends it */                                   \
  X(stubborn)     /* hangs, ignores SIGTERM, and has threads and a child that do too */ \
  X(eats)         /* memory, and holds it */                                            \
  X(heap)         /* a write before the beginning of a block */                         \
  X(exits)        /* exit(0) */                                                         \
  X(aborts_later) /* abort in a thread */                                               \
  X(kills)        /* SIGKILL */                                                         \
  X(closes)       /* our file descriptors */                                            \
  X(closes_all)   /* every one */                                                       \
  X(garbage)      /* forged lines on a file descriptor that is not its own */           \
  X(prints)       /* the same on standard output, which is its own */                   \
  X(hangs_at_exit)                                                                      \
  X(opens_never)    /* device_open hangs */                                             \
  X(reopens_never)  /* after a crash, device_open fails */                              \
  X(wrong_after)    /* after a crash, every result is wrong */                          \
  X(wears_out)      /* from the 150th launch of a process on, every result is wrong */  \
  X(has_history)    /* the last bit of SIN flips after 40 launches of a process */      \
  X(remembers)      /* or of SIN in f32 once the process has compiled XOR */            \
  X(has_own_answer) /* or in every second process */                                    \
  X(flushes)        /* leaves denormals off in the calling thread */                    \
  X(compiles_late)  /* half a second of the first launch of each executable */          \
  X(stores)         /* computes nothing, and a fill of 4000 bytes ends its process */
TN_TEST_VARIANT(Way, WAYS, "misbehaves_");

const tn_plugin* base = nullptr;
int launches = 0;
/// Of executables that any thread makes.
class Marked {
 public:
  bool insert(const tn_executable* executable) {
    const std::lock_guard lock(mutex_);
    return set_.insert(executable).second;
  }
  void erase(const tn_executable* executable) {
    const std::lock_guard lock(mutex_);
    set_.erase(executable);
  }
  bool contains(const tn_executable* executable) {
    const std::lock_guard lock(mutex_);
    return set_.contains(executable);
  }

 private:
  std::mutex mutex_;
  std::set<const tn_executable*> set_;
} rounded, compiled;
bool has_met_xor = false;
bool has_struck = false;

/// Left behind by a process for the next one of the same parent.
std::string marker() {
  return "/tmp/tenon-misbehaves-" + std::to_string(getppid()) + "-" + tenon::test::plugin_name();
}
bool is_marked() { return access(marker().c_str(), F_OK) == 0; }
void mark() { fclose(fopen(marker().c_str(), "w")); }
/// Every second process of the same parent is.
bool is_second() {
  static const bool is = unlink(marker().c_str()) == 0 || (mark(), false);
  return is;
}

[[noreturn]] void sleep_on() {
  for (;;) pause();
}

void forge(int fd) {
  constexpr char kLine[] =
      "[\"ended\",{\"index\":1,\"outcome\":{\"diff\":\"\",\"digest\":0,\"kind\":\"\",\"needs\":0,"
      "\"status\":\"PASS\",\"text\":\"\",\"transforms\":\"\",\"ulps\":[],\"worst_input\":\"\","
      "\"worst_ulp\":0},\"reached\":[]}]\n";
  if (write(fd, kLine, sizeof kLine - 1) < 0) return;
}

/// More than its limit in the tests, and no more than a machine has.
void eat() {
  constexpr size_t kBites = 32, kBite = 16 << 20;
  for (size_t i = 0; i < kBites; ++i) {
    memset(malloc(kBite), 1, kBite);  // NOLINT: never given back
    usleep(1000);
  }
  sleep_on();
}

void corrupt() {
  char* volatile block = static_cast<char*>(malloc(100));
  void* (*volatile fill)(void*, int, size_t) = memset;  // not seen through, so not left out
  fill(block - 8, 'x', 8);                              // the size that the allocator keeps there
  free(block);
}

void strike() {
  switch (kWay) {
    case Way::stubborn:
      signal(SIGTERM, SIG_IGN);
      std::thread([] { sleep_on(); }).detach();
      if (fork() == 0) sleep_on();
      sleep_on();
    case Way::eats:
      return eat();
    case Way::heap:
      return corrupt();
    case Way::exits:
      has_struck = true;
      exit(0);
    case Way::aborts_later:
      std::thread([] { abort(); }).join();
      return;
    case Way::kills:
      raise(SIGKILL);
      return;
    case Way::closes:
      close(3), close(4);
      return;
    case Way::closes_all:
      for (int fd = 3; fd < 1024; ++fd) close(fd);
      return;
    case Way::garbage:
      return forge(4);
    case Way::prints:
      return forge(1);
    case Way::reopens_never:
    case Way::wrong_after:
      mark();
      abort();
    case Way::flushes:
#if defined(__x86_64__)
      _mm_setcsr(_mm_getcsr() | 0x8040);
#endif
      return;
    case Way::every_100th:
    case Way::hangs_at_exit:
    case Way::opens_never:
    case Way::wears_out:
    case Way::has_history:
    case Way::remembers:
    case Way::has_own_answer:
    case Way::compiles_late:
    case Way::stores:
      return;
  }
}

/// Adds one to the first byte.
void spoil(const tn_argument& argument) {
  void* pointer = nullptr;
  if (base->memory_map(argument.memory, argument.offset, 1, &pointer, nullptr) != TN_OK) return;
  *static_cast<unsigned char*>(pointer) ^= 1;
  base->memory_unmap(argument.memory, nullptr);
}

/// The last bits of the first element of f32, where that is no special value.
void spoil_float(const tn_argument& argument, unsigned char bits) {
  void* pointer = nullptr;
  float value = 0;
  if (base->memory_map(argument.memory, argument.offset, 4, &pointer, nullptr) != TN_OK) return;
  memcpy(&value, pointer, sizeof value);
  if (std::abs(value) > 1e-30f) *static_cast<unsigned char*>(pointer) ^= bits;
  base->memory_unmap(argument.memory, nullptr);
}

void after_launch(const tn_command& command) {
  ++launches;
  if (kWay == Way::every_100th && launches == 100) raise(SIGSEGV);
  const tn_argument* last = nullptr;
  bool big = false;
  for (uint32_t i = 0; i < command.argument_count; ++i) {
    const auto* argument = reinterpret_cast<const tn_argument*>(
        reinterpret_cast<const char*>(command.arguments) + size_t{i} * command.argument_stride);
    if (argument->kind != TN_ARGUMENT_BUFFER || argument->size == 0) continue;
    last = argument;
    big = big || argument->size > 400;
  }
  if (kWay == Way::compiles_late && compiled.insert(command.executable)) usleep(500'000);
  if (!last) return;
  if (kWay == Way::wrong_after && is_marked()) return spoil(*last);
  if (kWay == Way::wears_out && launches >= 150) return spoil(*last);
  if (kWay == Way::has_history && launches < 100 && rounded.contains(command.executable))
    spoil(*last);
  if (kWay == Way::remembers && has_met_xor && rounded.contains(command.executable))
    spoil_float(*last, 1);
  if (kWay == Way::has_own_answer && rounded.contains(command.executable) && is_second())
    spoil_float(*last, 1);
  if (big) strike();
}

int32_t submit(tn_device* device, const tn_submission* submission, tn_error* error) {
  const int32_t status = base->submit(device, submission, error);
  for (uint32_t i = 0; i < submission->command_count && status == TN_OK; ++i) {
    const auto& command =
        *reinterpret_cast<const tn_command*>(reinterpret_cast<const char*>(submission->commands) +
                                             size_t{i} * submission->command_stride);
    if (kWay == Way::stores && command.kind == TN_COMMAND_FILL && command.size == 4000) abort();
    if (command.kind == TN_COMMAND_LAUNCH) after_launch(command);
  }
  return status;
}

bool is_other_float(uint32_t dtype) {
  return dtype == TN_DTYPE_F64 || dtype == TN_DTYPE_F16 || dtype == TN_DTYPE_BF16 ||
         dtype == TN_DTYPE_F8E4M3 || dtype == TN_DTYPE_F8E5M2;
}

int32_t compile(const tn_target* target, const tn_program* program, tn_compile_report* report,
                tn_executable** out, tn_error* error) {
  const int32_t status = base->compile(target, program, report, out, error);
  if (status != TN_OK || !out) return status;
  const tenon::sdk::ProgramView view(program);
  rounded.erase(*out);
  compiled.erase(*out);
  bool is_round = false, is_plain = true;
  for (uint32_t i = 0; i < view.op_count(); ++i) {
    const auto op = view.op(i).op;
    has_met_xor = has_met_xor || op == TN_OP_XOR;
    is_round = is_round || op == TN_OP_SIN ||
               (kWay == Way::has_history && (op == TN_OP_EXP2 || op == TN_OP_LOG2));
    is_plain = is_plain && !is_other_float(view.op(i).dtype);
  }
  if (is_round && (is_plain || kWay == Way::has_history)) rounded.insert(*out);
  return status;
}

int32_t properties(const tn_target* target, const tn_properties** out, tn_error* error) {
  const int32_t status = base->properties(target, out, error);
  if (kWay != Way::stores || status != TN_OK) return status;
  static tn_properties table;
  table = **out;
  table.flags &= ~uint32_t{TN_DEVICE_COMPUTE};
  *out = &table;
  return status;
}

int32_t device_open(uint32_t index, const char* options, tn_device** out, tn_error* error) {
  if (kWay == Way::opens_never) sleep_on();
  if (kWay == Way::reopens_never && is_marked()) {
    std::strncpy(error->message, "the bus is gone", sizeof error->message - 1);
    return error->code = TN_ERROR_INTERNAL;
  }
  return base->device_open(index, options, out, error);
}

}  // namespace

extern "C" TN_EXPORT const tn_plugin* tn_plugin_query(const tn_host* host, uint32_t abi_min,
                                                      uint32_t abi_max, tn_error* error) {
  const tn_plugin* const found = null_plugin_query(host, abi_min, abi_max, error);
  if (!found) return nullptr;
  if (kWay == Way::hangs_at_exit) atexit([] { sleep_on(); });
  // Made once: threads may ask at the same time.
  static const tn_plugin table = [&] {
    // As threads do from which its static objects are taken.
    if (kWay == Way::exits)
      atexit([] {
        if (has_struck) raise(SIGSEGV);
      });
    base = found;
    tn_plugin made = *found;
    made.backend = tenon::test::plugin_name().c_str();
    made.compile = compile;
    made.submit = submit;
    made.device_open = device_open;
    made.properties = properties;
    return made;
  }();
  return &table;
}
