// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Every elementwise op on every dtype, scalar and vector, against the meaning in the sdk.
#include <catch2/catch_test_macros.hpp>
#include <cmath>

#include "sdk/program/op_info.hpp"
#include "sdk/program/scalar.hpp"
#include "sdk/program/view.hpp"
#include "tests/cpu/harness.hpp"

namespace tenon::cpu_test {
namespace {

std::vector<tn_dtype> computed_dtypes() {
  return dtypes_where(
      [](const sdk::DTypeInfo& row) { return row.claim == sdk::DTypeClaim::COMPUTE; });
}
std::vector<tn_dtype> narrow_floats() {
  return dtypes_where([](const sdk::DTypeInfo& row) { return is_float(row) && row.bytes < 4; });
}

bool is_nan(uint64_t bits, tn_dtype dtype) {
  return sdk::is_float(dtype) && std::isnan(sdk::to_double(bits, dtype));
}

/// In units of the last place; 0 where equal. Floats are ordered as sign and magnitude.
uint64_t distance(uint64_t a, uint64_t b, tn_dtype dtype) {
  if (a == b || (is_nan(a, dtype) && is_nan(b, dtype))) return 0;
  if (!sdk::is_float(dtype) || is_nan(a, dtype) || is_nan(b, dtype)) return UINT64_MAX;
  const uint32_t bits = sdk::dtype_bytes(dtype) * 8;
  const uint64_t sign = uint64_t{1} << (bits - 1);
  const auto line = [&](uint64_t v) {
    return v & sign ? -static_cast<int64_t>(v & (sign - 1)) : static_cast<int64_t>(v);
  };
  // -0 and +0 are one step apart.
  const uint64_t zeros = (a & sign) != (b & sign);
  return static_cast<uint64_t>(std::abs(line(a) - line(b))) + zeros;
}

uint64_t tolerance(uint16_t op, tn_dtype dtype) {
  const bool loose = op == TN_OP_EXP2 || op == TN_OP_LOG2 || op == TN_OP_EXP || op == TN_OP_LN;
  if (dtype == TN_DTYPE_F64) return loose || op == TN_OP_SIN || op == TN_OP_COS ? 1 : 0;
  if (op == TN_OP_SIN || op == TN_OP_COS) return 4;
  return loose ? 3 : 0;
}

struct Inputs {
  std::vector<Bytes> columns;
  size_t count = 0;
};

/// All combinations of two operands; a third goes around.
Inputs make_inputs(std::span<const tn_dtype> dtypes, uint16_t lanes) {
  std::vector<std::vector<uint64_t>> values;
  for (tn_dtype dtype : dtypes) values.push_back(interesting_values(dtype, 150));
  Inputs inputs;
  inputs.count = values[0].size() * (values.size() > 1 ? values[1].size() : 1);
  inputs.count = (inputs.count + lanes - 1) / lanes * lanes;
  for (size_t c = 0; c < dtypes.size(); ++c) {
    const uint32_t size = sdk::dtype_bytes(dtypes[c]);
    Bytes column(inputs.count * size);
    for (size_t i = 0; i < inputs.count; ++i) {
      const size_t at = c == 0 ? i : c == 1 ? i / values[0].size() : i * 7 + i / 13;
      set_element(column, i, size, values[c][at % values[c].size()]);
    }
    inputs.columns.push_back(std::move(column));
  }
  return inputs;
}

void check_op(const sdk::OpInfo& op, tn_dtype dtype, uint16_t lanes) {
  const bool compares = op.kind == sdk::OpKind::COMPARE;
  const tn_dtype output = compares ? TN_DTYPE_BOOL : dtype;
  const sdk::ScalarFunction expected = sdk::scalar_function(op.op, dtype, output);
  if (!expected) return;
  std::vector<tn_dtype> dtypes(static_cast<size_t>(op.arity), dtype);
  if (op.op == TN_OP_WHERE) dtypes[0] = TN_DTYPE_BOOL;
  Inputs inputs = make_inputs(dtypes, lanes);
  const uint32_t size = sdk::dtype_bytes(output);
  Bytes out(inputs.count * size, 0xcd);
  std::vector<Argument> arguments;
  for (Bytes& column : inputs.columns) arguments.push_back({&column});
  arguments.push_back({&out});
  const Device& device = shared_device();
  const Executable executable =
      device.compile(elementwise_program(static_cast<tn_opcode>(op.op), dtypes, output, lanes));
  device.run(executable, {static_cast<uint32_t>(inputs.count / lanes)}, {}, arguments);

  size_t wrong = 0;
  for (size_t i = 0; i < inputs.count; ++i) {
    uint64_t v[3] = {};
    for (size_t c = 0; c < dtypes.size(); ++c)
      v[c] = element(inputs.columns[c], i, sdk::dtype_bytes(dtypes[c]));
    const uint64_t got = element(out, i, size), want = expected(v[0], v[1], v[2]);
    if (distance(got, want, output) <= tolerance(op.op, dtype)) continue;
    if (wrong++ == 0) {
      UNSCOPED_INFO(op.text << " " << sdk::dtype_text(dtype) << " x" << lanes << std::hex << " of "
                            << v[0] << " " << v[1] << " " << v[2] << ": expected " << want
                            << ", got " << got);
    }
  }
  CHECK(wrong == 0);
}

bool has(const sdk::OpInfo& op) {
  const uint64_t* claimed = shared_device().properties().native_ops;
  return !(op.flags & sdk::kOpOptional) || (claimed[op.op >> 6] >> (op.op & 63) & 1);
}

/// Whatever is claimed is compiled and runs.
void check_all(uint16_t lanes) {
  size_t checked = 0;
  for (const sdk::OpInfo& op : sdk::all_ops()) {
    if (!sdk::is_elementwise(op) || op.op == TN_OP_CAST || !has(op)) continue;
    for (tn_dtype dtype : computed_dtypes()) {
      if (!sdk::takes(op.types, dtype)) continue;
      check_op(op, dtype, lanes);
      ++checked;
    }
  }
  CHECK(checked > 150);
}

}  // namespace

TEST_CASE("every elementwise op on scalars") { check_all(1); }
TEST_CASE("every elementwise op on whole vectors") { check_all(16); }
TEST_CASE("every elementwise op on odd vectors") { check_all(5); }
TEST_CASE("every elementwise op on vectors of several registers") { check_all(40); }

TEST_CASE("moves of narrow floats keep every bit") {
  for (tn_dtype dtype : narrow_floats()) {
    const sdk::OpInfo& where = *sdk::op_info(TN_OP_WHERE);
    check_op(where, dtype, 1);
    check_op(where, dtype, 16);
  }
}

namespace {

/// What the core makes of an op on a narrow float: widened, computed in f32, rounded back.
sdk::Program widened_program(tn_opcode op, tn_dtype dtype, uint16_t lanes) {
  using Value = sdk::ProgramBuilder::Value;
  sdk::ProgramBuilder b("widened");
  const Value x = b.buffer("x", dtype, TN_ACCESS_READ);
  const Value y = b.buffer("y", dtype, TN_ACCESS_READ);
  const Value out = b.buffer("out", dtype, TN_ACCESS_WRITE | TN_ACCESS_NOALIAS);
  const Value group = b.index(TN_AXIS_GRID_X, TN_DTYPE_I64);
  const Value width = b.constant(TN_DTYPE_I64, lanes);
  const Value first = b.op(TN_OP_MUL, TN_DTYPE_I64, 1, {group, width}, 0, TN_OP_NO_WRAP);
  const auto wide = [&](Value buffer) {
    const Value loaded = b.op(TN_OP_TAKE, dtype, lanes, {buffer, first});
    return b.op(TN_OP_CAST, TN_DTYPE_F32, lanes, {loaded});
  };
  const Value result = b.op(op, TN_DTYPE_F32, lanes, {wide(x), wide(y)});
  b.op(TN_OP_STORE, TN_DTYPE_VOID, 0, {out, first, b.op(TN_OP_CAST, dtype, lanes, {result})});
  return b.finish();
}

void check_widened(tn_opcode op, tn_dtype dtype, uint16_t lanes) {
  const tn_dtype dtypes[] = {dtype, dtype};
  Inputs inputs = make_inputs(dtypes, lanes);
  const uint32_t size = sdk::dtype_bytes(dtype);
  Bytes out(inputs.count * size, 0xcd);
  const Device& device = shared_device();
  const Executable executable = device.compile(widened_program(op, dtype, lanes));
  const Argument arguments[] = {{&inputs.columns[0]}, {&inputs.columns[1]}, {&out}};
  device.run(executable, {static_cast<uint32_t>(inputs.count / lanes)}, {}, arguments);
  const sdk::ScalarFunction widen = sdk::scalar_function(TN_OP_CAST, dtype, TN_DTYPE_F32);
  const sdk::ScalarFunction compute = sdk::scalar_function(op, TN_DTYPE_F32, TN_DTYPE_F32);
  const sdk::ScalarFunction narrow = sdk::scalar_function(TN_OP_CAST, TN_DTYPE_F32, dtype);
  size_t wrong = 0;
  for (size_t i = 0; i < inputs.count; ++i) {
    const uint64_t x = widen(element(inputs.columns[0], i, size), 0, 0);
    const uint64_t y = widen(element(inputs.columns[1], i, size), 0, 0);
    wrong += distance(element(out, i, size), narrow(compute(x, y, 0), 0, 0), dtype) != 0;
  }
  INFO(sdk::op_text(op) << " " << sdk::dtype_text(dtype) << " x" << lanes);
  CHECK(wrong == 0);
}

}  // namespace

TEST_CASE("narrow floats, widened for one op, keep NaN and rounding") {
  for (tn_dtype dtype : narrow_floats()) {
    for (tn_opcode op : {TN_OP_ADD, TN_OP_MUL, TN_OP_MAX, TN_OP_MIN, TN_OP_FDIV}) {
      for (uint16_t lanes : {1, 16, 32}) check_widened(op, dtype, lanes);
    }
  }
}

}  // namespace tenon::cpu_test
