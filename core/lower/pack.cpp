// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/lower/pack.hpp"

#include <algorithm>
#include <bit>

#include "core/lower/word_ops.hpp"
#include "core/support/error.hpp"

namespace tenon {
namespace {

constexpr uint64_t kWordBytes = 4;

DType dtype_of(const tn_param& param) { return static_cast<DType>(param.dtype); }
DType dtype_of(const tn_op& op) { return static_cast<DType>(op.dtype); }
tn_dtype abi(DType dtype) { return static_cast<tn_dtype>(dtype); }

/// Runs through the program once and says each op again, in words.
class Packer {
 public:
  using Value = OpTree::Value;

  Packer(const sdk::ProgramView& program, const Capabilities& capabilities)
      : program_(program), capabilities_(capabilities), words_(tree_, capabilities) {}

  sdk::Program run() {
    for (uint32_t i = 0; i < program_.op_count(); ++i) values_.push_back(say(i, program_.op(i)));
    sdk::ProgramBuilder builder{std::string(program_.name())};
    const auto& size = program_.header().workgroup;
    builder.workgroup(size[0], size[1], size[2]);
    builder.subgroup(program_.header().subgroup_size);
    tree_.write(builder, declare(builder));
    return builder.finish();
  }

 private:
  struct Loop {
    uint32_t op = 0;  ///< of the program; an IF has no carries
    uint32_t carries = 0;
    bool is_loop = false;
  };

  const tn_param& memory(const tn_op& access) const {
    return program_.param(static_cast<uint32_t>(program_.op(program_.operands(access)[0]).imm));
  }

  std::vector<uint32_t> declare(sdk::ProgramBuilder& builder) const {
    std::vector<uint32_t> out;
    for (uint32_t p = 0; p < program_.param_count(); ++p) {
      const tn_param& param = program_.param(p);
      const std::string_view name = program_.string(param.name);
      const bool narrow = is_narrow(dtype_of(param));
      const auto dtype = narrow ? TN_DTYPE_U32 : static_cast<tn_dtype>(param.dtype);
      if (param.kind == TN_PARAM_SCALAR) {
        out.push_back(builder.scalar(name, dtype, param.minimum, param.maximum));
      } else if (param.kind == TN_PARAM_ALLOC) {
        out.push_back(builder.allocate(name, dtype, static_cast<tn_space>(param.space), param.count,
                                       param.alignment));
      } else {
        const uint64_t size = dtype_size(dtype_of(param));
        uint64_t count = param.count;
        uint32_t access = param.access;
        if (narrow) {
          count = (count * size + kWordBytes - 1) / kWordBytes;
          if (access & TN_ACCESS_WRITE) access |= TN_ACCESS_READ;
        }
        out.push_back(builder.buffer(name, dtype, access, count,
                                     std::max<uint32_t>(param.alignment, kWordBytes),
                                     static_cast<tn_space>(param.space)));
      }
    }
    return out;
  }

  std::vector<Value> values(std::span<const uint32_t> operands) const {
    std::vector<Value> out;
    for (const uint32_t v : operands) out.push_back(values_[v]);
    return out;
  }

  Value say(uint32_t i, const tn_op& op) {
    const auto operands = program_.operands(op);
    switch (op.op) {
      case TN_OP_PARAM: {
        const DType dtype = dtype_of(op);
        return tree_.param(abi(is_narrow(dtype) ? DType::kU32 : dtype), op.imm);
      }
      case TN_OP_CONST:
        return constant(op);
      case TN_OP_CAST: {
        const DType from = dtype_of(program_.op(operands[0])), to = dtype_of(op);
        if (is_narrow(from) || is_narrow(to))
          return words_.cast(values_[operands[0]], from, to, op.imm == TN_CAST_BITS);
        break;
      }
      case TN_OP_TAKE:
        return load(op, values(operands));
      case TN_OP_STORE:
        store(op, dtype_of(program_.op(operands[2])), values(operands));
        return 0;
      case TN_OP_ATOMIC:
        return tree_.atomic(abi(dtype_of(op)), values(operands), op.imm);
      case TN_OP_LOOP: {
        const std::vector<Value> in = values(operands);
        const Value loop = tree_.begin_loop(in[0], in[1], in[2], std::span(in).subspan(3));
        open_.push_back({i, static_cast<uint32_t>(in.size()) - 3, true});
        loop_ = loop;
        return tree_.position(loop);
      }
      case TN_OP_CARRY:
        return loop_ + 1 + static_cast<Value>(op.imm);
      case TN_OP_IF:
        tree_.begin_if(values_[operands[0]]);
        open_.push_back({i, 0, false});
        return 0;
      case TN_OP_ELSE:
        tree_.begin_else();
        return 0;
      case TN_OP_END:
        close(operands);
        return 0;
      default:
        break;
    }
    if (op.lanes == 0) {
      tree_.effect(static_cast<tn_opcode>(op.op), values(operands), op.imm, op.flags);
      return 0;
    }
    require_carried(i, op, operands);
    return tree_.pure(static_cast<tn_opcode>(op.op), abi(carrier(dtype_of(op))), op.lanes,
                      values(operands), op.imm, op.flags);
  }

