// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/lower/storage_words.hpp"

#include <algorithm>
#include <bit>

#include "core/lower/program_rewriter.hpp"
#include "core/support/error.hpp"

namespace tenon {
namespace {

constexpr uint64_t kWordBytes = 4;

class Packer : public ProgramRewriter {
 public:
  Packer(const sdk::ProgramView& program, const Capabilities& capabilities)
      : ProgramRewriter(program, capabilities), capabilities_(capabilities) {}

 private:
  tn_param declared(const tn_param& param) const override {
    tn_param out = param;
    const bool narrow = is_narrow(dtype_of(param));
    if (narrow) out.dtype = TN_DTYPE_U32;
    if (param.kind != TN_PARAM_BUFFER) return out;
    out.alignment = std::max<uint32_t>(param.alignment, kWordBytes);
    if (!narrow) return out;
    out.count = (param.count * dtype_size(dtype_of(param)) + kWordBytes - 1) / kWordBytes;
    if (param.access & TN_ACCESS_WRITE) out.access |= TN_ACCESS_READ;
    return out;
  }

  Pair computed(uint32_t i, const tn_op& op, Operands operands) override {
    const DType dtype = dtype_of(op);
    if (op.op == TN_OP_CONST) return {constant(op)};
    if (op.op == TN_OP_CAST) {
      const DType from = dtype_of(operands[0]);
      if (is_narrow(from) || is_narrow(dtype))
        return {words_.cast(values_[operands[0]].low, from, dtype, op.imm == TN_CAST_BITS)};
    }
    require_carried(i, op, operands);
    return {tree_.pure(static_cast<tn_opcode>(op.op), abi(carrier(dtype)), op.lanes, low(operands),
                       op.imm, op.flags)};
  }

  /// Legalisation left no arithmetic on narrow dtypes: their carriers are only moved.
  void require_carried(uint32_t i, const tn_op& op, Operands operands) const {
    TN_ASSERT(op.op < TN_OP_MATRIX_LOAD);
    const bool moves = op.op == TN_OP_WHERE || op.op == TN_OP_BROADCAST || op.op == TN_OP_EXTRACT ||
                       op.op == TN_OP_COMPOSE;
    if (moves) return;
    for (const uint32_t v : operands) {
      const DType dtype = dtype_of(v);
      if (is_narrow(dtype) && dtype != DType::kBool)
        fail(ErrorKind::kInternal,
             "[lower] kernel {}: expected no arithmetic on {} on a device of 32-bit words, got op "
             "{} {}",
             program_.name(), dtype_name(dtype), i, sdk::op_text(op.op));
    }
  }

  Value constant(const tn_op& op) {
    const DType dtype = dtype_of(op);
    uint64_t bits = op.imm;
    if (carrier(dtype) == DType::kI32 && is_narrow(dtype))
      bits = Scalar::of_int(DType::kI32, Scalar{dtype, bits}.as_int()).bits;
    return words_.constant(carrier(dtype), bits, op.lanes);
  }

  /// 2^shift as a u32.
  Value scale(Value shift, DType dtype) {
    const Value one = words_.constant(DType::kU32, 1, words_.lanes(shift));
    if (capabilities_.has(Op::SHL)) return words_.op(TN_OP_SHL, DType::kU32, {one, shift});
    Value at = one;
    for (uint32_t bits = static_cast<uint32_t>(dtype_bits(dtype)); bits < 32; bits *= 2) {
      const Value zero = words_.number(shift, 0);
      const Value set = words_.unequal(words_.mask(shift, bits), zero);
      at = words_.select(set, words_.multiply(at, words_.number(at, int64_t{1} << bits)), at);
    }
    return at;
  }

  struct Place {
    Value word = 0;   ///< index of the word
    Value shift = 0;  ///< u32: bits below the element
  };
  Place place(Value index, DType dtype) {
    const auto size = static_cast<int64_t>(dtype_size(dtype));
    const int64_t each = static_cast<int64_t>(kWordBytes) / size;
    Place out;
    out.word = words_.shift_right(index, std::countr_zero(static_cast<uint64_t>(each)));
    const Value below = words_.value_cast(words_.mask(index, each - 1), DType::kU32);
    out.shift = words_.shift_left(below, std::countr_zero(static_cast<uint64_t>(8 * size)));
    return out;
  }

