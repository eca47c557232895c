// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Who lets go of shared memory, when, and where.
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch_test_macros.hpp>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <optional>
#include <thread>

#include "tenon/tenon.hpp"
#include "tests/tensor/devices.hpp"
#include "tests/tensor/dlpack_array.hpp"

using namespace tenon;
using namespace tenon::test;

namespace {

/// The exit status of a child that calls `action` and then ends as programs do.
template <class F>
int status_of_child(const F& action) {
  std::cout.flush();  // or the child writes it too
  const pid_t child = fork();
  if (child == 0) {
    action();
    std::exit(0);
  }
  int status = -1;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace

TEST_CASE("an array is given back once, also after its context") {
  Foreign array(8, {8});
  {
    std::optional<Tensor> x;
    {
      Context context(cpu_and_null());
      x = from_dlpack(array.get(), context, Copying::kNever);
      const Tensor kept = *x + 1;  // never computed
    }
    CHECK(x->to_vector<float>()[3] == 3);
    CHECK(array.released == 0);
    std::thread([&] { x.reset(); }).join();
  }
  CHECK(array.released == 1);
}

TEST_CASE("an array is given back while work that read it is under way, or soon after") {
  on_each_sharing([](Context& context) {
    Foreign array(1 << 18, {1 << 18});
    std::optional<Tensor> x = from_dlpack(array.get(), context, Copying::kNever);
    const Tensor y = *x * 2;
    realize({y});
    x.reset();
    CHECK(y.to_vector<float>()[9] == 18);
    CHECK(array.released == 1);
  });
}

TEST_CASE("a deleter may compute, and take other arrays") {
  on_each_sharing([](Context& context) {
    Foreign first(8, {8}), second(8, {8});
    float sum = 0;
    std::optional<Tensor> other = from_dlpack(second.get(), context, Copying::kNever);
    first.on_release = [&] {
      const Tensor x = tensor<float>({1, 2, 3}, context) * 2;
      sum = (x.sum() + other->sum()).item<float>();
      other.reset();
      realize({full({100}, 1, DType::kF32, context)});
    };
    {
      const Tensor x = from_dlpack(first.get(), context, Copying::kNever);
      (void)(x + 1).to_vector<float>();
    }
    CHECK(sum == 12 + 28);
    CHECK(first.released == 1);
    CHECK(second.released == 1);
  });
}

TEST_CASE("a deleter may compute where a value that was kept goes") {
  on_each_sharing([](Context& context) {
    // Small values are kept for who still holds what they were computed from.
    Foreign array(4, {4});
    array.on_release = [&] { (void)(ones({4}, DType::kF32, context) + 1).to_vector<float>(); };
    std::optional<Tensor> x = from_dlpack(array.get(), context, Copying::kNever);
    std::optional<Tensor> held = *x + 1, more = *held * 2;
    realize({*more});
    x.reset();
    held.reset();
    more.reset();
    (void)(ones({4}, DType::kF32, context) * 3).to_vector<float>();
    CHECK(array.released == 1);
  });
}

TEST_CASE("an array is given back by a thread of the application") {
  Foreign array(1 << 16, {1 << 16});
  std::thread::id by;
  array.on_release = [&] { by = std::this_thread::get_id(); };
  Context context(cpu_and_null());
  Tensor y = zeros({1}, DType::kF32, context);
  {
    const Tensor x = from_dlpack(array.get(), context, Copying::kNever);
    y = x.to("null:0");
    realize({y});  // a thread of the queue copies, and may be the last to hold the source
  }
  CHECK(y.to_vector<float>()[4] == 4);
  realize({ones({2}, DType::kF32, context)});
  CHECK((zeros({2}, DType::kF32, context) + 1).to_vector<float>()[0] == 1);
  CHECK(array.released == 1);
  CHECK(by == std::this_thread::get_id());
}

TEST_CASE("arrays are given back once, while threads compute") {
  Context context(cpu_and_null());
  constexpr int kThreads = 4, kEach = 50;
  std::vector<std::unique_ptr<Foreign>> arrays;
  for (int i = 0; i < kThreads * kEach; ++i) {
    arrays.push_back(std::make_unique<Foreign>(64, std::vector<int64_t>{64}));
    arrays.back()->on_release = [&] { (void)full({3}, 1, DType::kF32, context); };
  }
  std::vector<std::thread> threads;
  std::atomic<int> right = 0;
  for (int t = 0; t < kThreads; ++t)
    threads.emplace_back([&, t] {
      for (int i = t; i < kThreads * kEach; i += kThreads) {
        const Tensor x =
            from_dlpack(arrays[static_cast<size_t>(i)]->get(), context, Copying::kNever);
        const auto exported = taken(to_dlpack(x * 2));
        right += exported.data<float>()[7] == 14;
      }
    });
  for (std::thread& thread : threads) thread.join();
  (void)ones({1}, DType::kF32, context).to_vector<float>();
  CHECK(right == kThreads * kEach);
  for (const auto& array : arrays) CHECK(array->released == 1);
}

TEST_CASE("fork does not wait for a deleter that waits for who forks") {
  Context context(cpu_and_null());
  Foreign array(8, {8});
  std::atomic<bool> entered = false, forked = false;
  array.on_release = [&] {  // as one that waits for the lock of an interpreter
    entered = true;
    while (!forked) std::this_thread::yield();
  };
  std::optional<Tensor> x = from_dlpack(array.get(), context, Copying::kNever);
  std::thread dropper([&] { x.reset(); });
  while (!entered) std::this_thread::yield();
  const pid_t child = fork();
  if (child == 0) _exit(0);
  forked = true;
  dropper.join();
  int status = -1;
  waitpid(child, &status, 0);
  CHECK(status == 0);
  CHECK(array.released == 1);
}

TEST_CASE("a child of fork does not give back the arrays of its parent") {
  std::optional<Tensor> x;
  Foreign array(8, {8});
  auto context = std::make_unique<Context>(cpu_and_null());
  x = from_dlpack(array.get(), *context, Copying::kNever);
  CHECK(status_of_child([&] {
          array.on_release = [] { _exit(70); };
          x.reset();
          context.reset();
          Context own(cpu_and_null());
          if ((ones({3}, DType::kF32, own) + 1).to_vector<float>()[0] != 2) _exit(71);
        }) == 0);
  CHECK(array.released == 0);
  x.reset();
  CHECK(array.released == 1);
}

TEST_CASE("an array of a tensor outlives the tensor, its context, and goes on any thread") {
  DLManagedTensorVersioned* shared = nullptr;
  DLManagedTensor* copied = nullptr;
  {
    Context context(cpu_and_null());
    const Tensor x = arange(10, DType::kI32, context) * 3;
    shared = to_dlpack(x, Copying::kNever);
    copied = to_unversioned_dlpack(x);
  }
  std::thread([&] {
    const auto array = taken(shared);
    CHECK(array.data<int32_t>()[9] == 27);
    const auto copy = taken(copied);
    CHECK(copy.data<int32_t>()[9] == 27);
  }).join();
}

TEST_CASE("an array that came from an array gives back the first") {
  on_each_sharing([](Context& context) {
    Foreign array(8, {8});
    {
      const auto again = [&] {
        const Tensor x = from_dlpack(array.get(), context, Copying::kNever);
        return taken(to_dlpack(x, Copying::kNever));
      }();
      CHECK(again.data<float>() == array.memory.data());
      CHECK(array.released == 0);
    }
    CHECK(array.released == 1);
  });
}
