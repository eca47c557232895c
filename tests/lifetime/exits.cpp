// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Ends in the way that its argument names, with work on the standard context that nobody waited
// for. Lines go to stdout through stdio's buffer, which is flushed last of all: a process that
// crashes on its way out loses them.
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <thread>

#include "frontend/tensor/dlpack_abi.hpp"
#include "tenon/tenon.hpp"

namespace {

using namespace tenon;

/// A few kernels that no other `i` has, submitted and not waited for; all elements add up to
/// 9 (i + 32)^2.
Tensor start(int i) {
  const int64_t n = i + 32;
  const std::vector<float> ones(static_cast<size_t>(n), 1);
  const Tensor x = tensor<float>(std::span<const float>(ones), {n});
  const Tensor y = (x * 2.0f + 1.0f).reshape({n, 1});
  Tensor sum = y.matmul(y.matrix_transpose()).sum(1).sum();
  realize({sum});
  return sum;
}

/// What a name stands for after the name: the number, or the error's first words.
void report(const char* name, const Tensor& sum) {
  try {
    std::printf("%s %g\n", name, static_cast<double>(sum.item<float>()));
  } catch (const tenon::Error& error) {
    std::printf("%s error %s\n", name, error.what());
  }
}

void compute(const char* name, int i) {
  try {
    report(name, start(i));
  } catch (const tenon::Error& error) {
    std::printf("%s error %s\n", name, error.what());
  }
}

/// Its destructor runs what it was given.
struct AtEnd {
  void (*action)() = nullptr;
  ~AtEnd() {
    if (action) action();
  }
};

/// Two of each: made before main, so before the standard context, and made after it.
struct Holder {
  std::optional<Tensor> tensor;
};
Holder held_early;
AtEnd early_action;

void keep_late() {
  static Holder held{start(3)};
  static Holder realised{start(4)};
  (void)realised;
}

void in_static_destructor() { compute("late destructor", 5); }
void in_early_static_destructor() {
  if (held_early.tensor) report("early tensor", *held_early.tensor);
  compute("early destructor", 6);
}

void leave_main() { start(0); }

void leave_by_exit() {
  start(0);
  std::exit(0);
}

void leave_by_exit_in_thread() {
  std::atomic<int> rounds{0};
  std::thread([&] {
    while (rounds < 3) std::this_thread::yield();
    std::printf("exit\n");
    std::exit(0);
  }).detach();
  for (int i = 0;; ++i, ++rounds) start(i % 40);
}

void leave_with_static_tensors() {
  early_action.action = [] {
    if (held_early.tensor) report("early tensor", *held_early.tensor);
  };
  held_early.tensor = start(1);
  keep_late();
}

void leave_with_thread_tensors() {
  thread_local Holder of_main{start(1)};
  std::thread([] { thread_local Holder of_ended{start(2)}; }).join();
  std::atomic<bool> ready{false};
  std::thread([&] {
    thread_local Holder of_detached{start(3)};
    ready = true;
    for (;;) pause();
  }).detach();
  while (!ready) std::this_thread::yield();
}

void leave_with_work_in_destructors() {
  early_action.action = in_early_static_destructor;
  held_early.tensor = start(1);
  static AtEnd late{in_static_destructor};
}

void leave_with_work_in_handlers() {
  std::atexit([] { compute("early handler", 1); });
  start(0);
  std::atexit([] { compute("late handler", 2); });
}

void leave_by_quick_exit() {
  start(0);
  std::printf("quick\n");
  std::fflush(stdout);
  std::quick_exit(0);
}

void leave_a_thread_behind() {
  std::atomic<bool> ready{false};
  std::thread([&] {
    for (int i = 0;; ++i) {
      start(i % 40);
      if (i == 1) ready = true;
    }
  }).detach();
  while (!ready) std::this_thread::yield();
}

void leave_other_contexts() {
  static std::optional<tenon::Context> late;
  static std::unique_ptr<tenon::Context> owned;
  late.emplace();
  owned = std::make_unique<tenon::Context>();
  static Holder held;
  held.tensor = ones({64, 64}, tenon::DType::kF32, *owned).sum(1);
  realize({*held.tensor});
  new tenon::Context();  // leaked
  held_early.tensor = ones({33}, tenon::DType::kF32, *late) + 1.0f;
  realize({*held_early.tensor});
}

void leave_an_idle_setting() {
  Context::standard().set_transforms("map_0123456789abcdef", "unroll a0");
  start(0);
}

/// Its interpreter would be gone.
void leave_with_an_array() {
  alignas(4096) static float memory[1024] = {};
  static int64_t size = 1024;
  static bool is_ending = false;
  static dlpack::Managed array{};
  array.major = dlpack::kMajor;
  array.deleter = [](dlpack::Managed*) {
    if (is_ending) std::printf("given back\n");
  };
  array.tensor = {memory, dlpack::kHost, 0, 1, {dlpack::kFloat, 32, 1}, &size, nullptr, 0};
  held_early.tensor = from_dlpack(reinterpret_cast<DLManagedTensorVersioned*>(&array));
  report("sum", (*held_early.tensor + 1.0f).sum());
  is_ending = true;
}

struct Pattern {
  const char* name;
  void (*run)();
};
constexpr Pattern kPatterns[] = {
    {"main", leave_main},
    {"exit", leave_by_exit},
    {"exit-in-thread", leave_by_exit_in_thread},
    {"static-tensors", leave_with_static_tensors},
    {"thread-tensors", leave_with_thread_tensors},
    {"static-destructors", leave_with_work_in_destructors},
    {"atexit-handlers", leave_with_work_in_handlers},
    {"quick-exit", leave_by_quick_exit},
    {"detached-thread", leave_a_thread_behind},
    {"other-contexts", leave_other_contexts},
    {"idle-setting", leave_an_idle_setting},
    {"array", leave_with_an_array},
};

}  // namespace

int main(int argc, char** argv) {
  for (const Pattern& pattern : kPatterns) {
    if (argc != 2 || std::strcmp(argv[1], pattern.name) != 0) continue;
    std::printf("begin\n");
    pattern.run();
    std::printf("end\n");
    return 0;
  }
  return 2;
}
