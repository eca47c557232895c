// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A dialect of the C family: data, and functions for constructs that data cannot describe. The
// printer (c_printer.hpp) is shared.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sdk/program/dtype_info.hpp"
#include "sdk/program/view.hpp"
#include "tenon/program.h"

namespace tenon::sdk {

/// The pattern of an op that differs from the SPELLING of ops.def. {0} {1} {2} are its operands.
/// Rows are searched in order.
struct Spelling {
  enum class On : uint8_t { kAny, kBool, kInteger, kF32, kF64 };
  uint16_t op;
  On on;
  std::string_view pattern;
};

struct DialectData {
  std::string_view name;
  std::string_view DTypeInfo::*type;  ///< of variables
  std::span<const tn_opcode> ops;     ///< optional elementwise ones that it has (dialect_ops.hpp)
  std::span<const Spelling> spellings;
  std::span<const Spelling> approximations;  ///< of ops with TN_OP_APPROXIMATE
  std::string_view float_suffix;             ///< of functions on f32: "f" in C
  bool has_math;                             ///< has <math.h> of C
  bool integers_wrap;                        ///< + - * on integers wrap, as ops.def requires
  /// By tn_space: the qualifier of a pointer to it, and of an array in it. A null data() means that
  /// the language lacks the space.
  std::string_view pointer_space[8];
  std::string_view array_space[8];
  std::string_view index[13];   ///< by tn_axis: a u32 or i32; empty where there is none
  std::string_view barrier[4];  ///< by tn_scope: a statement; empty where there is none

  // Defaults are those of C.
  /// A constant variable: {0} type {1} name {2} value.
  std::string_view definition = "const {0} {1} = {2};";
  /// A mutable variable without a value: {0} type {1} name; and with an initial value {2}.
  std::string_view variable = "{0} {1};", initial = "{0} {1} = {2};";
  /// An array with one element for each lane: {0} type {1} name {2} lanes.
  std::string_view lanes = "{0} {1}[{2}];";
  /// {0} lanes {1} statement; l is the lane. Empty: the statement is printed for each lane.
  std::string_view lane_loop = "for (int l = 0; l < {0}; ++l) {1}";
  /// {0} type {1} name {2} begin {3} end {4} next, may be empty.
  std::string_view loop = "for ({0} {1} = {2}; {1} < {3};{4}) {";
  std::string_view loop_hint;  ///< before a loop to unroll; may be empty
  std::string_view roll_hint;  ///< before any other loop; may be empty

  bool contracts;           ///< sums of f32 and f64 with TN_OP_CONTRACT are printed as TN_OP_FMA
  bool has_plain_integers;  ///< i32 and i64 use + - * for ops with TN_OP_NO_WRAP
  uint8_t wide_float = TN_DTYPE_F64;  ///< dtype to compute narrow floats in: f64 or f32
};

/// An element that a TAKE, STORE or ATOMIC touches; the first one where it touches several.
struct Element {
  const tn_param& param;
  std::string memory;          ///< the name of the param's variable
  std::string index;           ///< an expression
  uint8_t index_dtype;         ///< of the expression: i32 or i64
  bool follows_store = false;  ///< a conditional store after an unconditional one to this memory
  uint8_t dtype() const { return static_cast<uint8_t>(param.dtype); }
};

class Dialect {
 public:
  virtual ~Dialect() = default;
  virtual const DialectData& data() const = 0;

  /// The text before the kernel: includes and helper functions. `kernel` is the text of the kernel,
  /// so that only used helpers need be printed.
  virtual std::string prelude(const ProgramView& program, std::string_view kernel) const = 0;
  /// The kernel header up to its opening brace, and definitions of a variable param_name() for each
  /// BUFFER and SCALAR param.
  virtual std::string header(const ProgramView& program) const = 0;
  virtual std::string footer(const ProgramView&) const { return "}\n"; }
  virtual std::string literal(uint64_t bits, uint8_t dtype) const = 0;
  virtual std::string cast(const std::string& value, uint8_t from, uint8_t to) const = 0;
  virtual std::string bit_cast(const std::string& value, uint8_t from, uint8_t to) const = 0;

