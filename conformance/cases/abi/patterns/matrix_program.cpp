// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Programs of one matrix atom of a subgroup each.
#include "conformance/cases/abi/patterns/made_program.hpp"
#include "conformance/cases/abi/patterns/program_kit.hpp"

namespace tenon::conformance::abi {
namespace {

using Value = ProgramKit::Value;

/// What a program does otherwise than load a and b row by row, multiply once onto zeros, and store.
enum MatrixUse : uint32_t {
  kTransposedA = 1,
  kTransposedB = 2,
  kTransposedC = 4,        ///< where it is loaded, and where it is stored
  kWideStrides = 8,        ///< rows further apart than they are long
  kLoadsC = 16,            ///< the sum begins with what memory has
  kInPlace = 32,           ///< and is stored where that was
  kUsedAgain = 64,         ///< operands of one multiplication in a second one
  kChained = 128,          ///< sums onto sums, in a loop over k
  kOnFragments = 256,      ///< elementwise ops between
  kTwoSubgroups = 512,     ///< each with its own matrices
  kShared = 1024,          ///< a and b from shared memory, which all threads fill before a barrier
  kInBranch = 2048,        ///< under a condition that is equal in each subgroup, two-sided
  kHandedOver = 4096,      ///< each subgroup fills the tiles of the other one
  kRefilled = 8192,        ///< in a loop, with a barrier before and after each use
  kThroughShared = 16384,  ///< a product goes to the other subgroup, which adds its own
  kInGroupBranch = 32768,  ///< under a condition that is equal in each workgroup, two-sided
  kSumUsedAgain = 65536    ///< what one multiplication adds to, by a second one after it
};

constexpr AtomRow kMatrixRows[] = {
    {"plain", 0},
    {"a_transposed", kTransposedA},
    {"b_transposed", kTransposedB},
    {"c_transposed", kTransposedC | kLoadsC},
    {"all_transposed", kTransposedA | kTransposedB | kTransposedC | kLoadsC},
    {"strides", kWideStrides | kLoadsC},
    {"strides_transposed", kWideStrides | kTransposedA | kTransposedB | kTransposedC},
    {"accumulates", kLoadsC},
    {"in_place", kLoadsC | kInPlace},
    {"in_place_transposed", kLoadsC | kInPlace | kTransposedC},
    {"used_again", kUsedAgain},
    {"used_again_in_place", kUsedAgain | kLoadsC | kInPlace},
    {"sum_used_again", kSumUsedAgain | kLoadsC},
    {"sum_used_again_transposed", kSumUsedAgain | kLoadsC | kTransposedA | kTransposedC},
    {"loop", kChained},
    {"loop_transposed", kChained | kTransposedA | kTransposedB | kWideStrides},
    {"on_fragments", kOnFragments | kLoadsC},
    {"two_subgroups", kTwoSubgroups | kLoadsC},
    {"shared", kShared},
    {"shared_transposed", kShared | kTransposedA | kTransposedB},
    {"branch", kTwoSubgroups | kInBranch},
    {"branch_used_again", kTwoSubgroups | kInBranch | kUsedAgain},
    {"two_shared", kTwoSubgroups | kShared | kLoadsC},
    {"two_shared_transposed", kTwoSubgroups | kShared | kTransposedA | kTransposedB | kWideStrides},
    {"two_shared_loop", kTwoSubgroups | kShared | kChained},
    {"handed_over", kTwoSubgroups | kShared | kHandedOver},
    {"handed_over_transposed", kTwoSubgroups | kShared | kHandedOver | kTransposedA | kTransposedC},
    {"refilled", kShared | kChained | kRefilled},
    {"refilled_by_other", kTwoSubgroups | kShared | kChained | kRefilled | kHandedOver},
    {"through_shared", kTwoSubgroups | kThroughShared},
    {"through_shared_transposed", kTwoSubgroups | kThroughShared | kTransposedC | kWideStrides},
    {"all_through_shared", kTwoSubgroups | kShared | kHandedOver | kThroughShared},
    {"group_branch", kTwoSubgroups | kInGroupBranch | kLoadsC},
    {"group_branch_shared", kTwoSubgroups | kInGroupBranch | kShared | kHandedOver},
    {"group_branch_refilled", kInGroupBranch | kShared | kChained | kRefilled},
    {"group_branch_through_shared", kTwoSubgroups | kInGroupBranch | kThroughShared},
};

constexpr int64_t kMatrixSteps = 3;  ///< of k, where the sums are chained

class MatrixProgram {
 public:
  MatrixProgram(const tn_matrix_atom& atom, uint32_t uses)
      : atom_(atom),
        uses_(uses),
        groups_(uses & kInGroupBranch ? 2 : 1),
        subgroups_(uses & kTwoSubgroups ? 2 : 1),
        steps_(uses & kChained ? kMatrixSteps : 1),
        kit_("matrix") {}

