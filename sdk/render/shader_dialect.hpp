// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Shared by GLSL and WGSL: bool is a separate type, integers below 32 bits are held in i32 and u32,
// and narrow floats as bits in a u32, computed in f32 and rounded once.
#pragma once

#include <algorithm>
#include <array>
#include <iterator>
#include <set>
#include <string>

#include "sdk/program/op_info.hpp"
#include "sdk/render/dialect.hpp"

namespace tenon::sdk {

/// How transcendental functions are printed: those of a driver may be less exact than the profile
/// that its plugin declares.
struct ShaderMath {
  bool native_exp = false;  ///< use functions of the language for the family POWER
  bool native_log = false;  ///< LOG
  bool native_sin = false;  ///< ANGLE
};

/// Spellings of both languages.
inline constexpr Spelling kShaderSpellings[] = {
    {TN_OP_CMPLT, Spelling::On::kBool, "!{0} && {1}"},
    {TN_OP_ADD, Spelling::On::kBool, "{0} || {1}"},
    {TN_OP_MUL, Spelling::On::kBool, "{0} && {1}"},
    {TN_OP_MAX, Spelling::On::kBool, "{0} || {1}"},
    {TN_OP_MIN, Spelling::On::kBool, "{0} && {1}"},
    {TN_OP_AND, Spelling::On::kBool, "{0} && {1}"},
    {TN_OP_OR, Spelling::On::kBool, "{0} || {1}"},
    {TN_OP_XOR, Spelling::On::kBool, "{0} != {1}"},
    {TN_OP_MAX, Spelling::On::kInteger, "max({0}, {1})"},
    {TN_OP_MIN, Spelling::On::kInteger, "min({0}, {1})"},
    {TN_OP_NEG, Spelling::On::kInteger, "0 - {0}"},
    {TN_OP_NEG, Spelling::On::kF32, "-{0}"},
};
/// And a language's own after it.
template <size_t Count>
constexpr auto with_shader_spellings(const Spelling (&own)[Count]) {
  std::array<Spelling, std::size(kShaderSpellings) + Count> all{};
  std::copy(std::begin(own), std::end(own),
            std::copy(std::begin(kShaderSpellings), std::end(kShaderSpellings), all.begin()));
  return all;
}
constexpr DialectData shader_data() {
  DialectData data = {};
  data.integers_wrap = true;
  data.contracts = true;
  data.lane_loop = {};
  data.wide_float = TN_DTYPE_F32;
  return data;
}

class ShaderDialect : public Dialect {
 public:
  ShaderDialect(const ProgramView& program, const ShaderMath& math);

  std::string cast(const std::string& value, uint8_t from, uint8_t to) const override;
  std::string bit_cast(const std::string& value, uint8_t from, uint8_t to) const override;
  bool computes(uint16_t op, uint8_t dtype) const override;
  std::string spell(uint16_t op, uint8_t dtype,
                    std::span<const std::string> operands) const override;
  std::string materialised(const tn_op& op, const std::string& value) const override;
  std::string allocation(const ProgramView& program, const tn_param& param,
                         const AllocationPlace& place) const override;
  std::string load_lanes(const Element& at, const std::string& lanes,
                         const tn_op& op) const override;
  std::string store_lanes(const Element& at, const std::string& lanes, uint32_t count,
                          const tn_op& op) const override;

 protected:
  /// A float with zero low bits, from its upper word (the whole f32), hidden from constant folding.
  std::string opaque_float(uint32_t upper, uint8_t dtype) const;
  /// Bit casts between a 32- or 64-bit float and the unsigned integer of its size.
  virtual std::string float_of_bits(const std::string& bits, uint8_t to) const = 0;
  virtual std::string bits_of_float(const std::string& value, uint8_t from) const = 0;

  /// A value of at most 32 bits from its zero-extended bits in a u32.
  std::string from_bits(const std::string& bits, uint8_t to) const;
  std::string to_bits(const std::string& value, uint8_t from) const;
  std::string convert(uint8_t to, const std::string& value) const;

  /// Whether a buffer is an array of vectors of four, as it is only accessed by such vectors.
  bool is_wide(std::string_view memory) const { return wide_.contains(memory); }
  virtual std::string vector_type(uint8_t dtype) const = 0;

  /// The statement of a SUBGROUP op; other ops are refused.
  std::string subgroup_statement(const ProgramView& program, const tn_op& op,
                                 const std::string& name,
                                 const std::vector<std::string>& operands) const;

  /// The index of an element. A constant index out of bounds can only occur under a false mask, but
  /// compilers refuse it, so it becomes 0.
  static std::string index_of(const Element& at);

  /// The shortest text that parses to the same normal number, with a point or an exponent.
  static std::string decimal(float value);
  static std::string decimal(double value);

  /// The dtype whose variables hold values of `dtype`.
  static uint8_t variable_dtype(uint8_t dtype);
  /// Whether variables of the dtype hold its bits.
  static bool is_coded(uint8_t dtype);

 private:
  std::string round_literal(uint32_t upper, uint8_t dtype) const;
  std::string with_zeros(uint16_t op, uint8_t dtype, std::span<const std::string> operands) const;
  std::string wrap(const std::string& value, uint8_t to) const;
  std::string truncate(const std::string& value, uint8_t from, uint8_t to) const;
  bool is_native(OpFamily family) const;
  std::string vector_at(const Element& at, uint32_t lane) const;
  ShaderMath math_;
  std::set<std::string, std::less<>> wide_;
};

}  // namespace tenon::sdk
