// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Programs of one dot product each, of dtypes that an atom of a thread names.
#include "conformance/cases/abi/patterns/made_program.hpp"
#include "conformance/cases/abi/patterns/program_kit.hpp"

namespace tenon::conformance::abi {
namespace {

/// What a program does otherwise than add the products of loaded lanes to zeros, and store.
enum DotUse : uint32_t {
  kEdges = 1,    ///< integers at the ends of their dtypes, sums too
  kXForAll = 2,  ///< one group of x for all lanes of the sum
  kYForAll = 4,
  kScalarSum = 8,
  kManyLanes = 16,       ///< of the sum: 16
  kOddLanes = 32,        ///< 3
  kDotChain = 64,        ///< three, each onto the last one's sum
  kDotLoop = 128,        ///< onto a carried sum
  kSumInPlace = 256,     ///< from where it is stored
  kTwiceUsed = 512,      ///< x in a second one, with another y, onto another sum
  kWithItself = 1024,    ///< y is x, where the dtypes are equal
  kGathered = 2048,      ///< lanes of y from addresses apart: a transposed matrix
  kComposed = 4096,      ///< lanes of x from scalars
  kSpread = 8192,        ///< y is one scalar in each lane
  kMaskedLanes = 16384,  ///< lanes of x that are not loaded: the fill is one
  kOnBothSides = 32768,  ///< of a condition that differs from thread to thread
  kLaneWise = 65536      ///< ops on the sum's lanes, and their own sum
};
constexpr AtomRow kDotRows[] = {
    {"plain", 0},
    {"edges", kEdges},
    {"x_for_all", kXForAll},
    {"y_for_all", kYForAll},
    {"x_for_all_edges", kXForAll | kEdges},
    {"y_for_all_edges", kYForAll | kEdges | kSumInPlace},
    {"scalar", kScalarSum | kEdges},
    {"many_lanes", kManyLanes | kEdges},
    {"many_lanes_x_for_all", kManyLanes | kXForAll},
    {"many_lanes_y_for_all", kManyLanes | kYForAll | kEdges},
    {"odd_lanes", kOddLanes | kEdges},
    {"odd_lanes_y_for_all", kOddLanes | kYForAll},
    {"chain", kDotChain},
    {"chain_edges", kDotChain | kEdges},
    {"chain_x_for_all", kDotChain | kXForAll},
    {"loop", kDotLoop},
    {"loop_edges", kDotLoop | kEdges | kYForAll},
    {"loop_scalar", kDotLoop | kScalarSum},
    {"in_place", kSumInPlace},
    {"in_place_edges", kSumInPlace | kEdges | kManyLanes},
    {"used_again", kTwiceUsed},
    {"used_again_edges", kTwiceUsed | kEdges | kXForAll},
    {"with_itself", kWithItself},
    {"with_itself_edges", kWithItself | kEdges | kDotChain},
    {"gathered", kGathered},
    {"gathered_edges", kGathered | kEdges | kDotLoop},
    {"composed", kComposed},
    {"composed_edges", kComposed | kEdges | kScalarSum},
    {"spread", kSpread},
    {"spread_edges", kSpread | kEdges | kManyLanes},
    {"masked", kMaskedLanes | kEdges},
    {"sides", kOnBothSides | kEdges},
    {"sides_chain", kOnBothSides | kDotChain | kYForAll},
    {"lane_wise", kLaneWise},
    {"lane_wise_edges", kLaneWise | kEdges | kXForAll},
};

constexpr int64_t kDotThreads = 12, kDotSteps = 3;

class DotProgram {
 public:
  using Value = ProgramKit::Value;

  DotProgram(const tn_matrix_atom& atom, uint32_t uses)
      : uses_(uses),
        x_dtype_(static_cast<tn_dtype>(atom.a_dtype)),
        y_dtype_(static_cast<tn_dtype>(atom.b_dtype)),
        sums_(static_cast<tn_dtype>(atom.accumulator_dtype)),
        neighbours_(static_cast<uint16_t>(atom.k)),
        lanes_(uses & kScalarSum   ? 1
               : uses & kManyLanes ? 16
               : uses & kOddLanes  ? 3
                                   : 4),
        kit_("dots") {}