  /// Extracts the element's bits from its word.
  Value pick(Value word, Value shift, DType dtype) {
    const Value moved = capabilities_.has(Op::SHR)
                            ? words_.op(TN_OP_SHR, DType::kU32, {word, shift})
                            : words_.op(TN_OP_IDIV, DType::kU32, {word, scale(shift, dtype)});
    return words_.mask(moved, (int64_t{1} << dtype_bits(dtype)) - 1);
  }

  Pair load(const tn_op& op, Operands of) override {
    const tn_param& from = memory(op);
    const DType dtype = dtype_of(op);
    std::vector<Value> operands = low(of);
    if (!is_narrow(dtype)) return {load_word(from, operands, op.lanes, op.flags)};
    const bool packed = from.kind == TN_PARAM_BUFFER;
    Value shift = 0;
    if (packed) {
      const Place at = place(spread(operands[1], op.lanes), dtype);
      operands[1] = at.word;
      shift = at.shift;
    }
    const bool filled = operands.size() > 3;
    const Value fill = filled ? operands[3] : 0;
    if (filled) operands[3] = words_.constant(DType::kU32, 0, op.lanes);
    const Value word = load_word(from, operands, op.lanes, packed ? 0 : op.flags);
    const Value value = words_.from_bits(packed ? pick(word, shift, dtype) : word, dtype);
    const bool fills_zero = filled && tree_.at(fill).op == TN_OP_CONST && tree_.at(fill).imm == 0;
    return {filled && !fills_zero ? words_.select(operands[2], value, fill) : value};
  }

  Value lane(Value v, int l) {
    if (words_.lanes(v) == 1) return v;
    return tree_.pure(TN_OP_EXTRACT, tree_.at(v).dtype, 1, std::span(&v, 1),
                      static_cast<uint64_t>(l));
  }

  void store(const tn_op& op, Operands of) override {
    const tn_param& to = memory(op);
    const DType dtype = dtype_of(of[2]);
    std::vector<Value> operands = low(of);
    if (is_narrow(dtype)) operands[2] = words_.to_bits(operands[2], dtype);
    if (!is_narrow(dtype) || to.kind == TN_PARAM_ALLOC)
      return tree_.effect(TN_OP_STORE, operands, 0, op.flags);
    const int lanes = words_.lanes(operands[2]);
    const Value index = spread(operands[1], lanes);
    for (int l = 0; l < lanes; ++l) {
      const bool masked = operands.size() > 3;
      if (masked) tree_.begin_if(lane(operands[3], l));
      add_to_word(to, operands[0], place(lane(index, l), dtype), lane(operands[2], l), dtype);
      if (masked) tree_.end_if();
    }
  }

  /// Only this thread changes the element, so its old value is known. Other elements of the word
  /// may change between the load and the atomic add, which preserves them.
  void add_to_word(const tn_param& to, Value buffer, const Place& at, Value bits, DType dtype) {
    const Value old = load_word(to, {buffer, at.word}, 1, 0);
    Value change = words_.subtract(bits, pick(old, at.shift, dtype));
    change = capabilities_.has(Op::SHL) ? words_.op(TN_OP_SHL, DType::kU32, {change, at.shift})
                                        : words_.multiply(change, scale(at.shift, dtype));
    if (has_word_atomics(capabilities_))
      tree_.atomic(TN_DTYPE_U32, std::vector<Value>{buffer, at.word, change},
                   TN_ATOMIC_ADD | TN_SCOPE_BLOCK << 8);
    else
      tree_.effect(TN_OP_STORE, std::vector<Value>{buffer, at.word, words_.add(old, change)});
  }

  const Capabilities& capabilities_;
};

}  // namespace

bool has_word_atomics(const Capabilities& capabilities) {
  return capabilities.has(Op::ATOMIC) && capabilities.of(DType::kU32).atomics;
}

sdk::Program pack_storage(const sdk::Program& program, const Capabilities& capabilities) {
  return Packer(program.view(), capabilities).run();
}

}  // namespace tenon
