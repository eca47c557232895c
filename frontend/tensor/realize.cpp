// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From lazy to values: the graph below some tensors is run, and the tensors become its results.
#include <algorithm>
#include <cstring>
#include <unordered_map>

#include "core/support/error.hpp"
#include "frontend/tensor/state.hpp"
#include "frontend/tensor/tape.hpp"
#include "tenon/npy.hpp"

namespace tenon {

Collected collect(Builder& builder, const std::vector<NodeRef>& outputs) {
  Collected result;
  std::unordered_map<const Node*, NodeRef> copies;
  for (const NodeRef& node : topological(outputs)) {
    NodeRef copy = node;
    if (BufferRef buffer = buffer_of(*node)) {
      copy = builder.param("p" + std::to_string(result.inputs.size()), node->dtype, node->shape);
      result.graph.params.push_back(copy);
      result.inputs.push_back(std::move(buffer));
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
  return result;
}

void Tensor::realize(const std::vector<Tensor>& tensors) {
  std::vector<NodeRef> outputs;
  std::vector<const Tensor*> lazy;
  for (const Tensor& tensor : tensors) {
    if (buffer_of(*node_of(tensor))) continue;
    TN_REQUIRE(lazy.empty() || &tensor.context() == &lazy[0]->context(),
               "[realize] expected tensors of one context, got two");
    outputs.push_back(node_of(tensor));
    lazy.push_back(&tensor);
  }
  if (lazy.empty()) return;
  Context& context = lazy[0]->context();
  const Collected collected = collect(builder_of(context), outputs);
  std::vector<BufferRef> results = runtime_of(context).run(collected.graph, collected.inputs);
  for (size_t i = 0; i < lazy.size(); ++i) {
    lazy[i]->state()->node =
        buffer_node(context, std::move(results[i]), outputs[i]->dtype, static_shape(*outputs[i]));
    if (Tape* const tape = Tape::current()) tape->record(lazy[i]->state()->node, outputs[i]);
  }
}

std::string Tensor::device() const {
  if (const BufferRef buffer = buffer_of(*node_of(*this))) return buffer->device().id();
  // Where the scheduler puts it: operands, copies and what a device can do have their say.
  const Collected collected = collect(builder_of(context()), {node_of(*this)});
  return runtime_of(context()).result_device(collected.graph, collected.inputs);
}

Array Tensor::to_array() const {
  realize({*this});
  Array array = Array::zeros(dtype(), shape());
  const BufferRef buffer = buffer_of(*node_of(*this));
  if (!array.bytes.empty())
    buffer->device().read(*buffer, 0, array.bytes.data(), array.bytes.size());
  return array;
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
  TN_REQUIRE(size() == 1, "[item] expected one element, got {}", size());
  return to_vector<T>()[0];
}

#define TENON_READ(T)                                   \
  template std::vector<T> Tensor::to_vector<T>() const; \
  template T Tensor::item<T>() const;
TENON_READ(bool)
TENON_READ(int8_t)
TENON_READ(int16_t)
TENON_READ(int32_t)
TENON_READ(int64_t)
TENON_READ(uint8_t)
TENON_READ(uint16_t)
TENON_READ(uint32_t)
TENON_READ(uint64_t)
TENON_READ(float)
TENON_READ(double)
#undef TENON_READ

void Tensor::save_npy(const std::string& path) const { write_npy(path, to_array()); }

Tensor Tensor::to(const std::string& device) const {
  const std::string id = runtime_of(context()).device(device).id();
  return make_tensor(context(), builder_of(*this).copy(node_of(*this), id));
}

}  // namespace tenon
