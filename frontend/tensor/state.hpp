// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a Tensor and a Context are handles of, and how two tensors meet. Internal to the library.
#pragma once

#include <atomic>
#include <initializer_list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/runtime/runtime.hpp"
#include "core/support/flat_map.hpp"
#include "frontend/tensor/growth.hpp"
#include "frontend/tensor/tables.hpp"
#include "tenon/tensor.hpp"

namespace tenon {

/// Bodies of composites: one for equal ones, so that equal calls are one node.
class Bodies {
 public:
  GraphRef one_of(Graph graph);

 private:
  using Key = std::pair<std::string, std::vector<const Node*>>;  ///< params and outputs
  std::mutex mutex_;
  std::map<Key, std::weak_ptr<const Graph>> known_;
  size_t alive_ = 64;  ///< how many there were when the others were last cleared away
};

/// Values of nodes that somebody still holds lazily, so that nothing is computed twice.
/// Thread-safe.
class Values {
 public:
  /// `buffer`: a PARAM that owns the value of `node`.
  void keep(const NodeRef& node, NodeRef buffer);
  /// Those of nodes that nobody holds any more.
  void forget_dead();
  /// Of the nodes that are still there; forgets the others.
  FlatMap<const Node*, NodeRef> known();

 private:
  struct Entry {
    std::weak_ptr<const Node> node;
    NodeRef buffer;
  };
  std::mutex mutex_;
  std::map<const Node*, Entry> entries_;
};

/// The context of tensors, null once it is destroyed, and what lives on while threads use it.
struct ContextLife : std::atomic<Context*> {
  using std::atomic<Context*>::atomic;
  std::weak_ptr<Context::Impl> impl;
};

struct Context::Impl {
  explicit Impl(ContextOptions options)
      : runtime(std::move(options)),
        life(std::make_shared<ContextLife>(&self)),
        self(std::shared_ptr<Impl>(std::shared_ptr<Impl>(), this)) {}
  Runtime runtime;
  Bodies bodies;
  Tables tables;
  Values values;
  Growth growth;
  std::recursive_mutex tracing;  ///< of compiled functions
  std::shared_ptr<ContextLife> life;
  Context self;  ///< for tensors: the application's own object may go while a call is under way
};

inline Runtime& runtime_of(Context& context) { return context.impl().runtime; }
inline Builder& builder_of(Context& context) { return runtime_of(context).builder(); }

/// A tensor's context, which may be destroyed before the tensor.
class ContextRef {
 public:
  ContextRef() = default;
  explicit ContextRef(const Context& context) : life_(context.impl().life) {}
  bool is_set() const { return life_ != nullptr; }
  /// It stays until this thread has used a few others, or ends. Throws kInvalid if it is gone.
  Context& get() const;

 private:
  std::shared_ptr<ContextLife> life_;
};

/// Lazy (a node) or realised (a PARAM node whose owner is the buffer). A number that has not met a
/// tensor yet has no context; it takes context and dtype from what it meets.
struct Tensor::State {
  ContextRef context;
  NodeRef node;
  std::optional<Number> number;
  /// Of an argument that was a number, while a function is traced: f64 where the device has that.
  NodeRef exact;
  std::string given_to;  ///< the function that its value was donated to; else empty
};

/// It has not met a tensor yet.
inline bool is_number(const Tensor& x) { return !x.state()->context.is_set(); }
const NodeRef& node_of(const Tensor& x);
Tensor make_tensor(Context& context, NodeRef node);
struct Origin;
/// How a value was computed: as result `output` of a run. Without an origin it is data.
struct Made {
  std::shared_ptr<const Origin> origin = nullptr;
  size_t output = 0;
};
/// A PARAM node that owns the buffer. `symbols`: values of those in the shape, at least.
NodeRef buffer_node(Context& context, BufferRef buffer, DType dtype, Shape shape,
                    const SymbolValues& symbols = {}, Made made = {});
/// The buffer behind a PARAM of buffer_node, or null.
BufferRef buffer_of(const Node& node);

struct Collected {
  Graph graph;
  std::vector<BufferRef> inputs;
  SymbolValues symbols;  ///< of the graph, told by the inputs
};
/// The nodes below the outputs with buffers replaced by params p0, p1, ... in order of appearance:
/// equal computations become equal graphs, and a plan that is kept for one holds no buffer alive.
/// `out_params`: the nodes whose buffers the inputs are.
Collected collect(Builder& builder, const std::vector<NodeRef>& outputs,
                  std::vector<NodeRef>* out_params = nullptr);

/// realize, for a function of that name. `as_data`: the values are data from then on, and gradients
/// end at them.
void realize_for(const char* call, const std::vector<Tensor>& tensors, bool as_data = false);

/// Context, and operands of one dtype and one (broadcast) shape. `op` is for messages.
struct Operands {
  Context* context = nullptr;
  NodeRef a, b;
};
Operands promote_and_broadcast(const char* op, const Tensor& a, const Tensor& b);

/// Empty for a number.
const Shape& dims_of(const Tensor& x);
Shape to_shape(const std::vector<int64_t>& shape);
/// Elements of a shape that a caller gave. Throws kInvalid for a negative size and from 2^63 on.
int64_t count_of(const char* op, const std::vector<int64_t>& shape);
/// Throws kInvalid for one whose bytes are not those of its dtype and shape.
void check_array(const char* op, const Array& array);
void check_bytes(const char* op, size_t bytes, DType dtype, const std::vector<int64_t>& shape);
/// Throws kInvalid for bytes other than 0 and 1: devices differ in what they make of them.
void check_bools(const char* op, std::span<const std::byte> bytes);
/// The same for sizes of which some are symbols, as far as their bounds tell.
void check_count(const char* op, const Shape& shape);
Shape broadcast_shapes(const char* op, const Shape& a, const Shape& b);
std::vector<int64_t> broadcast_shapes(const char* op, const std::vector<int64_t>& a,
                                      const std::vector<int64_t>& b);
NodeRef broadcast_to(Builder& builder, NodeRef x, const Shape& shape);
/// A negative axis counts from the end. Throws kInvalid.
int normalise_axis(const char* op, int axis, int rank);
/// No axes: all. Ascending, without repeats.
std::vector<int> normalise_axes(const char* op, const Axes& axes, int rank);
/// Of a function along one axis, or of the flattened tensor where none is given.
std::optional<int> one_axis(const char* op, const Axes& axis, int rank);

/// The builder of a tensor's context, a node of constants like another, and so on: short names for
/// compositions.
Builder& builder_of(const Tensor& x);
/// The node of an operand beside one of `context`. Throws if it is of another.
NodeRef node_in(Context& context, const Tensor& x);
std::vector<NodeRef> nodes_in(Context& context, const std::vector<Tensor>& tensors);
/// The one context of all that are no numbers; the standard one where there are only numbers.
Context& context_of(const char* op, std::initializer_list<std::span<const Tensor>> lists);
Tensor constant_like(const Tensor& x, Number value);

}  // namespace tenon
