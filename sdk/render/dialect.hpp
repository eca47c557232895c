// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How one language of the C family spells what a program says: data, and a few functions for what
// is more than a word. The printer (c_printer.hpp) does the rest for all of them.
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

/// Pattern of an op that the language says otherwise than the SPELLING of ops.def: {0} {1} {2} are
/// its operands. Rows are searched in order.
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
  bool has_math;                             ///< C's <math.h> is there
  bool integers_wrap;                        ///< + - * on integers are as ops.def has them
  /// By tn_space: what stands before a pointer to it, and before an array allocated in it. A null
  /// data() says that the language has no such space.
  std::string_view pointer_space[8];
  std::string_view array_space[8];
  std::string_view index[13];   ///< by tn_axis: a u32 or i32; empty where there is none
  std::string_view barrier[4];  ///< by tn_scope: a statement; empty where there is none

  // Unless a dialect says otherwise, as C has them.
  /// Of a variable that does not change: {0} type {1} name {2} value.
  std::string_view definition = "const {0} {1} = {2};";
  /// Of one that does, without a value: {0} type {1} name; and with its first, {2}.
  std::string_view variable = "{0} {1};", initial = "{0} {1} = {2};";
  /// Of an array, one element a lane: {0} type {1} name {2} lanes.
  std::string_view lanes = "{0} {1}[{2}];";
  /// {0} lanes {1} statement; l is the lane. Empty: the statement is printed for each.
  std::string_view lane_loop = "for (int l = 0; l < {0}; ++l) {1}";
  /// {0} type {1} name {2} begin {3} end {4} next, may be empty.
  std::string_view loop = "for ({0} {1} = {2}; {1} < {3};{4}) {";
  std::string_view loop_hint;  ///< before a loop that is worth unrolling; may be empty
  std::string_view roll_hint;  ///< before any other loop; may be empty

  bool contracts;           ///< sums of f32 and f64 with TN_OP_CONTRACT are printed as TN_OP_FMA
  bool has_plain_integers;  ///< i32 and i64 take + - * where TN_OP_NO_WRAP says they fit
  uint8_t wide_float = TN_DTYPE_F64;  ///< what other narrow floats are computed in, or TN_DTYPE_F32
};

/// An element that a TAKE, STORE or ATOMIC touches; the first one where it touches several.
struct Element {
  const tn_param& param;
  std::string memory;     ///< the name of the param's variable
  std::string index;      ///< an expression
  uint8_t index_dtype;    ///< of the expression: i32 or i64
  bool is_again = false;  ///< a store under a condition, after one to this memory without it
  uint8_t dtype() const { return static_cast<uint8_t>(param.dtype); }
};

class Dialect {
 public:
  virtual ~Dialect() = default;
  virtual const DialectData& data() const = 0;

  /// Everything before the kernel: includes, helper functions. `kernel` is the kernel's text, so
  /// that only what it uses need be printed.
  virtual std::string prelude(const ProgramView& program, std::string_view kernel) const = 0;
  /// Up to the kernel's opening brace, and what binds each BUFFER and SCALAR param to a variable
  /// called param_name().
  virtual std::string header(const ProgramView& program) const = 0;
  virtual std::string footer(const ProgramView&) const { return "}\n"; }
  virtual std::string literal(uint64_t bits, uint8_t dtype) const = 0;
  virtual std::string cast(const std::string& value, uint8_t from, uint8_t to) const = 0;
  virtual std::string bit_cast(const std::string& value, uint8_t from, uint8_t to) const = 0;

  /// Whether spell() writes the op on a narrow float directly; else it goes through wide_float.
  virtual bool computes(uint16_t, uint8_t) const { return false; }
  /// An elementwise op but CAST as an expression; `dtype` is that of its (last) operand. By the
  /// dialect's own rows, by ops.def, or else a call of the prelude's function tn_<op>_<dtype>.
  virtual std::string spell(uint16_t op, uint8_t dtype,
                            std::span<const std::string> operands) const;
  /// A statement that defines the scalar `name`, the value of `op`.
  virtual std::string define(const tn_op& op, const std::string& name,
                             const std::string& value) const;
  /// The value of `op` in such words that no compiler makes another of it.
  virtual std::string materialised(const tn_op&, const std::string& value) const { return value; }
  /// A statement that declares `name`, a variable or an array of lanes that is assigned later.
  virtual std::string declare(const tn_op& of, const std::string& name) const;

