// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What optimisers do to loops: carried values that change places (parallel copies), variables that
// are widened and scaled (induction variables), conditions on the variable (splitting of its range,
// peeling), and bounds that depend on an outer loop (rotation, interchange).
#include <optional>

#include "conformance/cases/abi/patterns/pattern.hpp"
#include "conformance/cases/abi/patterns/program_kit.hpp"

namespace tenon::conformance::abi {
namespace {

using Value = ProgramKit::Value;

constexpr int64_t kLoopThreads = 6;
constexpr uint32_t kReadAndWrite = TN_ACCESS_READ | TN_ACCESS_WRITE;

/// Numbers that the compiler knows or, in so many of 100 programs, some that it has to load.
class Numbers {
 public:
  Numbers(ProgramKit& kit, Choices& choices, uint32_t percent) : kit_(kit), choices_(choices) {
    if (choices.chance(percent)) zero_ = kit.builder.scalar("zero", TN_DTYPE_I32, 0, 0);
  }

  /// As an i32.
  Value some(int64_t value) {
    const Value known = kit_.whole(value);
    return zero_ && choices_.chance(35) ? kit_.plus(known, *zero_) : known;
  }

 private:
  ProgramKit& kit_;
  Choices& choices_;
  std::optional<Value> zero_;
};

/// Threads, each with so many elements of a result.
struct LoopProgram {
  LoopProgram(const char* name, Choices& choices, tn_dtype dtype, int64_t each, uint32_t percent)
      : kit(name),
        out(kit.builder.buffer("out", dtype, kReadAndWrite, uint64_t(kLoopThreads * each))),
        numbers(kit, choices, percent),
        thread(kit.builder.index(TN_AXIS_GRID_X, TN_DTYPE_I32)),
        first(kit.times(thread, kit.whole(each))) {}

