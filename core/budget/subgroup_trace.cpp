// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/budget/subgroup_trace.hpp"

#include <algorithm>

#include "sdk/program/dtype_info.hpp"
#include "sdk/program/scalar.hpp"

namespace tenon {
namespace {

int64_t as_signed(uint64_t bits, uint8_t dtype) {
  const uint32_t width = sdk::dtype_bytes(dtype) * 8;
  if (width == 0 || width >= 64 || dtype == TN_DTYPE_BOOL) return static_cast<int64_t>(bits);
  if (!sdk::is_signed(dtype)) return static_cast<int64_t>(bits);
  const uint32_t unused = 64 - width;
  return static_cast<int64_t>(bits << unused) >> unused;
}

class Tracer {
 public:
  Tracer(const sdk::ProgramView& program, const SubgroupPlace& place,
         const std::vector<uint64_t>& scalars)
      : program_(program), place_(place), scalars_(scalars) {
    const uint32_t count = program.op_count();
    out_.subgroup = place.subgroup;
    out_.width = place.width;
    out_.values.resize(count);
    out_.active.resize(count);
    out_.times.resize(count);
    out_.trips.resize(count, 1);
    const uint32_t* block = program.header().workgroup;
    const uint64_t threads = uint64_t{block[0]} * block[1] * block[2];
    const uint64_t first = uint64_t{place.subgroup} * place.width;
    for (uint32_t lane = 0; lane < place.width; ++lane) {
      if (first + lane < threads) active_ |= uint64_t{1} << lane;
    }
  }

  SubgroupTrace run() {
    for (uint32_t i = 0; i < program_.op_count(); ++i) visit(i);
    return std::move(out_);
  }

 private:
  struct Region {
    uint64_t active;
    double times;
    uint64_t otherwise;  ///< lanes that run the ELSE of an IF
  };

  void visit(uint32_t i) {
    const tn_op& op = program_.op(i);
    if (op.op == TN_OP_ELSE) {
      Region& region = regions_.back();
      active_ = region.otherwise;
      times_ = active_ ? region.times : 0;
    } else if (op.op == TN_OP_END && !regions_.empty()) {
      active_ = regions_.back().active;
      times_ = regions_.back().times;
      regions_.pop_back();
    }
    out_.active[i] = active_;
    out_.times[i] = times_;
    if (op.op == TN_OP_IF) {
      open_if(op);
    } else if (op.op == TN_OP_LOOP) {
      open_loop(i, op);
    } else {
      evaluate(i, op);
    }
  }

  const LaneValues& operand(const tn_op& op, size_t k) const {
    return out_.values[program_.operands(op)[k]];
  }

  void open_if(const tn_op& op) {
    const LaneValues& condition = operand(op, 0);
    uint64_t taken = active_, otherwise = active_;
    if (condition.is_known) {
      taken = 0;
      for (uint32_t lane = 0; lane < place_.width; ++lane) {
        if (condition.bits[lane]) taken |= uint64_t{1} << lane;
      }
      otherwise = active_ & ~taken;
      taken &= active_;
    }
    regions_.push_back({active_, times_, otherwise});
    active_ = taken;
    if (!taken) times_ = 0;
  }

  /// Sets the loop index of each lane to its middle iteration.
  void open_loop(uint32_t i, const tn_op& op) {
    regions_.push_back({active_, times_, 0});
    const auto operands = program_.operands(op);
    LaneValues& value = out_.values[i];
    if (!operand(op, 0).is_known || !operand(op, 1).is_known || !operand(op, 2).is_known) return;
    value = {true, std::vector<uint64_t>(place_.width)};
    int64_t most = 0;
    for (uint32_t lane = 0; lane < place_.width; ++lane) {
      if (!(active_ >> lane & 1)) continue;
      const int64_t begin = out_.number(program_, operands[0], lane),
                    end = out_.number(program_, operands[1], lane),
                    step = std::max<int64_t>(1, out_.number(program_, operands[2], lane));
      const int64_t trips = end > begin ? (end - begin + step - 1) / step : 0;
      most = std::max(most, trips);
      const int64_t at = trips / 2 + (place_.advanced == i ? 1 : 0);
      value.bits[lane] = narrow(static_cast<uint64_t>(begin + at * step), op.dtype);
    }
    out_.trips[i] = static_cast<double>(most);
    times_ *= static_cast<double>(most);
  }

