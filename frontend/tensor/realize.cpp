// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From lazy to values: the graph below some tensors is run, and the tensors become its results.
#include <algorithm>
#include <cstring>
#include <unordered_map>

#include "core/ir/substitute.hpp"
#include "core/support/as_op.hpp"
#include "core/support/error.hpp"
#include "core/support/log.hpp"
#include "frontend/tensor/origin.hpp"
#include "frontend/tensor/sizes.hpp"
#include "frontend/tensor/tape.hpp"
#include "tenon/npy.hpp"

namespace tenon {

Collected collect(Builder& builder, const std::vector<NodeRef>& outputs,
                  std::vector<NodeRef>* out_params) {
  Collected result;
  SymbolsUsed used("realize");
  SymbolValues known;
  std::unordered_map<const Node*, NodeRef> copies;
  for (const NodeRef& node : topological(outputs)) {
    NodeRef copy = node;
    used.add(*node);
    if (BufferRef buffer = buffer_of(*node)) {
      copy = builder.param("p" + std::to_string(result.inputs.size()), node->dtype, node->shape);
      result.graph.params.push_back(copy);
      result.inputs.push_back(std::move(buffer));
      add_symbols("realize", *node, known);
      if (out_params) out_params->push_back(node);
    } else if (node->op == Op::PARAM && !node->as<ParamAttr>().is_dim) {
      fail(ErrorKind::kInvalid,
           "[realize] expected tensors with values, got one that depends on an argument ({}) of a "
           "function that is only traced",
           type_string(*node));
    } else if (!node->sources.empty()) {
      std::vector<NodeRef> sources;
      for (const NodeRef& source : node->sources) sources.push_back(copies.at(source.get()));
      if (sources != node->sources)
        copy = builder.make(node->op, node->dtype, node->shape, sources, node->attr);
    }
    copies.emplace(node.get(), std::move(copy));
  }
  for (const NodeRef& output : outputs) {
    result.graph.outputs.push_back(copies.at(output.get()));
    result.graph.output_names.emplace_back();
  }
  result.graph.symbols = used.list();
  result.symbols = used.values(known);
  return result;
}

namespace {

/// A result that is computed on the way to another, and held, is kept up to this size.
constexpr uint64_t kKeptBytes = 4 << 10;
constexpr size_t kMostKept = 16;
/// From here on it is worth a plan of its own to write over an input.
constexpr uint64_t kDonatedBytes = 64 << 10;

/// Who holds the nodes below some outputs, apart from each other and from what is to be realised.
class Holders {
 public:
  /// `outputs` and `before`, what they were made from by substitution, are the caller's lists,
  /// whose references do not count.
  Holders(const std::vector<NodeRef>& outputs, const std::vector<NodeRef>& before,
          const std::vector<std::shared_ptr<Tensor::State>>& own) {
    std::vector<NodeRef> both = outputs;
    both.insert(both.end(), before.begin(), before.end());
    order_ = topological(both);  // first all that the outputs need
    both.clear();
    for (size_t i = 0; i < order_.size(); ++i) number_.try_emplace(order_[i].get(), i);
    for (const NodeRef& node : outputs) nodes_ = std::max(nodes_, number_.at(node.get()) + 1);
    others_.resize(order_.size());
    held_.resize(order_.size());
    blocked_.resize(order_.size());
    has_buffer_.resize(order_.size());
    for (size_t i = 0; i < order_.size(); ++i) others_[i] = order_[i].use_count() - 1;
    for (const NodeRef& node : order_)
      for (const NodeRef& source : node->sources) --others_[number_.at(source.get())];
    const auto leave_out = [&](const NodeRef& node) {
      if (const size_t* const i = number_.find(node.get())) --others_[*i];
    };
    for (const NodeRef& node : outputs) leave_out(node);
    for (const NodeRef& node : before) leave_out(node);
    for (const auto& state : own) leave_out(state->node);
    for (size_t i = order_.size(); i-- > 0;) {
      held_[i] = held_[i] || others_[i] > 0;
      blocked_[i] = blocked_[i] || held_[i];
      for (const NodeRef& source : order_[i]->sources) {
        const size_t from = number_.at(source.get());
        blocked_[from] = blocked_[from] || blocked_[i];
        // Whoever holds what is not computed now comes to need it.
        held_[from] = held_[from] || (i >= nodes_ && blocked_[i]);
      }
    }
    for (size_t i = 0; i < order_.size(); ++i)
      has_buffer_[i] = buffer_of(*order_[i]) ||
                       std::ranges::any_of(order_[i]->sources, [&](const NodeRef& source) {
                         return has_buffer_[number_.at(source.get())];
                       });
  }

  size_t nodes() const { return nodes_; }

