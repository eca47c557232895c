// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// libgccjit as sdk/walk wants an IR builder: one function, `kernel(arguments, group)`.
#pragma once

#include <libgccjit.h>

#include <algorithm>
#include <bit>
#include <string>
#include <vector>

#include "sdk/program/view.hpp"
#include "sdk/support/failure.hpp"
#include "sdk/walk/builder.hpp"

namespace gccjit {
namespace sdk = tenon::sdk;

using sdk::Binary, sdk::Compare, sdk::Kind, sdk::Storage;

class Builder {
 public:
  using Value = gcc_jit_rvalue*;  ///< a constant or a local variable that is set once
  using Variable = gcc_jit_lvalue*;

  explicit Builder(const sdk::ProgramView& program)
      : program_(program), places_(sdk::allocation_places(program)) {
    option("-fwrapv");               // integers wrap
    option("-ffp-contract=off");     // each op rounds
    option("-fno-strict-aliasing");  // bindings may share bytes
    option("-fno-math-errno");
    option("-fPIC");
    gcc_jit_context_add_driver_option(context_, "-lm");
    gcc_jit_context_set_int_option(context_, GCC_JIT_INT_OPTION_OPTIMIZATION_LEVEL, 2);
    gcc_jit_context_set_bool_print_errors_to_stderr(context_, 1);
    // Arguments are pointers to buffers, or the bits of scalars.
    arguments_ = gcc_jit_context_new_param(
        context_, nullptr, gcc_jit_type_get_pointer(type(GCC_JIT_TYPE_VOID_PTR)), "arguments");
    group_ = gcc_jit_context_new_param(
        context_, nullptr, gcc_jit_type_get_pointer(type(GCC_JIT_TYPE_UINT32_T)), "group");
    gcc_jit_param* params[] = {arguments_, group_};
    function_ = gcc_jit_context_new_function(context_, nullptr, GCC_JIT_FUNCTION_EXPORTED,
                                             type(GCC_JIT_TYPE_VOID), "kernel", 2, params, 0);
    block_ = new_block();
  }
  ~Builder() { gcc_jit_context_release(context_); }
  Builder(const Builder&) = delete;
  Builder& operator=(const Builder&) = delete;

  /// Compiles what was built to a shared library. Throws the compiler's first error.
  void compile_to(const char* path) {
    gcc_jit_block_end_with_void_return(block_, nullptr);
    gcc_jit_context_compile_to_file(context_, GCC_JIT_OUTPUT_KIND_DYNAMIC_LIBRARY, path);
    if (const char* error = gcc_jit_context_get_first_error(context_))
      throw sdk::Failure(TN_ERROR_COMPILE_FAILED, error);
  }

  Value constant(Kind kind, uint64_t bits) {
    if (kind == Kind::kF32 || kind == Kind::kF64) {
      const Kind same = kind == Kind::kF32 ? Kind::kI32 : Kind::kI64;
      return this->bits(constant(same, bits), same, kind);
    }
    const auto value = kind == Kind::kI32 ? static_cast<int32_t>(bits) : static_cast<long>(bits);
    return gcc_jit_context_new_rvalue_from_long(context_, type(kind), value);
  }
  Value memory(uint32_t param) {
    if (program_.param(param).kind != TN_PARAM_ALLOC) {
      Value pointer = element(gcc_jit_param_as_rvalue(arguments_), argument_of(param));
      return named(type(GCC_JIT_TYPE_VOID_PTR), pointer);
    }
    const auto words = static_cast<int>((places_[param].bytes + 7) / 8);
    gcc_jit_lvalue* own = gcc_jit_function_new_local(
        function_, nullptr,
        gcc_jit_context_new_array_type(context_, nullptr, type(GCC_JIT_TYPE_UINT64_T), words),
        "own");
    gcc_jit_lvalue_set_alignment(own, std::max(program_.param(param).alignment, 8u));
    return named(type(GCC_JIT_TYPE_VOID_PTR),
                 cast(gcc_jit_lvalue_get_address(own, nullptr), type(GCC_JIT_TYPE_VOID_PTR)));
  }
  Value scalar(uint32_t param) {
    gcc_jit_type* words = gcc_jit_type_get_pointer(type(Kind::kI64));
    return named(Kind::kI64,
                 element(cast(gcc_jit_param_as_rvalue(arguments_), words), argument_of(param)));
  }
  Value coordinate(tn_axis axis) {
    if (axis > TN_AXIS_GRID_Z) return constant(Kind::kI64, 0);  // workgroups of one thread
    return named(Kind::kI64,
                 cast(element(gcc_jit_param_as_rvalue(group_), static_cast<uint32_t>(axis)),
                      type(Kind::kI64)));
  }

