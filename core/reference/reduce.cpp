// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// REDUCE: starts from the identity, in the dtype of the accumulator, in row-major order of the
// sources.
#include "core/ir/scalar_op.hpp"
#include "core/reference/kernels.hpp"
#include "core/support/error.hpp"

namespace tenon::reference {

void walk_reduce(const ReduceAttr& attr, const std::vector<int64_t>& source_shape,
                 const std::function<void(int64_t, int64_t)>& element) {
  const size_t rank = source_shape.size();
  std::vector<int64_t> reduced_shape = source_shape;
  std::vector<bool> reduced(rank, false);
  int64_t terms = 1, results = 1;
  for (const int axis : attr.axes) {
    reduced[axis] = true;
    reduced_shape[axis] = 1;
    terms *= source_shape[axis];
  }
  for (const int64_t size : reduced_shape) results *= size;
  const std::vector<int64_t> strides = strides_of(source_shape);
  // Offset of the number `flat` counted over the axes that are reduced, or over those that are not.
  const auto offset = [&](int64_t flat, bool over_reduced) {
    int64_t sum = 0;
    for (size_t k = rank; k-- > 0;) {
      if (reduced[k] != over_reduced) continue;
      sum += flat % source_shape[k] * strides[k];
      flat /= source_shape[k];
    }
    return sum;
  };
  std::vector<int64_t> term_offset(static_cast<size_t>(terms));
  for (int64_t t = 0; t < terms; ++t) term_offset[t] = offset(t, true);
  for (int64_t r = 0; r < results; ++r) {
    const int64_t base = terms ? offset(r, false) : 0;
    for (const int64_t t : term_offset) element(r, base + t);
  }
}

Array reduce(const Node& node, const Array& x) {
  const auto& attr = node.as<ReduceAttr>();
  std::vector<int64_t> shape = x.shape;
  for (const int axis : attr.axes) shape[axis] = 1;
  const DType type = attr.accumulator == DType::kVoid ? node.dtype : attr.accumulator;
  Array accumulators = Array::zeros(type, shape);
  // The identity of the narrower dtype: a maximum over nothing must survive the cast back.
  const Scalar start = cast(identity(attr.op, node.dtype), type);
  for (int64_t i = 0; i < accumulators.count(); ++i) accumulators.set(i, start);
  walk_reduce(attr, x.shape, [&](int64_t i, int64_t source) {
    accumulators.set(
        i, evaluate_scalar(attr.op, type, {accumulators.at(i), cast(x.at(source), type)}));
  });
  if (type == node.dtype) return accumulators;
  Array out = Array::zeros(node.dtype, std::move(shape));
  for (int64_t i = 0; i < out.count(); ++i) out.set(i, cast(accumulators.at(i), node.dtype));
  return out;
}

}  // namespace tenon::reference
