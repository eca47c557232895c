// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Lesson 1: tensors are lazy. Calls build a graph; reading a value runs it, in as few kernels as
// will do.
#include <tenon/tenon.hpp>

#include <cstdio>

using namespace tenon;

int main() try {
  // From values, row by row. The device is the first of TENON_DEVICES, or the best there is.
  const Tensor a = tensor<float>({{1, 2, 3}, {4, 5, 6}});
  const Tensor b = tensor<float>({10, 20, 30});

  // Shapes broadcast as NumPy's do. Numbers take the dtype of the tensor they meet.
  const Tensor c = a * b + 0.5f;

  // Nothing has run so far. Now one kernel does the multiplication, the addition and the sum.
  const std::vector<float> rows = c.sum(1).to_vector<float>();
  std::printf("on %s: row sums %g and %g\n", a.device().c_str(), rows[0], rows[1]);

  // A matrix product, and the position of the largest element of each row.
  const Tensor square = a.matmul(a.matrix_transpose());
  for (const int64_t best : square.argmax(1).to_vector<int64_t>()) {
    std::printf("largest in column %d\n", static_cast<int>(best));
  }
  return rows[0] == 141.5f && rows[1] == 321.5f ? 0 : 1;
} catch (const Error& error) {
  std::fprintf(stderr, "01_hello: %s\n", error.what());
  return 3;
}
