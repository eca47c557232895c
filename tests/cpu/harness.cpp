// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/cpu/harness.hpp"

#include <random>

#include "sdk/program/op_info.hpp"
#include "sdk/program/view.hpp"

namespace tenon::cpu_test {

uint64_t element(const Bytes& bytes, size_t i, uint32_t size) {
  uint64_t value = 0;
  std::memcpy(&value, bytes.data() + i * size, size);
  return value;
}

void set_element(Bytes& bytes, size_t i, uint32_t size, uint64_t value) {
  std::memcpy(bytes.data() + i * size, &value, size);
}

const tn_plugin& plugin() {
  static const tn_plugin& loaded = load_plugin(TENON_BINARY_DIR "/lib/tenon/libtenon_cpu.so");
  return loaded;
}

const Device& shared_device() {
  static const Device* const kDevice = new Device(plugin());
  return *kDevice;
}

std::vector<tn_dtype> dtypes_where(bool (*is)(const sdk::DTypeInfo&)) {
  std::vector<tn_dtype> out;
  for (const sdk::DTypeInfo& row : sdk::all_dtypes())
    if (is(row)) out.push_back(static_cast<tn_dtype>(row.dtype));
  return out;
}

sdk::Program elementwise_program(tn_opcode op, std::span<const tn_dtype> inputs, tn_dtype output,
                                 uint16_t lanes, uint64_t imm) {
  using Value = sdk::ProgramBuilder::Value;
  sdk::ProgramBuilder b("elementwise");
  std::vector<Value> buffers;
  for (size_t i = 0; i < inputs.size(); ++i)
    buffers.push_back(b.buffer("in" + std::to_string(i), inputs[i], TN_ACCESS_READ));
  const Value out = b.buffer("out", output, TN_ACCESS_WRITE | TN_ACCESS_NOALIAS);
  const Value group = b.index(TN_AXIS_GRID_X, TN_DTYPE_I64);
  const Value width = b.constant(TN_DTYPE_I64, lanes);
  const Value first = b.op(TN_OP_MUL, TN_DTYPE_I64, 1, {group, width}, 0, TN_OP_NO_WRAP);
  std::vector<Value> operands;
  for (size_t i = 0; i < inputs.size(); ++i)
    operands.push_back(b.op(TN_OP_TAKE, inputs[i], lanes, {buffers[i], first}));
  const Value result = b.op(op, output, lanes, operands, imm);
  b.op(TN_OP_STORE, TN_DTYPE_VOID, 0, {out, first, result});
  return b.finish();
}

std::vector<uint64_t> interesting_values(tn_dtype dtype, size_t random_count) {
  const uint32_t bits = sdk::dtype_bytes(dtype) * 8;
  const uint64_t mask = bits == 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1;
  if (dtype == TN_DTYPE_BOOL) return {0, 1};
  std::vector<uint64_t> values;
  for (uint64_t small = 0; small < 4; ++small) {
    values.push_back(small);
    values.push_back(~small & mask);                            // -1 .. or NaN
    values.push_back((uint64_t{1} << (bits - 1)) + small);      // the smallest, or -0
    values.push_back((uint64_t{1} << (bits - 1)) - 1 - small);  // the largest, or NaN
  }
  if (sdk::is_float(dtype)) {
    const int mantissa = sdk::dtype_info(dtype)->format.mantissa_bits;
    // 0 and infinity, 1/2 to 4, the smallest normal, and their neighbours; either sign.
    const uint64_t one = (((uint64_t{1} << (bits - 2 - mantissa)) - 1) << mantissa);
    const uint64_t unit = uint64_t{1} << mantissa;
    const uint64_t infinity = ((uint64_t{1} << (bits - 1 - mantissa)) - 1) << mantissa;
    for (uint64_t magnitude : {unit, one - unit, one, one + unit / 2, one + unit, one + 2 * unit,
                               infinity, infinity + unit / 2}) {
      for (uint64_t near : {magnitude - 1, magnitude, magnitude + 1}) {
        values.push_back(near & mask);
        values.push_back((near | uint64_t{1} << (bits - 1)) & mask);
      }
    }
  }
  std::mt19937_64 random(dtype);
  for (size_t i = 0; i < random_count; ++i) {
    const uint64_t raw = random();
    // Every magnitude of an integer; every exponent of a float.
    values.push_back(sdk::is_float(dtype) || raw % 2 ? raw & mask
                                                     : (raw >> (random() % bits)) & mask);
  }
  return values;
}

}  // namespace tenon::cpu_test
