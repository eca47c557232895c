// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tenon/dlpack.hpp"

#include "frontend/c/handles.hpp"

using namespace tenon;
using namespace tenon::c;

namespace {

Copying copying_of(const char* call, uint32_t copy) {
  constexpr Copying kWays[] = {Copying::kAllowed, Copying::kNever, Copying::kAlways};
  if (copy >= std::size(kWays))
    refuse("[{}] expected a copy of 0 to {}, got {}", call, std::size(kWays) - 1, copy);
  return kWays[copy];
}

template <class M>
tenon_status take_array(const char* call, tenon_context* context, M* from, uint32_t copy,
                        tenon_tensor** out) {
  return guarded([&] {
    const auto& on = given(call, "context", context).context;
    if (from == nullptr) refuse("[{}] expected from, got null", call);
    given(call, "out", out);
    const Copying copying = copying_of(call, copy);
    std::unique_ptr<tenon_tensor> made(new tenon_tensor{on, Tensor(0)});
    made->tensor = from_dlpack(from, *on, copying);
    *out = made.release();
  });
}

}  // namespace

tenon_status tenon_tensor_from_dlpack(tenon_context* context, DLManagedTensorVersioned* from,
                                      uint32_t copy, tenon_tensor** out) {
  return take_array("tenon_tensor_from_dlpack", context, from, copy, out);
}

tenon_status tenon_tensor_from_unversioned_dlpack(tenon_context* context, DLManagedTensor* from,
                                                  uint32_t copy, tenon_tensor** out) {
  return take_array("tenon_tensor_from_unversioned_dlpack", context, from, copy, out);
}

tenon_status tenon_tensor_to_dlpack(const tenon_tensor* tensor, uint32_t copy,
                                    DLManagedTensorVersioned** out) {
  constexpr auto kCall = "tenon_tensor_to_dlpack";
  return guarded([&] {
    const Use use(kCall, given(kCall, "tensor", tensor));
    given(kCall, "out", out);
    *out = to_dlpack(tensor->tensor, copying_of(kCall, copy));
  });
}

tenon_status tenon_tensor_to_unversioned_dlpack(const tenon_tensor* tensor, DLManagedTensor** out) {
  constexpr auto kCall = "tenon_tensor_to_unversioned_dlpack";
  return guarded([&] {
    const Use use(kCall, given(kCall, "tensor", tensor));
    given(kCall, "out", out) = to_unversioned_dlpack(tensor->tensor);
  });
}
