// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tensors in files, by way of a storage device.
#include <fmt/ranges.h>

#include "core/support/error.hpp"
#include "frontend/tensor/state.hpp"

namespace tenon {
namespace {

uint64_t bytes_of(DType dtype, const std::vector<int64_t>& shape) {
  int64_t bytes = static_cast<int64_t>(dtype_size(dtype));
  for (const int64_t size : shape) {
    const bool fits = size >= 0 && !__builtin_mul_overflow(bytes, size, &bytes);
    TN_REQUIRE(fits, "[file] expected sizes of at least 0 and below 2^63 bytes, got [{}]",
               fmt::join(shape, ", "));
  }
  return static_cast<uint64_t>(bytes);
}

}  // namespace

Tensor from_file(const std::string& device, DType dtype, std::vector<int64_t> shape,
                 uint64_t offset, Context& context) {
  BufferRef range = runtime_of(context).device(device).open_range(offset, bytes_of(dtype, shape),
                                                                  /*write=*/false);
  return make_tensor(context, buffer_node(context, std::move(range), dtype, to_shape(shape)));
}

void Tensor::write_file(const std::string& device, uint64_t offset) const {
  Device& files = runtime_of(context()).device(device);
  realize({*this});
  const BufferRef from = buffer_of(*node_of(*this));
  if (from->size() == 0) return;
  const BufferRef to = files.open_range(offset, from->size(), /*write=*/true);
  files.wait(files.copy(*from, 0, *to, 0, from->size()));
}

}  // namespace tenon