  Value load(Storage storage, Value memory, Value index) {
    const Kind kind = kind_of(storage);
    return named(kind, cast(gcc_jit_lvalue_as_rvalue(place(storage, memory, index)), type(kind)));
  }
  void store(Storage storage, Value memory, Value index, Value value) {
    set(place(storage, memory, index), cast(value, type(storage)));
  }

  Value binary(Binary op, Kind kind, Value x, Value y) {
    constexpr gcc_jit_binary_op kOps[] = {
        GCC_JIT_BINARY_OP_PLUS,       GCC_JIT_BINARY_OP_MINUS,       GCC_JIT_BINARY_OP_MULT,
        GCC_JIT_BINARY_OP_DIVIDE,     GCC_JIT_BINARY_OP_DIVIDE,      GCC_JIT_BINARY_OP_BITWISE_AND,
        GCC_JIT_BINARY_OP_BITWISE_OR, GCC_JIT_BINARY_OP_BITWISE_XOR, GCC_JIT_BINARY_OP_LSHIFT,
        GCC_JIT_BINARY_OP_RSHIFT,     GCC_JIT_BINARY_OP_RSHIFT};
    const bool has_no_sign = op == Binary::kUnsignedDiv || op == Binary::kShr;
    gcc_jit_type* of = has_no_sign ? unsigned_type(kind) : type(kind);
    Value out = gcc_jit_context_new_binary_op(context_, nullptr, kOps[static_cast<int>(op)], of,
                                              cast(x, of), cast(y, of));
    return named(kind, cast(out, type(kind)));
  }
  Value compare(Compare how, Kind kind, Value x, Value y) {
    constexpr gcc_jit_comparison kHow[] = {GCC_JIT_COMPARISON_EQ, GCC_JIT_COMPARISON_NE,
                                           GCC_JIT_COMPARISON_LT, GCC_JIT_COMPARISON_LT};
    if (how == Compare::kUnsignedLess) {
      x = cast(x, unsigned_type(kind));
      y = cast(y, unsigned_type(kind));
    }
    Value out =
        gcc_jit_context_new_comparison(context_, nullptr, kHow[static_cast<int>(how)], x, y);
    return named(Kind::kI32, cast(out, type(Kind::kI32)));
  }
  /// By a mask, as libgccjit has no conditional expression.
  Value select(Kind kind, Value condition, Value yes, Value no) {
    const bool is_small = kind == Kind::kI32 || kind == Kind::kF32;
    const Kind word = is_small ? Kind::kI32 : Kind::kI64;
    if (kind != word) {
      return bits(select(word, condition, bits(yes, kind, word), bits(no, kind, word)), word, kind);
    }
    Value mask = binary(Binary::kSub, word, constant(word, 0), cast(condition, type(word)));
    Value differs = binary(Binary::kAnd, word, binary(Binary::kXor, word, yes, no), mask);
    return binary(Binary::kXor, word, no, differs);
  }
  Value convert(Value value, Kind, Kind to) { return named(to, cast(value, type(to))); }
  Value bits(Value value, Kind, Kind to) {
    return named(to, gcc_jit_context_new_bitcast(context_, nullptr, value, type(to)));
  }
  Value call(const std::string& name, Kind kind, std::span<const Value> operands) {
    std::vector<Value> values(operands.begin(), operands.end());
    gcc_jit_function* function = gcc_jit_context_get_builtin_function(context_, name.c_str());
    return named(kind, gcc_jit_context_new_call(context_, nullptr, function,
                                                static_cast<int>(values.size()), values.data()));
  }

  Variable variable(Kind kind) { return local(type(kind)); }
  Value get(Variable variable) {
    Value now = gcc_jit_lvalue_as_rvalue(variable);
    return named(gcc_jit_rvalue_get_type(now), now);
  }
  void set(Variable variable, Value value) {
    gcc_jit_block_add_assignment(block_, nullptr, variable, value);
  }

  void begin_if(Value condition) {
    gcc_jit_block *yes = new_block(), *no = new_block();
    branch(condition, yes, no);
    open_.push_back({no, nullptr});
    block_ = yes;
  }
  void begin_else() {
    Region& region = open_.back();
    region.after = new_block();
    gcc_jit_block_end_with_jump(block_, nullptr, region.after);
    block_ = region.other;
  }
  void end_if() {
    const Region region = open_.back();
    open_.pop_back();
    gcc_jit_block* after = region.after ? region.after : region.other;
    gcc_jit_block_end_with_jump(block_, nullptr, after);
    block_ = after;
  }
  void begin_loop() {
    open_.push_back({new_block(), new_block()});
    gcc_jit_block_end_with_jump(block_, nullptr, open_.back().other);
    block_ = open_.back().other;
  }
  void leave_unless(Value condition) {
    gcc_jit_block* stays = new_block();
    branch(condition, stays, open_.back().after);
    block_ = stays;
  }
  void end_loop() {
    gcc_jit_block_end_with_jump(block_, nullptr, open_.back().other);
    block_ = open_.back().after;
    open_.pop_back();
  }