  ProgramKit kit;
  const Value out;
  Numbers numbers;
  const Value thread, first;  ///< number of the thread, and of its first element
};

// ---- Carried values ----------------------------------------------------------------------------

enum class Move { kTurnLeft, kTurnRight, kReverse, kPairs, kChain };
constexpr struct {
  std::string_view name;
  Move move;
} kMoves[] = {{"turn_left", Move::kTurnLeft},
              {"turn_right", Move::kTurnRight},
              {"reverse", Move::kReverse},
              {"pairs", Move::kPairs},
              {"chain", Move::kChain}};

size_t source_of(Move move, size_t at, size_t count) {
  switch (move) {
    case Move::kTurnLeft:
      return (at + 1) % count;
    case Move::kTurnRight:
      return (at + count - 1) % count;
    case Move::kReverse:
      return count - 1 - at;
    case Move::kPairs:
      return (at ^ 1) < count ? at ^ 1 : at;
    case Move::kChain:  // the first stays
      return at == 0 ? 0 : at - 1;
  }
  return at;
}

SequenceStep carries_program(Choices& choices, Move move, size_t count, tn_dtype dtype) {
  constexpr uint16_t kWidths[] = {1, 4, 2};
  ProgramKit kit("carries");
  const uint16_t lanes = choices.chance(70) ? uint16_t{1} : choices.pick(kWidths);
  const int64_t each = kLoopThreads * lanes;
  const Value out =
      kit.builder.buffer("out", dtype, kReadAndWrite, uint64_t(each * static_cast<int64_t>(count)));
  const Value in =
      kit.builder.buffer("in", dtype, TN_ACCESS_READ, uint64_t(each * static_cast<int64_t>(count)));
  Numbers numbers(kit, choices, 40);
  const Value thread = kit.builder.index(TN_AXIS_GRID_X, TN_DTYPE_I32);
  const Value first = kit.times(thread, kit.whole(lanes));
  std::vector<Value> initial;
  for (size_t k = 0; k < count; ++k)
    initial.push_back(
        kit.load(in, kit.plus(first, kit.whole(each * static_cast<int64_t>(k))), lanes));
  const Value loop = kit.builder.begin_loop(
      kit.whole(0), numbers.some(choices.pick<int64_t>({4, 1, 2, 3, 5, 0})), kit.whole(1), initial);
  std::vector<Value> next;
  const uint64_t changed = choices.below(count + 2);  // or none
  for (size_t k = 0; k < count; ++k) {
    Value value = loop + 1 + static_cast<Value>(source_of(move, k, count));
    if (k == changed)
      value = kit.builder.op(TN_OP_MAX, dtype, lanes, {value, kit.number(dtype, 1, lanes)});
    next.push_back(value);
  }
  kit.builder.end(next);
  for (size_t k = 0; k < count; ++k)
    kit.store(out, kit.plus(first, kit.whole(each * static_cast<int64_t>(k))),
              loop + 1 + static_cast<Value>(k));
  return kit.step(kLoopThreads, choices.between(1, 99));
}

// ---- Variables, widened and scaled -------------------------------------------------------------

struct Walk {
  int64_t begin, end, step;
};
/// Few iterations each.
constexpr Walk kWalks[] = {{0, 6, 1},
                           {-3, 4, 2},
                           {1 << 20, (1 << 20) + 9, 3},
                           {0, 1 << 30, 1 << 28},
                           {-(1 << 30), 1 << 30, (1 << 29) - 1},
                           {INT32_MAX - 9, INT32_MAX - 1, 2}};
constexpr int64_t kFactors[] = {4, 12, 1024, 65'536, 1'000'003, INT32_MAX, -65'536, INT32_MIN};
constexpr struct {
  std::string_view name;
  tn_opcode op;
} kScalings[] = {{"mul", TN_OP_MUL}, {"add", TN_OP_ADD}, {"sub", TN_OP_SUB}, {"shl", TN_OP_SHL}};

/// out[n] = scaled variable of iteration n, and their sum.
SequenceStep induction_program(Choices& choices, tn_opcode op, tn_dtype wide) {
  constexpr int64_t kMostTrips = 8;
  const Walk walk = choices.pick(kWalks);
  LoopProgram program("induction", choices, wide, kMostTrips + 1, 40);
  auto& [kit, out, numbers, thread, first] = program;
  const int64_t factor =
      op == TN_OP_SHL ? choices.pick<int64_t>({2, 8, 16, 20, 31}) : choices.pick(kFactors);
  const bool is_factor_first = op != TN_OP_SHL && choices.chance(30);
  const Value initial[] = {kit.number(wide, 0), kit.whole(0)};
  const Value loop = kit.builder.begin_loop(numbers.some(walk.begin), numbers.some(walk.end),
                                            kit.whole(walk.step), initial);
  Value variable = loop;
  if (choices.chance(20)) variable = kit.plus(variable, thread);
  variable = kit.cast(variable, wide);
  const Value constant = kit.number(wide, factor);
  const Value scaled = is_factor_first ? kit.builder.op(op, wide, 1, {constant, variable})
                                       : kit.builder.op(op, wide, 1, {variable, constant});
  kit.store(out, kit.plus(first, loop + 2), scaled);
  const Value next[] = {kit.builder.op(TN_OP_ADD, wide, 1, {loop + 1, scaled}),
                        kit.plus(loop + 2, kit.whole(1))};
  kit.builder.end(next);
  kit.store(out, kit.plus(first, kit.whole(kMostTrips)), loop + 1);
  return kit.step(kLoopThreads, choices.between(1, 99));
}

// ---- Conditions on the variable ----------------------------------------------------------------

constexpr struct {
  std::string_view name;
  tn_opcode op;
  bool is_turned;
} kSplits[] = {{"less", TN_OP_CMPLT, false},
               {"greater", TN_OP_CMPLT, true},
               {"equal", TN_OP_CMPEQ, false},
               {"differs", TN_OP_CMPNE, false}};

/// out[n] = which side iteration n took. The bound lies on the variable's values, between them, and
/// outside.
SequenceStep split_program(Choices& choices, tn_opcode op, bool is_turned, int64_t step) {
  constexpr int64_t kTrips = 7;
  LoopProgram program("split", choices, TN_DTYPE_I32, kTrips, 30);
  auto& [kit, out, numbers, thread, first] = program;
  const int64_t begin = choices.pick<int64_t>({0, 1, -5, 100});
  const int64_t end = begin + step * (kTrips - 1) + choices.between(1, step);
  const int64_t bound = begin + choices.between(-1, step * kTrips + 1);
  const bool has_other_side = choices.chance(60);
  const Value initial[] = {kit.whole(0)};
  const Value loop =
      kit.builder.begin_loop(numbers.some(begin), numbers.some(end), kit.whole(step), initial);
  const Value place = kit.plus(first, loop + 1);
  if (!has_other_side) kit.store(out, place, kit.whole(2));
  Value limit = numbers.some(bound);
  if (choices.chance(20)) limit = kit.plus(limit, thread);
  kit.builder.begin_if(is_turned ? kit.builder.op(op, TN_DTYPE_BOOL, 1, {limit, loop})
                                 : kit.builder.op(op, TN_DTYPE_BOOL, 1, {loop, limit}));
  kit.store(out, place, kit.plus(loop, kit.whole(1000)));
  if (has_other_side) {
    kit.builder.begin_else();
    kit.store(out, place, kit.plus(loop, kit.whole(2000)));
  }
  kit.builder.end();
  const Value next[] = {kit.plus(loop + 1, kit.whole(1))};
  kit.builder.end(next);
  return kit.step(kLoopThreads, choices.between(1, 99));
}

// ---- Bounds of an outer loop -------------------------------------------------------------------

/// The inner loop's begin and end, each a multiple of the outer variable and a number.
struct Bounds {
  std::string_view name;
  int64_t begin_times, begin, end_times, end;
};
constexpr Bounds kBounds[] = {{"grows", 0, 0, 1, 0},  {"shrinks", 0, 0, -1, 3},
                              {"slides", 1, 0, 1, 2}, {"closes", 1, 0, 0, 3},
                              {"empty", 0, 2, 0, 2},  {"backwards", 1, 1, -1, 3},
                              {"opens", -1, 3, 0, 3}, {"empty_at_last", 0, 0, -2, 5}};

/// out: how often the inner loop ran, the sum of its variables, and the last one.
SequenceStep nest_program(Choices& choices, const Bounds& bounds) {
  constexpr int64_t kResults = 3;
  LoopProgram program("nest", choices, TN_DTYPE_I32, kResults, 40);
  ProgramKit& kit = program.kit;
  const Value zero = kit.whole(0);
  const Value initial[] = {zero, zero, kit.whole(-9)};
  const int64_t step = choices.pick<int64_t>({1, 2, 3});
  const Value outer =
      kit.builder.begin_loop(zero, program.numbers.some(choices.pick<int64_t>({5, 4, 6, 1})),
                             kit.whole(choices.pick<int64_t>({1, 2})), initial);
  const auto bound = [&](int64_t times, int64_t number) {
    Value value = program.numbers.some(number);
    if (times) value = kit.plus(value, kit.times(outer, kit.whole(times)));
    return value;
  };
  Value end = bound(bounds.end_times, bounds.end);
  if (choices.chance(25)) end = kit.plus(end, program.thread);
  const Value carried[] = {outer + 1, outer + 2, outer + 3};
  const Value inner = kit.builder.begin_loop(bound(bounds.begin_times, bounds.begin), end,
                                             kit.whole(step), carried);
  const Value next[] = {kit.plus(inner + 1, kit.whole(1)), kit.plus(inner + 2, inner), inner};
  kit.builder.end(next);
  const Value after[] = {inner + 1, inner + 2, inner + 3};
  kit.builder.end(after);
  for (int64_t k = 0; k < kResults; ++k)
    kit.store(program.out, kit.plus(program.first, kit.whole(k)),
              outer + 1 + static_cast<Value>(k));
  return kit.step(kLoopThreads, choices.between(1, 99));
}

}  // namespace

std::vector<Pattern> loop_patterns() {
  static constexpr tn_dtype kCarried[] = {TN_DTYPE_I32, TN_DTYPE_F32, TN_DTYPE_I64, TN_DTYPE_U8,
                                          TN_DTYPE_F16};
  std::vector<Pattern> out;
  const auto add = [&](std::string name, auto draw) {
    out.push_back({"loops", std::move(name), [draw](Choices& choices) {
                     const auto [step, dtype] = draw(choices);
                     return DrawnPattern{{step}, dtype};
                   }});
  };
  for (const auto& row : kMoves)
    for (const size_t count : {3u, 2u, 4u, 5u})
      add(fmt::format("{} {}", row.name, count), [move = row.move, count](Choices& choices) {
        const tn_dtype dtype = choices.pick(kCarried);
        return std::pair(carries_program(choices, move, count, dtype), dtype);
      });
  for (const auto& row : kScalings)
    for (const tn_dtype wide :
         {TN_DTYPE_I64, TN_DTYPE_U64, TN_DTYPE_U32, TN_DTYPE_I32, TN_DTYPE_I16})
      add(fmt::format("variable {} {}", row.name, sdk::dtype_text(static_cast<uint8_t>(wide))),
          [op = row.op, wide](Choices& choices) {
            return std::pair(induction_program(choices, op, wide), wide);
          });
  for (const auto& row : kSplits)
    for (const int64_t step : {3, 1, 4, 2, 7})
      add(fmt::format("split {} step {}", row.name, step),
          [op = row.op, is_turned = row.is_turned, step](Choices& choices) {
            return std::pair(split_program(choices, op, is_turned, step), TN_DTYPE_I32);
          });
  for (const Bounds& bounds : kBounds)
    add(fmt::format("nest {}", bounds.name), [&bounds](Choices& choices) {
      return std::pair(nest_program(choices, bounds), TN_DTYPE_I32);
    });
  return out;
}

}  // namespace tenon::conformance::abi
