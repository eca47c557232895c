// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "conformance/abi/checks/floats.hpp"

#include <cmath>
#include <cstring>
#include <utility>
#include <vector>

#include "conformance/abi/checks/check.hpp"
#include "conformance/abi/checks/probe_programs.hpp"
#include "conformance/cases/abi/scalars.hpp"
#include "sdk/program/op_info.hpp"

namespace tenon::conformance::abi::checks {
namespace {

using sdk::ProgramBuilder;
using Value = ProgramBuilder::Value;

constexpr tn_opcode kOps[] = {TN_OP_ADD, TN_OP_SUB, TN_OP_MUL};
constexpr uint32_t kGroups = 16;  ///< of the grid; each has as many pairs as there are lanes

/// Results of every op on all pairs, op after op.
sdk::Program sums_program(tn_dtype dtype, uint16_t lanes) {
  ProgramBuilder b("sums");
  const uint64_t count = uint64_t{kGroups} * lanes;
  const Value out = b.buffer("out", dtype, TN_ACCESS_WRITE, count * std::size(kOps));
  const Value x = b.buffer("x", dtype, TN_ACCESS_READ, count);
  const Value y = b.buffer("y", dtype, TN_ACCESS_READ, count);
  const auto whole = [&](uint64_t n) { return b.constant(TN_DTYPE_I32, n); };
  const Value first =
      b.op(TN_OP_MUL, TN_DTYPE_I32, 1, {b.index(TN_AXIS_GRID_X, TN_DTYPE_I32), whole(lanes)});
  const Value l = b.op(TN_OP_TAKE, dtype, lanes, {x, first});
  const Value r = b.op(TN_OP_TAKE, dtype, lanes, {y, first});
  for (size_t k = 0; k < std::size(kOps); ++k) {
    const Value at = b.op(TN_OP_ADD, TN_DTYPE_I32, 1, {first, whole(k * count)});
    b.op(TN_OP_STORE, TN_DTYPE_VOID, 0, {out, at, b.op(kOps[k], dtype, lanes, {l, r})});
  }
  return b.finish();
}

/// Halves, quarters and multiples of the least normal number, and of 1 and what it does not hold
/// beside it.
std::pair<double, double> pair_of(size_t i, uint8_t dtype) {
  const double least = least_normal(dtype);
  const std::pair<double, double> pairs[] = {
      {least / 2, least / 4}, {least, least / 2},  {-least / 4, least / 4},
      {least, 0.5},           {least / 2, 1},      {0.75, least},
      {-least / 2, 2},        {least * 2, 0.25},   {1, least},
      {-1, -least},           {1, -least},         {-1, least},
      {1.25, 0.0078125},      {3, 0.333251953125}, {-1.5, 1.0078125},
      {7, least * 4}};
  return pairs[i % std::size(pairs)];
}

bool is_subnormal(double value, uint8_t dtype) {
  return value != 0 && std::fabs(value) < least_normal(dtype);
}

/// Nothing is lost, in f64 (Knuth's two-sum, and an FMA).
bool is_exact(tn_opcode op, double x, double y, double result) {
  if (op == TN_OP_MUL) return x * y == result && std::fma(x, y, -result) == 0;
  if (op == TN_OP_SUB) y = -y;
  const double part = result - x;
  return x + y == result && (x - (result - part)) + (y - part) == 0;
}

/// Whether the result is pinned for what the device declares. bf16 and its like may be cut or
/// rounded.
bool is_certain(const tn_properties& properties, tn_opcode op, double x, double y, double result,
                uint8_t dtype) {
  const bool flushes = properties.numerics & (TN_NUMERICS_FLUSH_INPUT | TN_NUMERICS_FLUSH_OUTPUT);
  const bool meets =
      is_subnormal(x, dtype) || is_subnormal(y, dtype) || is_subnormal(result, dtype);
  if (flushes && meets) return false;
  if (result == 0) return false;  // of either sign where that is declared
  return sdk::is_ieee(*sdk::dtype_info(dtype)) || is_exact(op, x, y, result);
}

void float_sums(const CheckContext& c) {
  const OpenDevice device = computing(c);
  bool any = false;
  for (const sdk::DTypeInfo& row : sdk::all_dtypes())
    for (const uint16_t lanes : {1, 2, 4, 8, 16}) {
      if (!sdk::is_float(row)) continue;
      c.alive();
      any |= try_sums(device, static_cast<tn_dtype>(row.dtype), lanes);
    }
  need(any, "the device takes no such program");
}

}  // namespace

bool try_sums(const OpenDevice& device, tn_dtype dtype, uint16_t lanes,
              const std::function<void(const std::function<void()>&)>& around) {
  if (!(device.dtype_flags(dtype) & TN_DTYPE_ARITHMETIC)) return false;
  const sdk::Program program = sums_program(dtype, lanes);
  const ExecutableHandle executable = compile_claimed(device, program, {kGroups, 1, 1});
  if (!executable) return false;
  const uint32_t width = sdk::dtype_bytes(uint8_t(dtype));
  const size_t count = size_t{kGroups} * lanes;
  const auto d = uint8_t(dtype);
  std::vector<uint64_t> x(count), y(count), expected[std::size(kOps)];
  std::vector<uint8_t> bytes[2] = {std::vector<uint8_t>(count * width),
                                   std::vector<uint8_t>(count * width)};
  // Before the device is at work: this thread's rounding is the plugin's to spoil.
  for (size_t i = 0; i < count; ++i) {
    const auto [first, second] = pair_of(i, d);
    x[i] = from_double(first, d);
    y[i] = from_double(second, d);
    std::memcpy(bytes[0].data() + i * width, &x[i], width);
    std::memcpy(bytes[1].data() + i * width, &y[i], width);
    for (size_t k = 0; k < std::size(kOps); ++k)
      expected[k].push_back(evaluate_op(kOps[k], d, d, x[i], y[i], 0));
  }
  std::vector<uint8_t> got(count * width * std::size(kOps), 0);
  const MemoryHandle memory[] = {any_memory(device, got.size()), any_memory(device, count * width),
                                 any_memory(device, count * width)};
  device.write(memory[1].get(), 0, 0, bytes[0]);
  device.write(memory[2].get(), 0, 0, bytes[1]);
  const tn_argument arguments[] = {buffer_argument(memory[0].get(), 0, got.size()),
                                   buffer_argument(memory[1].get(), 0, count * width),
                                   buffer_argument(memory[2].get(), 0, count * width)};
  const tn_command command = launch_command(executable.get(), {kGroups, 1, 1}, {}, arguments);
  around([&] { device.run({&command, 1}); });
  device.read(memory[0].get(), 0, 0, got);
  for (size_t k = 0; k < std::size(kOps); ++k)
    for (size_t i = 0; i < count; ++i) {
      uint64_t result = 0;
      std::memcpy(&result, got.data() + (k * count + i) * width, width);
      if (result == expected[k][i] ||
          !is_certain(device.properties(), kOps[k], to_double(x[i], d), to_double(y[i], d),
                      to_double(expected[k][i], d), d))
        continue;
      find("mismatch", "{} {} {} in {} lanes of {}: expected {} (nothing else is declared), got {}",
           scalar_text(x[i], d), sdk::op_text(kOps[k]), scalar_text(y[i], d), lanes,
           sdk::dtype_text(d), scalar_text(expected[k][i], d), scalar_text(result, d));
    }
  return true;
}

std::span<const CheckRow> float_checks() {
  static constexpr CheckRow kRows[] = {{"float_sums", float_sums, 28}};
  return kRows;
}

}  // namespace tenon::conformance::abi::checks
