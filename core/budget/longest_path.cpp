// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Between barriers and loops an op starts when its operands are ready, since compilers put loads
// first. An iteration takes as long as its ops take to start, or as its longest carried dependency.
#include <algorithm>
#include <utility>
#include <vector>

#include "core/budget/accesses.hpp"
#include "core/budget/work.hpp"
#include "core/ir/op.hpp"

namespace tenon {
namespace {

// Clocks. Dependent arithmetic takes 4 to 6 on every architecture since Volta; products of matrices
// about 33, special functions about 20 (Luo et al., "Benchmarking and Dissecting the Nvidia Hopper
// GPU Architecture via Microbenchmarking", 2024, and its forerunners).
constexpr double kArithmetic = 4;
constexpr double kSpecial = 20;
constexpr double kMatrix = 33;
constexpr double kExchange = 25;
constexpr double kBarrier = 20;

class Path {
 public:
  Path(const sdk::ProgramView& program, const SubgroupTrace& trace, const Rates& rates,
       const std::map<uint32_t, double>& misses, double busy, bool only_memory)
      : program_(program),
        trace_(trace),
        rates_(rates),
        misses_(misses),
        busy_(busy),
        only_memory_(only_memory),
        closes_(sdk::region_closes(program)),
        ready_(program.op_count(), 0) {}

  double run() { return body(0, program_.op_count(), 0); }

 private:
  double latency(uint32_t i) const {
    const tn_op& op = program_.op(i);
    const auto arithmetic = [&](double clocks) { return only_memory_ ? 0 : clocks; };
    const auto operands = program_.operands(op);
    switch (op.op) {
      case TN_OP_TAKE:
      case TN_OP_ATOMIC:
      case TN_OP_MATRIX_LOAD: {
        const auto param = static_cast<uint32_t>(program_.op(operands[0]).imm);
        if (is_shared(program_, param)) return rates_.shared_latency;
        if (!is_global(program_, param)) return 0;
        const auto missed = misses_.find(i);
        const double share = missed == misses_.end() ? 1 : missed->second;
        return rates_.shared_latency + share * (rates_.memory_latency - rates_.shared_latency);
      }
      case TN_OP_MATRIX_MULTIPLY:
        return arithmetic(kMatrix);
      case TN_OP_SUBGROUP_SHUFFLE:
      case TN_OP_SUBGROUP_BROADCAST:
        return arithmetic(kExchange);
      case TN_OP_SUBGROUP_REDUCE:
        return arithmetic(kExchange * 5);
      default:
        break;
    }
    const sdk::OpInfo* info = sdk::op_info(op.op);
    if (!info || !sdk::is_elementwise(*info)) return 0;
    if (op.op == TN_OP_ADD && (op.flags & TN_OP_CONTRACT)) return 0;  // fused with its product
    if (!is_special(*info)) return arithmetic(kArithmetic);
    return arithmetic(kSpecial + kArithmetic * op_info(static_cast<Op>(op.op)).cost / 2);
  }

  /// When the operands are ready. Values from before the innermost loop are ready when it starts.
  double ready(const tn_op& op) const {
    double at = 0;
    for (const uint32_t operand : program_.operands(op))
      if (operand >= loop_) at = std::max(at, ready_[operand]);
    return at;
  }
  /// When all values that a loop uses from before it are ready.
  double ready_before(uint32_t loop, uint32_t close) const {
    double at = 0;
    for (uint32_t i = loop; i <= close; ++i)
      for (const uint32_t operand : program_.operands(program_.op(i)))
        if (operand >= loop_ && operand < loop) at = std::max(at, ready_[operand]);
    return at;
  }

