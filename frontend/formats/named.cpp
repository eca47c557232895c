// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tenon/formats/named.hpp"

namespace tenon::formats {

NamedArrays to_arrays(const NamedTensors& tensors) {
  std::vector<Tensor> values;
  for (const auto& [name, tensor] : tensors) values.push_back(tensor);
  realize(values);
  NamedArrays out;
  for (const auto& [name, tensor] : tensors) out.emplace_back(name, tensor.to_array());
  return out;
}

}  // namespace tenon::formats
