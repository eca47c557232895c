// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Elementwise nodes, a chunk of elements at a time, by the definitions of ir/scalar_op.hpp.
#include <algorithm>
#include <array>

#include "core/reference/kernels.hpp"
#include "core/support/error.hpp"

namespace tenon::reference {
namespace {

constexpr int64_t kChunk = 256;
template <class T>
using Chunk = std::array<std::array<T, kChunk>, 3>;

void float_chunk(Op op, const Operands& in, int64_t first, int64_t n, Array& out) {
  Chunk<double> x{};
  for (size_t k = 0; k < in.size(); ++k) load_floats(*in[k], first, n, x[k].data());
  for (int64_t i = 0; i < n; ++i) x[0][i] = float_op(op, out.dtype, x[0][i], x[1][i], x[2][i]);
  store_floats(out, first, n, x[0].data());
}

void int_chunk(Op op, const Operands& in, int64_t first, int64_t n, Array& out) {
  Chunk<uint64_t> x{};
  for (size_t k = 0; k < in.size(); ++k) load_ints(*in[k], first, n, x[k].data());
  for (int64_t i = 0; i < n; ++i) x[0][i] = int_op(op, out.dtype, x[0][i], x[1][i]);
  store_bits(out, first, n, x[0].data());
}

void bits_chunk(Op op, const Operands& in, int64_t first, int64_t n, Array& out) {
  Chunk<uint64_t> x{};
  for (size_t k = 0; k < in.size(); ++k) load_bits(*in[k], first, n, x[k].data());
  for (int64_t i = 0; i < n; ++i) x[0][i] = bits_op(op, out.dtype, x[0][i], x[1][i], x[2][i]);
  store_bits(out, first, n, x[0].data());
}

void compare_chunk(Op op, const Operands& in, int64_t first, int64_t n, Array& out) {
  std::array<uint64_t, kChunk> result;
  if (is_float(in[0]->dtype)) {
    Chunk<double> x{};
    for (size_t k = 0; k < 2; ++k) load_floats(*in[k], first, n, x[k].data());
    for (int64_t i = 0; i < n; ++i) result[i] = float_compare(op, x[0][i], x[1][i]);
  } else {
    Chunk<uint64_t> x{};
    const bool sign = is_signed(in[0]->dtype);
    for (size_t k = 0; k < 2; ++k) load_ints(*in[k], first, n, x[k].data());
    for (int64_t i = 0; i < n; ++i) result[i] = int_compare(op, sign, x[0][i], x[1][i]);
  }
  store_bits(out, first, n, result.data());
}

}  // namespace

Array elementwise(const Node& node, const Operands& operands) {
  Array out = Array::zeros(node.dtype, operands[0]->shape);
  const ScalarClass kind = scalar_class(node.op, operands[0]->dtype);
  const int64_t count = out.count();
  for (int64_t first = 0; first < count; first += kChunk) {
    const int64_t n = std::min(kChunk, count - first);
    switch (kind) {
      case ScalarClass::kFloat:
        float_chunk(node.op, operands, first, n, out);
        break;
      case ScalarClass::kInt:
        int_chunk(node.op, operands, first, n, out);
        break;
      case ScalarClass::kBits:
        bits_chunk(node.op, operands, first, n, out);
        break;
      case ScalarClass::kCompare:
        compare_chunk(node.op, operands, first, n, out);
        break;
      case ScalarClass::kCast:
        for (int64_t i = first; i < first + n; ++i)
          out.set(i, cast(operands[0]->at(i), node.dtype));
        break;
    }
  }
  return out;
}

Array bit_cast(DType dtype, const Array& x) {
  Array out = x;
  out.dtype = dtype;
  if (dtype == DType::kBool)  // a bool is 0 or 1, whatever the byte was
    for (uint8_t& byte : out.bytes) byte = byte != 0;
  return out;
}

}  // namespace tenon::reference
