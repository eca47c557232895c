// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The graph level of the IR: an immutable, hash-consed DAG of tensor operations.
//
// A node has one result: a tensor of `dtype` and `shape`. What an op means, and its rounding,
// overflow and NaN behaviour, is defined in ops.def and by the attributes below. Operands of
// elementwise ops have equal shapes and (CMP*, WHERE's condition and shifts apart) equal dtypes:
// broadcasting is an explicit expand. 0-d and zero-size tensors are legal everywhere. Make nodes
// with build.hpp.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "core/expr/expr.hpp"
#include "core/ir/dtype.hpp"
#include "core/ir/op.hpp"
#include "tenon/precision.hpp"

namespace tenon {

struct Node;
struct Graph;
using NodeRef = std::shared_ptr<const Node>;
using GraphRef = std::shared_ptr<const Graph>;

/// CONST: one value in every element; the shape is free.
struct ConstAttr {
  Scalar value;
  bool operator==(const ConstAttr&) const = default;
};

/// PARAM: a named input, or (`is_dim`) the value of an integer expression over the symbols, an i64
/// of shape [].
struct ParamAttr {
  std::string name;
  bool is_dim = false;
  Expr dim;
  uint64_t identity =
      0;  ///< distinguishes equal names: the buffer of a lazy tensor; 0 in text graphs
  /// Keeps alive what the identity refers to. Opaque to the graph level.
  std::shared_ptr<void> owner = nullptr;
  bool operator==(const ParamAttr&) const = default;
};

/// INDEX: each element is its position along `axis`.
struct IndexAttr {
  int axis = 0;
  bool operator==(const IndexAttr&) const = default;
};

struct CastAttr {
  bool bits = false;  ///< bit cast between dtypes of one size
  bool operator==(const CastAttr&) const = default;
};

enum class ViewKind : uint8_t { kReshape, kExpand, kPermute, kPad, kShrink, kFlip };

/// VIEW. The result's shape is the node's.
struct ViewAttr {
  ViewKind kind = ViewKind::kReshape;
  std::vector<int>
      axes;  ///< kPermute: result axis i is source axis axes[i]; kFlip: the flipped axes, ascending
  std::vector<std::pair<Dim, Dim>>
      pairs;    ///< kPad: (before, after) an axis; kShrink: [begin, end) an axis
  Scalar fill;  ///< kPad
  bool operator==(const ViewAttr&) const = default;
};

/// REDUCE over `axes` (ascending), which stay with size 1. `op` is ADD, MUL, MAX or MIN (an
/// optional op op).
struct ReduceAttr {
  Op op = Op::ADD;
  std::vector<int> axes;
  DType accumulator = DType::kVoid;  ///< dtype in which terms are combined; the result is cast back
  Precision precision = Precision::kDefault;  ///< of a sum of floats
  bool operator==(const ReduceAttr&) const = default;
};

/// TAKE(x, index): out[.., i, ..] = x[.., index[.., i, ..], ..] along `axis`; index has x's rank
/// and, but for `axis`, x's dimensions; an index outside [0, size) gives 0.
struct TakeAttr {
  int axis = 0;
  bool operator==(const TakeAttr&) const = default;
};

enum class StoreMode : uint8_t { kLast, kAdd };

/// STORE(x, index, values): x with x[.., index[.., i, ..], ..] = values[.., i, ..] along `axis` (or
/// +=, kAdd); index and values have one shape: x's but for `axis`. In order of i, so the last
/// duplicate stays.
struct StoreAttr {
  int axis = 0;
  StoreMode mode = StoreMode::kLast;
  bool operator==(const StoreAttr&) const = default;
};

/// COPY to a device, named as in TENON_DEVICES ("cpu:0"), in the placement's terms.
struct CopyAttr {
  std::string device;
  bool operator==(const CopyAttr&) const = default;
};

/// IF(cond: bool[], captured...): output `result` of one of two graphs that take the captured
/// values.
struct IfAttr {
  GraphRef then_graph, else_graph;
  int result = 0;
  bool operator==(const IfAttr&) const = default;
};

/// LOOP(trips: i64[], initial carried..., captured...): output `result` after the body ran up to
/// `trips` times. The body takes (i: i64[], carried..., captured...) and gives (carried...), and,
/// if `is_while`, first a bool[]: false ends the loop and drops that iteration's values.
struct LoopAttr {
  GraphRef body;
  int carried = 0;
  bool is_while = false;
  int result = 0;
  bool operator==(const LoopAttr&) const = default;
};

/// How a gradient flows through a CALL without a gradient graph.
enum class CallMode : uint8_t {
  kPlain,      ///< through the body
  kRecompute,  ///< through the body, whose values are rematerialised for it
  kStop,       ///< not at all
};

/// CALL(inputs...): output `result` of the body, a named group of nodes ("softmax") that runs as if
/// its nodes stood there. `gradient`, if any, takes (inputs..., the body's outputs..., an adjoint
/// for each of these) and gives an adjoint for each input of a float dtype, in order.
struct CallAttr {
  GraphRef body, gradient;
  CallMode mode = CallMode::kPlain;
  int result = 0;
  bool operator==(const CallAttr&) const = default;
};

using Attr = std::variant<std::monostate, ConstAttr, ParamAttr, IndexAttr, CastAttr, ViewAttr,
                          ReduceAttr, TakeAttr, StoreAttr, CopyAttr, IfAttr, LoopAttr, CallAttr>;

struct Node {
  Op op = Op::INVALID;
  DType dtype = DType::kVoid;
  Shape shape;
  std::vector<NodeRef> sources;
  Attr attr;
  uint64_t hash = 0;  ///< of the structure of the node and everything below

  template <class T>
  const T& as() const {
    return std::get<T>(attr);
  }
};

/// A function of named tensors: what is scheduled, printed and parsed.
struct Graph {
  std::string name = "main";
  std::vector<Expr> symbols;    ///< free dimensions, each a kSymbol
  std::vector<NodeRef> params;  ///< PARAM nodes in order
  std::vector<NodeRef> outputs;
  std::vector<std::string> output_names;  ///< one for each output; may be ""
};

/// "f32[n, 10]"
std::string type_string(DType dtype, const Shape& shape);
std::string type_string(const Node& node);

/// Limits of every graph.
inline constexpr size_t kMaxRank = 16;
inline constexpr size_t kMaxName = 256;
inline constexpr size_t kMaxNodes = size_t{1}
                                    << 21;  ///< of a text, and of a graph with calls inlined

/// Every node below the outputs once, operands first, in a deterministic order.
std::vector<NodeRef> topological(const std::vector<NodeRef>& outputs);

/// Structural hash of the graph, blind to names and identities of params but not to their order or
/// types.
uint64_t structure_hash(const Graph& graph);
bool same_structure(const Graph& a, const Graph& b);

}  // namespace tenon