  /// Whether spell() handles the op on a narrow float; else it is computed in wide_float.
  virtual bool computes(uint16_t, uint8_t) const { return false; }
  /// An elementwise op, except CAST, as an expression. `dtype` is that of its (last) operand. Uses
  /// rows of the dialect, then ops.def, else calls the helper tn_<op>_<dtype>.
  virtual std::string spell(uint16_t op, uint8_t dtype,
                            std::span<const std::string> operands) const;
  /// A statement that defines the scalar `name`, the value of `op`.
  virtual std::string define(const tn_op& op, const std::string& name,
                             const std::string& value) const;
  /// The value of `op`, written so that compilers do not change it.
  virtual std::string materialised(const tn_op&, const std::string& value) const { return value; }
  /// A statement that declares `name`, a variable or an array of lanes that is assigned later.
  virtual std::string declare(const tn_op& of, const std::string& name) const;

  /// The statement of an allocation, empty if header() declares it. `place` is its place in its
  /// space.
  virtual std::string allocation(const ProgramView& program, const tn_param& param,
                                 const AllocationPlace& place) const;
  virtual std::string load(const Element& at, const tn_op& op) const;
  virtual std::string store(const Element& at, const std::string& value, const tn_op& op) const;
  /// A store if `mask` is true. If it is false, the element may be out of bounds.
  virtual std::string masked_store(const Element& at, const std::string& mask,
                                   const std::string& value, const tn_op& op) const;
  /// The value of a masked load if its mask is false.
  virtual std::string fill(const tn_op&, const std::string& value) const { return value; }
  /// Accesses all lanes of an unmasked TAKE or STORE of consecutive elements at once, to or from
  /// the array `lanes`. Empty: lanes are printed one by one.
  virtual std::string load_lanes(const Element& at, const std::string& lanes,
                                 const tn_op& op) const;
  virtual std::string store_lanes(const Element& at, const std::string& lanes, uint32_t count,
                                  const tn_op& op) const;
  /// An expression that returns the old value. `values` are the operands after the index. Throws
  /// TN_ERROR_UNSUPPORTED unless overridden.
  virtual std::string atomic(const Element& at, const std::vector<std::string>& values,
                             const tn_op& op) const;
  /// A statement. Throws TN_ERROR_UNSUPPORTED if data().barrier has none.
  virtual std::string barrier(const ProgramView& program, const tn_op& op) const;

  /// Statements for subgroup, matrix and asynchronous copy ops, which define `name` if the op has a
  /// value. Operands are given by name. Throws TN_ERROR_UNSUPPORTED unless overridden.
  virtual std::string statement(const ProgramView& program, const tn_op& op,
                                const std::string& name,
                                const std::vector<std::string>& operands) const;

  /// The type of a fragment with opaque elements; empty for other values, and if fragments are
  /// arrays.
  virtual std::string fragment_type(uint32_t) const { return {}; }
  /// `value`, called `name`, as a fragment like `like`; for arrays, one with equal elements.
  virtual std::string fragment(uint32_t /*like*/, uint32_t /*value*/,
                               const std::string& name) const {
    return name;
  }
  /// The spelling of an op that may be less exact; empty if the language has nothing faster.
  std::string spell_approximate(uint16_t op, uint8_t dtype,
                                std::span<const std::string> operands) const {
    return find_spelling(data().approximations, op, dtype, operands);
  }

  /// Names that cannot clash with keywords or helpers.
  static std::string function_name(const ProgramView& program);
  static std::string param_name(const ProgramView& program, const tn_param& param);
  static std::string value_name(uint32_t value);

  /// Throw TN_ERROR_UNSUPPORTED if the language lacks the type.
  std::string_view value_type(uint8_t dtype) const;
  /// Type of elements in memory.
  virtual std::string_view memory_type(uint8_t dtype) const { return value_type(dtype); }

 private:
  static std::string find_spelling(std::span<const Spelling> rows, uint16_t op, uint8_t dtype,
                                   std::span<const std::string> operands);

 protected:
  /// Throws TN_ERROR_UNSUPPORTED: the language lacks the op.
  [[noreturn]] void refuse(const tn_op& op) const;
};

/// `pattern` with {0} to {9} replaced.
std::string fill_pattern(std::string_view pattern, std::span<const std::string> operands);
std::string fill_pattern(std::string_view pattern, std::initializer_list<std::string> operands);

}  // namespace tenon::sdk