  static uint64_t narrow(uint64_t bits, uint8_t dtype) {
    const uint32_t bytes = sdk::dtype_bytes(dtype);
    return bytes >= 8 ? bits : bits & ((uint64_t{1} << (bytes * 8)) - 1);
  }

  template <class Of>
  void set(uint32_t i, Of of) {
    LaneValues& value = out_.values[i];
    value = {true, std::vector<uint64_t>(place_.width)};
    for (uint32_t lane = 0; lane < place_.width; ++lane) value.bits[lane] = of(lane);
  }

  uint64_t index(const tn_op& op, uint32_t lane) const {
    const uint32_t* block = program_.header().workgroup;
    const uint64_t thread = uint64_t{place_.subgroup} * place_.width + lane;
    switch (op.imm) {
      case TN_AXIS_GRID_X:
      case TN_AXIS_GRID_Y:
      case TN_AXIS_GRID_Z:
        return place_.workgroup[op.imm - TN_AXIS_GRID_X];
      case TN_AXIS_BLOCK_X:
        return thread % block[0];
      case TN_AXIS_BLOCK_Y:
        return thread / block[0] % block[1];
      case TN_AXIS_BLOCK_Z:
        return thread / (uint64_t{block[0]} * block[1]);
      case TN_AXIS_SUBGROUP:
        return place_.subgroup;
      default:
        return lane;
    }
  }

  void evaluate(uint32_t i, const tn_op& op) {
    if (op.lanes != 1) return;
    switch (op.op) {
      case TN_OP_CONST:
        return set(i, [&](uint32_t) { return op.imm; });
      case TN_OP_PARAM: {
        const auto at = static_cast<uint32_t>(op.imm);
        if (program_.param(at).kind != TN_PARAM_SCALAR) return;
        return set(i, [&](uint32_t) { return scalars_[at]; });
      }
      case TN_OP_INDEX:
        return set(i, [&](uint32_t lane) { return index(op, lane); });
      case TN_OP_CARRY:  // a carried value is taken to be its first
        out_.values[i] = operand(op, 0);
        return;
      default:
        break;
    }
    if (!sdk::is_integer(op.dtype) && op.dtype != TN_DTYPE_BOOL) return;
    const sdk::ScalarFunction function = sdk::scalar_function(program_, op);
    const auto operands = program_.operands(op);
    const auto is_known = [&](uint32_t value) { return out_.values[value].is_known; };
    if (!function || !std::ranges::all_of(operands, is_known)) return;
    set(i, [&](uint32_t lane) {
      std::array<uint64_t, 3> in{};
      for (size_t k = 0; k < std::min<size_t>(3, operands.size()); ++k)
        in[k] = out_.values[operands[k]].bits[lane];
      return function(in[0], in[1], in[2]);
    });
  }

  const sdk::ProgramView& program_;
  const SubgroupPlace& place_;
  const std::vector<uint64_t>& scalars_;
  SubgroupTrace out_;
  uint64_t active_ = 0;
  double times_ = 1;
  std::vector<Region> regions_;
};

}  // namespace

int64_t SubgroupTrace::number(const sdk::ProgramView& program, uint32_t value,
                              uint32_t lane) const {
  return as_signed(values[value].bits[lane], program.op(value).dtype);
}

std::array<uint64_t, 3> place_of(uint64_t number, const std::array<uint64_t, 3>& grid) {
  return {number % grid[0], number / grid[0] % grid[1], number / (grid[0] * grid[1])};
}

SubgroupTrace trace_subgroup(const sdk::ProgramView& program, const SubgroupPlace& place,
                             const std::vector<uint64_t>& scalars) {
  return Tracer(program, place, scalars).run();
}

}  // namespace tenon