  SequenceStep draw(int64_t seed) {
    kit_.builder.workgroup(atom_.subgroup * static_cast<uint32_t>(subgroups_), 1, 1);
    kit_.builder.subgroup(atom_.subgroup);
    constexpr uint32_t kBoth = TN_ACCESS_READ | TN_ACCESS_WRITE;
    const int64_t all = groups_ * subgroups_;
    const auto count = [&](uint64_t role, int64_t times) {
      return uint64_t(size_of(role) * times);
    };
    out_ = kit_.builder.buffer(
        "out", dtype_of(TN_MATRIX_C), kBoth,
        count(TN_MATRIX_C, all * (has(kUsedAgain) || has(kSumUsedAgain) ? 2 : 1)), kAlignment);
    const std::string kind = ProgramKit::factors_of(dtype_of(TN_MATRIX_C));
    a_ = kit_.builder.buffer(kind + "a", dtype_of(TN_MATRIX_A), TN_ACCESS_READ,
                             count(TN_MATRIX_A, all * steps_), kAlignment);
    b_ = kit_.builder.buffer(kind + "b", dtype_of(TN_MATRIX_B), TN_ACCESS_READ,
                             count(TN_MATRIX_B, all * steps_), kAlignment);
    if (has(kLoadsC) && !has(kInPlace))
      c_ = kit_.builder.buffer("small_c", dtype_of(TN_MATRIX_C), TN_ACCESS_READ,
                               count(TN_MATRIX_C, all), kAlignment);
    else
      c_ = out_;
    const int64_t tiles = subgroups_ * (has(kRefilled) ? 1 : steps_);
    if (has(kShared)) {
      tile_a_ = allocate("tile_a", TN_MATRIX_A, tiles);
      tile_b_ = allocate("tile_b", TN_MATRIX_B, tiles);
    }
    if (has(kThroughShared)) tile_c_ = allocate("tile_c", TN_MATRIX_C, subgroups_);
    subgroup_ = kit_.builder.index(TN_AXIS_SUBGROUP, TN_DTYPE_I32);
    const Value group = kit_.builder.index(TN_AXIS_GRID_X, TN_DTYPE_I32);
    place_ = kit_.plus(kit_.times(group, kit_.whole(subgroups_)), subgroup_);
    if (has(kInBranch) || has(kInGroupBranch)) {
      const auto side = [&] { compute(); };
      kit_.branch(kit_.less(has(kInBranch) ? subgroup_ : group, kit_.whole(1)), side, side);
    } else {
      compute();
    }
    return kit_.step(groups_, seed);
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
  void store(Value memory, Value at, Value fragment) {
    kit_.builder.op(TN_OP_MATRIX_STORE, TN_DTYPE_VOID, 0,
                    {memory, at, kit_.whole(stride(TN_MATRIX_C)), fragment}, imm(TN_MATRIX_C));
  }
  void store(Value at, Value fragment) { store(out_, at, fragment); }
  Value multiply(Value a, Value b, Value c) {
    return kit_.builder.op(TN_OP_MATRIX_MULTIPLY, dtype_of(TN_MATRIX_C), lanes(TN_MATRIX_C),
                           {a, b, c}, atom_.id);
  }
  Value twice(Value fragment) {
    const sdk::ProgramBuilder::Value both[] = {fragment, fragment};
    const auto& op = kit_.builder.at(fragment);
    return kit_.builder.op(TN_OP_ADD, static_cast<tn_dtype>(op.dtype), op.lanes, both);
  }
  Value allocate(const char* name, uint64_t role, int64_t count) {
    return kit_.builder.allocate(name, dtype_of(role), TN_SPACE_SHARED,
                                 uint64_t(size_of(role) * count), kAlignment);
  }
  Value other_subgroup() {
    return kit_.plus(kit_.whole(subgroups_ - 1), kit_.times(subgroup_, kit_.whole(-1)));
  }
  Value other_place() {
    return kit_.plus(kit_.plus(place_, other_subgroup()), kit_.times(subgroup_, kit_.whole(-1)));
  }

  /// `count` matrices of each subgroup, by its threads, one element after the other; or by those of
  /// the other subgroup. `step`: the first of them in the buffer, of all.
  void fill_tiles(int64_t count, Value step) {
    const bool is_other = has(kHandedOver);
    const Value lane = kit_.builder.index(TN_AXIS_SUBGROUP_LANE, TN_DTYPE_I32);
    const Value to_subgroup = is_other ? other_subgroup() : subgroup_;
    const Value from_place = is_other ? other_place() : place_;
    for (const uint64_t role : {TN_MATRIX_A, TN_MATRIX_B}) {
      const int64_t size = size_of(role);
      const Value from = kit_.plus(kit_.times(from_place, kit_.whole(size * steps_)),
                                   kit_.times(step, kit_.whole(size)));
      const Value to = kit_.times(to_subgroup, kit_.whole(size * count));
      const Value i =
          kit_.builder.begin_loop(lane, kit_.whole(size * count), kit_.whole(atom_.subgroup));
      kit_.store(role == TN_MATRIX_A ? tile_a_ : tile_b_, kit_.plus(to, i),
                 kit_.load(role == TN_MATRIX_A ? a_ : b_, kit_.plus(from, i)));
      kit_.builder.end();
    }
    kit_.barrier(TN_SCOPE_BLOCK);
  }

  /// A fragment of the subgroup's own matrix number `step`.
  Value factor(uint64_t role, Value step) {
    const bool is_a = role == TN_MATRIX_A;
    const int64_t size = size_of(role);
    if (has(kRefilled))
      return load(is_a ? tile_a_ : tile_b_, role, kit_.times(subgroup_, kit_.whole(size)));
    const Value first = kit_.times(has(kShared) ? subgroup_ : place_, kit_.whole(size * steps_));
    const Value memory = has(kShared) ? is_a ? tile_a_ : tile_b_ : is_a ? a_ : b_;
    return load(memory, role, kit_.plus(first, kit_.times(step, kit_.whole(size))));
  }

  void compute() {
    const Value none = kit_.whole(0);
    if (has(kShared) && !has(kRefilled)) fill_tiles(steps_, none);
    const int64_t c_size = size_of(TN_MATRIX_C);
    const Value c_at = kit_.times(place_, kit_.whole(c_size));
    Value sum = has(kLoadsC) ? load(c_, TN_MATRIX_C, c_at)
                             : kit_.number(dtype_of(TN_MATRIX_C), 0, lanes(TN_MATRIX_C));
    if (has(kChained)) {
      const Value initial[] = {sum};
      const Value loop = kit_.builder.begin_loop(none, kit_.whole(steps_), kit_.whole(1), initial);
      if (has(kRefilled)) fill_tiles(1, loop);
      const Value next[] = {
          multiply(factor(TN_MATRIX_A, loop), factor(TN_MATRIX_B, loop), loop + 1)};
      if (has(kRefilled)) kit_.barrier(TN_SCOPE_BLOCK);
      kit_.builder.end(next);
      return store(c_at, loop + 1);
    }
    const Value a = factor(TN_MATRIX_A, none), b = factor(TN_MATRIX_B, none);
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
    if (has(kThroughShared)) {
      store(tile_c_, kit_.times(subgroup_, kit_.whole(c_size)), product);
      kit_.barrier(TN_SCOPE_BLOCK);
      const Value theirs =
          load(tile_c_, TN_MATRIX_C, kit_.times(other_subgroup(), kit_.whole(c_size)));
      return store(c_at, multiply(a, b, theirs));
    }
    // The same operands once more, onto the first sum, after it was stored.
    // So is the sum, of other factors.
    store(c_at, product);
    if (!has(kUsedAgain) && !has(kSumUsedAgain)) return;
    const Value again = has(kSumUsedAgain) ? multiply(twice(a), b, sum) : multiply(a, b, product);
    store(kit_.plus(c_at, kit_.whole(c_size * groups_ * subgroups_)), again);
  }

  const tn_matrix_atom& atom_;
  const uint32_t uses_;
  const int64_t groups_, subgroups_, steps_;
  ProgramKit kit_;
  Value out_ = 0, a_ = 0, b_ = 0, c_ = 0, tile_a_ = 0, tile_b_ = 0, tile_c_ = 0;
  Value subgroup_ = 0, place_ = 0;  ///< of the subgroup in its workgroup, and in the launch
};

}  // namespace

AtomFamily matrix_family() {
  return {"matrix", TN_SCOPE_SUBGROUP, TN_OP_MATRIX_MULTIPLY, kMatrixRows,
          [](const tn_matrix_atom& atom, uint32_t uses, int64_t seed) {
            return MatrixProgram(atom, uses).draw(seed);
          }};
}

}  // namespace tenon::conformance::abi
