// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A walk over the links of program_links.hpp: for each op that makes a value of a dtype, programs
// in which what it makes is taken by one op after the other. Each such pair stands in a place of
// its own (loops and sides of conditions, in each other), on scalars or vectors, with operands at
// the dtype's boundaries; what comes of it is stored.
#include <algorithm>
#include <optional>

#include "conformance/cases/abi/patterns/pattern.hpp"
#include "conformance/cases/abi/patterns/program_kit.hpp"
#include "conformance/cases/abi/program_links.hpp"
#include "conformance/cases/abi/programs.hpp"
#include "conformance/cases/graphs/boundary_values.hpp"

namespace tenon::conformance::abi {
namespace {

constexpr int64_t kProductInputs = 64, kOwnElements = 8;
constexpr int kPairs = 22, kPairsOfSubgroups = 16, kPairsOfSeries = 5;

enum class PairPlace {
  kTop,
  kThen,
  kElse,
  kLoop,
  kWhile,
  kLoopInSide,
  kSideInLoop,
  kSideInSide,
  kLoopInLoop
};
constexpr int64_t kPairPlaces = 9;

bool is_float_dtype(tn_dtype dtype) { return sdk::is_float(static_cast<uint8_t>(dtype)); }
uint32_t bytes_of_dtype(tn_dtype dtype) { return sdk::dtype_bytes(static_cast<uint8_t>(dtype)); }
bool is_subgroup_exchange(tn_opcode op) {
  return op >= TN_OP_SUBGROUP_SHUFFLE && op <= TN_OP_SUBGROUP_BROADCAST;
}
bool is_of_vectors(tn_opcode op) { return op >= TN_OP_BROADCAST && op <= TN_OP_LANE_REDUCE; }
/// An index, a mask, a condition, a bound: what every device has to agree on.
bool is_control(const LinkPort& port) {
  const bool is_access = port.op == TN_OP_TAKE || port.op == TN_OP_STORE;
  const bool is_mask = port.slot == (port.op == TN_OP_TAKE ? 2u : 3u);
  return (is_access && (port.slot == 1 || is_mask)) || port.name == "loop.end" ||
         port.name == "if" || port.name == "while" || port.name == "atomic.index" ||
         port.name == "subgroup_shuffle.1";
}

class ProductProgram {
 public:
  /// `first`: the port that the walk begins with.
  ProductProgram(Choices& choices, const LinkSource& source, tn_dtype dtype, uint64_t first)
      : choices_(choices), source_(source), dtype_(dtype), first_(first), kit_("products") {}

  SequenceStep draw() {
    draw_shape();
    declare();
    const std::vector<LinkPort>& ports = link_ports();
    std::vector<const LinkPort*> walk;
    for (size_t n = 0; n < ports.size(); ++n)
      if (fits(ports[(first_ + n) % ports.size()]))
        walk.push_back(&ports[(first_ + n) % ports.size()]);
    // What few programs have comes first where this one has it.
    if (choices_.chance(60))
      std::stable_partition(walk.begin(), walk.end(), [](const LinkPort* port) {
        return is_subgroup_exchange(port->op) || port->op == TN_OP_ATOMIC;
      });
    const int most = is_series() ? kPairsOfSeries : subgroup_ ? kPairsOfSubgroups : kPairs;
    walk.resize(std::min<size_t>(walk.size(), static_cast<size_t>(most)));
    int64_t place = choices_.between(0, kPairPlaces - 1);
    for (const LinkPort* port : walk) {
      const Choices::Scope scope(choices_, Part::kNode);
      pair(*port, static_cast<PairPlace>(place++ % kPairPlaces));
    }
    int64_t flags = 0;
    for (const auto& [flag, percent] : {std::pair(kAgain, 25),
                                        {kApart, 15},
                                        {kTwin, 12},
                                        {kReloaded, 10},
                                        {kSaved, 8},
                                        {kTold, 8}})
      if (choices_.chance(static_cast<uint32_t>(percent))) flags |= flag;
    return kit_.step(groups_, seed_, flags);
  }

 private:
  using Value = ProgramKit::Value;

  /// What shaders compute by a series, for each lane: drivers take a second for a dozen.
  bool is_series() const {
    const bool is_function = source_.op == TN_OP_EXP || source_.op == TN_OP_EXP2 ||
                             source_.op == TN_OP_LN || source_.op == TN_OP_LOG2 ||
                             source_.op == TN_OP_SIN || source_.op == TN_OP_COS;
    return is_function && dtype_ == TN_DTYPE_F64;
  }