  /// When the ops in [begin, end) have started, if the first may start at `start`.
  double body(uint32_t begin, uint32_t end, double start) {
    double now = start, floor = start;
    for (uint32_t i = begin; i < end; ++i) {
      const tn_op& op = program_.op(i);
      if (trace_.times[i] == 0 && op.op != TN_OP_LOOP && op.op != TN_OP_IF) continue;
      switch (op.op) {
        case TN_OP_LOOP:
          now = floor = loop(i, std::max(now, ready_before(i, closes_[i])));
          i = closes_[i];
          break;
        case TN_OP_BARRIER:
          now = floor = now + kBarrier;
          break;
        case TN_OP_ASYNC_WAIT:
          now = floor = now + waited(op);
          break;
        case TN_OP_IF:
        case TN_OP_ELSE:
        case TN_OP_END:
          now = floor = std::max(now, ready(op));
          break;
        default: {
          const double at = std::max(floor, ready(op));
          now = std::max(now, at);
          ready_[i] = at + latency(i);
        }
      }
    }
    return now;
  }

  /// Latency left of an asynchronous copy. imm groups stay in flight, so the copy was begun imm + 1
  /// iterations ago.
  double waited(const tn_op& op) const {
    const double had = (static_cast<double>(op.imm) + 1) * trip_;
    return std::max(0.0, rates_.memory_latency - had);
  }

  double loop(uint32_t i, double start) {
    const uint32_t close = closes_[i];
    const double trips = trace_.trips[i];
    uint32_t first = i + 1;
    std::vector<uint32_t> carries;
    for (; first < close && program_.op(first).op == TN_OP_CARRY; ++first) carries.push_back(first);
    if (trips == 0) {
      for (const uint32_t carry : carries) ready_[carry] = start;
      return start;
    }
    ready_[i] = 0;
    for (const uint32_t carry : carries) ready_[carry] = 0;
    const double outer = trip_;
    // An iteration takes at least as long as the pipes are busy with it.
    trip_ = busy_ / std::max(1.0, trace_.times[i] * trips);
    const uint32_t around = std::exchange(loop_, i);
    const double alone = body(first, close, 0);
    loop_ = around;
    trip_ = outer;
    double carried = 0, left = 0;
    const auto next = program_.operands(program_.op(close));
    for (size_t k = 0; k < carries.size() && k < next.size(); ++k) {
      const double at = ready_[next[k]];
      carried = std::max(carried, at);
      left = std::max(left, at - alone);
    }
    // Unrolled iterations overlap their waits, unless carried values serialise them.
    const double together = unrolled_trips(program_, trace_, i, close);
    const double each =
        together > 1 ? std::max(carried_latency(i, close, first, carries, next), alone / together)
                     : std::max(alone, carried);
    const double finish = start + alone + (trips - 1) * each;
    for (const uint32_t carry : carries) ready_[carry] = finish + left;
    ready_[i] = finish;
    return finish;
  }

  /// Latency from the carried values of an iteration to those of the next.
  double carried_latency(uint32_t loop, uint32_t close, uint32_t first,
                         const std::vector<uint32_t>& carries,
                         std::span<const uint32_t> next) const {
    std::vector<double> from(close - loop + 1, -1);
    for (const uint32_t carry : carries) from[carry - loop] = 0;
    for (uint32_t i = first; i < close; ++i) {
      const tn_op& op = program_.op(i);
      double at = -1;
      for (const uint32_t operand : program_.operands(op)) {
        if (operand >= loop && operand < close) at = std::max(at, from[operand - loop]);
      }
      if (at >= 0) from[i - loop] = at + latency(i);
    }
    double longest = 0;
    for (size_t k = 0; k < carries.size() && k < next.size(); ++k) {
      if (next[k] >= loop && next[k] < close) longest = std::max(longest, from[next[k] - loop]);
    }
    return longest;
  }

  const sdk::ProgramView& program_;
  const SubgroupTrace& trace_;
  const Rates& rates_;
  const std::map<uint32_t, double>& misses_;
  double busy_;
  bool only_memory_;
  std::vector<uint32_t> closes_;
  std::vector<double> ready_;
  uint32_t loop_ = 0;  ///< the innermost open loop
  double trip_ = 0;    ///< clocks of an iteration of the innermost loop, without waits
};

}  // namespace

Waits longest_path(const sdk::ProgramView& program, const SubgroupTrace& trace, const Rates& rates,
                   const std::map<uint32_t, double>& misses, double busy) {
  return {Path(program, trace, rates, misses, busy, false).run(),
          Path(program, trace, rates, misses, busy, true).run()};
}

}  // namespace tenon
