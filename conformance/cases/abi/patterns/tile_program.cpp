// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Programs of one atom of several subgroups each, whose operands stay in shared memory in lines of
// 128 bytes (program.h). Buffers hold the lines in their order; the threads that fill a tile put
// each element where it belongs.
#include "conformance/cases/abi/patterns/made_program.hpp"
#include "conformance/cases/abi/patterns/program_kit.hpp"

namespace tenon::conformance::abi {
namespace {

/// What a program does otherwise than fill the tiles of a and b, meet at a barrier, multiply once
/// onto zeros, and store.
enum TileUse : uint32_t {
  kTurnedA = 1,
  kTurnedB = 2,
  kFarLines = 4,       ///< columns of lines further apart than they are long
  kStepsOfK = 8,       ///< along the lines, or from line to line: sums onto sums, in a loop
  kTakenBefore = 16,   ///< operands are named before their tiles are filled
  kTwoGroups = 32,     ///< in a workgroup, each with its own tiles
  kByOtherGroup = 64,  ///< which the other one fills
  kOwnBarrier = 128,   ///< of the group, not of the workgroup
  kFilledAgain = 256,  ///< each step in the same tiles, between barriers
  kSumsFromMemory = 512,
  kTwice = 1024,          ///< operands of one multiplication in a second one, without a barrier
  kBranchOfBlock = 2048,  ///< under a condition that is equal in each workgroup, two-sided
  kBranchOfGroup = 4096,  ///< or in each group
  kTurnedC = 8192
};
constexpr AtomRow kTileRows[] = {
    {"plain", 0},
    {"a_transposed", kTurnedA},
    {"b_transposed", kTurnedB},
    {"both_transposed", kTurnedA | kTurnedB},
    {"c_transposed", kTurnedC | kSumsFromMemory},
    {"far_lines", kFarLines},
    {"far_lines_transposed", kFarLines | kTurnedA | kTurnedB},
    {"loop", kStepsOfK},
    {"loop_transposed", kStepsOfK | kTurnedA | kTurnedB},
    {"loop_a_transposed", kStepsOfK | kTurnedA | kFarLines},
    {"loop_b_transposed", kStepsOfK | kTurnedB | kFarLines},
    {"taken_before", kTakenBefore},
    {"taken_before_transposed", kTakenBefore | kTurnedA | kTurnedB | kSumsFromMemory},
    {"two_groups", kTwoGroups},
    {"two_groups_own_barrier", kTwoGroups | kOwnBarrier | kSumsFromMemory},
    {"two_groups_loop", kTwoGroups | kStepsOfK | kTurnedB},
    {"by_other_group", kTwoGroups | kByOtherGroup},
    {"by_other_group_loop", kTwoGroups | kByOtherGroup | kStepsOfK | kFilledAgain},
    {"filled_again", kStepsOfK | kFilledAgain},
    {"filled_again_own_barrier", kTwoGroups | kStepsOfK | kFilledAgain | kOwnBarrier | kTurnedA},
    {"filled_again_taken_before", kStepsOfK | kFilledAgain | kTakenBefore},
    {"accumulates", kSumsFromMemory},
    {"used_again", kTwice},
    {"used_again_transposed", kTwice | kTurnedA | kTurnedB | kSumsFromMemory},
    {"block_branch", kBranchOfBlock | kTwoGroups},
    {"block_branch_loop", kBranchOfBlock | kStepsOfK | kFilledAgain},
    {"group_branch", kBranchOfGroup | kTwoGroups | kOwnBarrier},
    {"group_branch_loop", kBranchOfGroup | kTwoGroups | kOwnBarrier | kStepsOfK | kFilledAgain},
};

constexpr int64_t kTileSteps = 2, kLineBytes = 128, kPieceBytes = 16, kLinesTogether = 8;
constexpr uint32_t kTileAlignment = 1024;

class TileProgram {
 public:
  using Value = ProgramKit::Value;

  TileProgram(const tn_matrix_atom& atom, uint32_t uses)
      : atom_(atom),
        uses_(uses),
        blocks_(uses & kBranchOfBlock ? 2 : 1),
        groups_(uses & kTwoGroups ? 2 : 1),
        steps_(uses & kStepsOfK ? kTileSteps : 1),
        kit_("tiles") {}