  // ---- What the program has ---------------------------------------------------------------------

  void draw_shape() {
    constexpr uint16_t kWidths[] = {4, 2, 8, 3, 16};
    const bool is_exchange = is_subgroup_exchange(source_.op);
    if (is_exchange || choices_.chance(14)) {
      constexpr uint32_t kSizes[] = {8, 32, 4, 16};
      subgroup_ = choices_.pick(kSizes);
      threads_ = int64_t{subgroup_} * choices_.between(1, 2);
      groups_ = choices_.between(1, 2);
    } else if (choices_.chance(25)) {
      threads_ = choices_.pick<int64_t>({4, 8});
      groups_ = 2;
    } else {
      groups_ = 6;
    }
    if (is_of_vectors(source_.op) || choices_.chance(40)) lanes_ = choices_.pick(kWidths);
    constexpr uint32_t kMostLanes = 128;         ///< of a subgroup
    const bool is_f64 = dtype_ == TN_DTYPE_F64;  // whose functions are series in shaders
    if (is_f64 || subgroup_ * lanes_ > kMostLanes) lanes_ = std::min<uint16_t>(lanes_, 4);
    in_words_ = choices_.chance(30);
    has_atomics_ = source_.op == TN_OP_ATOMIC || choices_.chance(15);
    has_scalars_ = source_.op == TN_OP_PARAM || choices_.chance(40);
    seed_ = choices_.between(1, 99);
    std::vector<tn_dtype> others;
    const bool is_bits = source_.op == TN_OP_CAST && source_.imm == TN_CAST_BITS;
    for (const tn_dtype other : link_dtypes()) {
      const bool is_alike = bytes_of_dtype(other) == bytes_of_dtype(dtype_);
      if (other != TN_DTYPE_BOOL && (is_alike || !is_bits)) others.push_back(other);
    }
    other_ = choices_.pick(others);
  }

  tn_dtype stored(tn_dtype dtype) const {
    return in_words_ ? ProgramKit::wide_of(static_cast<uint8_t>(dtype)) : dtype;
  }
  int64_t all() const { return threads_ * groups_; }

  void declare() {
    if (threads_ > 1) kit_.builder.workgroup(static_cast<uint32_t>(threads_), 1, 1);
    if (subgroup_) kit_.builder.subgroup(subgroup_);
    constexpr uint32_t kBoth = TN_ACCESS_READ | TN_ACCESS_WRITE;
    const auto count = uint64_t(all() * lanes_ * 2 * kPairs);
    out_ = kit_.builder.buffer("out", stored(dtype_), kBoth, count);
    if (other_ != dtype_)
      out_other_ = kit_.builder.buffer("out_other", stored(other_), kBoth, count);
    const auto input = [&](const char* name, tn_dtype dtype) {
      return kit_.builder.buffer(name, stored(dtype), TN_ACCESS_READ, kProductInputs);
    };
    edges_ = input("mixed_x", dtype_), small_ = input("small_x", dtype_);
    edges_other_ = other_ == dtype_ ? edges_ : input("mixed_y", other_);
    small_other_ = other_ == dtype_ ? small_ : input("small_y", other_);
    if (has_atomics_ && is_counted())
      cells_ = kit_.builder.buffer("cells", dtype_, kBoth, uint64_t(2 * all()));
    const bool is_whole = sdk::is_integer(static_cast<uint8_t>(dtype_));
    if (has_scalars_) scalar_ = kit_.builder.scalar("given", dtype_, 0, is_whole ? 100 : 0);
    if (choices_.chance(50)) {
      const tn_space space = choices_.chance(50) ? TN_SPACE_SCRATCH : TN_SPACE_REGISTER;
      own_ = kit_.builder.allocate("own", dtype_, space, kOwnElements);
    }
    thread_ = kit_.thread_of_launch(threads_);
    inputs_at_ = kit_.times(thread_, kit_.whole(5));
    out_at_ = kit_.times(thread_, kit_.whole(lanes_));
    if (subgroup_) number_of_subgroup_ = kit_.builder.index(TN_AXIS_SUBGROUP, TN_DTYPE_I32);
    if (threads_ > 1) local_ = kit_.builder.index(TN_AXIS_BLOCK_X, TN_DTYPE_I32);
    for (int64_t e = 0; own_ && e < kOwnElements; ++e)
      kit_.store(*own_, kit_.whole(e), constant(dtype_, 1, true));
  }

