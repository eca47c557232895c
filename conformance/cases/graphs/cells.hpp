// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Layer 1: one op on one dtype with one layout of its operands. The list comes from the op table.
#pragma once

#include "conformance/cases/choices.hpp"
#include "conformance/cases/graphs/template.hpp"
#include "conformance/cases/template_spec.hpp"
#include "core/ir/build.hpp"

namespace tenon::conformance::graphs {

enum class Layout : uint8_t {
  kContiguous,
  kBroadcast,  ///< expanded: stride 0
  kPermuted,
  kFlipped,  ///< negative stride
  kShrunk,   ///< an offset, and a row longer than what is read
  kPadded,
  kReshaped,
};
inline constexpr int kLayoutCount = 7;
std::string_view layout_name(Layout layout);

enum class CellKind : uint8_t {
  kElementwise,  ///< op, dtype
  kCast,         ///< dtype to other
  kBitCast,
  kView,    ///< variant: ViewKind, or kViewChain
  kReduce,  ///< op; variant: which axes
  kTake,    ///< other: dtype of the index
  kStore,   ///< variant: StoreMode
  kIndex,
  kConst,
  kParam,
  kIf,
  kLoop,     ///< variant 1: while
  kRefusal,  ///< an op that is not claimed, straight to the plugin
};

inline constexpr int kViewChain = 6;  ///< several views, one on the other

struct CellSpec {
  CellKind kind = CellKind::kElementwise;
  Op op = Op::INVALID;
  DType dtype = DType::kVoid;
  DType other = DType::kVoid;
  int variant = 0;
  Layout layout = Layout::kContiguous;
};

/// Every cell that the IR's rules allow, in a fixed order.
const std::vector<CellSpec>& all_cells();
/// "reshape"; also of kViewChain.
std::string_view view_name(int variant);
Cell describe(const CellSpec& spec);

/// Can every code of the operands' dtype be tried? 8- and 16-bit unary ops, 8-bit binary ones.
bool can_exhaust(const CellSpec& spec);

/// Has the cell a variant with tens of thousands of elements?
bool can_be_big(const CellSpec& spec);

/// A graph for the cell. `flags`: TemplateFlags.
Template build_cell(const CellSpec& spec, Choices& choices, Builder& builder, uint32_t flags = 0);

}  // namespace tenon::conformance::graphs
