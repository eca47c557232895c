// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How many kernels a scan takes: docs/tensor.md says so.
#include <catch2/catch_test_macros.hpp>
#include <functional>

#include "tenon/cost.hpp"
#include "tenon/tenon.hpp"
#include "tests/tensor/devices.hpp"

using namespace tenon;
using namespace tenon::test;

namespace {

/// Blocks of 32: one kernel finds the totals of all but the last, which are scanned, and one more
/// combines them with what is in a block. One total needs no scan.
int64_t kernels_of_scan(int64_t n) {
  if (n <= 32) return 1;
  const int64_t totals = (n + 31) / 32 - 1;
  return 2 + (totals == 1 ? 0 : kernels_of_scan(totals));
}

}  // namespace

TEST_CASE("a scan takes a kernel up to 32 elements and two more for each 32 times as many") {
  CHECK(kernels_of_scan(1056) == 3);  // as docs/tensor.md has it
  CHECK(kernels_of_scan(33824) == 5);
  const std::pair<const char*, std::function<Tensor(const Tensor&, int)>> scans[] = {
      {"cumsum", [](const Tensor& x, int axis) { return cumsum(x, axis); }},
      {"cumprod", [](const Tensor& x, int axis) { return cumprod(x, axis); }},
      {"cummax", [](const Tensor& x, int axis) { return cummax(x, axis); }},
      {"cummin", [](const Tensor& x, int axis) { return cummin(x, axis); }},
      {"logcumsumexp", [](const Tensor& x, int axis) { return logcumsumexp(x, axis); }},
  };
  on_each_device([&](Context& context) {
    for (const auto& [name, scan] : scans) {
      for (const int64_t n : {2, 32, 33, 65, 1024, 1025, 1056, 1057, 2081, 4000}) {
        for (const int axis : {0, 1, 2}) {
          INFO(name << " of " << n << " along axis " << axis);
          std::vector<int64_t> shape(3, 3);
          shape[static_cast<size_t>(axis)] = n;
          const Tensor x = arange(9 * n, DType::kF32, context).cos().reshape(shape);
          realize_detached({x});
          CHECK(cost(scan(x, axis)).kernels == kernels_of_scan(n));
        }
      }
    }
    const Tensor x = ones({33824}, DType::kI32, context);
    realize_detached({x});
    CHECK(cost(cumsum(x, 0)).kernels == 5);
  });
}