  SequenceStep draw(int64_t seed) {
    const std::string kind = sdk::is_float(static_cast<uint8_t>(sums_))
                                 ? ProgramKit::factors_of(sums_)
                             : has(kEdges) ? "edge_"
                                           : "small_";
    constexpr uint32_t kBoth = TN_ACCESS_READ | TN_ACCESS_WRITE;
    const int64_t outs = has(kTwiceUsed) || has(kLaneWise) ? 2 : 1;
    out_ = kit_.builder.buffer(kind + "out", sums_, kBoth, uint64_t(kDotThreads * lanes_ * outs));
    const auto count = uint64_t(kDotThreads * all() * kDotSteps);
    x_ = kit_.builder.buffer(kind + "x", x_dtype_, TN_ACCESS_READ, count);
    y_ = kit_.builder.buffer(kind + "y", y_dtype_, TN_ACCESS_READ, count);
    z_ = kit_.builder.buffer(kind + "z", sums_, TN_ACCESS_READ, uint64_t(kDotThreads * lanes_));
    thread_ = kit_.builder.index(TN_AXIS_GRID_X, TN_DTYPE_I32);
    at_ = kit_.times(thread_, kit_.whole(lanes_));
    if (has(kOnBothSides)) {
      const Value bit = kit_.index(TN_OP_AND, thread_, kit_.whole(1));
      const auto side = [&] { compute(); };
      kit_.branch(kit_.less(kit_.whole(0), bit), side, side);
    } else {
      compute();
    }
    return kit_.step(kDotThreads, seed);
  }

 private:
  bool has(DotUse use) const { return uses_ & use; }
  uint16_t all() const { return static_cast<uint16_t>(neighbours_ * lanes_); }
  uint16_t width(DotUse shared) const { return has(shared) ? neighbours_ : all(); }
  /// Where the thread's lanes of a step begin.
  Value first(Value step) {
    const Value of_thread = kit_.times(thread_, kit_.whole(all() * kDotSteps));
    return kit_.plus(of_thread, kit_.times(step, kit_.whole(all())));
  }

  Value load_x(Value step) {
    const uint16_t lanes = width(kXForAll);
    if (has(kComposed)) {
      std::vector<Value> parts;
      for (uint16_t l = 0; l < lanes; ++l)
        parts.push_back(kit_.load(x_, kit_.plus(first(step), kit_.whole(l))));
      return kit_.builder.op(TN_OP_COMPOSE, x_dtype_, lanes, parts);
    }
    if (!has(kMaskedLanes)) return kit_.load(x_, first(step), lanes);
    const Value lane = kit_.builder.index(TN_AXIS_LANE, TN_DTYPE_I32, lanes);
    const Value end = kit_.number(TN_DTYPE_I32, lanes - 1, lanes);
    const Value mask = kit_.builder.op(TN_OP_CMPLT, TN_DTYPE_BOOL, lanes, {lane, end});
    return kit_.builder.op(TN_OP_TAKE, x_dtype_, lanes,
                           {x_, first(step), mask, kit_.number(x_dtype_, 1, lanes)});
  }

