// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Programs printed as C do what the scalar oracle and the null backend do.
#include <fmt/format.h>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <cmath>
#include <cstring>
#include <numeric>

#include "sdk/helpers/op_info.hpp"
#include "sdk/helpers/scalar.hpp"
#include "sdk/render/c_dialect.hpp"
#include "sdk/render/c_printer.hpp"
#include "tests/sdk/c_kernel.hpp"
#include "tests/sdk/plugin_host.hpp"
#include "tests/sdk/samples.hpp"

using namespace tenon::sdk;

namespace {

constexpr tn_dtype kDTypes[] = {TN_DTYPE_BOOL, TN_DTYPE_I8,     TN_DTYPE_I16,   TN_DTYPE_I32,
                                TN_DTYPE_I64,  TN_DTYPE_U8,     TN_DTYPE_U16,   TN_DTYPE_U32,
                                TN_DTYPE_U64,  TN_DTYPE_F16,    TN_DTYPE_BF16,  TN_DTYPE_F32,
                                TN_DTYPE_F64,  TN_DTYPE_F8E4M3, TN_DTYPE_F8E5M2};

/// Values of a dtype that are apt to go wrong.
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
  if (is_float(dtype)) {
    for (double value : {1.0, -1.0, 0.5, -2.75, 3.14159, 1e-3, 100.25, -300.0, 449.0, 65504.0, 1e9,
                         -1e18, 3e38, 1e-40, double{INFINITY}, -double{INFINITY}, double{NAN}}) {
      out.push_back(from_double(value, dtype));
    }
  }
  return out;
}

std::vector<std::byte> pack(const std::vector<uint64_t>& values, uint8_t dtype) {
  const size_t size = dtype_bytes(dtype);
  std::vector<std::byte> out(values.size() * size);
  for (size_t i = 0; i < values.size(); ++i) std::memcpy(&out[i * size], &values[i], size);
  return out;
}
uint64_t unpack(const std::vector<std::byte>& bytes, size_t i, uint8_t dtype) {
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
  if (!is_float(dtype)) return false;
  if (std::isnan(to_double(got, dtype))) return std::isnan(to_double(expected, dtype));
  return is_transcendental(op) && (got - expected <= 2 || expected - got <= 2);  // ULP
}

}  // namespace

TEST_CASE("every elementwise op on every dtype as C") {
  for (const tn_dtype dtype : kDTypes) {
    const std::vector<uint64_t> values = special_values(dtype);
    std::vector<uint64_t> a, b, c;
    for (uint64_t x : values) {
      for (uint64_t y : values) {
        a.push_back(x);
        b.push_back(y);
        c.push_back(values[(a.size() * 7) % values.size()]);
      }
    }
    const auto count = static_cast<uint32_t>(a.size());
    ProgramBuilder builder("elementwise");
    std::vector<ProgramBuilder::Value> in;
    for (const char* name : {"int", "l", "c"})
      in.push_back(builder.buffer(name, dtype, TN_ACCESS_READ));
    std::vector<const OpInfo*> ops;
    for (const OpInfo& op : all_ops()) {
      if (is_elementwise(op) && op.op != TN_OP_CAST && takes(op.types, dtype)) ops.push_back(&op);
    }
    std::vector<ProgramBuilder::Value> out;
    const auto result_dtype = [&](const OpInfo& op) {
      return op.kind == OpKind::kCompare ? TN_DTYPE_BOOL : dtype;
    };
    for (const OpInfo* op : ops) {
      out.push_back(
          builder.buffer("out_" + std::string(op->text), result_dtype(*op), TN_ACCESS_WRITE));
    }
    const auto at = builder.index(TN_AXIS_GRID_X, TN_DTYPE_I64);
    std::vector<ProgramBuilder::Value> x;
    for (auto buffer : in) x.push_back(builder.op(TN_OP_TAKE, dtype, 1, {buffer, at}));
    const auto zero = builder.constant(dtype, 0);
    const auto condition = builder.op(TN_OP_CMPLT, TN_DTYPE_BOOL, 1, {x[0], zero});
    for (size_t k = 0; k < ops.size(); ++k) {
      std::vector<ProgramBuilder::Value> operands(x.begin(), x.begin() + ops[k]->arity);
      if (ops[k]->op == TN_OP_WHERE) operands[0] = condition;
      const auto value =
          builder.op(static_cast<tn_opcode>(ops[k]->op), result_dtype(*ops[k]), 1, operands);
      builder.op(TN_OP_STORE, TN_DTYPE_VOID, 0, {out[k], at, value});
    }
    std::vector<std::vector<std::byte>> bytes = {pack(a, dtype), pack(b, dtype), pack(c, dtype)};
    for (const OpInfo* op : ops) bytes.emplace_back(count * dtype_bytes(result_dtype(*op)));
    std::vector<TestArgument> arguments;
    for (auto& each : bytes) arguments.push_back({&each});
    CKernel(builder.finish()).run({count, 1, 1}, arguments);
    for (size_t k = 0; k < ops.size(); ++k) {
      const uint16_t op = ops[k]->op;
      const ScalarFunction function = scalar_function(op, dtype, result_dtype(*ops[k]));
      const ScalarFunction less = scalar_function(TN_OP_CMPLT, dtype, TN_DTYPE_BOOL);
      for (uint32_t i = 0; i < count; ++i) {
        const uint64_t first = op == TN_OP_WHERE ? less(a[i], 0, 0) : a[i];
        const uint64_t expected = function(first, b[i], c[i]);
        const uint64_t got = unpack(bytes[3 + k], i, result_dtype(*ops[k]));
        if (!agrees(op, result_dtype(*ops[k]), got, expected)) {
          FAIL_CHECK(fmt::format("{} {} of {} {} {}: got {}, expected {}", ops[k]->text,
                                 dtype_text(dtype), scalar_text(a[i], dtype),
                                 scalar_text(b[i], dtype), scalar_text(c[i], dtype),
                                 scalar_text(got, result_dtype(*ops[k])),
                                 scalar_text(expected, result_dtype(*ops[k]))));
        }
      }
    }
  }
}