  bool is_counted() const {
    return dtype_ == TN_DTYPE_I32 || dtype_ == TN_DTYPE_U32 || dtype_ == TN_DTYPE_I64 ||
           dtype_ == TN_DTYPE_U64;
  }

  // ---- Operands ---------------------------------------------------------------------------------

  tn_dtype dtype_of(Value value) const {
    return static_cast<tn_dtype>(kit_.builder.at(value).dtype);
  }
  uint16_t lanes_of(Value value) const { return kit_.builder.at(value).lanes; }
  Value as_dtype(Value value, tn_dtype to) {
    return dtype_of(value) == to ? value : kit_.cast(value, to);
  }
  Value op(tn_opcode code, tn_dtype dtype, uint16_t lanes, std::vector<Value> operands,
           uint64_t imm = 0) {
    return kit_.builder.op(code, dtype, lanes, operands, imm);
  }

  /// An index of the inputs that is another in each thread, iteration and use.
  Value input_place() {
    Value at = kit_.plus(inputs_at_, kit_.whole(7 * used_++));
    if (counter_) at = kit_.plus(at, *counter_);
    return kit_.index(TN_OP_AND, at, kit_.whole(kProductInputs / 2 - 1));
  }
  /// `is_safe`: a float is a small whole number.
  Value loaded(tn_dtype dtype, uint16_t lanes, bool is_safe) {
    const bool is_own = dtype == dtype_;
    const Value memory = is_safe && is_float_dtype(dtype) ? is_own ? small_ : small_other_
                         : is_own                         ? edges_
                                                          : edges_other_;
    return as_dtype(kit_.load(memory, input_place(), lanes), dtype);
  }
  Value constant(tn_dtype dtype, uint16_t lanes, bool is_safe) {
    if (is_safe || choices_.chance(30)) {
      const int64_t most = dtype == TN_DTYPE_BOOL ? 1 : 3;
      return kit_.number(dtype, choices_.between(0, most), lanes);
    }
    const uint64_t bits = choices_.pick(graphs::boundary_values(static_cast<DType>(dtype)));
    return kit_.builder.constant(dtype, bits, lanes);
  }
  /// A bool of integers, another in each thread or lane.
  Value flag(uint16_t lanes) {
    if (lanes > 1) {
      const Value lane = kit_.builder.index(TN_AXIS_LANE, TN_DTYPE_I32, lanes);
      const Value end = kit_.number(TN_DTYPE_I32, choices_.between(0, lanes), lanes);
      return op(TN_OP_CMPLT, TN_DTYPE_BOOL, lanes, {lane, end});
    }
    const Value bit = kit_.index(TN_OP_AND, input_place(), kit_.whole(1));
    return kit_.less(kit_.whole(0), bit);
  }
  Value operand(tn_dtype dtype, uint16_t lanes, bool is_safe) {
    if (dtype == TN_DTYPE_BOOL && dtype_ != TN_DTYPE_BOOL) return flag(lanes);
    if (scalar_ && lanes == 1 && dtype == dtype_ && choices_.chance(25)) return *scalar_;
    return choices_.chance(30) ? constant(dtype, lanes, is_safe) : loaded(dtype, lanes, is_safe);
  }

  // ---- The op that makes a value ----------------------------------------------------------------

  Value elementwise(tn_opcode code, uint64_t imm, tn_dtype from, tn_dtype to, uint16_t lanes,
                    std::optional<std::pair<uint32_t, Value>> given, bool is_safe) {
    const sdk::OpInfo& info = *sdk::op_info(code);
    std::vector<Value> operands;
    for (uint32_t k = 0; k < static_cast<uint32_t>(info.arity); ++k) {
      const bool is_choice = code == TN_OP_WHERE && k == 0;
      const bool is_given =
          given && (given->first == k ||
                    (!is_choice && from == dtype_of(given->second) && choices_.chance(8)));
      operands.push_back(is_given    ? given->second
                         : is_choice ? flag(lanes)
                                     : operand(from, lanes, is_safe));
    }
    return op(code, to, lanes, operands, imm);
  }