 private:
  struct Region {
    gcc_jit_block* other;  ///< of an if its other side, of a loop its begin
    gcc_jit_block* after;
  };

  void option(const char* text) { gcc_jit_context_add_command_line_option(context_, text); }
  gcc_jit_type* type(gcc_jit_types which) { return gcc_jit_context_get_type(context_, which); }
  gcc_jit_type* type(Kind kind) {
    constexpr gcc_jit_types kTypes[] = {GCC_JIT_TYPE_INT32_T, GCC_JIT_TYPE_INT64_T,
                                        GCC_JIT_TYPE_FLOAT, GCC_JIT_TYPE_DOUBLE};
    return type(kTypes[static_cast<int>(kind)]);
  }
  gcc_jit_type* unsigned_type(Kind kind) {
    return type(kind == Kind::kI32 ? GCC_JIT_TYPE_UINT32_T : GCC_JIT_TYPE_UINT64_T);
  }
  gcc_jit_type* type(Storage storage) {
    constexpr gcc_jit_types kTypes[] = {GCC_JIT_TYPE_UINT8_T, GCC_JIT_TYPE_UINT16_T,
                                        GCC_JIT_TYPE_INT32_T, GCC_JIT_TYPE_INT64_T,
                                        GCC_JIT_TYPE_FLOAT,   GCC_JIT_TYPE_DOUBLE};
    return type(kTypes[static_cast<int>(storage)]);
  }
  static Kind kind_of(Storage storage) {
    return storage == Storage::kF32   ? Kind::kF32
           : storage == Storage::kF64 ? Kind::kF64
           : storage == Storage::kI64 ? Kind::kI64
                                      : Kind::kI32;
  }

  gcc_jit_block* new_block() { return gcc_jit_function_new_block(function_, nullptr); }
  Value cast(Value value, gcc_jit_type* to) {
    if (gcc_jit_rvalue_get_type(value) == to) return value;
    return gcc_jit_context_new_cast(context_, nullptr, value, to);
  }
  Variable local(gcc_jit_type* of) {
    return gcc_jit_function_new_local(function_, nullptr, of,
                                      ("v" + std::to_string(count_++)).c_str());
  }
  /// An rvalue is an expression that is computed wherever it is used: here, and once.
  Value named(gcc_jit_type* of, Value value) {
    Variable to = local(of);
    set(to, value);
    return gcc_jit_lvalue_as_rvalue(to);
  }
  Value named(Kind kind, Value value) { return named(type(kind), value); }
  Value element(Value array, uint32_t index) {
    Value at =
        gcc_jit_context_new_rvalue_from_int(context_, type(Kind::kI32), static_cast<int>(index));
    return gcc_jit_lvalue_as_rvalue(gcc_jit_context_new_array_access(context_, nullptr, array, at));
  }
  gcc_jit_lvalue* place(Storage storage, Value memory, Value index) {
    Value array = cast(memory, gcc_jit_type_get_pointer(type(storage)));
    return gcc_jit_context_new_array_access(context_, nullptr, array, index);
  }
  void branch(Value condition, gcc_jit_block* yes, gcc_jit_block* no) {
    Value holds = gcc_jit_context_new_comparison(context_, nullptr, GCC_JIT_COMPARISON_NE,
                                                 condition, constant(Kind::kI32, 0));
    gcc_jit_block_end_with_conditional(block_, nullptr, holds, yes, no);
  }
  /// The number of a param among the arguments of a launch.
  uint32_t argument_of(uint32_t param) const {
    uint32_t number = 0;
    for (uint32_t i = 0; i < param; ++i) number += program_.param(i).kind != TN_PARAM_ALLOC;
    return number;
  }

  const sdk::ProgramView program_;
  const std::vector<sdk::AllocationPlace> places_;
  gcc_jit_context* const context_ = gcc_jit_context_acquire();
  gcc_jit_param *arguments_, *group_;
  gcc_jit_function* function_;
  gcc_jit_block* block_;  ///< where the next statement goes
  std::vector<Region> open_;
  int count_ = 0;
};

}  // namespace gccjit
