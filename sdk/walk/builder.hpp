// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What `walk` (walk.hpp) asks of a backend whose compiler is an IR builder: LLVM, libgccjit, QBE,
// Cranelift, SPIR-V.
//
// The builder is a template parameter, not a base class: its values are of its compiler's own type
// (a pointer, a number, a name), and a function that is missing is an error of compilation.
#pragma once

#include <concepts>
#include <cstdint>
#include <span>
#include <string>

#include "sdk/program/op_groups.hpp"
#include "tenon/program.h"

namespace tenon::sdk {

/// Types of values. Integers have no sign; a truth value is a kI32 that is 0 or 1.
enum class Kind : uint8_t { kI32, kI64, kF32, kF64 };
/// Types of elements in memory.
enum class Storage : uint8_t { kI8, kI16, kI32, kI64, kF32, kF64 };

/// kAdd to kMul of integers wrap. kDiv is of floats and signed integers, kUnsignedDiv of integers;
/// no divisor is 0, and the smallest integer is not divided by -1. Counts of shifts are less than
/// the number of bits; kShr is logical, kSar arithmetic. Floats round to nearest even, and are not
/// contracted.
enum class Binary : uint8_t {
  kAdd,
  kSub,
  kMul,
  kDiv,
  kUnsignedDiv,
  kAnd,
  kOr,
  kXor,
  kShl,
  kShr,
  kSar
};

/// kLess is of floats and signed integers. Beside a NaN kNotEqual is true, the others false.
enum class Compare : uint8_t { kEqual, kNotEqual, kLess, kUnsignedLess };

/// A Value is computed where the function that returns it is called, once: loads and reads of
/// variables too. A Variable may be set any number of times. Both are copied freely.
template <class B>
concept IrBuilder = requires(B& b, const typename B::Value& value,
                             const typename B::Variable& variable,
                             std::span<const typename B::Value> values, const std::string& name,
                             Kind kind, Storage storage, uint64_t bits, uint32_t param) {
  requires std::copyable<typename B::Value> && std::copyable<typename B::Variable>;
  // Values. `bits` are those of the number in `kind`, zero-extended.
  { b.constant(kind, bits) } -> std::same_as<typename B::Value>;
  /// The first element of a buffer or an allocation. It is used by load and store alone.
  { b.memory(param) } -> std::same_as<typename B::Value>;
  /// The bits of a scalar argument, as a kI64.
  { b.scalar(param) } -> std::same_as<typename B::Value>;
  /// A coordinate of the thread, as a kI64.
  { b.coordinate(tn_axis{}) } -> std::same_as<typename B::Value>;

  // Memory: [memory, index, ...], the index being a kI64 that counts elements. Elements of 8 and 16
  // bits are loaded as a kI32, zero-extended, and stored from its low bits.
  { b.load(storage, value, value) } -> std::same_as<typename B::Value>;
  b.store(storage, value, value, value);

  // Arithmetic.
  { b.binary(Binary{}, kind, value, value) } -> std::same_as<typename B::Value>;
  { b.compare(Compare{}, kind, value, value) } -> std::same_as<typename B::Value>;
  /// [condition, if true, if false], all of them computed.
  { b.select(kind, value, value, value) } -> std::same_as<typename B::Value>;
  /// From one kind to another: integers are signed, to kI32 they lose the upper bits; a float that
  /// becomes an integer lies in its range, and is truncated.
  { b.convert(value, kind, kind) } -> std::same_as<typename B::Value>;
  /// The same bits in another kind of equal size.
  { b.bits(value, kind, kind) } -> std::same_as<typename B::Value>;
  /// A function of C's <math.h> by name ("sqrtf"), on operands of the kind.
  { b.call(name, kind, values) } -> std::same_as<typename B::Value>;

  // Variables, branches and loops. A loop is left by leave_unless, which stands in no branch of it.
  { b.variable(kind) } -> std::same_as<typename B::Variable>;
  { b.get(variable) } -> std::same_as<typename B::Value>;
  b.set(variable, value);
  b.begin_if(value);
  b.begin_else();
  b.end_if();
  b.begin_loop();
  b.leave_unless(value);
  b.end_loop();
};

/// The optional ops that `walk` knows, for a backend to claim. kFusedOps ask for an exact fma().
inline constexpr auto kWalkOps = concat(kArithmeticOps, kMathOps, kFusedOps, kVectorOps);

}  // namespace tenon::sdk