  /// A value of the dtype by the source; `limit`: at least 0 and below it.
  Value make(uint16_t lanes, bool is_safe, int64_t limit) {
    const tn_opcode code = source_.op;
    switch (code) {
      case TN_OP_TAKE:
        if (!source_.imm) return loaded(dtype_, lanes, is_safe);
        return masked(lanes, flag(choices_.chance(50) ? lanes : uint16_t{1}),
                      operand(dtype_, lanes, is_safe), is_safe);
      case TN_OP_CONST:
        if (limit) return kit_.number(dtype_, choices_.between(0, limit - 1), lanes);
        return constant(dtype_, lanes, is_safe);
      case TN_OP_PARAM:
        return *scalar_;
      case TN_OP_INDEX:
        if (lanes > 1) return kit_.builder.index(TN_AXIS_LANE, dtype_, lanes);
        if (limit && subgroup_ && limit <= subgroup_)
          return kit_.builder.index(TN_AXIS_SUBGROUP_LANE, dtype_);
        return kit_.builder.index(threads_ > 1 ? TN_AXIS_BLOCK_X : TN_AXIS_GRID_X, dtype_);
      case TN_OP_CARRY:
        return carried(operand(dtype_, lanes, is_safe), lanes, is_safe);
      case TN_OP_ATOMIC:
        return atomic(thread_cell(), operand(dtype_, 1, true), any_way(), {});
      case TN_OP_BROADCAST:
        return op(code, dtype_, lanes, {operand(dtype_, 1, is_safe)});
      case TN_OP_COMPOSE: {
        std::vector<Value> parts;
        for (uint16_t l = 0; l < lanes; ++l) parts.push_back(operand(dtype_, 1, is_safe));
        return op(code, dtype_, lanes, parts);
      }
      case TN_OP_EXTRACT:
        return op(code, dtype_, 1, {operand(dtype_, lanes_, is_safe)}, choices_.below(lanes_));
      case TN_OP_LANE_REDUCE:
        return op(code, dtype_, 1, {operand(dtype_, lanes_, is_safe)}, source_.imm);
      case TN_OP_SUBGROUP_SHUFFLE:
      case TN_OP_SUBGROUP_REDUCE:
      case TN_OP_SUBGROUP_BROADCAST:
        return exchange(code, source_.imm, operand(dtype_, lanes, is_safe), {});
      case TN_OP_CAST:
        return converted(lanes, is_safe);
      default:
        break;
    }
    const bool compares = sdk::op_info(code)->kind == sdk::OpKind::COMPARE;
    if (code == TN_OP_AND && limit)
      return op(code, dtype_, lanes,
                {operand(dtype_, lanes, is_safe), kit_.number(dtype_, limit - 1, lanes)});
    return elementwise(code, 0, compares ? other_ : dtype_, dtype_, lanes, {}, is_safe);
  }

  Value converted(uint16_t lanes, bool is_safe) {
    const bool is_bits = source_.imm == TN_CAST_BITS;
    Value from = operand(other_, lanes, is_safe);
    if (is_bits && is_float_dtype(other_))  // neither NaN nor a zero, whose bits may differ
      from = op(TN_OP_MAX, other_, lanes,
                {loaded(other_, lanes, true), kit_.number(other_, 1, lanes)});
    if (is_bits && dtype_ == TN_DTYPE_BOOL)
      from = op(TN_OP_AND, other_, lanes, {from, kit_.number(other_, 1, lanes)});
    return kit_.cast(from, dtype_, source_.imm);
  }

  Value masked(uint16_t lanes, Value mask, Value fill, bool is_safe) {
    const tn_dtype narrow = dtype_;
    const Value memory = is_safe && is_float_dtype(narrow) ? small_ : edges_;
    const tn_dtype dtype = stored(narrow);
    return as_dtype(
        op(TN_OP_TAKE, dtype, lanes, {memory, input_place(), mask, as_dtype(fill, dtype)}), narrow);
  }

  /// An op that two values of the dtype have.
  tn_opcode joining() {
    if (dtype_ == TN_DTYPE_BOOL) return TN_OP_XOR;
    constexpr tn_opcode kWays[] = {TN_OP_MAX, TN_OP_ADD, TN_OP_MUL};
    return choices_.pick(kWays);
  }
  Value carried(Value first, uint16_t lanes, bool is_safe) {
    const Value initial[] = {first};
    const Value loop = kit_.builder.begin_loop(kit_.whole(0), kit_.whole(choices_.between(1, 3)),
                                               kit_.whole(1), initial);
    const tn_opcode way = is_safe ? dtype_ == TN_DTYPE_BOOL ? TN_OP_XOR : TN_OP_MAX : joining();
    const Value next[] = {op(way, dtype_, lanes, {loop + 1, operand(dtype_, lanes, is_safe)})};
    kit_.builder.end(next);
    return loop + 1;
  }

