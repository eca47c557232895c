// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What threads do together, crossed with where: subgroup ops on scalars and vectors of each dtype,
// narrow ones widened after; barriers of each scope; atomics whose operands are equal; copies that
// arrive later. Plain, in a loop, on both sides of a condition that is equal in a subgroup, and
// after or inside of conditions nested in each other that are not. A store stands behind each.
#include "conformance/cases/abi/patterns/pattern.hpp"
#include "conformance/cases/abi/patterns/program_kit.hpp"

namespace tenon::conformance::abi {
namespace {

constexpr tn_dtype kExchangedDTypes[] = {TN_DTYPE_U32, TN_DTYPE_I8,  TN_DTYPE_F32, TN_DTYPE_U16,
                                         TN_DTYPE_F16, TN_DTYPE_I64, TN_DTYPE_U8,  TN_DTYPE_I16,
                                         TN_DTYPE_I32, TN_DTYPE_BF16};
constexpr uint32_t kSubgroupSizes[] = {8, 32, 4, 16};

enum class Where { kPlain, kLoop, kSides, kAfterSides, kInSides };
constexpr struct {
  std::string_view name;
  Where where;
} kCooperationPlaces[] = {{"plain", Where::kPlain},
                          {"loop", Where::kLoop},
                          {"sides", Where::kSides},
                          {"after_sides", Where::kAfterSides},
                          {"in_sides", Where::kInSides}};

class CooperationProgram {
 public:
  using Value = ProgramKit::Value;

  explicit CooperationProgram(Choices& choices)
      : choices(choices), kit("cooperation"), size(choices.pick(kSubgroupSizes)) {
    groups = choices.between(1, 2);
    subgroups = choices.between(1, 3);
  }

  int64_t threads() const { return int64_t{size} * subgroups; }
  int64_t all() const { return threads() * groups; }
  void place(bool has_subgroups) {
    kit.builder.workgroup(static_cast<uint32_t>(threads()), 1, 1);
    if (has_subgroups) kit.builder.subgroup(size);
    local = kit.builder.index(TN_AXIS_BLOCK_X, TN_DTYPE_I32);
    thread = kit.thread_of_launch(threads());
    if (has_subgroups) subgroup = kit.builder.index(TN_AXIS_SUBGROUP, TN_DTYPE_I32);
  }
  Value bit(int64_t n) {
    const Value shifted = kit.index(TN_OP_IDIV, local, kit.whole(int64_t{1} << n));
    return kit.less(kit.whole(0), kit.index(TN_OP_AND, shifted, kit.whole(1)));
  }
  /// Four sides of two conditions that differ from thread to thread.
  template <class Side>
  void nested_sides(Side side) {
    kit.branch(
        bit(0), [&] { inner_sides(1, side); }, [&] { inner_sides(3, side); });
  }
  template <class Side>
  void inner_sides(int number, Side side) {
    kit.branch(
        bit(1), [&] { side(number); }, [&] { side(number + 1); });
  }
  /// `step` where it may stand whose threads come together.
  template <class Step>
  void at(Where where, Value marks, Step step) {
    const auto mark = [&](int number) { kit.store(marks, thread, kit.whole(number)); };
    switch (where) {
      case Where::kPlain:
        return step();
      case Where::kLoop:
        kit.builder.begin_loop(kit.whole(0), kit.whole(3), kit.whole(1));
        step();
        return kit.builder.end();
      case Where::kSides:
        kit.builder.begin_if(kit.less(subgroup, kit.whole(1)));
        step();
        mark(1);
        kit.builder.begin_else();
        step();
        mark(2);
        return kit.builder.end();
      case Where::kAfterSides:
        nested_sides(mark);
        return step();
      case Where::kInSides:  // of those that differ, only around it
        kit.builder.begin_if(kit.less(subgroup, kit.whole(2)));
        nested_sides(mark);
        step();
        nested_sides([&](int number) { mark(number + 4); });
        kit.builder.begin_else();
        step();
        kit.builder.end();
    }
  }
  Value buffer(const char* name, tn_dtype dtype, int64_t count) {
    return kit.builder.buffer(name, dtype, TN_ACCESS_READ | TN_ACCESS_WRITE, uint64_t(count));
  }
  std::vector<SequenceStep> finish() { return {kit.step(groups, choices.between(1, 99))}; }

