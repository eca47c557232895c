// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "plugins/cpu/prefetch_rows.hpp"

#include <map>
#include <optional>
#include <vector>

namespace tenon::cpu {
namespace {

constexpr uint32_t kGrid = ~0u;
constexpr uint64_t kLine = 64;
constexpr uint64_t kLeastRow = 4 * kLine;  ///< hardware prefetches a few lines by itself
constexpr uint64_t kMostRow = 32 << 10;  ///< bytes; longer rows would evict data that is read again
constexpr uint64_t kLongRow = 16 * kLine;  ///< long enough to prefetch a row that is not adjacent
constexpr uint64_t kMostStep = 4 * kLine;  ///< of the loop over a row; a larger step is a column

/// An affine form over loop and grid indices, in wrapping arithmetic, as a hint may be wrong.
struct Sum {
  std::map<uint32_t, uint64_t> factors;  ///< coefficient by op; other ops count as variables
  uint64_t offset = 0;
};

Sum times(const Sum& x, uint64_t factor) {
  Sum out{{}, x.offset * factor};
  for (const auto& [op, count] : x.factors) out.factors[op] = count * factor;
  return out;
}

Sum plus(Sum x, const Sum& y) {
  x.offset += y.offset;
  for (const auto& [op, count] : y.factors) x.factors[op] += count;
  return x;
}

class Sums {
 public:
  explicit Sums(const sdk::ProgramView& program) : program_(program), known_(program.op_count()) {}

  const Sum& of(uint32_t value, int depth = 0) {
    if (!known_[value]) known_[value] = make(value, depth);
    return *known_[value];
  }
  std::optional<uint64_t> number(uint32_t value, int depth = 0) {
    const Sum& sum = of(value, depth);
    return sum.factors.empty() ? std::optional(sum.offset) : std::nullopt;
  }

 private:
  Sum make(uint32_t value, int depth) {
    constexpr int kMostDepth = 32;
    const tn_op& op = program_.op(value);
    const auto v = program_.operands(op);
    if (op.op == TN_OP_CONST && op.dtype == TN_DTYPE_I64) return {{}, op.imm};
    if (op.op == TN_OP_CONST && op.dtype == TN_DTYPE_I32)
      return {{}, static_cast<uint64_t>(int64_t{static_cast<int32_t>(op.imm)})};
    if (op.flags & TN_OP_NO_WRAP && depth < kMostDepth) {
      if (op.op == TN_OP_ADD) return plus(of(v[0], depth + 1), of(v[1], depth + 1));
      if (op.op == TN_OP_SUB) return plus(of(v[0], depth + 1), times(of(v[1], depth + 1), ~0ull));
      if (op.op == TN_OP_MUL) {
        if (const auto factor = number(v[1], depth + 1)) return times(of(v[0], depth + 1), *factor);
        if (const auto factor = number(v[0], depth + 1)) return times(of(v[1], depth + 1), *factor);
      }
    }
    return {{{value, 1}}, 0};
  }

  const sdk::ProgramView& program_;
  std::vector<std::optional<Sum>> known_;
};

/// A load in a loop over a row.
struct Pass {
  uint32_t loop, around, buffer;
  std::map<uint32_t, uint64_t> rest;  ///< its address without the loop index
  bool fetches = false;
  bool same_row(const Pass& other) const {
    return around == other.around && buffer == other.buffer && rest == other.rest;
  }
};

}  // namespace

std::unordered_map<uint32_t, uint64_t> prefetch_rows(const sdk::ProgramView& program) {
  std::unordered_map<uint32_t, uint64_t> ahead;
  Sums sums(program);
  const auto step_of = [&](uint32_t loop) {
    return sums.number(program.operands(program.op(loop))[2]).value_or(0);
  };
  const auto length_of = [&](uint32_t loop) -> uint64_t {
    const auto bounds = program.operands(program.op(loop));
    const auto begin = sums.number(bounds[0]), end = sums.number(bounds[1]);
    return begin && end ? *end - *begin : 0;
  };
  const auto is_loop = [&](uint32_t region) { return program.op(region).op == TN_OP_LOOP; };
  std::vector<Pass> passes;
  std::vector<uint32_t> open;  // open regions
  for (uint32_t i = 0; i < program.op_count(); ++i) {
    const tn_op& op = program.op(i);
    if (op.op == TN_OP_ELSE || op.op == TN_OP_END) open.pop_back();
    if (op.op == TN_OP_LOOP || op.op == TN_OP_IF || op.op == TN_OP_ELSE) open.push_back(i);
    if (op.op != TN_OP_TAKE || op.lanes < 2 || open.empty()) continue;
    const uint32_t loop = open.back(), around = open.size() > 1 ? open[open.size() - 2] : kGrid;
    const auto operands = program.operands(op);
    const tn_op& buffer = program.op(operands[0]);
    if (!is_loop(loop) || (around != kGrid && !is_loop(around)) || buffer.op != TN_OP_PARAM ||
        program.param(static_cast<uint32_t>(buffer.imm)).kind != TN_PARAM_BUFFER ||
        program.op(operands[1]).lanes > 1)
      continue;
    const Sum& place = sums.of(operands[1]);
    const auto inner = place.factors.find(loop);
    if (inner == place.factors.end()) continue;
    const uint64_t size = sdk::dtype_bytes(op.dtype);
    if (inner->second * step_of(loop) * size > kMostStep) continue;
    Pass pass{loop, around, static_cast<uint32_t>(buffer.imm), place.factors};
    pass.rest.erase(loop);
    bool again = false, fetched = false;
    for (const Pass& other : passes) {
      if (other.loop == loop || !other.same_row(pass)) continue;
      again = true;
      fetched |= other.fetches;
    }
    uint64_t next = 0;
    for (const auto& [value, factor] : pass.rest) {
      const tn_op& counter = program.op(value);
      if (value == around) next += factor * step_of(around);
      if (around == kGrid && counter.op == TN_OP_INDEX && counter.imm == TN_AXIS_GRID_X)
        next += factor;
    }
    next *= size;
    const uint64_t row = inner->second * length_of(loop) * size;
    const bool apart = next > row && row >= kLongRow && row <= kMostRow;
    const bool near = again && next >= kLeastRow && next <= kMostRow;
    pass.fetches = !fetched && (apart || near);
    if (pass.fetches && place.offset * size % kLine == 0) ahead[i] = next;
    passes.push_back(pass);
  }
  return ahead;
}

}  // namespace tenon::cpu