  Value thread_cell() { return kit_.plus(thread_, kit_.whole(all())); }
  tn_atomic any_way() {
    constexpr tn_atomic kWays[] = {TN_ATOMIC_ADD, TN_ATOMIC_MAX, TN_ATOMIC_MIN, TN_ATOMIC_EXCHANGE,
                                   TN_ATOMIC_COMPARE_EXCHANGE};
    return choices_.pick(kWays);
  }
  Value atomic(Value at, Value value, tn_atomic way, std::optional<Value> wanted) {
    std::vector<Value> operands = {*cells_, at, value};
    if (way == TN_ATOMIC_COMPARE_EXCHANGE)
      operands.push_back(wanted ? *wanted : constant(dtype_, 1, false));
    return op(TN_OP_ATOMIC, dtype_, 1, operands, way | uint64_t{TN_SCOPE_BLOCK} << 8);
  }

  Value exchange(tn_opcode code, uint64_t by, Value value, std::optional<Value> from) {
    std::vector<Value> operands = {value};
    uint64_t imm = by;
    if (code == TN_OP_SUBGROUP_BROADCAST) imm = choices_.below(subgroup_);
    if (code == TN_OP_SUBGROUP_SHUFFLE) {
      imm = 0;
      const Value turned = kit_.plus(kit_.times(*local_, kit_.whole(3)), kit_.whole(1));
      operands.push_back(from ? *from
                              : kit_.index(TN_OP_AND, turned, kit_.whole(int64_t{subgroup_} - 1)));
    }
    return op(code, dtype_of(value), lanes_of(value), operands, imm);
  }

  // ---- The op that takes it ---------------------------------------------------------------------

  /// Threads come to it together.
  bool is_together(const LinkPort& port) const {
    return is_subgroup_exchange(source_.op) || is_subgroup_exchange(port.op);
  }
  bool fits(const LinkPort& port) const {
    if (!takes(port, dtype_)) return false;
    if (is_subgroup_exchange(port.op) && !subgroup_) return false;
    if (is_of_vectors(port.op) && lanes_ == 1) return false;
    if (port.op == TN_OP_ATOMIC && !cells_) return false;
    if (port.op == TN_OP_STORE && port.slot == 1 && !own_) return false;
    const bool is_of_vector = port.op == TN_OP_EXTRACT || port.op == TN_OP_LANE_REDUCE;
    if (is_of_vector && makes_scalars()) return false;
    const bool is_of_scalar = port.op == TN_OP_BROADCAST || port.op == TN_OP_COMPOSE;
    if (is_of_scalar && makes_vectors()) return false;
    if (takes_scalars(port) && makes_vectors()) return false;
    const bool is_bound = port.name == "atomic.index" || port.name == "subgroup_shuffle.1";
    return !is_bound || source_.op == TN_OP_AND || source_.op == TN_OP_CONST ||
           source_.op == TN_OP_INDEX;
  }
  bool makes_scalars() const {
    return source_.op == TN_OP_PARAM || source_.op == TN_OP_ATOMIC || source_.op == TN_OP_EXTRACT ||
           source_.op == TN_OP_LANE_REDUCE;
  }
  bool makes_vectors() const {
    return source_.op == TN_OP_BROADCAST || source_.op == TN_OP_COMPOSE;
  }
  static bool takes_scalars(const LinkPort& port) {
    return port.op == TN_OP_IF || port.op == TN_OP_ATOMIC || port.name == "while" ||
           port.name == "loop.end" || port.name == "store.index" ||
           port.name == "subgroup_shuffle.1";
  }