  /// Held, small and computed from buffers: the run has it at hand.
  std::vector<NodeRef> worth_keeping() const {
    std::vector<NodeRef> out;
    for (size_t i = 0; i < nodes_; ++i) {
      const Node& node = *order_[i];
      const int64_t count = product(node.shape).max();
      if (held_[i] && has_buffer_[i] && is_computed(node.op) && out.size() < kMostKept &&
          count <= static_cast<int64_t>(kKeptBytes / dtype_size(node.dtype)))
        out.push_back(order_[i]);
    }
    return out;
  }

  /// Plans keep nodes of constants alone, so that it says nothing if somebody holds one.
  bool has_buffer(const NodeRef& node) const { return has_buffer_[number_.at(node.get())]; }

  /// Nobody is left who could ask for the value of this input, or for what is made of it.
  bool is_given_away(const NodeRef& param) const {
    const size_t* const i = number_.find(param.get());
    const auto& owner = param->as<ParamAttr>().owner;
    return i && !blocked_[*i] && owners_of_memory(*param) == 2 &&  // the node's, and the run's
           static_cast<const Buffer*>(owner.get())->size() >= kDonatedBytes;
  }

 private:
  static bool is_computed(Op op) {
    const OpKind kind = op_info(op).kind;
    return kind == OpKind::UNARY || kind == OpKind::BINARY || kind == OpKind::COMPARE ||
           kind == OpKind::TERNARY || kind == OpKind::REDUCE;
  }

