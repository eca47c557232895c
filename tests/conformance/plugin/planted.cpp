// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The template backend behind a wrapper that plants one bug, the one that its file is named after.
#include <signal.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <set>

#include "sdk/program/builder.hpp"
#include "sdk/program/verify.hpp"
#include "tenon/plugin.h"
#include "tests/plugin_name.hpp"

extern "C" const tn_plugin* null_plugin_query(const tn_host*, uint32_t, uint32_t, tn_error*);

namespace {

#define BUGS(X)                                                                            \
  X(none)                                                                                  \
  X(crash)       /* the compiler dies on MOD */                                            \
  X(hang)        /* a launch with an argument of more than 400 bytes never ends */         \
  X(wrong)       /* XOR is OR */                                                           \
  X(overrun)     /* a byte is written past the last argument */                            \
  X(underrun)    /* and one before it */                                                   \
  X(poison)      /* the last argument is not written where it has 5 or more elements */    \
  X(input)       /* the first argument is written to */                                    \
  X(lost)        /* the device is lost on SIN */                                           \
  X(lies)        /* supports says yes to SQRT, compile says no */                          \
  X(staged)      /* kernels with memory of their own: an f32 ADD is MUL */                 \
  X(same_buffer) /* a byte of the result is wrong if two arguments are one buffer */       \
  X(in_place)    /* or if it has two buffers, of which the first is written */             \
  X(switched)    /* or if the executable has run before, but another one since */          \
  X(magnitude)   /* the last bit of the first f32 of the result, from 2^9 on */            \
  X(boasts)      /* claims twice the bindings, shared and scratch memory that there are */ \
  X(aborts)      /* abort in the query itself */
TN_TEST_VARIANT(Bug, BUGS, "planted_");

const tn_plugin* base = nullptr;

bool has_op(const tn_program* program, uint16_t code) {
  const tenon::sdk::ProgramView view(program);
  for (uint32_t i = 0; i < view.op_count(); ++i)
    if (view.op(i).op == code) return true;
  return false;
}

int32_t refuse(tn_error* error, int32_t code, const char* message) {
  if (error) {
    error->code = code;
    std::strncpy(error->message, message, sizeof error->message - 1);
  }
  return code;
}

/// The program with one op for another, on floats if they have a choice.
tenon::sdk::Program exchanged(const tn_program* program, uint16_t from, uint16_t to) {
  tenon::sdk::Program copy(program, program->total_size);
  auto* bytes = const_cast<char*>(reinterpret_cast<const char*>(copy.get()));
  for (uint32_t i = 0; i < program->op_count; ++i) {
    auto* op = reinterpret_cast<tn_op*>(bytes + program->ops + size_t{i} * program->op_stride);
    if (op->op != from || (from == TN_OP_ADD && op->dtype != TN_DTYPE_F32)) continue;
    op->op = to;
    op->flags = 0;
  }
  return copy;
}

bool has_memory(const tn_program* program) {
  const tenon::sdk::ProgramView view(program);
  for (uint32_t i = 0; i < view.param_count(); ++i)
    if (view.param(i).kind == TN_PARAM_ALLOC) return true;
  return false;
}

int32_t compile(const tn_target* target, const tn_program* program, tn_compile_report* report,
                tn_executable** out, tn_error* error) {
  if (!tenon::sdk::verify_program(program, program->total_size).empty())
    return base->compile(target, program, report, out, error);  // what it says cannot be read
  if (kBug == Bug::crash && has_op(program, TN_OP_MOD)) raise(SIGSEGV);
  if (kBug == Bug::lies && has_op(program, TN_OP_SQRT))
    return refuse(error, TN_ERROR_COMPILE_FAILED, "no square roots today");
  if (kBug == Bug::wrong)
    return base->compile(target, exchanged(program, TN_OP_XOR, TN_OP_OR).get(), report, out, error);
  if (kBug == Bug::staged && has_memory(program))
    return base->compile(target, exchanged(program, TN_OP_ADD, TN_OP_MUL).get(), report, out,
                         error);
  if (kBug == Bug::lost && has_op(program, TN_OP_SIN))
    return refuse(error, TN_ERROR_DEVICE_LOST, "the bus fell off");
  return base->compile(target, program, report, out, error);
}

/// Adds one to a byte at an offset from the beginning of an argument.
void spoil(const tn_argument& argument, int64_t offset) {
  void* pointer = nullptr;
  const uint64_t at = argument.offset + static_cast<uint64_t>(offset);
  if (base->memory_map(argument.memory, at, 1, &pointer, nullptr) != TN_OK) return;
  ++*static_cast<unsigned char*>(pointer);
  base->memory_unmap(argument.memory, nullptr);
}

void round_otherwise(const tn_argument& argument) {
  void* pointer = nullptr;
  if (base->memory_map(argument.memory, argument.offset, 4, &pointer, nullptr) != TN_OK) return;
  float value;
  std::memcpy(&value, pointer, sizeof value);
  if (value >= 512) value = std::nextafter(value, 0.0f);
  std::memcpy(pointer, &value, sizeof value);
  base->memory_unmap(argument.memory, nullptr);
}

/// The executables that have run and are alive: an address serves again once its owner is gone.
std::set<const tn_executable*> have_run;
const tn_executable* ran_last = nullptr;

/// True where another executable has run since this one did.
bool comes_back(const tn_executable* executable) {
  const bool back = !have_run.insert(executable).second && ran_last != executable;
  ran_last = executable;
  return back;
}

void executable_destroy(tn_executable* executable) {
  have_run.erase(executable);
  base->executable_destroy(executable);
}

void spoil_launch(const tn_command& command) {
  bool shared = false;
  int buffers = 0;
  // Outputs come last among the arguments of kind buffer, inputs first.
  const tn_argument *first = nullptr, *last = nullptr;
  for (uint32_t i = 0; i < command.argument_count; ++i) {
    const auto* argument = reinterpret_cast<const tn_argument*>(
        reinterpret_cast<const char*>(command.arguments) + size_t{i} * command.argument_stride);
    if (argument->kind != TN_ARGUMENT_BUFFER || argument->size == 0) continue;
    if (kBug == Bug::hang && argument->size > 400)
      for (;;) pause();
    shared =
        shared || (last && last->memory == argument->memory && last->offset == argument->offset);
    if (!first) first = argument;
    ++buffers;
    last = argument;
  }
  if (!last) return;
  if (kBug == Bug::overrun) spoil(*last, static_cast<int64_t>(last->size));
  if (kBug == Bug::underrun) spoil(*last, -1);
  if (kBug == Bug::same_buffer && shared) spoil(*last, 0);
  if (kBug == Bug::in_place && buffers == 2) spoil(*first, 0);
  if (kBug == Bug::switched && comes_back(command.executable)) spoil(*last, 0);
  if (kBug == Bug::magnitude) round_otherwise(*last);
  if (kBug == Bug::input && first != last) spoil(*first, 0);
}

int32_t submit(tn_device* device, const tn_submission* submission, tn_error* error) {
  if (kBug == Bug::poison) {
    // Launches over more than one workgroup never happen.
    tn_submission none = *submission;
    const tn_command* command = submission->commands;
    bool big = false;
    for (uint32_t i = 0; i < submission->command_count; ++i) {
      const auto& one = *reinterpret_cast<const tn_command*>(
          reinterpret_cast<const char*>(command) + size_t{i} * submission->command_stride);
      big = big || (one.kind == TN_COMMAND_LAUNCH &&
                    uint64_t{one.grid[0]} * one.grid[1] * one.grid[2] > 1);
    }
    if (big) none.command_count = 0;
    return base->submit(device, &none, error);
  }
  const int32_t status = base->submit(device, submission, error);
  for (uint32_t i = 0; i < submission->command_count && status == TN_OK; ++i) {
    const auto& command =
        *reinterpret_cast<const tn_command*>(reinterpret_cast<const char*>(submission->commands) +
                                             size_t{i} * submission->command_stride);
    if (command.kind == TN_COMMAND_LAUNCH) spoil_launch(command);
  }
  return status;
}

int32_t properties(const tn_target* target, const tn_properties** out, tn_error* error) {
  const int32_t status = base->properties(target, out, error);
  if (status != TN_OK) return status;
  static tn_properties table;
  table = **out;
  table.max_bindings *= 2;
  table.max_shared_bytes *= 2;
  table.max_scratch_bytes *= 2;
  *out = &table;
  return TN_OK;
}

}  // namespace

extern "C" TN_EXPORT const tn_plugin* tn_plugin_query(const tn_host* host, uint32_t abi_min,
                                                      uint32_t abi_max, tn_error* error) {
  if (kBug == Bug::aborts) std::abort();
  const tn_plugin* const found = null_plugin_query(host, abi_min, abi_max, error);
  if (!found) return nullptr;
  // Made once: threads may ask at the same time.
  static const tn_plugin table = [&] {
    base = found;
    tn_plugin made = *found;
    made.backend = tenon::test::plugin_name().c_str();
    made.compile = compile;
    made.submit = submit;
    made.executable_destroy = executable_destroy;
    if (kBug == Bug::boasts) made.properties = properties;
    return made;
  }();
  return &table;
}