  void pair(const LinkPort& port, PairPlace place) {
    const bool is_of_vector = port.op == TN_OP_EXTRACT || port.op == TN_OP_LANE_REDUCE;
    const bool is_of_scalar =
        port.op == TN_OP_BROADCAST || port.op == TN_OP_COMPOSE || takes_scalars(port);
    uint16_t lanes = 1;
    if (lanes_ > 1 && !makes_scalars() && !is_of_scalar)
      lanes = is_of_vector || makes_vectors() || choices_.chance(60) ? lanes_ : uint16_t{1};
    is_together_ = is_together(port);
    in_place(place, [&] {
      const bool is_safe = is_control(port);
      const int64_t limit = port.name == "atomic.index"         ? all()
                            : port.name == "subgroup_shuffle.1" ? int64_t{subgroup_}
                                                                : 0;
      const int64_t power = limit ? int64_t{1} << (63 - __builtin_clzll(uint64_t(limit))) : 0;
      if (port.name == "carry.next") return next_of_loop(lanes);
      if (port.name == "while") return while_condition();
      const Value x = make(lanes, is_safe, power);
      use(port, x, lanes);
      if (!choices_.chance(50)) return;
      ++slot_;  // once more, by another op
      keep(followed(x, lanes_of(x)));
    });
    ++slot_;
  }

  /// `chain` where the place says.
  template <class Chain>
  void in_place(PairPlace place, Chain chain) {
    const auto side = [&](auto inner) {
      kit_.builder.begin_if(is_together_ ? kit_.less(*number_of_subgroup_, kit_.whole(1))
                                         : flag(1));
      if (place == PairPlace::kElse) kit_.builder.begin_else();
      inner();
      kit_.builder.end();
    };
    const auto loop = [&](auto inner) {
      const std::optional<Value> outer = counter_;
      const bool is_while = place == PairPlace::kWhile;
      const Value some =
          is_together_ ? kit_.whole(2) : kit_.index(TN_OP_AND, input_place(), kit_.whole(3));
      const Value end = is_while || choices_.chance(40) ? kit_.whole(3) : some;
      counter_ = kit_.builder.begin_loop(kit_.whole(0), end, kit_.whole(1), {},
                                         is_while ? TN_OP_WHILE : 0);
      inner();
      if (is_while) {
        const Value goes_on[] = {kit_.less(*counter_, some)};
        kit_.builder.end(goes_on);
      } else {
        kit_.builder.end();
      }
      counter_ = outer;
    };
    switch (place) {
      case PairPlace::kTop:
        return chain();
      case PairPlace::kThen:
      case PairPlace::kElse:
        return side(chain);
      case PairPlace::kLoop:
      case PairPlace::kWhile:
        return loop(chain);
      case PairPlace::kLoopInSide:
        return side([&] { loop(chain); });
      case PairPlace::kSideInLoop:
        return loop([&] { side(chain); });
      case PairPlace::kSideInSide:
        return side([&] { side(chain); });
      case PairPlace::kLoopInLoop:
        return loop([&] { loop(chain); });
    }
  }

  Value out_place() { return kit_.plus(out_at_, kit_.whole(slot_ * all() * lanes_)); }
  /// Into the thread's elements of the pair.
  void keep(Value value, std::optional<Value> mask = {}) {
    const bool is_other = dtype_of(value) == other_ && other_ != dtype_;
    const Value memory = is_other ? out_other_ : out_;
    std::vector<Value> operands = {memory, out_place(),
                                   as_dtype(value, stored(is_other ? other_ : dtype_))};
    if (mask) operands.push_back(*mask);
    kit_.builder.op(TN_OP_STORE, TN_DTYPE_VOID, 0, operands);
  }

  void next_of_loop(uint16_t lanes) {
    const Value initial[] = {operand(dtype_, lanes, false)};
    const std::optional<Value> outer = counter_;
    const Value loop =
        kit_.builder.begin_loop(kit_.whole(0), kit_.whole(2), kit_.whole(1), initial);
    counter_ = loop;
    const Value next[] = {make(lanes, false, 0)};
    kit_.builder.end(next);
    counter_ = outer;
    keep(loop + 1);
  }
  void while_condition() {
    const Value initial[] = {kit_.whole(1)};
    const std::optional<Value> outer = counter_;
    const Value loop =
        kit_.builder.begin_loop(kit_.whole(0), kit_.whole(5), kit_.whole(1), initial, TN_OP_WHILE);
    counter_ = loop;
    const Value sum = kit_.plus(loop + 1, kit_.whole(1));
    const Value next[] = {sum, make(1, true, 0)};
    kit_.builder.end(next);
    counter_ = outer;
    keep_number(loop + 1);
  }
  void keep_number(Value count) {  // from 0 to 7
    if (dtype_ == TN_DTYPE_BOOL) count = kit_.index(TN_OP_AND, count, kit_.whole(1));
    keep(kit_.cast(count, dtype_));
  }

