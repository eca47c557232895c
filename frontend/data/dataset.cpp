// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tenon/data/dataset.hpp"

#include <fmt/ranges.h>

#include <memory>

#include "core/support/error.hpp"
#include "frontend/data/whole.hpp"

namespace tenon::data {
namespace {

Array element(const Array& array, int64_t index) {
  Array out;
  out.dtype = array.dtype;
  out.shape.assign(array.shape.begin() + 1, array.shape.end());
  const auto size = static_cast<size_t>(out.count()) * dtype_size(array.dtype);
  const auto begin = array.bytes.begin() + static_cast<std::ptrdiff_t>(size) * index;
  out.bytes.assign(begin, begin + static_cast<std::ptrdiff_t>(size));
  return out;
}

void require_index(int64_t index, int64_t size) {
  TN_REQUIRE(0 <= index && index < size, "[dataset] expected an index in [0, {}), got {}", size,
             index);
}

}  // namespace

Dataset from_arrays(std::vector<Array> arrays) {
  TN_REQUIRE(!arrays.empty(), "[from_arrays] expected at least one array, got none");
  for (const Array& array : arrays) {
    TN_REQUIRE(!array.shape.empty() && array.shape[0] == arrays[0].shape[0],
               "[from_arrays] expected arrays of equally many elements, {}, got [{}]",
               arrays[0].shape.empty() ? 0 : arrays[0].shape[0], fmt::join(array.shape, ", "));
    TN_REQUIRE(is_whole(array), "[from_arrays] expected the bytes of {} [{}], got {}",
               dtype_name(array.dtype), fmt::join(array.shape, ", "), array.bytes.size());
  }
  const int64_t size = arrays[0].shape[0];
  const auto held = std::make_shared<const std::vector<Array>>(std::move(arrays));
  return {size, [held, size](int64_t index, Draws&) {
            require_index(index, size);
            Example example;
            for (const Array& array : *held) example.push_back(element(array, index));
            return example;
          }};
}

Dataset from_tensors(const std::vector<Tensor>& tensors) {
  std::vector<Array> arrays;
  for (const Tensor& tensor : tensors) arrays.push_back(tensor.to_array());
  return from_arrays(std::move(arrays));
}

Dataset subset(Dataset dataset, std::vector<int64_t> indices) {
  for (const int64_t index : indices) require_index(index, dataset.size);
  const auto size = static_cast<int64_t>(indices.size());
  return {size, [get = std::move(dataset.get), indices = std::move(indices), size](int64_t index,
                                                                                   Draws& draws) {
            require_index(index, size);
            return get(indices[static_cast<size_t>(index)], draws);
          }};
}

Dataset map(Dataset dataset, Transform transform) {
  return {dataset.size, [get = std::move(dataset.get), transform = std::move(transform)](
                            int64_t index, Draws& draws) {
            Example example = get(index, draws);
            transform(example, draws);
            return example;
          }};
}

}  // namespace tenon::data
