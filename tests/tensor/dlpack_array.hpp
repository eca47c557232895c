// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Arrays of DLPack as another library makes them.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <numeric>
#include <utility>
#include <vector>

#include "frontend/tensor/dlpack_abi.hpp"
#include "tenon/dlpack.hpp"
#include "tests/tensor/devices.hpp"

namespace tenon::test {

/// Runs the test on the devices of this build that take memory of the host without a copy.
inline void on_each_sharing(const std::function<void(Context&)>& test) {
  if (std::getenv("TENON_TEST_PLUGIN")) SKIP("a device that need not share memory");
  on_each_device(test);
}

/// An array of somebody else, who counts how often it was given back. M: dlpack::Managed or
/// dlpack::Unversioned.
template <class T, class M = dlpack::Managed>
struct ForeignArray {
  std::vector<T> memory;
  std::vector<int64_t> shape, strides;
  std::atomic<int> released = 0;
  std::function<void()> on_release;
  M managed{};

  ForeignArray(size_t count, std::vector<int64_t> sizes, std::vector<int64_t> steps = {})
      : memory(count + 16), shape(std::move(sizes)), strides(std::move(steps)) {
    std::iota(memory.begin(), memory.end(), T{});
    if constexpr (requires { managed.major; }) managed.major = dlpack::kMajor;
    managed.manager_ctx = this;
    managed.deleter = [](M* self) {
      auto& array = *static_cast<ForeignArray*>(self->manager_ctx);
      if (array.on_release) array.on_release();
      ++array.released;
    };
    managed.tensor = {memory.data(),
                      dlpack::kHost,
                      0,
                      static_cast<int32_t>(shape.size()),
                      {dlpack::kFloat, 8 * sizeof(T), 1},
                      shape.data(),
                      strides.empty() ? nullptr : strides.data(),
                      0};
  }
  ForeignArray(const ForeignArray&) = delete;
  ForeignArray& operator=(const ForeignArray&) = delete;

  auto* get() {
    if constexpr (requires { managed.major; })
      return reinterpret_cast<DLManagedTensorVersioned*>(&managed);
    else
      return reinterpret_cast<DLManagedTensor*>(&managed);
  }
};
using Foreign = ForeignArray<float>;

/// An array of Tenon, as who takes it over sees it.
template <class M>
struct Taker {
  M* managed;
  explicit Taker(M* array) : managed(array) {}
  ~Taker() {
    if (managed) managed->deleter(managed);
  }
  Taker(const Taker&) = delete;
  Taker& operator=(const Taker&) = delete;
  template <class T>
  T* data() const {
    return static_cast<T*>(managed->tensor.data);
  }
};
inline Taker<dlpack::Managed> taken(DLManagedTensorVersioned* array) {
  return Taker(reinterpret_cast<dlpack::Managed*>(array));
}
inline Taker<dlpack::Unversioned> taken(DLManagedTensor* array) {
  return Taker(reinterpret_cast<dlpack::Unversioned*>(array));
}

}  // namespace tenon::test
