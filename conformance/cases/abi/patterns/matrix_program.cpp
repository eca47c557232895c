// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "conformance/cases/abi/patterns/matrix_program.hpp"

#include "conformance/cases/abi/patterns/program_kit.hpp"

namespace tenon::conformance::abi {
namespace {

using Value = ProgramKit::Value;

constexpr int64_t kMatrixSteps = 3;  ///< of k, where the sums are chained

class MatrixProgram {
 public:
  MatrixProgram(const tn_matrix_atom& atom, uint32_t uses)
      : atom_(atom), uses_(uses), kit_("matrix") {}

  SequenceStep draw(int64_t seed) {
    const int64_t subgroups = has(kTwoSubgroups) ? 2 : 1, steps = has(kChained) ? kMatrixSteps : 1;
    kit_.builder.workgroup(atom_.subgroup * static_cast<uint32_t>(subgroups), 1, 1);
    kit_.builder.subgroup(atom_.subgroup);
    constexpr uint32_t kBoth = TN_ACCESS_READ | TN_ACCESS_WRITE;
    const auto count = [&](int64_t size, int64_t times) { return uint64_t(size * times); };
    const int64_t a_size = size_of(TN_MATRIX_A), b_size = size_of(TN_MATRIX_B),
                  c_size = size_of(TN_MATRIX_C);
    out_ = kit_.builder.buffer("out", dtype_of(TN_MATRIX_C), kBoth,
                               count(c_size, subgroups * (has(kUsedAgain) ? 2 : 1)), kAlignment);
    // Of what a wide sum holds and a narrow one does not.
    const bool is_wide = sdk::dtype_bytes(static_cast<uint8_t>(atom_.accumulator_dtype)) >= 4;
    a_ = kit_.builder.buffer(is_wide ? "large_a" : "small_a", dtype_of(TN_MATRIX_A), TN_ACCESS_READ,
                             count(a_size, subgroups * steps), kAlignment);
    b_ = kit_.builder.buffer(is_wide ? "large_b" : "small_b", dtype_of(TN_MATRIX_B), TN_ACCESS_READ,
                             count(b_size, subgroups * steps), kAlignment);
    if (has(kLoadsC) && !has(kInPlace))
      c_ = kit_.builder.buffer("small_c", dtype_of(TN_MATRIX_C), TN_ACCESS_READ,
                               count(c_size, subgroups), kAlignment);
    else
      c_ = out_;
    if (has(kShared)) copy_to_shared(a_size, b_size);
    const Value subgroup = kit_.builder.index(TN_AXIS_SUBGROUP, TN_DTYPE_I32);
    if (has(kInBranch)) kit_.builder.begin_if(kit_.less(subgroup, kit_.whole(1)));
    compute(subgroup, steps, subgroups);
    if (has(kInBranch)) {
      kit_.builder.begin_else();
      compute(subgroup, steps, subgroups);
      kit_.builder.end();
    }
    return kit_.step(1, seed);
  }

 private:
  static constexpr uint32_t kAlignment = 32;

  bool has(MatrixUse use) const { return uses_ & use; }
  tn_dtype dtype_of(uint64_t role) const {
    return static_cast<tn_dtype>(role == TN_MATRIX_A   ? atom_.a_dtype
                                 : role == TN_MATRIX_B ? atom_.b_dtype
                                                       : atom_.accumulator_dtype);
  }
  int64_t rows(uint64_t role) const { return role == TN_MATRIX_B ? atom_.k : atom_.m; }
  int64_t columns(uint64_t role) const { return role == TN_MATRIX_A ? atom_.k : atom_.n; }
  bool is_transposed(uint64_t role) const {
    return has(role == TN_MATRIX_A   ? kTransposedA
               : role == TN_MATRIX_B ? kTransposedB
                                     : kTransposedC);
  }
  int64_t stride(uint64_t role) const {
    const int64_t length = is_transposed(role) ? rows(role) : columns(role);
    return length + (has(kWideStrides) ? 16 : 0);
  }
  /// Elements from the first to the last, and as many as keep the next matrix aligned.
  int64_t size_of(uint64_t role) const {
    const int64_t lines = is_transposed(role) ? columns(role) : rows(role);
    return lines * stride(role);
  }
  uint64_t imm(uint64_t role) const {
    return atom_.id | role | (is_transposed(role) ? TN_MATRIX_TRANSPOSED : 0);
  }
  uint16_t lanes(uint64_t role) const {
    return static_cast<uint16_t>(role == TN_MATRIX_A   ? atom_.a_lanes
                                 : role == TN_MATRIX_B ? atom_.b_lanes
                                                       : atom_.c_lanes);
  }

