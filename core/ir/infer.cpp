// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Rules common to all ops, and those of leaves and elementwise ops.
#include "core/ir/infer.hpp"

#include "core/ir/op.hpp"
#include "core/support/error.hpp"

namespace tenon {
namespace {

constexpr int64_t kMaxBytes = int64_t{1} << 60;

std::string_view types_text(OpTypes types) {
  switch (types) {
    case OpTypes::ALL:
      return "any dtype";
    case OpTypes::FLOAT:
      return "a float dtype";
    case OpTypes::INT:
      return "an integer dtype";
    case OpTypes::BITS:
      return "an integer dtype or bool";
    case OpTypes::NUM:
      return "an integer or float dtype";
  }
  return "";
}

void check_operand(const OpInfo& info, const Node& x) {
  TN_REQUIRE(takes(info.types, x.dtype), "[{}] expected {}, got {}", info.text,
             types_text(info.types), type_string(x));
}

void check_shape(std::string_view op, const NodeType& type) {
  TN_REQUIRE(type.dtype != DType::kVoid, "[{}] expected a dtype, got none", op);
  TN_REQUIRE(type.shape.size() <= kMaxRank, "[{}] expected at most {} axes, got {}", op, kMaxRank,
             type.shape.size());
  auto bytes = static_cast<int64_t>(dtype_size(type.dtype));
  for (const Dim& d : type.shape) {
    TN_REQUIRE(d.min() >= 0, "[{}] expected dimensions of at least 0, got {}", op,
               to_string(type.shape));
    TN_REQUIRE(
        !__builtin_mul_overflow(bytes, std::max<int64_t>(d.max(), 1), &bytes) && bytes <= kMaxBytes,
        "[{}] expected a tensor of at most 2^60 bytes, got {}", op,
        type_string(type.dtype, type.shape));
  }
}

NodeType infer_index(const NodeType& given, const IndexAttr& attr) {
  TN_REQUIRE(is_int(given.dtype), "[index] expected an integer dtype, got {}",
             dtype_name(given.dtype));
  check_axis("index", attr.axis, given.shape.size());
  return given;
}

NodeType infer_param(const NodeType& given, const ParamAttr& attr) {
  if (attr.is_dim) return {DType::kI64, {}};
  TN_REQUIRE(attr.name.size() <= kMaxName, "[param] expected a name of at most {} bytes, got {}",
             kMaxName, attr.name.size());
  return given;
}

NodeType infer_const(const NodeType& given, const ConstAttr& attr) {
  TN_REQUIRE(attr.value.dtype != DType::kVoid, "[const] expected a value, got none");
  return {attr.value.dtype, given.shape};
}

NodeType infer_cast(const NodeType& given, const Node& x, const CastAttr& attr) {
  TN_REQUIRE(given.dtype != DType::kVoid, "[cast] expected a dtype, got none");
  TN_REQUIRE(!attr.bits || dtype_size(given.dtype) == dtype_size(x.dtype),
             "[bitcast] expected a dtype of the size of {}, got {}", dtype_name(x.dtype),
             dtype_name(given.dtype));
  return {given.dtype, x.shape};
}

NodeType infer_binary(const OpInfo& info, const Node& a, const Node& b) {
  check_operand(info, a);
  check_operand(info, b);
  TN_REQUIRE(a.shape == b.shape, "[{}] expected operands of one shape, got {} and {}", info.text,
             type_string(a), type_string(b));
  const bool shift = info.op == Op::SHL || info.op == Op::SHR;
  TN_REQUIRE(shift || a.dtype == b.dtype, "[{}] expected operands of one dtype, got {} and {}",
             info.text, type_string(a), type_string(b));
  return {info.kind == OpKind::COMPARE ? DType::kBool : a.dtype, a.shape};
}

NodeType infer_ternary(const OpInfo& info, const Node& a, const Node& b, const Node& c) {
  check_operand(info, b);
  const bool select = info.op == Op::WHERE;
  if (select)
    TN_REQUIRE(a.dtype == DType::kBool, "[where] expected a bool condition, got {}",
               type_string(a));
  TN_REQUIRE(a.shape == b.shape && b.shape == c.shape && b.dtype == c.dtype &&
                 (select || a.dtype == b.dtype),
             "[{}] expected operands of one {}, got {}, {} and {}", info.text,
             select ? "shape and equal dtypes to choose from" : "shape and dtype", type_string(a),
             type_string(b), type_string(c));
  return {b.dtype, b.shape};
}

template <class T>
T& attr_of(const OpInfo& info, Attr& attr) {
  T* found = std::get_if<T>(&attr);
  TN_REQUIRE(found, "[{}] expected its own kind of attribute, got another", info.text);
  return *found;
}

NodeType infer_type(const OpInfo& info, const NodeType& given, Sources s, Attr& attr) {
  switch (info.op) {
    case Op::CONST:
      return infer_const(given, attr_of<ConstAttr>(info, attr));
    case Op::PARAM:
      return infer_param(given, attr_of<ParamAttr>(info, attr));
    case Op::INDEX:
      return infer_index(given, attr_of<IndexAttr>(info, attr));
    case Op::CAST:
      return infer_cast(given, *s[0], attr_of<CastAttr>(info, attr));
    case Op::VIEW:
      return infer_view(given, *s[0], attr_of<ViewAttr>(info, attr));
    case Op::REDUCE:
      return infer_reduce(*s[0], attr_of<ReduceAttr>(info, attr));
    case Op::TAKE:
      return infer_take(*s[0], *s[1], attr_of<TakeAttr>(info, attr));
    case Op::STORE:
      return infer_store(*s[0], *s[1], *s[2], attr_of<StoreAttr>(info, attr));
    case Op::COPY:
      return infer_copy(*s[0], attr_of<CopyAttr>(info, attr));
    case Op::IF:
      return infer_if(s, attr_of<IfAttr>(info, attr));
    case Op::LOOP:
      return infer_loop(s, attr_of<LoopAttr>(info, attr));
    case Op::CALL:
      return infer_call(s, attr_of<CallAttr>(info, attr));
    default:
      break;
  }
  attr_of<std::monostate>(info, attr);
  if (info.kind == OpKind::UNARY) {
    check_operand(info, *s[0]);
    return {s[0]->dtype, s[0]->shape};
  }
  if (info.kind == OpKind::BINARY || info.kind == OpKind::COMPARE)
    return infer_binary(info, *s[0], *s[1]);
  TN_ASSERT(info.kind == OpKind::TERNARY);
  return infer_ternary(info, *s[0], *s[1], *s[2]);
}

}  // namespace

void check_axis(std::string_view op, int axis, size_t rank) {
  TN_REQUIRE(axis >= 0 && static_cast<size_t>(axis) < rank,
             "[{}] expected an axis from 0 to {} (rank {}), got {}", op,
             static_cast<int64_t>(rank) - 1, rank, axis);
}

void check_axes(std::string_view op, const std::vector<int>& axes, size_t rank) {
  for (size_t i = 0; i < axes.size(); ++i) {
    check_axis(op, axes[i], rank);
    TN_REQUIRE(i == 0 || axes[i - 1] < axes[i], "[{}] expected ascending axes, got {} after {}", op,
               axes[i], axes[i - 1]);
  }
}

NodeType infer(Op op, const NodeType& given, Sources sources, Attr& attr) {
  const OpInfo& info = op_info(op);
  TN_REQUIRE(info.level != OpLevel::PROGRAM, "[{}] expected an op of graphs, got one of programs",
             info.text);
  TN_REQUIRE(info.arity < 0 || sources.size() == static_cast<size_t>(info.arity),
             "[{}] expected {} operands, got {}", info.text, info.arity, sources.size());
  for (const NodeRef& source : sources)
    TN_REQUIRE(source, "[{}] expected an operand, got none", info.text);
  NodeType type = infer_type(info, given, sources, attr);
  check_shape(info.text, type);
  return type;
}

}  // namespace tenon
