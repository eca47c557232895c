// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Gathers with a known stride: contiguous loads and shuffles, which take a fraction of the time of
// a gather instruction.
#include <algorithm>
#include <map>

#include "plugins/cpu/emitter.hpp"

namespace tenon::cpu {
namespace {

using llvm::Value;
using Lanes = llvm::SmallVector<int>;

/// With a larger stride each lane would need a load.
constexpr int64_t kMostStride = 4;

bool is_effect(const tn_op& op) {
  switch (static_cast<unsigned>(op.op)) {
    case TN_OP_STORE:
    case TN_OP_ATOMIC:
    case TN_OP_BARRIER:
    case TN_OP_LOOP:
    case TN_OP_IF:
    case TN_OP_ELSE:
    case TN_OP_END:
      return true;
    default:
      return false;
  }
}

/// Transposes: row l of the result is lane l of every row. Swaps blocks across the diagonal, from
/// half of the matrix down to single lanes.
void transpose(Builder& b, std::vector<Value*>& rows) {
  const auto count = static_cast<int>(rows.size());
  for (int half = count / 2; half > 0; half /= 2) {
    Lanes low(static_cast<size_t>(count)), high(low);
    for (int l = 0; l < count; ++l) {
      const auto at = static_cast<size_t>(l);
      low[at] = l & half ? count + l - half : l;
      high[at] = l & half ? count + l : l + half;
    }
    for (int row = 0; row < count; ++row) {
      if (row & half) continue;
      const int partner = row + half;
      Value *&x = rows[static_cast<size_t>(row)], *&y = rows[static_cast<size_t>(partner)];
      Value* const both[] = {x, y};
      x = b.CreateShuffleVector(both[0], both[1], low);
      y = b.CreateShuffleVector(both[0], both[1], high);
    }
  }
}

/// The lanes of a constant mask; empty if the mask is not constant.
std::optional<std::vector<bool>> known_mask(const Value* mask, unsigned lanes) {
  if (!mask) return std::vector<bool>(lanes, true);
  const auto* constant = llvm::dyn_cast<llvm::Constant>(mask);
  if (!constant || !mask->getType()->isVectorTy()) return std::nullopt;
  std::vector<bool> out(lanes);
  for (unsigned l = 0; l < lanes; ++l) {
    const llvm::Constant* one = constant->getAggregateElement(l);
    if (!one) return std::nullopt;
    out[l] = one->isOneValue();
  }
  return out;
}

}  // namespace

void Emitter::find_strides() {
  strides_.assign(program_.op_count(), std::nullopt);
  for (uint32_t i = 0; i < program_.op_count(); ++i) {
    const tn_op& op = program_.op(i);
    if (op.op != TN_OP_TAKE || op.lanes < 2) continue;
    const uint32_t index = program_.operands(op)[1];
    const bool is_signed =
        dtype_class(static_cast<tn_dtype>(program_.op(index).dtype)) == DTypeClass::kSigned;
    if (program_.op(index).lanes > 1 && is_signed) strides_[i] = lane_index(program_, index);
  }
}

/// The address of the element `offset` after `base`.
Value* Emitter::address_at_offset(const tn_op& op, tn_dtype dtype, uint32_t base, int64_t offset) {
  Value* index = builder_.getInt64(static_cast<uint64_t>(offset));
  if (base != LaneIndex::kNone)
    index = builder_.CreateAdd(builder_.CreateSExt(values_[base], builder_.getInt64Ty()), index);
  return builder_.CreateGEP(memory_type(context_, dtype, 1), operand(op, 0), index);
}

/// Loads `lanes` elements from `offset` after `base`.
Value* Emitter::load_at_offset(const tn_op& op, uint32_t base, int64_t offset,
                               llvm::ArrayRef<llvm::Constant*> mask) {
  const auto dtype = static_cast<tn_dtype>(op.dtype);
  Value* at = address_at_offset(op, dtype, base, offset);
  llvm::Type* type = memory_type(context_, dtype, op.lanes);
  const llvm::Align alignment(dtype_bits(dtype) / 8);
  if (mask.empty()) return builder_.CreateAlignedLoad(type, at, alignment);
  return builder_.CreateMaskedLoad(type, at, alignment, llvm::ConstantVector::get(mask),
                                   llvm::Constant::getNullValue(type));
}

/// Gathers that start at adjacent elements form a transposed matrix: each row is loaded once, if
/// the gathers use at least half of it. No store may lie between the first and the last gather.
void Emitter::load_transposed(uint32_t i) {
  const tn_op& op = program_.op(i);
  const auto lanes = static_cast<int64_t>(op.lanes);
  const LaneIndex& own = *strides_[i];
  if ((lanes & (lanes - 1)) != 0 || own.stride == 0) return;
  std::map<int64_t, uint32_t> gathers;  // by offset
  for (uint32_t j = i; j < program_.op_count() && !is_effect(program_.op(j)); ++j) {
    const tn_op& other = program_.op(j);
    if (strides_[j] && strides_[j]->same_place(own) && other.lanes == op.lanes &&
        other.dtype == op.dtype && program_.operands(other).size() == 2 &&
        program_.operands(other)[0] == program_.operands(op)[0])
      gathers.emplace(strides_[j]->offset, j);
  }
  int64_t first = own.offset, end = own.offset + 1;
  while (gathers.contains(first - 1)) --first;
  while (gathers.contains(end)) ++end;
  first += (own.offset - first) / lanes * lanes;
  const int64_t count = std::min(lanes, end - first);
  if (2 * count < lanes) return;
  llvm::SmallVector<llvm::Constant*> asked;  // touch no other elements
  for (int64_t l = 0; count < lanes && l < lanes; ++l) asked.push_back(builder_.getInt1(l < count));
  std::vector<Value*> rows;
  for (int64_t l = 0; l < lanes; ++l)
    rows.push_back(load_at_offset(op, own.base, first + l * own.stride, asked));
  transpose(builder_, rows);
  for (int64_t l = 0; l < count; ++l)
    loaded_.emplace(gathers.at(first + l), rows[static_cast<size_t>(l)]);
}

Value* Emitter::load_spread(const tn_op& op, const LaneIndex& at, Value* mask, Value* fill) {
  const auto lanes = static_cast<int64_t>(op.lanes);
  const int64_t stride = at.stride < 0 ? -at.stride : at.stride;
  const auto wanted = known_mask(mask, op.lanes);
  if (stride == 0 || stride > kMostStride || !wanted) return nullptr;
  const int64_t last = stride * (lanes - 1);  // offset of the last element from the lowest
  const int64_t lowest = at.offset + (at.stride < 0 ? -last : 0);
  const bool all = std::ranges::find(*wanted, false) == wanted->end();
  Value* result = nullptr;
  for (int64_t begin = 0; begin <= last; begin += lanes) {
    // The last load ends with the last lane, so that nothing beyond is touched.
    const int64_t from = std::max<int64_t>(0, std::min(begin, last + 1 - lanes));
    Lanes picks(static_cast<size_t>(lanes));
    std::vector<llvm::Constant*> needed(static_cast<size_t>(lanes), builder_.getFalse());
    for (int64_t l = 0; l < lanes; ++l) {
      const int64_t element = at.stride < 0 ? last - l * stride : l * stride;
      const auto lane = static_cast<size_t>(l);
      const bool here = element >= begin && element < begin + lanes;
      picks[lane] = static_cast<int>(here ? lanes + element - from : l);
      if (here && (*wanted)[lane]) needed[static_cast<size_t>(element - from)] = builder_.getTrue();
    }
    if (all) needed.clear();
    Value* part = load_at_offset(op, at.base, lowest + from, needed);
    if (!result) result = part;  // all lanes come from this or a later part
    result = builder_.CreateShuffleVector(result, part, picks);
  }
  return all ? result : builder_.CreateSelect(mask, result, fill);
}

/// Finds interleaved stores: successive stores to kernel allocations with strides of 2 or 4
/// elements that together cover all elements.
void Emitter::find_interleaved() {
  const auto place_of = [&](uint32_t i) -> std::optional<LaneIndex> {
    const tn_op& op = program_.op(i);
    const auto operands = program_.operands(op);
    if (op.op != TN_OP_STORE || operands.size() != 3 || program_.op(operands[1]).lanes < 2 ||
        program_.param(static_cast<uint32_t>(program_.op(operands[0]).imm)).kind !=
            TN_PARAM_ALLOC ||
        dtype_class(operand_dtype(op, 1)) != DTypeClass::kSigned)
      return std::nullopt;
    return lane_index(program_, operands[1]);
  };
  for (uint32_t i = 0; i < program_.op_count(); ++i) {
    const std::optional<LaneIndex> first = place_of(i);
    if (!first || interleaved_.contains(i) || (first->stride != 2 && first->stride != 4)) continue;
    const tn_op& own = program_.op(i);
    std::vector<uint32_t> line{i};
    for (uint32_t j = i + 1; j < program_.op_count(); ++j) {
      const tn_op& op = program_.op(j);
      const bool reads =
          op.op == TN_OP_TAKE && program_.operands(op)[0] == program_.operands(own)[0];
      if (reads || (is_effect(op) && op.op != TN_OP_STORE)) break;
      if (op.op != TN_OP_STORE) continue;
      const std::optional<LaneIndex> at = place_of(j);
      const auto next = static_cast<int64_t>(line.size());
      if (!at || !at->same_place(*first) || at->offset != first->offset + next ||
          program_.operands(op)[0] != program_.operands(own)[0] ||
          program_.op(program_.operands(op)[2]).lanes !=
              program_.op(program_.operands(own)[2]).lanes)
        break;
      line.push_back(j);
      if (next + 1 < first->stride) continue;
      for (const uint32_t store : line) interleaved_[store];
      interleaved_[j] = line;
      break;
    }
  }
}

void Emitter::store_interleaved(const std::vector<uint32_t>& stores) {
  const tn_op& op = program_.op(stores[0]);
  const LaneIndex at = *lane_index(program_, program_.operands(op)[1]);
  const tn_dtype dtype = operand_dtype(op, 0);
  std::vector<Value*> rows;
  for (const uint32_t i : stores)
    rows.push_back(to_memory(builder_, values_[program_.operands(program_.op(i))[2]], dtype));
  // Interleave the rows by halves until one is left.
  for (size_t half = rows.size() / 2; half > 0; half /= 2) {
    const auto lanes = static_cast<int>(lanes_of(rows[0]));
    Lanes picks;
    for (int l = 0; l < lanes; ++l) picks.append({l, lanes + l});
    for (size_t row = 0; row < half; ++row)
      rows[row] = builder_.CreateShuffleVector(rows[row], rows[row + half], picks);
    rows.resize(half);
  }
  builder_.CreateAlignedStore(rows[0], address_at_offset(op, dtype, at.base, at.offset),
                              llvm::Align(dtype_bits(dtype) / 8));
}

Value* Emitter::load_strided(uint32_t i, Value* mask, Value* fill) {
  const tn_op& op = program_.op(i);
  const std::optional<LaneIndex>& at = strides_[i];
  if (!at) return nullptr;
  if (Value* spread = load_spread(op, *at, mask, fill)) return spread;
  if (!mask && !loaded_.contains(i)) load_transposed(i);
  const auto found = loaded_.find(i);
  return found == loaded_.end() ? nullptr : found->second;
}

}  // namespace tenon::cpu