TEST_CASE("every cast as C") {
  for (const tn_dtype from : kDTypes) {
    std::vector<uint64_t> values = special_values(from);
    for (uint64_t code = 0; dtype_bytes(from) == 1 && from != TN_DTYPE_BOOL && code < 256; ++code) {
      values.push_back(code);
    }
    ProgramBuilder builder("casts");
    const auto in = builder.buffer("x", from, TN_ACCESS_READ);
    struct Out {
      tn_dtype dtype;
      uint64_t kind;
      ProgramBuilder::Value buffer;
    };
    std::vector<Out> outs;
    for (const tn_dtype to : kDTypes) {
      for (uint64_t kind : {TN_CAST_VALUE, TN_CAST_BITS}) {
        if (kind == TN_CAST_BITS && dtype_bytes(from) != dtype_bytes(to)) continue;
        const std::string name = fmt::format("y{}_{}", kind, dtype_text(to));
        outs.push_back({to, kind, builder.buffer(name, to, TN_ACCESS_WRITE)});
      }
    }
    const auto at = builder.index(TN_AXIS_GRID_X, TN_DTYPE_I32);
    const auto x = builder.op(TN_OP_TAKE, from, 1, {in, at});
    for (const Out& out : outs) {
      const auto value = builder.op(TN_OP_CAST, out.dtype, 1, {x}, out.kind);
      builder.op(TN_OP_STORE, TN_DTYPE_VOID, 0, {out.buffer, at, value});
    }
    std::vector<std::vector<std::byte>> bytes = {pack(values, from)};
    for (const Out& out : outs) bytes.emplace_back(values.size() * dtype_bytes(out.dtype));
    std::vector<TestArgument> arguments;
    for (auto& each : bytes) arguments.push_back({&each});
    CKernel(builder.finish()).run({static_cast<uint32_t>(values.size()), 1, 1}, arguments);
    for (size_t k = 0; k < outs.size(); ++k) {
      for (size_t i = 0; i < values.size(); ++i) {
        const bool is_bits = outs[k].kind == TN_CAST_BITS;
        const uint64_t moved = outs[k].dtype == TN_DTYPE_BOOL ? values[i] != 0 : values[i];
        const uint64_t expected = is_bits ? moved : convert(values[i], from, outs[k].dtype);
        const uint64_t got = unpack(bytes[1 + k], i, outs[k].dtype);
        if (!agrees(TN_OP_CAST, outs[k].dtype, got, expected)) {
          FAIL_CHECK(fmt::format("cast {} to {} of {}: got {:#x}, expected {:#x}", dtype_text(from),
                                 dtype_text(outs[k].dtype), scalar_text(values[i], from), got,
                                 expected));
        }
      }
    }
  }
}

TEST_CASE("vectors, loops and branches as C agree with the interpreter") {
  PluginHost host(null_plugin());
  std::vector<float> x(64);
  std::iota(x.begin(), x.end(), -5.f);
  std::vector<std::byte> in = bytes_of(x),
                         index = bytes_of(std::vector<int>{63, 1, 20, 3, 9, 1000, -1, 99});
  for (int which = 0; which < 2; ++which) {
    std::vector<std::byte> ours(16 * 8, std::byte{1}), theirs = ours;
    std::vector<std::byte> wide = bytes_of(std::vector<int64_t>{10});
    const Program program = parsed(which ? samples::kControl : samples::kVectors);
    const auto arguments = [&](std::vector<std::byte>& out) {
      return which ? std::vector<TestArgument>{{&wide}, {&out}, {{}, 9}}
                   : std::vector<TestArgument>{{&in}, {&index}, {&out}};
    };
    CKernel(program).run({1, 1, 1}, arguments(ours));
    host.run(program, {1, 1, 1}, arguments(theirs));
    CHECK(ours == theirs);
  }
}

TEST_CASE("loops with steps end without overflow") {
  const Program program = parsed(R"(program steps(%y: global i32 write) workgroup 1 1 1 {
  %0 = const 2147483000 : i32
  %1 = const 2147483647 : i32
  %2 = const 500 : i32
  %3 = const 0 : i32
  %4 = const 1 : i32
  %i = loop %0, %1, %2 : i32 {
    %a = carry %3 : i32
    %b = carry %4 : i32
    %next = add %a, %b : i32
    end %b, %next
  }
  store %y, %3, %a
  store %y, %4, %b
}
)");
  std::vector<std::byte> ours(8), theirs(8);
  CKernel(program).run({1, 1, 1}, {{&ours}});
  PluginHost(null_plugin()).run(program, {1, 1, 1}, std::vector<TestArgument>{{&theirs}});
  CHECK(values_of<int>(ours) == std::vector<int>{1, 2});  // two steps
  CHECK(ours == theirs);
}

TEST_CASE("what C has no words for is refused") {
  CHECK_THROWS_WITH(print_source(parsed(samples::kAtomic).view(), c_dialect()),
                    "c: has no atomics");
  CHECK_THROWS_WITH(print_source(parsed(samples::kShared).view(), c_dialect()),
                    "c: threads of a workgroup share no memory");
}