  SequenceStep draw(int64_t seed) {
    kit_.builder.workgroup(atom_.subgroup * static_cast<uint32_t>(groups_), 1, 1);
    kit_.builder.subgroup(atom_.subgroup);
    const int64_t all = blocks_ * groups_, c_size = int64_t{atom_.m} * atom_.n;
    out_ = kit_.builder.buffer("out", sums(), TN_ACCESS_READ | TN_ACCESS_WRITE,
                               uint64_t(c_size * all * (has(kTwice) ? 2 : 1)), 32);
    if (has(kSumsFromMemory))
      c_ = kit_.builder.buffer("small_c", sums(), TN_ACCESS_READ, uint64_t(c_size * all), 32);
    for (Operand& o : operands_) {
      place(o);
      const std::string name = ProgramKit::factors_of(sums()) + o.name;
      o.source = kit_.builder.buffer(name, o.dtype, TN_ACCESS_READ,
                                     uint64_t(o.size * all * (has(kFilledAgain) ? steps_ : 1)));
      o.tile = kit_.builder.allocate(std::string("tile_") + o.name, o.dtype, TN_SPACE_SHARED,
                                     uint64_t(o.size * groups_), kTileAlignment);
    }
    const Value block = kit_.builder.index(TN_AXIS_GRID_X, TN_DTYPE_I32);
    lane_ = kit_.builder.index(TN_AXIS_SUBGROUP_LANE, TN_DTYPE_I32);
    group_ = kit_.builder.index(TN_AXIS_SUBGROUP, TN_DTYPE_I32);
    first_ = kit_.times(block, kit_.whole(groups_));
    if (has(kBranchOfBlock) || has(kBranchOfGroup)) {
      const auto side = [&] { compute(); };
      kit_.branch(kit_.less(has(kBranchOfBlock) ? block : group_, kit_.whole(1)), side, side);
    } else {
      compute();
    }
    return kit_.step(blocks_, seed);
  }

 private:
  struct Operand {
    const char* name;
    uint64_t role;
    uint32_t turns;
    tn_dtype dtype = TN_DTYPE_VOID;
    int64_t line = 0, stride = 0, size = 0;  ///< elements of a line, of a column of lines, of all
    bool is_along_k = false;                 ///< its lines
    Value source = 0, tile = 0;
  };

  bool has(TileUse use) const { return uses_ & use; }
  tn_dtype sums() const { return static_cast<tn_dtype>(atom_.accumulator_dtype); }

  void place(Operand& o) const {
    const bool is_a = o.role == TN_MATRIX_A;
    o.dtype = static_cast<tn_dtype>(is_a ? atom_.a_dtype : atom_.b_dtype);
    const int64_t bytes = sdk::dtype_bytes(static_cast<uint8_t>(o.dtype));
    o.line = kLineBytes / bytes;
    o.is_along_k = is_a != ((uses_ & o.turns) != 0);
    const int64_t k = int64_t{atom_.k} * (has(kFilledAgain) ? 1 : steps_);
    const int64_t other = is_a ? atom_.m : atom_.n;
    const int64_t length = o.is_along_k ? k : other, lines = o.is_along_k ? other : k;
    const int64_t columns = (length + o.line - 1) / o.line;
    const int64_t padded = (lines + kLinesTogether - 1) / kLinesTogether * kLinesTogether;
    o.stride = (padded + (has(kFarLines) ? kLinesTogether : 0)) * o.line;
    o.size = columns * o.stride;
  }

  void barrier() {
    const tn_scope scope = has(kOwnBarrier) ? TN_SCOPE_SUBGROUP : TN_SCOPE_BLOCK;
    kit_.barrier(scope);
  }

  /// Each element to where its bytes 16 to 64 are xored with those for 128 to 512.
  void fill(const Operand& o, Value step) {
    const Value turned = kit_.plus(kit_.whole(groups_ - 1), kit_.times(group_, kit_.whole(-1)));
    const Value group = has(kByOtherGroup) ? turned : group_;
    const Value tile = kit_.times(group, kit_.whole(o.size));
    const int64_t fillings = has(kFilledAgain) ? steps_ : 1;
    const Value from =
        kit_.plus(kit_.times(kit_.plus(first_, group), kit_.whole(o.size * fillings)),
                  kit_.times(step, kit_.whole(o.size)));
    const Value i = kit_.builder.begin_loop(lane_, kit_.whole(o.size), kit_.whole(atom_.subgroup));
    const Value line = kit_.index(TN_OP_IDIV, i, kit_.whole(o.line));
    const Value piece = kit_.times(kit_.index(TN_OP_AND, line, kit_.whole(kLinesTogether - 1)),
                                   kit_.whole(o.line * kPieceBytes / kLineBytes));
    kit_.store(o.tile, kit_.plus(tile, kit_.index(TN_OP_XOR, i, piece)),
               kit_.load(o.source, kit_.plus(from, i)));
    kit_.builder.end();
  }
  void fill_both(Value step) {
    for (const Operand& o : operands_) fill(o, step);
    barrier();
  }