  std::vector<NodeRef> order_;
  FlatMap<const Node*, size_t> number_;
  size_t nodes_ = 0;  ///< below the outputs: the first of order_
  std::vector<long> others_;
  std::vector<bool> held_, blocked_, has_buffer_;
};

}  // namespace

void Values::keep(const NodeRef& node, NodeRef buffer) {
  Entry entry{node, std::move(buffer)};  // what it was before goes without the lock
  const std::lock_guard lock(mutex_);
  std::swap(entries_[node.get()], entry);
}

void Values::forget_dead() {
  std::vector<Entry> dead;  // go without the lock
  const std::lock_guard lock(mutex_);
  std::erase_if(entries_, [&](auto& entry) {
    if (!entry.second.node.expired()) return false;
    dead.push_back(std::move(entry.second));
    return true;
  });
}

FlatMap<const Node*, NodeRef> Values::known() {
  forget_dead();
  const std::lock_guard lock(mutex_);
  FlatMap<const Node*, NodeRef> out;
  for (const auto& [node, entry] : entries_) out.try_emplace(node, entry.buffer);
  return out;
}

void realize_for(const char* call, const std::vector<Tensor>& tensors, bool as_data) {
  std::vector<NodeRef> outputs;
  std::vector<std::shared_ptr<Tensor::State>> lazy;
  std::optional<ContextRef> first;
  for (const Tensor& tensor : tensors) {
    if (buffer_of(*node_of(tensor))) continue;
    TN_REQUIRE(!first || &tensor.context() == &first->get(),
               "[realize] expected tensors of one context, got two");
    if (!first) first.emplace(tensor.context());
    if (std::ranges::find(lazy, tensor.state()) != lazy.end()) continue;
    outputs.push_back(node_of(tensor));
    lazy.push_back(tensor.state());
  }
  if (lazy.empty()) return;
  Context& context = first->get();
  Values& values = context.impl().values;
  Tape* const tape = Tape::current();

  std::vector<NodeRef> wanted = outputs;
  if (const auto known = values.known(); known.size() > 0)
    wanted = substitute(outputs, known, builder_of(context));
  std::vector<NodeRef> kept, params;
  std::vector<bool> donated, from_buffers;
  Collected collected;
  {
    std::vector<NodeRef> all;
    const Holders holders(wanted, outputs, lazy);
    kept = holders.worth_keeping();
    if (const std::string warning = context.impl().growth.note(outputs.size(), holders.nodes());
        !warning.empty())
      log_warning(warning);
    std::erase_if(
        kept, [&](const NodeRef& node) { return std::ranges::find(wanted, node) != wanted.end(); });
    for (const NodeRef& node : wanted) {
      from_buffers.push_back(holders.has_buffer(node));
      if (!buffer_of(*node)) all.push_back(node);
    }
    all.insert(all.end(), kept.begin(), kept.end());
    collected = collect(builder_of(context), all, &params);
    // A tape may ask for anything again.
    for (const NodeRef& param : params) donated.push_back(!tape && holders.is_given_away(param));
  }
  std::vector<BufferRef> results;
  if (!collected.graph.outputs.empty())
    results = runtime_of(context).run(collected.graph, collected.inputs, collected.symbols, nullptr,
                                      donated);
  const SymbolValues symbols = std::move(collected.symbols);
  std::shared_ptr<const Origin> origin;
  if (!as_data && !results.empty()) {
    origin = make_origin(call, std::make_shared<const Graph>(std::move(collected.graph)), params);
    if (tape) tape->hold(params);
  }
  collected = {};
  params.clear();
  // Whoever else holds what a value was made from may come to need it.
  std::vector<std::pair<std::weak_ptr<const Node>, NodeRef>> found;
  size_t next = 0;
  const auto made = [&](const NodeRef& node, size_t result) {
    return origin && is_float(node->dtype) ? Made{origin, result} : Made();
  };
  for (size_t i = 0; i < lazy.size(); ++i) {
    // A leaf of its own, for gradients, also where the value is another tensor's.
    if (const BufferRef buffer = buffer_of(*wanted[i])) {
      lazy[i]->node = buffer_node(context, buffer, outputs[i]->dtype, outputs[i]->shape,
                                  symbols_of(*wanted[i]), as_data ? Made() : made_of(*wanted[i]));
      if (tape) tape->hold({wanted[i]});
    } else {
      lazy[i]->node = buffer_node(context, std::move(results[next]), outputs[i]->dtype,
                                  outputs[i]->shape, symbols, made(outputs[i], next));
      ++next;
    }
    if (from_buffers[i]) found.emplace_back(outputs[i], lazy[i]->node);
  }
  for (const NodeRef& node : kept) {
    found.emplace_back(node, buffer_node(context, std::move(results[next]), node->dtype,
                                         node->shape, symbols, made(node, next)));
    ++next;
  }
  wanted.clear();
  outputs.clear();
  kept.clear();
  for (auto& [origin, buffer] : found)
    if (const NodeRef node = origin.lock()) values.keep(node, std::move(buffer));
}

void realize(const std::vector<Tensor>& tensors) { realize_for("realize", tensors); }
void realize_detached(const std::vector<Tensor>& tensors) {
  realize_for("realize_detached", tensors, /*as_data=*/true);
}

std::string Tensor::device() const {
  if (const BufferRef buffer = buffer_of(*node_of(*this))) return buffer->device().id();
  // Where the scheduler puts it: operands, copies and what a device can do have their say.
  const Collected collected = collect(builder_of(context()), {node_of(*this)});
  return runtime_of(context()).result_device(collected.graph, collected.inputs);
}

Array Tensor::to_array() const {
  realize_for("to_array", {*this});
  Array array = Array::zeros(dtype(), shape_of_value(*this));
  read(std::as_writable_bytes(std::span(array.bytes)));
  return array;
}

void Tensor::read(std::span<std::byte> out) const {
  realize_for("read", {*this});
  const BufferRef buffer = buffer_of(*node_of(*this));
  TN_REQUIRE(out.size() == buffer->size(), "[read] expected room for {} bytes, got {}",
             buffer->size(), out.size());
  if (!out.empty()) buffer->device().read(*buffer, 0, out.data(), out.size());
}

template <class T>
std::vector<T> Tensor::to_vector() const {
  const DType own = dtype();
  const bool widens = std::is_same_v<T, float> && is_float(own) && dtype_size(own) < 4;
  TN_REQUIRE(own == DTypeOf<T>::value || widens,
             "[to_vector] expected the tensor's dtype {}, got {}", dtype_name(own),
             dtype_name(DTypeOf<T>::value));
  const Array array = to_array();
  std::vector<T> values(static_cast<size_t>(array.count()));
  for (size_t i = 0; i < values.size(); ++i) {
    if (widens) {
      values[i] = static_cast<T>(array.at(static_cast<int64_t>(i)).as_double());
    } else {
      T value;
      std::memcpy(&value, array.bytes.data() + i * sizeof(T), sizeof(T));
      values[i] = value;
    }
  }
  return values;
}

template <class T>
T Tensor::item() const {
  const Dim count = product(dims_of(*this));
  TN_REQUIRE(count.max() >= 1 && count.min() <= 1, "[item] expected one element, got {}",
             to_string(count));
  const std::vector<T> values = to_vector<T>();
  TN_REQUIRE(values.size() == 1, "[item] expected one element, got {}", values.size());
  return values[0];
}

#define TENON_READ(T)                                   \
  template std::vector<T> Tensor::to_vector<T>() const; \
  template T Tensor::item<T>() const;
TENON_READ(bool)
TENON_READ(int8_t)
TENON_READ(int16_t)
TENON_READ(int32_t)
TENON_READ(long)
TENON_READ(long long)
TENON_READ(uint8_t)
TENON_READ(uint16_t)
TENON_READ(uint32_t)
TENON_READ(unsigned long)
TENON_READ(unsigned long long)
TENON_READ(float)
TENON_READ(double)
#undef TENON_READ

Tensor to(const Tensor& x, const std::string& device) {
  const std::string id = as_op("to", [&] { return runtime_of(x.context()).device(device).id(); });
  return make_tensor(x.context(), builder_of(x).copy(node_of(x), id));
}

}  // namespace tenon
