// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/budget/work.hpp"

#include <algorithm>
#include <bit>
#include <vector>

#include "core/ir/op.hpp"
#include "sdk/program/dtype_info.hpp"

namespace tenon {
namespace {

/// For each value, the depth of the innermost loop that it depends on and that is not unrolled.
class Depths {
 public:
  Depths(const sdk::ProgramView& program, const SubgroupTrace& trace)
      : depth_(program.op_count()),
        times_of_(1, 1),
        is_thread_(program.op_count()),
        frozen_(program.op_count(), 1) {
    std::vector<size_t> at{0};  // depth of each open region
    for (uint32_t i = 0; i < program.op_count(); ++i) {
      const tn_op& op = program.op(i);
      if (op.op == TN_OP_END) at.pop_back();
      size_t deepest = 0;
      bool is_thread = op.op == TN_OP_INDEX || op.op == TN_OP_TAKE || op.op == TN_OP_CARRY ||
                       op.op == TN_OP_SUBGROUP_SHUFFLE;
      for (const uint32_t operand : program.operands(op)) {
        deepest = std::max(deepest, depth_[operand]);
        is_thread = is_thread || is_thread_[operand];
      }
      if (op.op == TN_OP_TAKE || op.op == TN_OP_CARRY) deepest = at.back();
      if (op.op == TN_OP_IF || op.op == TN_OP_LOOP) {
        size_t region_depth = at.back();
        if (op.op == TN_OP_LOOP && !(op.flags & TN_OP_UNROLL)) {
          region_depth = at.size();
          times_of_.resize(std::max(times_of_.size(), region_depth + 1));
          times_of_[region_depth] = trace.times[i] * trace.trips[i];
          deepest = region_depth;
          is_thread = true;
        }
        at.push_back(region_depth);
      }
      depth_[i] = deepest;
      is_thread_[i] = is_thread;
      frozen_[i] = times_of_[deepest];
    }
  }
  /// Whether the compiler folds it to a constant, perhaps after unrolling.
  bool is_folded(uint32_t value) const { return !is_thread_[value]; }
  /// How often it is computed after loop-invariant code motion.
  double times(uint32_t value) const { return frozen_[value]; }

