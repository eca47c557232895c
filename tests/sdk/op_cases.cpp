// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/sdk/op_cases.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "sdk/program/op_info.hpp"
#include "sdk/program/scalar.hpp"

namespace tenon::sdk {
namespace {

std::vector<uint64_t> special_values(uint8_t dtype) {
  if (dtype == TN_DTYPE_BOOL) return {0, 1};
  std::vector<uint64_t> out;
  const uint64_t ones = ~uint64_t{0} >> (64 - 8 * dtype_bytes(dtype));
  const uint64_t sign = ones / 2 + 1;
  for (uint64_t bits :
       {uint64_t{0}, uint64_t{1}, uint64_t{2}, uint64_t{3}, uint64_t{7}, uint64_t{31}, uint64_t{64},
        sign, sign - 1, sign + 1, ones, ones - 2, ones / 3, ones / 5 * 2}) {
    out.push_back(bits & ones);
  }
  if (dtype_bytes(dtype) == 8 && !is_float(dtype)) {
    // Beside ties of f64, f32 and bf16, where rounding twice, or cutting a bit, goes wrong.
    for (uint64_t bits : {(sign | 0x400) + 1, (sign | uint64_t{1} << 39) + 1,
                          (uint64_t{1} << 62) + (uint64_t{3} << 54) - 1,
                          (uint64_t{1} << 62) + (uint64_t{1} << 54) + 1}) {
      out.push_back(bits);
    }
  }
  if (is_float(dtype)) {
    for (double value : {1.0, -1.0, 0.5, -2.75, 3.14159, 1e-3, 100.25, -300.0, 449.0, 65504.0, 1e9,
                         -1e18, 3e38, 1e-40, double{INFINITY}, -double{INFINITY}, double{NAN}}) {
      out.push_back(from_double(value, dtype));
    }
  }
  return out;
}

Bytes pack(const std::vector<uint64_t>& values, uint8_t dtype) {
  const size_t size = dtype_bytes(dtype);
  Bytes out(values.size() * size);
  for (size_t i = 0; i < values.size(); ++i) std::memcpy(&out[i * size], &values[i], size);
  return out;
}
uint64_t unpack(const Bytes& bytes, size_t i, uint8_t dtype) {
  uint64_t bits = 0;
  std::memcpy(&bits, &bytes[i * dtype_bytes(dtype)], dtype_bytes(dtype));
  return bits;
}

bool is_transcendental(uint16_t op) {
  return op == TN_OP_EXP2 || op == TN_OP_LOG2 || op == TN_OP_SIN || op == TN_OP_COS ||
         op == TN_OP_EXP || op == TN_OP_LN;
}

bool agrees(uint16_t op, uint8_t dtype, uint64_t got, uint64_t expected) {
  if (got == expected) return true;
  if (!is_float(dtype) || op == TN_OP_NEG) return false;  // it flips one bit, of NaN too
  if (std::isnan(to_double(got, dtype))) return std::isnan(to_double(expected, dtype));
  return is_transcendental(op) && (got - expected <= 2 || expected - got <= 2);  // ULP
}

std::vector<const OpInfo*> elementwise_ops(uint8_t dtype, std::span<const tn_opcode> claimed) {
  std::vector<const OpInfo*> ops;
  for (const OpInfo& op : all_ops()) {
    const bool is_there =
        !(op.flags & kOpOptional) || std::ranges::find(claimed, op.op) != claimed.end();
    if (is_there && is_elementwise(op) && op.op != TN_OP_CAST && takes(op.types, dtype))
      ops.push_back(&op);
  }
  return ops;
}
tn_dtype result_dtype(const OpInfo& op, tn_dtype dtype) {
  return op.kind == OpKind::COMPARE ? TN_DTYPE_BOOL : dtype;
}

std::vector<std::string> elementwise_differences(const OpCase& done, tn_dtype dtype,
                                                 std::span<const OpInfo* const> ops) {
  std::vector<std::string> out;
  const ScalarFunction less = scalar_function(TN_OP_CMPLT, dtype, TN_DTYPE_BOOL);
  for (size_t k = 0; k < ops.size(); ++k) {
    const uint16_t op = ops[k]->op;
    const tn_dtype result = result_dtype(*ops[k], dtype);
    const ScalarFunction function = scalar_function(op, dtype, result);
    for (uint32_t i = 0; i < done.count; ++i) {
      uint64_t in[3];
      for (size_t j = 0; j < 3; ++j) in[j] = unpack(done.bytes[j], i, dtype);
      const uint64_t first = op == TN_OP_WHERE ? less(in[0], 0, 0) : in[0];
      const uint64_t expected = function(first, in[1], in[2]);
      const uint64_t got = unpack(done.bytes[3 + k], i, result);
      if (agrees(op, result, got, expected)) continue;
      out.push_back(fmt::format("{} {} of {} {} {}: got {}, expected {}", ops[k]->text,
                                dtype_text(dtype), scalar_text(in[0], dtype),
                                scalar_text(in[1], dtype), scalar_text(in[2], dtype),
                                scalar_text(got, result), scalar_text(expected, result)));
    }
  }
  return out;
}

struct CastOut {
  tn_dtype dtype;
  uint64_t kind;
};
std::vector<CastOut> casts_of(tn_dtype from) {
  std::vector<CastOut> out;
  for (const tn_dtype to : tested_dtypes()) {
    out.push_back({to, TN_CAST_VALUE});
    if (dtype_bytes(from) == dtype_bytes(to)) out.push_back({to, TN_CAST_BITS});
  }
  return out;
}

std::vector<std::string> cast_differences(const OpCase& done, tn_dtype from) {
  std::vector<std::string> out;
  const auto casts = casts_of(from);
  for (size_t k = 0; k < casts.size(); ++k) {
    for (uint32_t i = 0; i < done.count; ++i) {
      const tn_dtype to = casts[k].dtype;
      const uint64_t value = unpack(done.bytes[0], i, from);
      const uint64_t moved = to == TN_DTYPE_BOOL ? value != 0 : value;
      const uint64_t expected = casts[k].kind == TN_CAST_BITS ? moved : convert(value, from, to);
      const uint64_t got = unpack(done.bytes[1 + k], i, to);
      if (agrees(TN_OP_CAST, to, got, expected)) continue;
      out.push_back(fmt::format("cast {} to {} of {}: got {:#x}, expected {:#x}", dtype_text(from),
                                dtype_text(to), scalar_text(value, from), got, expected));
    }
  }
  return out;
}

}  // namespace

std::vector<TestArgument> OpCase::arguments() {
  std::vector<TestArgument> out;
  for (auto& each : bytes) out.push_back({&each});
  return out;
}

std::span<const tn_dtype> tested_dtypes() {
  static const auto& codes = *new std::vector<tn_dtype>([] {
    std::vector<tn_dtype> all;
    for (const DTypeInfo& row : all_dtypes()) all.push_back(static_cast<tn_dtype>(row.dtype));
    return all;
  }());
  return codes;
}

OpCase elementwise_case(tn_dtype dtype, std::span<const tn_opcode> claimed) {
  OpCase out;
  const std::vector<uint64_t> values = special_values(dtype);
  std::vector<uint64_t> a, b, c;
  for (uint64_t x : values) {
    for (uint64_t y : values) {
      a.push_back(x);
      b.push_back(y);
      c.push_back(values[(a.size() * 7) % values.size()]);
    }
  }
  out.count = static_cast<uint32_t>(a.size());
  out.bytes = {pack(a, dtype), pack(b, dtype), pack(c, dtype)};
  ProgramBuilder builder("elementwise");
  std::vector<ProgramBuilder::Value> in, results, x;
  for (const char* name : {"int", "l", "c"}) {
    in.push_back(builder.buffer(name, dtype, TN_ACCESS_READ));
  }
  const auto ops = elementwise_ops(dtype, claimed);
  for (const OpInfo* op : ops) {
    const tn_dtype result = result_dtype(*op, dtype);
    results.push_back(builder.buffer("out_" + std::string(op->text), result, TN_ACCESS_WRITE));
    out.bytes.emplace_back(out.count * dtype_bytes(result));
  }
  const auto at = builder.index(TN_AXIS_GRID_X, TN_DTYPE_I64);
  for (auto buffer : in) x.push_back(builder.op(TN_OP_TAKE, dtype, 1, {buffer, at}));
  const auto zero = builder.constant(dtype, 0);
  const auto condition = builder.op(TN_OP_CMPLT, TN_DTYPE_BOOL, 1, {x[0], zero});
  for (size_t k = 0; k < ops.size(); ++k) {
    std::vector<ProgramBuilder::Value> operands(x.begin(), x.begin() + ops[k]->arity);
    if (ops[k]->op == TN_OP_WHERE) operands[0] = condition;
    const auto value =
        builder.op(static_cast<tn_opcode>(ops[k]->op), result_dtype(*ops[k], dtype), 1, operands);
    builder.op(TN_OP_STORE, TN_DTYPE_VOID, 0, {results[k], at, value});
  }
  out.program = builder.finish();
  out.differences = [dtype, ops](const OpCase& done) {
    return elementwise_differences(done, dtype, ops);
  };
  return out;
}

OpCase cast_case(tn_dtype from) {
  OpCase out;
  std::vector<uint64_t> values = special_values(from);
  for (uint64_t code = 0; dtype_bytes(from) == 1 && from != TN_DTYPE_BOOL && code < 256; ++code) {
    values.push_back(code);
  }
  out.count = static_cast<uint32_t>(values.size());
  out.bytes = {pack(values, from)};
  ProgramBuilder builder("casts");
  const auto in = builder.buffer("x", from, TN_ACCESS_READ);
  std::vector<ProgramBuilder::Value> results;
  const auto casts = casts_of(from);
  for (const CastOut& cast : casts) {
    const std::string name = fmt::format("y{}_{}", cast.kind, dtype_text(cast.dtype));
    results.push_back(builder.buffer(name, cast.dtype, TN_ACCESS_WRITE));
    out.bytes.emplace_back(out.count * dtype_bytes(cast.dtype));
  }
  const auto at = builder.index(TN_AXIS_GRID_X, TN_DTYPE_I32);
  const auto x = builder.op(TN_OP_TAKE, from, 1, {in, at});
  for (size_t k = 0; k < casts.size(); ++k) {
    const auto value = builder.op(TN_OP_CAST, casts[k].dtype, 1, {x}, casts[k].kind);
    builder.op(TN_OP_STORE, TN_DTYPE_VOID, 0, {results[k], at, value});
  }
  out.program = builder.finish();
  out.differences = [from](const OpCase& done) { return cast_differences(done, from); };
  return out;
}

}  // namespace tenon::sdk
