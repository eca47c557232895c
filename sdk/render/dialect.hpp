// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How one language of the C family spells what a program says: data, and a few functions for what
// is more than a word. The printer (c_printer.hpp) does the rest for all of them.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sdk/helpers/program_view.hpp"
#include "tenon/program.h"

namespace tenon::sdk {

/// Pattern of an op: {0} {1} {2} are its operands. Rows are searched in order; where none matches
/// the op is a call of the prelude's function tn_<op>_<dtype>.
struct Spelling {
  enum class On : uint8_t { kAny, kBool, kInteger, kF32, kF64 };
  uint16_t op;
  On on;
  std::string_view pattern;
};

struct TypeName {
  uint8_t dtype;
  std::string_view value;   ///< in variables
  std::string_view memory;  ///< behind pointers and in arrays
};

struct DialectData {
  std::string_view name;
  std::span<const TypeName> types;
  std::span<const Spelling> spellings;
  /// By tn_space: what stands before a pointer to it, and before an array allocated in it. A null
  /// data() says that the language has no such space.
  std::string_view pointer_space[8];
  std::string_view array_space[8];
  std::string_view index[13];   ///< by tn_axis: an expression; empty where there is none
  std::string_view barrier[4];  ///< by tn_scope: a statement; empty where there is none
  std::string_view lane_loop;   ///< {0} is the number of lanes, l the lane
  std::string_view loop_hint;   ///< before a loop that is worth unrolling; may be empty
  std::string_view constant;    ///< before the type of a variable that does not change
  bool has_narrow_floats;       ///< arithmetic on f16 and bf16 is written as on f32
};

class Dialect {
 public:
  virtual ~Dialect() = default;
  virtual const DialectData& data() const = 0;

  /// Everything before the kernel: includes, helper functions.
  virtual std::string prelude(const ProgramView& program) const = 0;
  /// From function_name() to its opening brace, and what binds each BUFFER and SCALAR param to a
  /// variable called param_name().
  virtual std::string header(const ProgramView& program) const = 0;
  virtual std::string footer(const ProgramView&) const { return "}\n"; }
  virtual std::string literal(uint64_t bits, uint8_t dtype) const = 0;
  virtual std::string cast(const std::string& value, uint8_t from, uint8_t to) const = 0;
  virtual std::string bit_cast(const std::string& value, uint8_t from, uint8_t to) const = 0;
  /// An allocation; `place` is where it stands in its space.
  virtual std::string allocation(const ProgramView& program, const tn_param& param,
                                 const AllocationPlace& place) const;
  virtual std::string load(std::string_view memory, const std::string& index,
                           const tn_op& op) const;
  virtual std::string store(std::string_view memory, const std::string& index,
                            const std::string& value, const tn_op& op) const;
  /// An expression; throws TN_ERROR_UNSUPPORTED unless overridden.
  virtual std::string atomic(std::string_view memory, const std::vector<std::string>& operands,
                             const tn_op& op) const;

  /// One or more statements for an op that the printer does not know (subgroup, matrix and
  /// asynchronous copy ops), defining `name` if it has a value; operands by name. Throws
  /// TN_ERROR_UNSUPPORTED unless overridden.
  virtual std::string statement(const ProgramView& program, const tn_op& op,
                                const std::string& name,
                                const std::vector<std::string>& operands) const;

  /// Names that no word of the language or helper can be.
  static std::string function_name(const ProgramView& program);
  static std::string param_name(const ProgramView& program, const tn_param& param);

  std::string_view value_type(uint8_t dtype) const;
  std::string_view memory_type(uint8_t dtype) const;
};

/// `pattern` with {0} {1} {2} replaced.
std::string fill_pattern(std::string_view pattern, std::span<const std::string> operands);

}  // namespace tenon::sdk