 private:
  std::vector<size_t> depth_;
  std::vector<double> times_of_;
  std::vector<bool> is_thread_;
  std::vector<double> frozen_;
};

constexpr double kLoopOverhead = 3;  ///< add, compare, branch

/// Instructions that load or store a fragment, four matrices of 8 x 16 bytes at once.
double fragment_instructions(const sdk::ProgramView& program, const tn_op& op, uint32_t lanes) {
  const auto param = static_cast<uint32_t>(program.op(program.operands(op)[0]).imm);
  const uint32_t bytes = sdk::dtype_bytes(static_cast<uint8_t>(program.param(param).dtype));
  return std::max(1.0, lanes * bytes / 16.0);
}

}  // namespace

bool is_special(const sdk::OpInfo& info) {
  switch (info.family) {
    case sdk::OpFamily::QUOTIENT:
    case sdk::OpFamily::ROOT:
    case sdk::OpFamily::POWER:
    case sdk::OpFamily::LOG:
    case sdk::OpFamily::ANGLE:
      return true;
    default:
      return false;
  }
}

Work& Work::operator+=(const Work& other) {
  issues += other.issues;
  floats += other.floats;
  doubles += other.doubles;
  integers += other.integers;
  specials += other.specials;
  exchanges += other.exchanges;
  barriers += other.barriers;
  for (const auto& [atom, count] : other.atoms) atoms[atom] += count;
  return *this;
}

double unrolled_trips(const sdk::ProgramView& program, const SubgroupTrace& trace, uint32_t loop,
                      uint32_t close) {
  if (program.op(loop).flags & TN_OP_UNROLL) return trace.trips[loop];
  constexpr uint32_t kFewOps = 64;
  if (close - loop > kFewOps) return 1;
  for (uint32_t i = loop + 1; i < close; ++i) {
    const uint16_t op = program.op(i).op;
    if (op == TN_OP_LOOP || op == TN_OP_IF || op == TN_OP_BARRIER || op == TN_OP_ASYNC_WAIT)
      return 1;
  }
  return std::clamp(trace.trips[loop], 1.0, 8.0);  // as NVRTC and LLVM do
}

Work count_work(const sdk::ProgramView& program, const SubgroupTrace& trace,
                const Capabilities& device) {
  Work work;
  const Depths depths(program, trace);
  const std::vector<uint32_t> closes = sdk::region_closes(program);
  for (uint32_t i = 0; i < program.op_count(); ++i) {
    const tn_op& op = program.op(i);
    const auto operands = program.operands(op);
    const sdk::OpInfo* info = sdk::op_info(op.op);
    const double cost = info ? op_info(static_cast<Op>(op.op)).cost : 0;
    const double times = trace.times[i];
    if (!info || times == 0) continue;
    const auto threads = static_cast<double>(std::popcount(trace.active[i]));
    if (sdk::is_elementwise(*info)) {
      if (op.op == TN_OP_CAST && op.imm == TN_CAST_BITS) continue;
      const bool is_integer = sdk::is_integer(op.dtype) || op.dtype == TN_DTYPE_BOOL;
      const double ops = (is_special(*info) ? 1 : cost) * op.lanes;
      const bool is_compared =
          info->kind == sdk::OpKind::COMPARE && !sdk::is_integer(program.op(operands[0]).dtype);
      if (is_integer && !is_compared && op.op != TN_OP_CAST) {
        const bool is_offset =
            op.op == TN_OP_ADD && (depths.is_folded(operands[0]) || depths.is_folded(operands[1]));
        if (depths.is_folded(i) || is_offset) continue;
        const double computed = std::min(times, depths.times(i));
        work.integers += computed * ops * threads;
        work.issues += computed * ops;
        continue;
      }
      if (depths.is_folded(i)) continue;
      // NVIDIA runs these on the integer pipe: Nsight Compute, "Kernel Profiling Guide", pipeline
      // ALU.
      const bool is_chosen =
          is_compared || op.op == TN_OP_MAX || op.op == TN_OP_MIN || op.op == TN_OP_WHERE ||
          (op.op == TN_OP_CAST && sdk::is_float(op.dtype) && sdk::dtype_bytes(op.dtype) < 4);
      if (is_chosen && op.dtype != TN_DTYPE_F64) {
        work.integers += times * ops * threads;
        work.issues += times * ops;
        continue;
      }
      // A fused product is counted with its sum.
      const bool is_fused = op.op == TN_OP_ADD && (op.flags & TN_OP_CONTRACT);
      if (is_fused) continue;
      if (is_special(*info)) {
        // Arithmetic around the special function unit. An approximate op needs it only for the
        // exponent.
        const double more = op.flags & TN_OP_APPROXIMATE ? 1 : cost / 2.0;
        work.specials += times * ops * threads;
        work.floats += times * more * op.lanes * threads;
        work.issues += times * (1 + more) * op.lanes;
      } else {
        (op.dtype == TN_DTYPE_F64 ? work.doubles : work.floats) += times * ops * threads;
        work.issues += times * ops;
      }
      continue;
    }
    const auto id = static_cast<uint32_t>(op.imm & UINT32_MAX);
    const auto found = std::ranges::find(device.atoms, id, &MatrixAtom::id);
    const MatrixAtom* atom = found == device.atoms.end() ? nullptr : &*found;
    switch (op.op) {
      case TN_OP_LOOP:
        if (!(op.flags & TN_OP_UNROLL)) {
          const double ends = times * trace.trips[i] / unrolled_trips(program, trace, i, closes[i]);
          work.issues += ends * kLoopOverhead;
          work.integers += ends * 2 * threads;
        }
        break;
      case TN_OP_SUBGROUP_SHUFFLE:
      case TN_OP_SUBGROUP_BROADCAST:
        work.exchanges += times * op.lanes;
        work.issues += times * op.lanes;
        break;
      case TN_OP_SUBGROUP_REDUCE: {
        const double steps = std::bit_width(trace.width) - 1.0;
        work.exchanges += times * steps;
        work.floats += times * steps * threads;
        work.issues += times * steps * 2;
        break;
      }
      case TN_OP_BARRIER:
        work.barriers += times;
        work.issues += times;
        break;
      case TN_OP_ASYNC_COMMIT:
      case TN_OP_ASYNC_WAIT:
        work.issues += times;
        break;
      case TN_OP_MATRIX_MULTIPLY:
        work.atoms[id] +=
            times * (atom ? std::min(1.0, static_cast<double>(trace.width) / atom->subgroup) : 1);
        work.issues += times;
        break;
      case TN_OP_MATRIX_LOAD:
        work.issues +=
            times * (atom && atom->tiles ? 1 : fragment_instructions(program, op, op.lanes));
        break;
      case TN_OP_MATRIX_STORE:
        work.issues += times * fragment_instructions(program, op, program.op(operands[3]).lanes);
        break;
      case TN_OP_DOT:
        work.integers += times * op.lanes * threads;
        work.issues += times * op.lanes;
        break;
      default:
        break;  // memory is counted by accesses
    }
  }
  return work;
}

}  // namespace tenon