  void use(const LinkPort& port, Value x, uint16_t lanes) {
    switch (port.op) {
      case TN_OP_TAKE:
        return use_in_load(port.slot, x, lanes);
      case TN_OP_STORE:
        if (port.slot == 1) return use_as_index(x);
        if (port.slot == 3) return keep(operand(dtype_, lanes, false), x);
        return keep(x, choices_.chance(25) ? std::optional(flag(lanes)) : std::nullopt);
      case TN_OP_ATOMIC: {
        if (port.slot == 1) {
          atomic(as_dtype(x, dtype_), operand(dtype_, 1, true), TN_ATOMIC_ADD, {});
          return;
        }
        const bool is_wanted = port.slot == 3;
        const tn_atomic way = is_wanted ? TN_ATOMIC_COMPARE_EXCHANGE : any_way();
        return keep(atomic(thread_cell(), is_wanted ? constant(dtype_, 1, false) : x, way,
                           is_wanted ? std::optional(x) : std::nullopt));
      }
      case TN_OP_IF:
        kit_.builder.begin_if(x);
        keep(kit_.number(dtype_, 1));
        kit_.builder.begin_else();
        keep(kit_.number(dtype_, 0));
        return kit_.builder.end();
      case TN_OP_LOOP:
        if (port.slot > 1) return keep(carried(x, lanes, false));
        return use_as_end(x);
      case TN_OP_BROADCAST:
        return keep(op(port.op, dtype_, lanes_, {x}));
      case TN_OP_COMPOSE: {
        std::vector<Value> parts(lanes_, x);
        for (size_t l = 1; l < parts.size(); ++l)
          if (choices_.chance(60)) parts[l] = operand(dtype_, 1, false);
        return keep(op(port.op, dtype_, lanes_, parts));
      }
      case TN_OP_EXTRACT:
        return keep(op(port.op, dtype_, 1, {x}, choices_.below(lanes_)));
      case TN_OP_LANE_REDUCE:
        return keep(op(port.op, dtype_, 1, {x}, port.imm));
      case TN_OP_SUBGROUP_SHUFFLE:
        if (port.slot == 1) return keep(exchange(port.op, 0, operand(dtype_, 1, false), x));
        return keep(exchange(port.op, 0, x, {}));
      case TN_OP_SUBGROUP_REDUCE:
      case TN_OP_SUBGROUP_BROADCAST:
        return keep(exchange(port.op, port.imm, x, {}));
      default:
        return use_in_elementwise(port, x, lanes);
    }
  }

  /// An index of any value, behind a mask that is true inside.
  Value inside(Value x, int64_t count) {
    const tn_dtype dtype = dtype_of(x);
    const uint16_t lanes = lanes_of(x);
    const auto less = [&](Value a, Value b) {
      return op(TN_OP_CMPLT, TN_DTYPE_BOOL, lanes, {a, b});
    };
    return op(TN_OP_AND, TN_DTYPE_BOOL, lanes,
              {less(kit_.number(dtype, -1, lanes), x), less(x, kit_.number(dtype, count, lanes))});
  }
  void use_in_load(uint32_t slot, Value x, uint16_t lanes) {
    if (slot == 3) return keep(masked(lanes, flag(lanes), x, false));
    if (slot == 2) return keep(masked(lanes, x, operand(dtype_, lanes, false), false));
    const Value fill = kit_.number(stored(dtype_), 1, lanes);
    keep(as_dtype(
        op(TN_OP_TAKE, stored(dtype_), lanes, {edges_, x, inside(x, kProductInputs), fill}),
        dtype_));
  }
  void use_as_index(Value x) {
    kit_.builder.op(TN_OP_STORE, TN_DTYPE_VOID, 0,
                    {*own_, x, operand(dtype_, 1, false), inside(x, kOwnElements)});
    keep(kit_.load(*own_, kit_.index(TN_OP_AND, input_place(), kit_.whole(kOwnElements - 1))));
  }
  void use_as_end(Value x) {
    const Value initial[] = {kit_.whole(0)};
    const Value loop = kit_.builder.begin_loop(kit_.number(dtype_, 0), x, kit_.number(dtype_, 1),
                                               initial, TN_OP_WHILE);
    const Value next[] = {kit_.plus(loop + 1, kit_.whole(1)),
                          kit_.less(loop, kit_.number(dtype_, 3))};
    kit_.builder.end(next);
    keep_number(loop + 1);
  }
  void use_in_elementwise(const LinkPort& port, Value x, uint16_t lanes) {
    tn_dtype from = dtype_, to = dtype_;
    const auto kind = sdk::op_info(port.op)->kind;
    if (port.op == TN_OP_WHERE && port.slot == 0) from = to = other_;
    if (kind == sdk::OpKind::COMPARE) to = TN_DTYPE_BOOL;
    if (port.op == TN_OP_CAST && port.imm == TN_CAST_VALUE) to = other_;
    if (port.op == TN_OP_CAST && port.imm == TN_CAST_BITS)
      to = bytes_of_dtype(other_) == bytes_of_dtype(dtype_) ? other_ : dtype_;
    Value result = elementwise(port.op, port.imm, from, to, lanes, std::pair(port.slot, x), false);
    if (choices_.chance(65)) result = followed(result, lanes);
    keep(result);
  }