  Value load_y(Value step) {
    const uint16_t lanes = width(kYForAll);
    if (has(kSpread))
      return kit_.builder.op(TN_OP_BROADCAST, y_dtype_, lanes, {kit_.load(y_, first(step))});
    if (!has(kGathered)) return kit_.load(y_, first(step), lanes);
    // Lane l of `lanes` is element l / p + l % p * count: a matrix of p rows, read by columns.
    const auto each = [&](tn_opcode op, Value a, int64_t b) {
      return kit_.builder.op(op, TN_DTYPE_I32, lanes, {a, kit_.number(TN_DTYPE_I32, b, lanes)});
    };
    const Value lane = kit_.builder.index(TN_AXIS_LANE, TN_DTYPE_I32, lanes);
    const Value row = each(TN_OP_MUL, each(TN_OP_MOD, lane, neighbours_), lanes / neighbours_);
    const Value place =
        kit_.builder.op(TN_OP_ADD, TN_DTYPE_I32, lanes, {each(TN_OP_IDIV, lane, neighbours_), row});
    const Value begin = kit_.builder.op(TN_OP_BROADCAST, TN_DTYPE_I32, lanes, {first(step)});
    const Value at = kit_.builder.op(TN_OP_ADD, TN_DTYPE_I32, lanes, {place, begin});
    return kit_.load(y_, at, lanes);
  }

  Value dot(Value step, Value sum) {
    const Value x = load_x(step);
    const bool is_square = has(kWithItself) && x_dtype_ == y_dtype_;
    return dot(x, is_square ? x : load_y(step), sum);
  }
  Value dot(Value x, Value y, Value sum) {
    return kit_.builder.op(TN_OP_DOT, sums_, lanes_, {x, y, sum});
  }
  void store(Value value, int64_t number = 0) {
    kit_.store(out_, kit_.plus(at_, kit_.whole(number * kDotThreads * lanes_)), value);
  }

  void compute() {
    const bool reads = has(kEdges) || has(kSumInPlace) || has(kDotChain);
    Value sum = reads ? kit_.load(has(kSumInPlace) ? out_ : z_, at_, lanes_)
                      : kit_.number(sums_, 0, lanes_);
    if (has(kDotLoop)) {
      const Value initial[] = {sum};
      const Value loop =
          kit_.builder.begin_loop(kit_.whole(0), kit_.whole(kDotSteps), kit_.whole(1), initial);
      const Value next[] = {dot(loop, loop + 1)};
      kit_.builder.end(next);
      return store(loop + 1);
    }
    if (has(kDotChain)) {
      for (int64_t step = 0; step < kDotSteps; ++step) sum = dot(kit_.whole(step), sum);
      return store(sum);
    }
    if (has(kTwiceUsed)) {
      const Value x = load_x(kit_.whole(0));
      const Value product = dot(x, load_y(kit_.whole(0)), sum);
      store(product);
      return store(dot(x, load_y(kit_.whole(1)), kit_.number(sums_, 1, lanes_)), 1);
    }
    const Value product = dot(kit_.whole(0), sum);
    store(product);
    if (!has(kLaneWise)) return;
    const Value more = kit_.builder.op(TN_OP_ADD, sums_, lanes_, {product, sum});
    const Value most =
        kit_.builder.op(TN_OP_MAX, sums_, lanes_, {more, kit_.number(sums_, 0, lanes_)});
    const Value all = kit_.builder.op(TN_OP_LANE_REDUCE, sums_, 1, {most}, TN_OP_ADD);
    const Value last = kit_.builder.op(TN_OP_EXTRACT, sums_, 1, {product}, uint64_t{lanes_} - 1);
    kit_.store(out_, kit_.plus(at_, kit_.whole(kDotThreads * lanes_)), all);
    kit_.store(out_, kit_.plus(at_, kit_.whole(kDotThreads * lanes_ + 1)), last);
  }

  const uint32_t uses_;
  const tn_dtype x_dtype_, y_dtype_, sums_;
  const uint16_t neighbours_, lanes_;
  ProgramKit kit_;
  Value out_ = 0, x_ = 0, y_ = 0, z_ = 0, thread_ = 0, at_ = 0;
};

}  // namespace

AtomFamily dot_family() {
  return {"dot", TN_SCOPE_THREAD, TN_OP_DOT, kDotRows,
          [](const tn_matrix_atom& atom, uint32_t uses, int64_t seed) {
            return DotProgram(atom, uses).draw(seed);
          }};
}

}  // namespace tenon::conformance::abi
