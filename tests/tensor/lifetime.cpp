// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tensors without a context, and without a value.
#include <pthread.h>
#include <atomic>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "core/support/error.hpp"
#include "frontend/tensor/state.hpp"
#include "tenon/compile.hpp"
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

TEST_CASE(
    "a thread that is cancelled, or ends itself within a function, leaves the context whole") {
  Context context(on_cpu());
  const Tensor x = ones({100}, DType::kF32, context).contiguous();
  struct Work {
    Tensor x;
    std::atomic<int> begun{0};
  };
  for (int round = 0; round < 5; ++round) {
    Work work{x};
    pthread_t thread{};
    const auto compute = [](void* argument) -> void* {
      auto& own = *static_cast<Work*>(argument);
      for (int i = 0;; ++i) {
        (own.x * static_cast<float>(i)).sum().item<float>();
        ++own.begun;
        pthread_testcancel();
      }
    };
    REQUIRE(pthread_create(&thread, nullptr, compute, &work) == 0);
    while (work.begun < round) std::this_thread::yield();
    pthread_cancel(thread);
    void* result = nullptr;
    pthread_join(thread, &result);
    CHECK(result == PTHREAD_CANCELED);
    CHECK((x + 1).sum().item<float>() == 200);
  }
  bool ends = true;
  const auto f = compile([&ends](Tensor v) {
    if (ends) pthread_exit(nullptr);
    return v * 2;
  });
  std::thread([&] { f(x); }).join();
  ends = false;
  CHECK(f(x).to_vector<float>()[0] == 2);
}

TEST_CASE("a context may be destroyed while other threads compute with its tensors") {
  constexpr int kRounds = 12, kThreads = 3;
  int refused = 0, ended = 0;
  for (int round = 0; round < kRounds; ++round) {
    auto context = std::make_unique<Context>(on_cpu());
    const Tensor x = ones({100}, DType::kF32, *context).contiguous();
    std::atomic<int> begun{0}, refusals{0}, wrong{0};
    std::vector<std::thread> threads;
    for (int i = 0; i < kThreads; ++i)
      threads.emplace_back([&, y = x] {
        try {
          for (;;) {
            if ((y * 2 + 1).sum().item<float>() != 300) ++wrong;
            ++begun;
          }
        } catch (const Error& error) {
          ++refusals;
          if (std::string(error.what()).find("expected a Tensor whose Context is there") ==
              std::string::npos)
            ++wrong;
        }
      });
    while (begun < round) std::this_thread::yield();
    context.reset();
    for (std::thread& thread : threads) thread.join();
    refused += refusals;
    ended += kThreads;
    CHECK(wrong == 0);
    CHECK(x.to_vector<float>()[0] == 1);  // what is there can be read
  }
  CHECK(refused == ended);
}

}  // namespace
}  // namespace tenon
