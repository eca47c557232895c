// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A matrix product on packed panels with a tile of accumulators in registers.
#include "tests/cpu/gemm_program.hpp"

namespace tenon::cpu_test {
namespace {

using Value = sdk::ProgramBuilder::Value;

class GemmWriter {
 public:
  explicit GemmWriter(const GemmShape& shape) : s_(shape), b_("gemm") {}

  sdk::Program write() {
    const uint32_t width = s_.vectors_n * s_.lanes;
    a_ =
        b_.buffer("a", TN_DTYPE_F32, TN_ACCESS_READ | TN_ACCESS_NOALIAS, uint64_t{s_.m} * s_.k, 64);
    w_ =
        b_.buffer("b", TN_DTYPE_F32, TN_ACCESS_READ | TN_ACCESS_NOALIAS, uint64_t{s_.k} * s_.n, 64);
    const Value c = b_.buffer("c", TN_DTYPE_F32, TN_ACCESS_WRITE | TN_ACCESS_NOALIAS,
                              uint64_t{s_.m} * s_.n, 64);
    const Value x = b_.index(TN_AXIS_GRID_X, TN_DTYPE_I64);
    const Value y = b_.index(TN_AXIS_GRID_Y, TN_DTYPE_I64);
    a_base_ = times(x, uint64_t{s_.k} * s_.tile_m);
    b_base_ = times(y, uint64_t{s_.k} * width);
    const Value zero = b_.constant(TN_DTYPE_F32, 0, s_.lanes);
    std::vector<Value> sums(s_.tile_m * s_.vectors_n, zero);
    const Value begin = number(0), end = number(s_.k);
    const Value loop = b_.begin_loop(begin, end, number(s_.k_unroll), sums);
    for (size_t i = 0; i < sums.size(); ++i) sums[i] = loop + 1 + static_cast<Value>(i);
    if (s_.by_attribute) {
      const Value inner =
          b_.begin_loop(number(0), number(s_.k_unroll), number(1), sums, TN_OP_UNROLL);
      std::vector<Value> inside(sums.size());
      for (size_t i = 0; i < sums.size(); ++i) inside[i] = inner + 1 + static_cast<Value>(i);
      const std::vector<Value> carried = inside;
      step(plus(loop, inner), inside);
      b_.end(inside);
      sums = carried;
    } else {
      for (uint32_t k = 0; k < s_.k_unroll; ++k) step(plus(loop, number(k)), sums);
    }
    b_.end(sums);
    const Value row = times(x, s_.tile_m), column = times(y, width);
    for (uint32_t i = 0; i < s_.tile_m; ++i) {
      for (uint32_t j = 0; j < s_.vectors_n; ++j) {
        const Value at =
            plus(times(plus(row, number(i)), s_.n), plus(column, number(j * s_.lanes)));
        const Value sum = loop + 1 + i * s_.vectors_n + j;
        b_.op(TN_OP_STORE, TN_DTYPE_VOID, 0, {c, at, sum}, 0, TN_OP_ALIGNED);
      }
    }
    return b_.finish();
  }

 private:
  Value number(uint64_t value) { return b_.constant(TN_DTYPE_I64, value); }
  Value plus(Value x, Value y) {
    return b_.op(TN_OP_ADD, TN_DTYPE_I64, 1, {x, y}, 0, TN_OP_NO_WRAP);
  }
  Value times(Value x, uint64_t y) {
    return b_.op(TN_OP_MUL, TN_DTYPE_I64, 1, {x, number(y)}, 0, TN_OP_NO_WRAP);
  }

  /// sums += column k of the a panel times row k of the b panel.
  void step(Value k, std::vector<Value>& sums) {
    const Value a_at = plus(a_base_, times(k, s_.tile_m));
    const Value b_at = plus(b_base_, times(k, s_.vectors_n * s_.lanes));
    std::vector<Value> row;
    for (uint32_t j = 0; j < s_.vectors_n; ++j)
      row.push_back(b_.op(TN_OP_TAKE, TN_DTYPE_F32, s_.lanes,
                          {w_, plus(b_at, number(j * s_.lanes))}, 0, TN_OP_ALIGNED));
    for (uint32_t i = 0; i < s_.tile_m; ++i) {
      const Value scalar = b_.op(TN_OP_TAKE, TN_DTYPE_F32, 1, {a_, plus(a_at, number(i))});
      const Value all = b_.op(TN_OP_BROADCAST, TN_DTYPE_F32, s_.lanes, {scalar});
      for (uint32_t j = 0; j < s_.vectors_n; ++j) {
        Value& sum = sums[i * s_.vectors_n + j];
        const Value product = b_.op(TN_OP_MUL, TN_DTYPE_F32, s_.lanes, {all, row[j]});
        sum = b_.op(TN_OP_ADD, TN_DTYPE_F32, s_.lanes, {sum, product}, 0, TN_OP_CONTRACT);
      }
    }
  }

  GemmShape s_;
  sdk::ProgramBuilder b_;
  Value a_ = 0, w_ = 0, a_base_ = 0, b_base_ = 0;
};

}  // namespace

sdk::Program gemm_program(const GemmShape& shape) { return GemmWriter(shape).write(); }

}  // namespace tenon::cpu_test