  /// Of step number `step` of k.
  Value factor(const Operand& o, int64_t step) {
    const int64_t k = has(kFilledAgain) ? 0 : step * atom_.k;
    const int64_t offset = o.is_along_k ? k / o.line * o.stride + k % o.line : k * o.line;
    const Value at = kit_.plus(kit_.times(group_, kit_.whole(o.size)), kit_.whole(offset));
    const uint32_t lanes = o.role == TN_MATRIX_A ? atom_.a_lanes : atom_.b_lanes;
    const bool is_turned = uses_ & o.turns;
    return kit_.builder.op(
        TN_OP_MATRIX_LOAD, o.dtype, static_cast<uint16_t>(lanes),
        {o.tile, at, kit_.whole(o.stride)},
        atom_.id | o.role | TN_MATRIX_LINES | (is_turned ? TN_MATRIX_TRANSPOSED : 0));
  }
  Value multiply(Value a, Value b, Value c) {
    return kit_.builder.op(TN_OP_MATRIX_MULTIPLY, sums(), static_cast<uint16_t>(atom_.c_lanes),
                           {a, b, c}, atom_.id);
  }
  uint64_t sums_imm() const {
    return atom_.id | TN_MATRIX_C | (has(kTurnedC) ? TN_MATRIX_TRANSPOSED : 0);
  }
  int64_t sums_stride() const { return has(kTurnedC) ? atom_.m : atom_.n; }
  void store(Value at, Value fragment) {
    kit_.builder.op(TN_OP_MATRIX_STORE, TN_DTYPE_VOID, 0,
                    {out_, at, kit_.whole(sums_stride()), fragment}, sums_imm());
  }

  void compute() {
    const int64_t c_size = int64_t{atom_.m} * atom_.n;
    const Value c_at = kit_.times(kit_.plus(first_, group_), kit_.whole(c_size));
    const auto lanes = static_cast<uint16_t>(atom_.c_lanes);
    Value sum = has(kSumsFromMemory)
                    ? kit_.builder.op(TN_OP_MATRIX_LOAD, sums(), lanes,
                                      {c_, c_at, kit_.whole(sums_stride())}, sums_imm())
                    : kit_.number(sums(), 0, lanes);
    std::vector<Value> a, b;
    const auto take = [&] {
      for (int64_t step = 0; step < (has(kFilledAgain) ? 1 : steps_); ++step) {
        a.push_back(factor(operands_[0], step));
        b.push_back(factor(operands_[1], step));
      }
    };
    if (has(kTakenBefore)) take();
    if (has(kFilledAgain)) {
      const Value initial[] = {sum};
      const Value loop =
          kit_.builder.begin_loop(kit_.whole(0), kit_.whole(steps_), kit_.whole(1), initial);
      fill_both(loop);
      if (!has(kTakenBefore)) take();
      const Value next[] = {multiply(a[0], b[0], loop + 1)};
      barrier();
      kit_.builder.end(next);
      return store(c_at, loop + 1);
    }
    fill_both(kit_.whole(0));
    if (!has(kTakenBefore)) take();
    for (size_t step = 0; step < a.size(); ++step) sum = multiply(a[step], b[step], sum);
    store(c_at, sum);
    if (!has(kTwice)) return;
    const Value again = multiply(a[0], b[0], sum);
    store(kit_.plus(c_at, kit_.whole(c_size * blocks_ * groups_)), again);
  }

  const tn_matrix_atom& atom_;
  const uint32_t uses_;
  const int64_t blocks_, groups_, steps_;
  ProgramKit kit_;
  Operand operands_[2] = {{"a", TN_MATRIX_A, kTurnedA}, {"b", TN_MATRIX_B, kTurnedB}};
  Value out_ = 0, c_ = 0, lane_ = 0, group_ = 0, first_ = 0;
};

}  // namespace

AtomFamily tile_family() {
  return {"tiles", TN_SCOPE_BLOCK, TN_OP_MATRIX_MULTIPLY, kTileRows,
          [](const tn_matrix_atom& atom, uint32_t uses, int64_t seed) {
            return TileProgram(atom, uses).draw(seed);
          }};
}

}  // namespace tenon::conformance::abi