  Choices& choices;
  ProgramKit kit;
  const uint32_t size;
  int64_t groups = 1, subgroups = 1;
  Value local = 0, thread = 0, subgroup = 0;
};
using Value = CooperationProgram::Value;

// ---- Subgroup ops ------------------------------------------------------------------------------

struct ExchangeRow {
  std::string_view name;
  tn_opcode op;
  tn_opcode by = TN_OP_INVALID;
};
constexpr ExchangeRow kExchanges[] = {{"shuffle", TN_OP_SUBGROUP_SHUFFLE},
                                      {"reduce_add", TN_OP_SUBGROUP_REDUCE, TN_OP_ADD},
                                      {"broadcast", TN_OP_SUBGROUP_BROADCAST},
                                      {"reduce_max", TN_OP_SUBGROUP_REDUCE, TN_OP_MAX},
                                      {"reduce_mul", TN_OP_SUBGROUP_REDUCE, TN_OP_MUL}};

std::vector<SequenceStep> draw_exchange(Choices& choices, const ExchangeRow& row, tn_dtype dtype,
                                        uint16_t lanes, Where where) {
  CooperationProgram p(choices);
  ProgramKit& kit = p.kit;
  const bool in_words = choices.chance(40);
  const tn_dtype wide = ProgramKit::wide_of(static_cast<uint8_t>(dtype));
  const tn_dtype stored = in_words ? wide : dtype;
  const Value out = p.buffer("out", wide, p.all() * lanes);
  const Value marks = p.buffer("marks", TN_DTYPE_I32, p.all());
  const Value in = kit.builder.buffer("in", stored, TN_ACCESS_READ, uint64_t(p.all() * lanes));
  p.place(true);
  const Value first = kit.times(p.thread, kit.whole(lanes));
  Value x = kit.load(in, first, lanes);
  if (stored != dtype) x = kit.cast(x, dtype);
  p.at(where, marks, [&] {
    std::vector<Value> operands = {x};
    uint64_t imm = row.by;
    if (row.op == TN_OP_SUBGROUP_SHUFFLE) {
      const Value turned = kit.plus(kit.times(p.local, kit.whole(choices.pick<int64_t>({3, 1, 5}))),
                                    kit.whole(choices.between(0, 3)));
      operands.push_back(kit.index(TN_OP_AND, turned, kit.whole(p.size - 1)));
    }
    if (row.op == TN_OP_SUBGROUP_BROADCAST)
      imm = static_cast<uint64_t>(choices.between(0, p.size - 1));
    const Value got = kit.builder.op(row.op, dtype, lanes, operands, imm);
    kit.store(out, first, wide == dtype ? got : kit.cast(got, wide));
  });
  return p.finish();
}

// ---- Barriers ----------------------------------------------------------------------------------

/// Between a store and a load of another thread's element: of shared memory, or of a buffer.
std::vector<SequenceStep> draw_barrier(Choices& choices, tn_scope scope, tn_dtype dtype,
                                       bool is_shared, Where where) {
  CooperationProgram p(choices);
  ProgramKit& kit = p.kit;
  const Value out = p.buffer("out", dtype, p.all());
  const Value marks = p.buffer("marks", TN_DTYPE_I32, p.all());
  const Value in = kit.builder.buffer("in", dtype, TN_ACCESS_READ, uint64_t(p.all()));
  const Value tile =
      is_shared ? kit.builder.allocate("tile", dtype, TN_SPACE_SHARED, uint64_t(p.threads()))
                : p.buffer("tile", dtype, p.all());
  p.place(true);
  const Value x = kit.load(in, p.thread);
  // The threads of a subgroup turned round, or those of the workgroup.
  const Value last = kit.whole(p.threads() - 1);
  const Value other =
      scope == TN_SCOPE_SUBGROUP
          ? kit.index(TN_OP_XOR, p.local, kit.whole(choices.pick<int64_t>({1, 3, 2})))
          : kit.plus(last, kit.times(p.local, kit.whole(-1)));
  // A barrier of the workgroup stands where all of it comes.
  const bool is_apart = where == Where::kSides || where == Where::kInSides;
  const Where here = scope == TN_SCOPE_BLOCK && is_apart ? Where::kAfterSides : where;
  // From an element's number in the workgroup to that in the tile.
  const Value first = kit.plus(p.thread, kit.times(p.local, kit.whole(-1)));
  const auto place = [&](Value local) { return is_shared ? local : kit.plus(first, local); };
  p.at(here, marks, [&] {
    kit.store(tile, place(p.local), x);
    p.kit.barrier(scope);
    kit.store(out, p.thread, kit.load(tile, place(other)));
    p.kit.barrier(scope);
  });
  return p.finish();
}

// ---- Atomics -----------------------------------------------------------------------------------

constexpr struct {
  std::string_view name;
  tn_atomic way;
} kAtomics[] = {{"add", TN_ATOMIC_ADD}, {"max", TN_ATOMIC_MAX}, {"min", TN_ATOMIC_MIN}};

/// Cells that all threads change, each of the four sides with an operand that is equal in all that
/// come there, or that is not.
std::vector<SequenceStep> draw_atomics(Choices& choices, tn_atomic way, tn_dtype dtype,
                                       bool is_equal, bool is_shared) {
  CooperationProgram p(choices);
  ProgramKit& kit = p.kit;
  constexpr int64_t kCells = 4;
  const Value out = p.buffer("out", dtype, p.all());
  const Value marks = p.buffer("marks", TN_DTYPE_I32, p.all());
  const Value in = kit.builder.buffer("in", dtype, TN_ACCESS_READ, uint64_t(p.all()));
  const Value cells = is_shared
                          ? kit.builder.allocate("cells", dtype, TN_SPACE_SHARED, uint64_t{kCells})
                          : p.buffer("cells", dtype, kCells);
  p.place(false);
  if (is_shared) {
    kit.builder.begin_if(kit.less(p.local, kit.whole(kCells)));
    kit.store(cells, p.local, kit.number(dtype, 5));
    kit.builder.end();
    p.kit.barrier(TN_SCOPE_BLOCK);
  }
  const Value x = is_equal ? 0 : kit.load(in, p.thread);
  p.nested_sides([&](int number) {
    const Value operand =
        is_equal ? kit.number(dtype, choices.pick<int64_t>({1, 7, -3, 100}) + number) : x;
    const Value cell = kit.whole(choices.between(0, kCells - 1));
    kit.builder.op(TN_OP_ATOMIC, dtype, 1, {cells, cell, operand},
                   way | uint64_t{TN_SCOPE_BLOCK} << 8);
    kit.store(marks, p.thread, kit.whole(number));
  });
  if (is_shared) {
    p.kit.barrier(TN_SCOPE_BLOCK);
    kit.store(out, p.thread, kit.load(cells, kit.index(TN_OP_AND, p.local, kit.whole(kCells - 1))));
  }
  return p.finish();
}

// ---- Asynchronous copies -----------------------------------------------------------------------

std::vector<SequenceStep> draw_copies(Choices& choices, tn_dtype dtype, int64_t bytes,
                                      int64_t pages, bool is_divided) {
  CooperationProgram p(choices);
  ProgramKit& kit = p.kit;
  const int64_t each = bytes / sdk::dtype_bytes(static_cast<uint8_t>(dtype));
  const int64_t page = p.threads() * each;
  const Value out = p.buffer("out", dtype, p.all() * each * pages);
  const Value marks = p.buffer("marks", TN_DTYPE_I32, p.all());
  const Value in =
      kit.builder.buffer("in", dtype, TN_ACCESS_READ, uint64_t(p.all() * each * pages), 16);
  const Value tile =
      kit.builder.allocate("tile", dtype, TN_SPACE_SHARED, uint64_t(page * pages), 16);
  p.place(false);
  const auto element = [&](Value thread, int64_t n, int64_t size) {
    return kit.plus(kit.times(thread, kit.whole(each)), kit.whole(n * size));
  };
  for (int64_t n = 0; n < pages; ++n) {
    const auto copy_from = [&](int64_t from) {
      kit.builder.op(TN_OP_ASYNC_COPY, TN_DTYPE_VOID, 0,
                     {tile, element(p.local, n, page), in, element(p.thread, from, p.all() * each)},
                     static_cast<uint64_t>(bytes));
    };
    if (is_divided)
      p.nested_sides([&](int number) {
        copy_from((n + number) % pages);
        kit.store(marks, p.thread, kit.whole(number));
      });
    else
      copy_from(n);
    kit.builder.op(TN_OP_ASYNC_COMMIT, TN_DTYPE_VOID, 0, {});
  }
  const Value other = kit.plus(kit.whole(p.threads() - 1), kit.times(p.local, kit.whole(-1)));
  for (int64_t n = 0; n < pages; ++n) {
    kit.builder.op(TN_OP_ASYNC_WAIT, TN_DTYPE_VOID, 0, {}, static_cast<uint64_t>(pages - 1 - n));
    p.kit.barrier(TN_SCOPE_BLOCK);
    for (int64_t e = 0; e < each; ++e)
      kit.store(out, kit.plus(element(p.thread, n, p.all() * each), kit.whole(e)),
                kit.load(tile, kit.plus(element(other, n, page), kit.whole(e))));
  }
  return p.finish();
}

}  // namespace

std::vector<Pattern> cooperation_patterns() {
  std::vector<Pattern> out;
  const auto add = [&](std::string name, std::span<const tn_dtype> dtypes, auto draw) {
    out.push_back({"cooperation", std::move(name), [dtypes, draw](Choices& choices) {
                     const tn_dtype dtype = dtypes[choices.below(dtypes.size())];
                     return DrawnPattern{draw(choices, dtype), dtype};
                   }});
  };
  static constexpr tn_dtype kMet[] = {TN_DTYPE_I32, TN_DTYPE_F32, TN_DTYPE_U8, TN_DTYPE_F16};
  static constexpr tn_dtype kCounted[] = {TN_DTYPE_I32, TN_DTYPE_U32, TN_DTYPE_I64, TN_DTYPE_U64};
  static constexpr tn_dtype kCopied[] = {TN_DTYPE_F32, TN_DTYPE_I8, TN_DTYPE_F16};
  for (const auto& [where_name, where] : kCooperationPlaces) {
    for (const uint16_t lanes : {1, 4, 2})
      for (const ExchangeRow& row : kExchanges)
        add(fmt::format("{} x{} {}", row.name, lanes, where_name), kExchangedDTypes,
            [row, lanes, here = where](Choices& choices, tn_dtype dtype) {
              return draw_exchange(choices, row, dtype, lanes, here);
            });
    for (const bool is_shared : {true, false})
      for (const tn_scope scope : {TN_SCOPE_SUBGROUP, TN_SCOPE_BLOCK})
        add(fmt::format("barrier {} {}{}", scope == TN_SCOPE_BLOCK ? "block" : "subgroup",
                        where_name, is_shared ? "" : " of buffers"),
            kMet, [scope, is_shared, here = where](Choices& choices, tn_dtype dtype) {
              return draw_barrier(choices, scope, dtype, is_shared, here);
            });
  }
  for (const auto& [name, way] : kAtomics)
    for (const bool is_equal : {true, false})
      for (const bool is_shared : {false, true})
        add(fmt::format("atomic_{} {} {}", name, is_equal ? "equal" : "own",
                        is_shared ? "shared" : "global"),
            kCounted, [one = way, is_equal, is_shared](Choices& choices, tn_dtype dtype) {
              return draw_atomics(choices, one, dtype, is_equal, is_shared);
            });
  for (const bool is_divided : {false, true})
    for (const int64_t bytes : {4, 16, 8})
      for (const int64_t pages : {1, 2, 3})
        add(fmt::format("copy {} bytes {} groups{}", bytes, pages, is_divided ? " sides" : ""),
            kCopied, [bytes, pages, is_divided](Choices& choices, tn_dtype dtype) {
              return draw_copies(choices, dtype, bytes, pages, is_divided);
            });
  return out;
}

}  // namespace tenon::conformance::abi
