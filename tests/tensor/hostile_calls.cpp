// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Functions of any arguments, on what functions of any arguments gave: a tensor or an Error, never
// more. TENON_MUTATIONS=100000: so many calls.
#include <cstdlib>
#include <random>
#include <vector>

#include "tenon/tenon.hpp"
#include "tests/tensor/devices.hpp"
#include "tests/tensor/table_calls.hpp"

#include <catch2/catch_test_macros.hpp>

namespace tenon::test {
namespace {

constexpr size_t kFunctions = 0
#define TENON_FUNCTION(name, parameters, arguments, meaning) +1
#include "tenon/functions.def"
#undef TENON_FUNCTION
    ;

struct Calls {
  std::mt19937_64 random{17};
  std::vector<Tensor> pool;
  long done = 0, refused = 0, computed = 0;

  size_t below(size_t n) { return random() % n; }

  void keep(const Tensor& x) {
    // What is small is computed now and then; what it takes may be as large as it likes.
    int64_t elements = 1;
    for (const int64_t size : x.shape())
      if (__builtin_mul_overflow(elements, size, &elements)) return;
    if (elements > 64) return;
    pool[below(pool.size())] = x;
  }
  void keep(const std::vector<Tensor>& all) {
    for (const Tensor& x : all) keep(x);
  }

  template <class F>
  void call(const char* name, const F& f, const Tensor& x) {
    INFO(name);
    Picks picks(x, [this](size_t n) { return below(n); });
    auto values = arguments(f, picks);
    try {
      using Result = decltype(std::apply(f, values));
      ++done;
      if constexpr (std::is_same_v<Result, Tensor> || std::is_same_v<Result, std::vector<Tensor>>)
        keep(std::apply(f, values));
      else
        std::apply(f, values);
    } catch (const Error& error) {
      ++refused;
      INFO(error.what());
      CHECK(error.kind() == ErrorKind::kInvalid);
    } catch (const std::exception& other) {
      FAIL_CHECK(other.what());
    }
  }

  void compute() {
    const Tensor x = pool[below(pool.size())];
    if (x.rank() > 4) return;  // few kinds of kernels are enough
    try {
      x.astype(DType::kF32).contiguous();
      ++computed;
    } catch (const Error& error) {
      INFO(error.what());
      REQUIRE((error.kind() == ErrorKind::kInvalid || error.kind() == ErrorKind::kOutOfMemory));
    }
  }
};

}  // namespace

TEST_CASE("calls with any arguments give a tensor or an error") {
  const char* const wanted = std::getenv("TENON_MUTATIONS");
  const long count = wanted ? std::atol(wanted) : 3000;
  ContextOptions options = cpu_and_null();
  options.devices = "null";
  Context context(options);
  Calls calls;
  const auto refill = [&] {
    calls.pool = {ones({3, 4}, DType::kF32, context),   arange(4, DType::kI32, context),
                  ones({2, 2}, DType::kBool, context),  full({3}, 255, DType::kU8, context),
                  zeros({0, 3}, DType::kI64, context),  full({}, -INFINITY, DType::kF32, context),
                  ones({2, 3, 4}, DType::kF16, context)};
  };
  refill();
  while (calls.done < count) {
    const size_t row = calls.below(kFunctions);
    const Tensor own = calls.pool[calls.below(calls.pool.size())];
    size_t at = 0;
#define TENON_FUNCTION(name, parameters, arguments, meaning) \
  if (at++ == row)                                           \
    calls.call(                                              \
        #name, [&own] TENON_THE_REST parameters { return own.name arguments; }, own);
#include "tenon/functions.def"
#undef TENON_FUNCTION
    if (calls.done % 16 == 0) calls.compute();
    if (calls.done % 64 == 0) refill();  // lazy graphs stay small
  }
  CHECK(calls.refused > count / 4);
  CHECK(calls.done - calls.refused > count / 8);
  CHECK(calls.computed > count / 64);
}

}  // namespace tenon::test