  /// By any op that takes it.
  Value followed(Value x, uint16_t lanes) {
    const tn_dtype dtype = dtype_of(x);
    if (dtype != dtype_ && dtype != other_ && dtype != TN_DTYPE_BOOL) return x;
    static const std::vector<LinkPort> all = [] {
      std::vector<LinkPort> out;
      for (const LinkPort& port : link_ports())
        if (sdk::is_elementwise(*sdk::op_info(port.op)) && port.op != TN_OP_CAST)
          out.push_back(port);
      return out;
    }();
    const uint64_t first = choices_.below(all.size());
    for (size_t n = 0; n < all.size(); ++n) {
      const LinkPort& port = all[(first + n) % all.size()];
      const bool is_choice = port.op == TN_OP_WHERE && port.slot == 0;
      if (!takes(port, dtype)) continue;
      const tn_dtype from = is_choice ? dtype_ : dtype;
      const bool compares = sdk::op_info(port.op)->kind == sdk::OpKind::COMPARE;
      return elementwise(port.op, 0, from, compares ? TN_DTYPE_BOOL : from, lanes,
                         std::pair(port.slot, x), false);
    }
    return x;
  }

  Choices& choices_;
  const LinkSource& source_;
  const tn_dtype dtype_;
  const uint64_t first_;
  tn_dtype other_ = TN_DTYPE_I32;
  ProgramKit kit_;
  uint16_t lanes_ = 1;
  uint32_t subgroup_ = 0;
  int64_t threads_ = 1, groups_ = 1, seed_ = 1, used_ = 0, slot_ = 0;
  bool in_words_ = false, has_atomics_ = false, has_scalars_ = false;
  bool is_together_ = false;  ///< the threads of a subgroup come to the pair together
  Value out_ = 0, out_other_ = 0, edges_ = 0, small_ = 0, edges_other_ = 0, small_other_ = 0;
  Value thread_ = 0, inputs_at_ = 0, out_at_ = 0;
  std::optional<Value> cells_, scalar_, own_, local_, number_of_subgroup_, counter_;
};

}  // namespace

std::vector<Pattern> product_patterns() {
  constexpr size_t kShares = 3;  ///< of the dtypes of a source, each a pattern
  std::vector<Pattern> out;
  for (size_t share = 0; share < kShares; ++share)
    for (const LinkSource& source : link_sources()) {
      std::vector<tn_dtype> dtypes;
      size_t number = 0;
      for (const tn_dtype dtype : link_dtypes())
        if (gives(source, dtype) && number++ % kShares == share) dtypes.push_back(dtype);
      if (dtypes.empty()) continue;
      out.push_back({"products", "from_" + source.name, [&source, dtypes](Choices& choices) {
                       const tn_dtype dtype = choices.pick(dtypes);
                       // Half of the ports, and the other half.
                       const uint64_t ports = link_ports().size(), first = choices.below(ports);
                       DrawnPattern drawn{{}, dtype};
                       for (const uint64_t begin : {first, first + ports / 2})
                         drawn.steps.push_back(
                             ProductProgram(choices, source, dtype, begin).draw());
                       return drawn;
                     }});
    }
  return out;
}

}  // namespace tenon::conformance::abi