  void close(std::span<const uint32_t> operands) {
    const Loop loop = open_.back();
    open_.pop_back();
    if (!loop.is_loop) return tree_.end_if();
    const std::vector<Value> results = tree_.end_loop(values(operands));
    for (uint32_t k = 0; k < loop.carries; ++k) values_[loop.op + 1 + k] = results[k];
  }

  /// Legalisation left no arithmetic on narrow dtypes; moving their carriers is all that works.
  void require_carried(uint32_t i, const tn_op& op, std::span<const uint32_t> operands) const {
    TN_ASSERT(op.op < TN_OP_MATRIX_LOAD);
    const bool moves = op.op == TN_OP_WHERE || op.op == TN_OP_BROADCAST || op.op == TN_OP_EXTRACT ||
                       op.op == TN_OP_COMPOSE;
    if (moves) return;
    for (const uint32_t v : operands) {
      const DType dtype = dtype_of(program_.op(v));
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

  /// The element's index as one lane each.
  Value spread(Value index, int lanes) {
    if (words_.lanes(index) == lanes) return index;
    const Value lane = tree_.pure(TN_OP_INDEX, abi(words_.dtype(index)),
                                  static_cast<uint16_t>(lanes), {}, TN_AXIS_LANE);
    return words_.add(index, lane);
  }

  /// 2 to the power of the bits below an element in its word: a u32.
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

  /// The element's bits in the lowest place.
  Value pick(Value word, Value shift, DType dtype) {
    const Value moved = capabilities_.has(Op::SHR)
                            ? words_.op(TN_OP_SHR, DType::kU32, {word, shift})
                            : words_.op(TN_OP_IDIV, DType::kU32, {word, scale(shift, dtype)});
    return words_.mask(moved, (int64_t{1} << dtype_bits(dtype)) - 1);
  }

  Value load_words(const tn_param& from, std::vector<Value> operands, int lanes, uint32_t flags) {
    const bool fixed = from.kind == TN_PARAM_ALLOC || (from.access & TN_ACCESS_WRITE);
    const DType dtype = is_narrow(dtype_of(from)) ? DType::kU32 : dtype_of(from);
    return tree_.load(abi(dtype), static_cast<uint16_t>(lanes), operands, flags, tree_.region(),
                      fixed);
  }

  Value load(const tn_op& op, std::vector<Value> operands) {
    const tn_param& from = memory(op);
    const DType dtype = dtype_of(op);
    if (!is_narrow(dtype)) return load_words(from, operands, op.lanes, op.flags);
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
    const Value word = load_words(from, operands, op.lanes, packed ? 0 : op.flags);
    const Value value = words_.from_bits(packed ? pick(word, shift, dtype) : word, dtype);
    const bool fills_zero = filled && tree_.at(fill).op == TN_OP_CONST && tree_.at(fill).imm == 0;
    return filled && !fills_zero ? words_.select(operands[2], value, fill) : value;
  }

  Value lane(Value v, int l) {
    if (words_.lanes(v) == 1) return v;
    return tree_.pure(TN_OP_EXTRACT, tree_.at(v).dtype, 1, std::span(&v, 1),
                      static_cast<uint64_t>(l));
  }

  void store(const tn_op& op, DType dtype, std::vector<Value> operands) {
    const tn_param& to = memory(op);
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

  /// Only this thread changes the element, so the old one is known; the others in the word may
  /// change between the load and the add, and keep what they became.
  void add_to_word(const tn_param& to, Value buffer, const Place& at, Value bits, DType dtype) {
    const Value old = load_words(to, {buffer, at.word}, 1, 0);
    Value change = words_.subtract(bits, pick(old, at.shift, dtype));
    change = capabilities_.has(Op::SHL) ? words_.op(TN_OP_SHL, DType::kU32, {change, at.shift})
                                        : words_.multiply(change, scale(at.shift, dtype));
    if (has_word_atomics(capabilities_))
      tree_.atomic(TN_DTYPE_U32, std::vector<Value>{buffer, at.word, change},
                   TN_ATOMIC_ADD | TN_SCOPE_BLOCK << 8);
    else
      tree_.effect(TN_OP_STORE, std::vector<Value>{buffer, at.word, words_.add(old, change)});
  }

  const sdk::ProgramView program_;
  const Capabilities& capabilities_;
  OpTree tree_;
  WordOps words_;
  std::vector<Value> values_;  ///< of each op of the program
  std::vector<Loop> open_;
  Value loop_ = 0;  ///< the last one begun
};

}  // namespace

bool has_word_atomics(const Capabilities& capabilities) {
  return capabilities.has(Op::ATOMIC) && capabilities.of(DType::kU32).atomics;
}

sdk::Program pack_storage(const sdk::Program& program, const Capabilities& capabilities) {
  return Packer(program.view(), capabilities).run();
}

}  // namespace tenon
