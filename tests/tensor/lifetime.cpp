// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tensors without a context, and without a value.
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <memory>
#include <optional>

#include "core/support/error.hpp"
#include "frontend/tensor/state.hpp"
#include "tenon/literal.hpp"
#include "tenon/make.hpp"
#include "tenon/move.hpp"
#include "tests/tensor/devices.hpp"

namespace tenon {
namespace {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;

template <class F>
void refuses_use(F&& use, const char* why) {
  CHECK_THROWS_MATCHES(use(), Error, MessageMatches(ContainsSubstring(why)));
}

/// The first plugin of this build.
ContextOptions on_cpu() {
  const auto files = test::plugin_files();
  REQUIRE_FALSE(files.empty());
  ContextOptions options;
  options.plugins = {files[0]};
  options.devices = files[0].ends_with("libtenon_cpu.so") ? "cpu" : "null";
  options.use_environment = false;
  options.disk_cache = false;
  return options;
}

TEST_CASE("a lazy tensor that outlives its context is refused, its shape and dtype are there") {
  std::optional<Tensor> x, constant;
  {
    Context context(on_cpu());
    x = tensor<float>({1, 2, 3}, context) * 2.0f;
    constant = ones({2}, DType::kI32, context);
  }
  constexpr const char* kGone = "expected a Tensor whose Context is there";
  CHECK(x->shape() == std::vector<int64_t>{3});
  CHECK(constant->dtype() == DType::kI32);
  refuses_use([&] { (void)x->to_vector<float>(); }, kGone);
  refuses_use([&] { (void)(*x + 1.0f); }, kGone);
  refuses_use([&] { (void)(1.0f + *x); }, kGone);
  refuses_use([&] { (void)x->sum(); }, kGone);
  refuses_use([&] { (void)x->context(); }, kGone);
  refuses_use([&] { (void)constant->device(); }, kGone);
  refuses_use([&] { realize({*x}); }, kGone);
  refuses_use([&] { (void)concatenate({*constant, *constant}); }, kGone);
  Context other(on_cpu());
  const Tensor y = ones({3}, DType::kF32, other);
  refuses_use([&] { (void)(y + *x); }, kGone);
  refuses_use([&] { (void)(*x + y); }, kGone);
  refuses_use([&] { (void)where(y > 0.0f, *x, y); }, kGone);
}

TEST_CASE("tensors of two contexts meet nowhere") {
  constexpr const char* kTwo = "expected tensors of one context, got two";
  Context one(on_cpu()), two(on_cpu());
  const Tensor x = ones({2}, DType::kF32, one), y = ones({2}, DType::kF32, two);
  const Tensor index = zeros({2}, DType::kI64, two);
  refuses_use([&] { (void)(x + y); }, kTwo);
  refuses_use([&] { (void)concatenate({x, y}); }, kTwo);
  refuses_use([&] { (void)x.gather(0, index); }, kTwo);
  refuses_use([&] { (void)x.take(index, 0); }, kTwo);
  refuses_use([&] { (void)x.scatter(0, index, x); }, kTwo);
  refuses_use([&] { (void)y.scatter_add(0, index, x); }, kTwo);
}

TEST_CASE("what is realised can be read after its context is destroyed") {
  std::optional<Tensor> x, sum;
  std::shared_ptr<Device> device;
  BufferRef buffer;
  {
    Context context(on_cpu());
    x = tensor<float>({1, 2, 3}, context);
    sum = x->sum();
    realize({*sum});
    device = runtime_of(context).devices()[0];
    buffer = device->allocate(64, "kept");
  }
  CHECK(x->to_vector<float>() == std::vector<float>{1, 2, 3});
  CHECK(sum->item<float>() == 6);
  uint32_t value = 77;
  device->write(*buffer, 0, &value, sizeof value);
  value = 0;
  device->read(*buffer, 0, &value, sizeof value);
  CHECK(value == 77);
}

TEST_CASE("a tensor that was moved from is refused, and can be given a value again") {
  Context context(on_cpu());
  Tensor x = ones({2}, DType::kF32, context);
  const Tensor y = std::move(x);
  constexpr const char* kMoved =
      "expected a Tensor, got one without a value: it was made of nothing or moved from, or is a "
      "parameter of a layer or a model made without a key";
  refuses_use([&] { (void)x.dtype(); }, kMoved);
  refuses_use([&] { (void)x.shape(); }, kMoved);
  refuses_use([&] { (void)x.size(); }, kMoved);
  refuses_use([&] { (void)x.to_array(); }, kMoved);
  refuses_use([&] { (void)x.context(); }, kMoved);
  refuses_use([&] { (void)(x + y); }, kMoved);
  refuses_use([&] { (void)(y + x); }, kMoved);
  refuses_use([&] { (void)(-x); }, kMoved);
  refuses_use([&] { (void)x.matmul(y); }, kMoved);
  refuses_use([&] { (void)concatenate({y, x}); }, kMoved);
  refuses_use([&] { realize({y, x}); }, kMoved);
  x = y + 1.0f;
  CHECK(x.to_vector<float>() == std::vector<float>{2, 2});
}

}  // namespace
}  // namespace tenon
