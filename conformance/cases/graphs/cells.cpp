// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The list of layer 1, from ops.def and the dtypes.
#include "conformance/cases/graphs/cells.hpp"

#include "conformance/cases/graphs/shapes.hpp"
#include "core/ir/op.hpp"

namespace tenon::conformance::graphs {
namespace {

void add_layouts(std::vector<CellSpec>& out, CellSpec spec) {
  for (int i = 0; i < kLayoutCount; ++i) {
    spec.layout = static_cast<Layout>(i);
    out.push_back(spec);
  }
}

std::vector<CellSpec> make_cells() {
  std::vector<CellSpec> out;
  for (const OpInfo& op : all_ops())
    if (is_elementwise(op.op) && op.op != Op::CAST && op.level != OpLevel::PROGRAM)
      for (const DType dtype : all_dtypes())
        if (takes(op.types, dtype)) add_layouts(out, {.op = op.op, .dtype = dtype});
  for (const DType from : all_dtypes())
    for (const DType to : all_dtypes()) {
      if (from == to) continue;
      out.push_back({.kind = CellKind::kCast, .op = Op::CAST, .dtype = from, .other = to});
      if (from != DType::kBool && to != DType::kBool && dtype_size(from) == dtype_size(to))
        out.push_back({.kind = CellKind::kBitCast, .op = Op::CAST, .dtype = from, .other = to});
    }
  for (const DType dtype : all_dtypes()) {
    for (int view = 0; view <= kViewChain; ++view)
      out.push_back({.kind = CellKind::kView, .op = Op::VIEW, .dtype = dtype, .variant = view});
    for (const OpInfo& op : all_ops())
      for (int axes = 0; is_reduction(op.op) && axes < 5; ++axes)
        out.push_back({.kind = CellKind::kReduce, .op = op.op, .dtype = dtype, .variant = axes});
    for (const Layout layout : {Layout::kPermuted, Layout::kFlipped, Layout::kBroadcast})
      out.push_back({.kind = CellKind::kReduce,
                     .op = Op::ADD,
                     .dtype = dtype,
                     .variant = 4,
                     .layout = layout});
    for (const DType index : {DType::kI32, DType::kI64})
      out.push_back({.kind = CellKind::kTake, .op = Op::TAKE, .dtype = dtype, .other = index});
    for (int mode = 0; mode < 2; ++mode)
      out.push_back({.kind = CellKind::kStore,
                     .op = Op::STORE,
                     .dtype = dtype,
                     .other = DType::kI32,
                     .variant = mode});
    if (is_int(dtype)) out.push_back({.kind = CellKind::kIndex, .op = Op::INDEX, .dtype = dtype});
    out.push_back({.kind = CellKind::kConst, .op = Op::CONST, .dtype = dtype});
    out.push_back({.kind = CellKind::kParam, .op = Op::PARAM, .dtype = dtype});
  }
  for (const DType index : {DType::kU8, DType::kI16, DType::kU32, DType::kU64})
    out.push_back({.kind = CellKind::kTake, .op = Op::TAKE, .dtype = DType::kF32, .other = index});
  for (const DType index : {DType::kI8, DType::kI64, DType::kU16, DType::kU32, DType::kU64})
    for (int mode = 0; mode < 2; ++mode)
      out.push_back({.kind = CellKind::kStore,
                     .op = Op::STORE,
                     .dtype = DType::kF32,
                     .other = index,
                     .variant = mode});
  for (const DType dtype : {DType::kF32, DType::kI32, DType::kF64, DType::kBool}) {
    out.push_back({.kind = CellKind::kIf, .op = Op::IF, .dtype = dtype});
    for (int is_while = 0; is_while < 2; ++is_while)
      out.push_back({.kind = CellKind::kLoop, .op = Op::LOOP, .dtype = dtype, .variant = is_while});
  }
  for (const OpInfo& op : all_ops())
    if (is_elementwise(op.op) && op.op != Op::CAST && op.level != OpLevel::PROGRAM)
      for (const DType dtype : all_dtypes())
        if (takes(op.types, dtype))
          out.push_back({.kind = CellKind::kRefusal, .op = op.op, .dtype = dtype});
  return out;
}

}  // namespace

std::string_view view_name(int variant) {
  if (variant == kViewChain) return "views";
  switch (static_cast<ViewKind>(variant)) {
    case ViewKind::kReshape:
      return "reshape";
    case ViewKind::kExpand:
      return "expand";
    case ViewKind::kPermute:
      return "permute";
    case ViewKind::kPad:
      return "pad";
    case ViewKind::kShrink:
      return "shrink";
    case ViewKind::kFlip:
      return "flip";
  }
  return "?";
}

std::string_view layout_name(Layout layout) {
  switch (layout) {
    case Layout::kContiguous:
      return "contiguous";
    case Layout::kBroadcast:
      return "broadcast";
    case Layout::kPermuted:
      return "permuted";
    case Layout::kFlipped:
      return "flipped";
    case Layout::kShrunk:
      return "shrunk";
    case Layout::kPadded:
      return "padded";
    case Layout::kReshaped:
      return "reshaped";
  }
  return "?";
}

const std::vector<CellSpec>& all_cells() {
  static const std::vector<CellSpec> cells = make_cells();
  return cells;
}

Cell describe(const CellSpec& spec) {
  constexpr std::string_view kAxes[] = {"last axis", "first axis", "middle axis", "two axes",
                                        "all"};
  const std::string text(op_info(spec.op).text);
  const std::string other(dtype_name(spec.other));
  Cell cell{text, std::string(dtype_name(spec.dtype)), std::string(layout_name(spec.layout))};
  switch (spec.kind) {
    case CellKind::kElementwise:
    case CellKind::kConst:
    case CellKind::kParam:
    case CellKind::kIndex:
    case CellKind::kIf:
      break;
    case CellKind::kCast:
      cell.op = "cast." + other;
      break;
    case CellKind::kBitCast:
      cell.op = "bitcast." + other;
      break;
    case CellKind::kView:
      cell.op = view_name(spec.variant);
      break;
    case CellKind::kReduce:
      cell.op = "reduce." + text;
      if (spec.layout == Layout::kContiguous) cell.layout = kAxes[spec.variant];
      break;
    case CellKind::kTake:
      cell.layout = "index " + other;
      break;
    case CellKind::kStore:
      cell.op = spec.variant ? "store.add" : "store.last";
      cell.layout = "index " + other;
      break;
    case CellKind::kLoop:
      cell.op = spec.variant ? "while" : "loop";
      break;
    case CellKind::kRefusal:
      cell.op = "unclaimed." + text;
      cell.layout = "refusal";
      break;
  }
  return cell;
}

bool can_exhaust(const CellSpec& spec) {
  const bool unary = spec.kind == CellKind::kCast || spec.kind == CellKind::kBitCast ||
                     (spec.kind == CellKind::kElementwise && op_info(spec.op).arity == 1);
  if (spec.dtype == DType::kBool || spec.layout != Layout::kContiguous) return false;
  if (unary) return dtype_size(spec.dtype) <= 2;
  return spec.kind == CellKind::kElementwise && op_info(spec.op).arity == 2 &&
         dtype_size(spec.dtype) == 1;
}

bool can_be_big(const CellSpec& spec) {
  switch (spec.kind) {
    case CellKind::kElementwise:
    case CellKind::kCast:
    case CellKind::kReduce:
    case CellKind::kTake:
    case CellKind::kStore:
    case CellKind::kView:
    case CellKind::kIndex:
      return true;
    case CellKind::kBitCast:
    case CellKind::kConst:
    case CellKind::kParam:
    case CellKind::kIf:
    case CellKind::kLoop:
    case CellKind::kRefusal:
      return false;
  }
  return false;
}

}  // namespace tenon::conformance::graphs