  Value load(Value memory, uint64_t role, Value at) {
    return kit_.builder.op(TN_OP_MATRIX_LOAD, dtype_of(role), lanes(role),
                           {memory, at, kit_.whole(stride(role))}, imm(role));
  }
  void store(Value at, Value fragment) {
    kit_.builder.op(TN_OP_MATRIX_STORE, TN_DTYPE_VOID, 0,
                    {out_, at, kit_.whole(stride(TN_MATRIX_C)), fragment}, imm(TN_MATRIX_C));
  }
  Value multiply(Value a, Value b, Value c) {
    return kit_.builder.op(TN_OP_MATRIX_MULTIPLY, dtype_of(TN_MATRIX_C), lanes(TN_MATRIX_C),
                           {a, b, c}, atom_.id);
  }

  /// By the threads of the workgroup, one element after the other.
  void copy_to_shared(int64_t a_size, int64_t b_size) {
    const Value thread = kit_.builder.index(TN_AXIS_BLOCK_X, TN_DTYPE_I32);
    const auto copy = [&](Value& from, const char* name, uint64_t role, int64_t size) {
      const Value to =
          kit_.builder.allocate(name, dtype_of(role), TN_SPACE_SHARED, uint64_t(size), kAlignment);
      const Value i = kit_.builder.begin_loop(thread, kit_.whole(size), kit_.whole(atom_.subgroup));
      kit_.store(to, i, kit_.load(from, i));
      kit_.builder.end();
      from = to;
    };
    copy(a_, "tile_a", TN_MATRIX_A, a_size);
    copy(b_, "tile_b", TN_MATRIX_B, b_size);
    kit_.builder.op(TN_OP_BARRIER, TN_DTYPE_VOID, 0, {}, TN_SCOPE_BLOCK);
  }

  void compute(Value subgroup, int64_t steps, int64_t subgroups) {
    const auto first = [&](uint64_t role, int64_t times) {
      return kit_.times(subgroup, kit_.whole(size_of(role) * times));
    };
    const Value c_at = first(TN_MATRIX_C, 1);
    Value sum = has(kLoadsC) ? load(c_, TN_MATRIX_C, c_at)
                             : kit_.number(dtype_of(TN_MATRIX_C), 0, lanes(TN_MATRIX_C));
    Value a_at = first(TN_MATRIX_A, steps), b_at = first(TN_MATRIX_B, steps);
    if (has(kChained)) {
      const Value initial[] = {sum};
      const Value loop =
          kit_.builder.begin_loop(kit_.whole(0), kit_.whole(steps), kit_.whole(1), initial);
      a_at = kit_.plus(a_at, kit_.times(loop, kit_.whole(size_of(TN_MATRIX_A))));
      b_at = kit_.plus(b_at, kit_.times(loop, kit_.whole(size_of(TN_MATRIX_B))));
      const Value next[] = {
          multiply(load(a_, TN_MATRIX_A, a_at), load(b_, TN_MATRIX_B, b_at), loop + 1)};
      kit_.builder.end(next);
      return store(c_at, loop + 1);
    }
    const Value a = load(a_, TN_MATRIX_A, a_at), b = load(b_, TN_MATRIX_B, b_at);
    if (has(kOnFragments)) {
      const tn_dtype dtype = dtype_of(TN_MATRIX_C);
      sum = kit_.builder.op(TN_OP_ADD, dtype, lanes(TN_MATRIX_C), {sum, sum});
    }
    Value product = multiply(a, b, sum);
    if (has(kOnFragments)) {
      const tn_dtype dtype = dtype_of(TN_MATRIX_C);
      product = kit_.builder.op(TN_OP_MAX, dtype, lanes(TN_MATRIX_C),
                                {product, kit_.number(dtype, 0, lanes(TN_MATRIX_C))});
    }
    if (!has(kUsedAgain)) return store(c_at, product);
    // The same operands once more, onto the first sum, after it was stored.
    store(c_at, product);
    const Value again = multiply(a, b, product);
    store(kit_.plus(c_at, kit_.whole(size_of(TN_MATRIX_C) * subgroups)), again);
  }

  const tn_matrix_atom& atom_;
  const uint32_t uses_;
  ProgramKit kit_;
  Value out_ = 0, a_ = 0, b_ = 0, c_ = 0;
};

}  // namespace

SequenceStep matrix_program(const tn_matrix_atom& atom, const MatrixRow& row, int64_t seed) {
  return MatrixProgram(atom, row.uses).draw(seed);
}

}  // namespace tenon::conformance::abi