  /// An allocation's statement, empty if header() has made it; `place` is where it stands in its
  /// space.
  virtual std::string allocation(const ProgramView& program, const tn_param& param,
                                 const AllocationPlace& place) const;
  virtual std::string load(const Element& at, const tn_op& op) const;
  virtual std::string store(const Element& at, const std::string& value, const tn_op& op) const;
  /// The store where `mask` is true; the element need not be there where it is false.
  virtual std::string masked_store(const Element& at, const std::string& mask,
                                   const std::string& value, const tn_op& op) const;
  /// What a masked load gives where its mask is false.
  virtual std::string fill(const tn_op&, const std::string& value) const { return value; }
  /// All lanes of an unmasked TAKE or STORE of consecutive elements at once, to or from the array
  /// `lanes` that is there; empty: they are printed one by one.
  virtual std::string load_lanes(const Element& at, const std::string& lanes,
                                 const tn_op& op) const;
  virtual std::string store_lanes(const Element& at, const std::string& lanes, uint32_t count,
                                  const tn_op& op) const;
  /// An expression, the old value; `values` are the operands after the index. Throws
  /// TN_ERROR_UNSUPPORTED unless overridden.
  virtual std::string atomic(const Element& at, const std::vector<std::string>& values,
                             const tn_op& op) const;
  /// A statement; throws TN_ERROR_UNSUPPORTED where data().barrier has none.
  virtual std::string barrier(const ProgramView& program, const tn_op& op) const;

  /// One or more statements for an op that the printer does not know (subgroup, matrix and
  /// asynchronous copy ops), defining `name` if it has a value; operands by name. Throws
  /// TN_ERROR_UNSUPPORTED unless overridden.
  virtual std::string statement(const ProgramView& program, const tn_op& op,
                                const std::string& name,
                                const std::vector<std::string>& operands) const;

  /// The type of a fragment's variable where its lanes have no names in the language; empty for all
  /// other values, and where fragments are arrays.
  virtual std::string fragment_type(uint32_t) const { return {}; }
  /// `value`, called `name`, as a fragment like that one: an array is one of equal elements.
  virtual std::string fragment(uint32_t /*like*/, uint32_t /*value*/,
                               const std::string& name) const {
    return name;
  }
  /// Of ops that may be less exact; empty where the language has nothing faster.
  std::string spell_approximate(uint16_t op, uint8_t dtype,
                                std::span<const std::string> operands) const {
    return find_spelling(data().approximations, op, dtype, operands);
  }

  /// Names that no word of the language or helper can be.
  static std::string function_name(const ProgramView& program);
  static std::string param_name(const ProgramView& program, const tn_param& param);
  static std::string value_name(uint32_t value);

  /// Throw TN_ERROR_UNSUPPORTED where the language has none.
  std::string_view value_type(uint8_t dtype) const;
  /// Behind pointers and in arrays.
  virtual std::string_view memory_type(uint8_t dtype) const { return value_type(dtype); }

 private:
  static std::string find_spelling(std::span<const Spelling> rows, uint16_t op, uint8_t dtype,
                                   std::span<const std::string> operands);

 protected:
  /// Throws TN_ERROR_UNSUPPORTED: the language has no words for the op.
  [[noreturn]] void refuse(const tn_op& op) const;
};

/// `pattern` with {0} to {9} replaced.
std::string fill_pattern(std::string_view pattern, std::span<const std::string> operands);
std::string fill_pattern(std::string_view pattern, std::initializer_list<std::string> operands);

}  // namespace tenon::sdk
