// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Forks in the way that its argument names. Every line is written at once, as a child that is
// killed or hangs would lose it otherwise.
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "tenon/tenon.hpp"

namespace {

using namespace tenon;

/// 2 rows of n twos, multiplied and added up: 8 n. Large ones run on several threads.
Tensor lazy(int64_t n, Context& context) {
  const Tensor x = full({2, n}, 1, tenon::DType::kF32, context);
  const std::vector<float> row(static_cast<size_t>(n), 2);
  const Tensor y = tensor<float>(std::span<const float>(row), {n}, context);
  return ((x + y) * y - y).sum();
}

template <class F>
void attempt(const char* name, F&& value) {
  std::string line;
  try {
    line = fmt::format("{} {}\n", name, value());
  } catch (const tenon::Error& error) {
    const std::string text = error.what();  // without the number of the process
    line = fmt::format("{} error {}\n", name, text.substr(0, text.find(" of process")));
  }
  if (write(STDOUT_FILENO, line.data(), line.size()) < 0) abort();
}

bool at_once = false;  ///< children end by _exit, without the handlers of drivers

/// Runs `action` in a child, which then ends as programs do; its exit status.
template <class F>
int in_child(F&& action) {
  const pid_t child = fork();
  if (child == 0) {
    action();
    if (at_once) _exit(0);
    std::exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  if (status != 0) attempt("child's status", [&] { return status; });
  return status;
}

int parents_context() {
  const Tensor realised = lazy(1 << 20, Context::standard());
  attempt("parent", [&] { return realised.item<float>(); });
  const Tensor open = lazy(512, Context::standard());
  const int status = in_child([&] {
    attempt("standard", [&] { return lazy(16, Context::standard()).item<float>(); });
    attempt("realised", [&] { return realised.item<float>(); });
    attempt("lazy", [&] { return open.item<float>(); });
    attempt("device", [&] { return Context::standard().device().id; });
  });
  attempt("parent again", [&] { return open.item<float>(); });
  return status;
}

int new_context() {
  attempt("parent", [&] { return lazy(1 << 20, Context::standard()).item<float>(); });
  const int status = in_child([&] {
    Context own;
    attempt("child", [&] { return lazy(1 << 20, own).item<float>(); });
    in_child([&] {
      attempt("grandchild in child's", [&] { return lazy(16, own).item<float>(); });
      Context third;
      attempt("grandchild", [&] { return lazy(1 << 20, third).item<float>(); });
    });
    attempt("child again", [&] { return lazy(48, own).item<float>(); });
  });
  attempt("parent again", [&] { return lazy(32, Context::standard()).item<float>(); });
  return status;
}

int unused() {
  return in_child([&] {
    attempt("standard", [&] { return lazy(1 << 20, Context::standard()).item<float>(); });
  });
}

std::optional<Tensor> global;

/// What the parent made is destroyed in the child, while the parent's threads use it.
int destructors() {
  auto context = std::make_unique<Context>();
  auto graph = std::make_unique<Tensor>(lazy(1000, *context));
  auto values = std::make_unique<Tensor>(lazy(1 << 20, *context));
  global = lazy(1 << 20, *context);
  realize({*values, *global});
  return in_child([&] {
    values.reset();
    context.reset();
    graph.reset();
    attempt("global", [&] { return global->item<float>(); });
  });
}

/// Forks while other threads compile, compute, build and log.
int busy() {
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  for (int64_t t = 0; t < 2; ++t)
    threads.emplace_back([&stop, t] {
      for (int64_t i = 0; !stop; ++i)
        (void)lazy(2000 + 2 * i + t, Context::standard()).item<float>();
    });
  int status = 0;
  for (int i = 0; i < 4; ++i)
    status |= in_child([&] {
      Context own;
      attempt("child", [&] { return lazy(1 << 16, own).item<float>(); });
    });
  stop = true;
  for (std::thread& thread : threads) thread.join();
  return status;
}

struct Pattern {
  const char* name;
  int (*run)();
};
constexpr Pattern kPatterns[] = {
    {"parents-context", parents_context},
    {"new-context", new_context},
    {"unused", unused},
    {"destructors", destructors},
    {"busy", busy},
};

}  // namespace

int main(int argc, char** argv) {
  at_once = argc == 3 && std::strcmp(argv[2], "at-once") == 0;
  for (const Pattern& pattern : kPatterns)
    if (argc >= 2 && std::strcmp(argv[1], pattern.name) == 0) return pattern.run() == 0 ? 0 : 1;
  return 2;
}
