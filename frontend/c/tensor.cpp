// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/c/handles.hpp"
#include "frontend/c/types.hpp"
#include "tenon/make.hpp"
#include "tenon/print.hpp"

using namespace tenon;
using namespace tenon::c;

uint32_t tenon_dtype_size(tenon_dtype dtype) {
  return is_dtype(dtype) ? static_cast<uint32_t>(dtype_size(static_cast<DType>(dtype))) : 0;
}

const char* tenon_dtype_name(tenon_dtype dtype) {
  return is_dtype(dtype) ? dtype_name(static_cast<DType>(dtype)).data() : nullptr;
}

tenon_status tenon_tensor_create(tenon_context* context, tenon_dtype dtype, uint32_t rank,
                                 const int64_t* shape, const void* data, uint64_t bytes,
                                 tenon_tensor** out) {
  constexpr auto kCall = "tenon_tensor_create";
  return guarded([&] {
    const auto& on = given(kCall, "context", context).context;
    given(kCall, "out", out);
    if (!is_dtype(dtype)) refuse("[{}] expected a dtype, got the code {}", kCall, dtype);
    if (rank > TENON_MAX_RANK)
      refuse("[{}] expected a rank up to {}, got {}", kCall, TENON_MAX_RANK, rank);
    if (rank > 0) given(kCall, "shape", shape);
    if (bytes > 0) given(kCall, "data", static_cast<const char*>(data));
    const std::vector<int64_t> sizes(shape, shape + rank);
    const std::span bytes_given(static_cast<const std::byte*>(data), bytes);
    *out = new tenon_tensor{on, tenon::tensor(bytes_given, static_cast<DType>(dtype), sizes, *on)};
  });
}

void tenon_tensor_destroy(tenon_tensor* tensor) { delete tensor; }

tenon_status tenon_tensor_type(const tenon_tensor* tensor, tenon_type* out) {
  constexpr auto kCall = "tenon_tensor_type";
  return guarded([&] {
    const Use use(kCall, given(kCall, "tensor", tensor));
    const Tensor& x = tensor->tensor;
    write_type(kCall, x.dtype(), x.sizes(), out);
  });
}

tenon_status tenon_tensor_read(const tenon_tensor* tensor, void* out, uint64_t bytes) {
  constexpr auto kCall = "tenon_tensor_read";
  return guarded([&] {
    const Use use(kCall, given(kCall, "tensor", tensor));
    const Tensor& x = tensor->tensor;
    if (bytes > 0) given(kCall, "out", static_cast<char*>(out));
    x.read({static_cast<std::byte*>(out), bytes});
  });
}

tenon_status tenon_tensor_to_device(const tenon_tensor* tensor, const char* id,
                                    tenon_tensor** out) {
  constexpr auto kCall = "tenon_tensor_to_device";
  return guarded([&] {
    const Use use(kCall, given(kCall, "tensor", tensor));
    const Tensor& x = tensor->tensor;
    given(kCall, "out", out);
    *out = new tenon_tensor{tensor->context, x.to(id ? id : "")};
  });
}

tenon_status tenon_tensor_device(const tenon_tensor* tensor, char* out, uint64_t capacity) {
  constexpr auto kCall = "tenon_tensor_device";
  return guarded([&] {
    const Use use(kCall, given(kCall, "tensor", tensor));
    write_text(kCall, tensor->tensor.device(), out, capacity);
  });
}

tenon_status tenon_tensor_text(const tenon_tensor* tensor, char* out, uint64_t capacity,
                               uint64_t* length) {
  constexpr auto kCall = "tenon_tensor_text";
  return guarded([&] {
    const Use use(kCall, given(kCall, "tensor", tensor));
    write_part(kCall, to_string(tensor->tensor), out, capacity, length);
  });
}
