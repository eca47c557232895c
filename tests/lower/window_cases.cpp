// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Convolutions and a gradient of one, as frontend/nn writes them.
#include "tests/lower/harness.hpp"

namespace tenon::test {
namespace {

/// Statements that define %col, the 3 x 3 windows of padded images %x of 2 x 3 x n x n.
constexpr const char* kColumns = R"(
        %xp = pad %x, pairs=[(0, 0), (0, 0), (1, 1), (1, 1)]
        %m1 = permute %xp, axes=[0, 1, 3, 2]
        %ua = reshape %m1 : i32[2, 3, $p, 1, $p]
        %ub = expand %ua : i32[2, 3, $p, 4, $p]
        %uc = reshape %ub : i32[2, 3, $p, $l]
        %ud = shrink %uc, ranges=[(0, 2), (0, 3), (0, $p), (0, $c)]
        %ue = reshape %ud : i32[2, 3, $p, 3, $r]
        %uf = shrink %ue, ranges=[(0, 2), (0, 3), (0, $p), (0, 3), (0, $n)]
        %m2 = permute %uf, axes=[0, 1, 3, 4, 2]
        %va = reshape %m2 : i32[2, 3, 3, $n, 1, $p]
        %vb = expand %va : i32[2, 3, 3, $n, 4, $p]
        %vc = reshape %vb : i32[2, 3, 3, $n, $l]
        %vd = shrink %vc, ranges=[(0, 2), (0, 3), (0, 3), (0, $n), (0, $c)]
        %ve = reshape %vd : i32[2, 3, 3, $n, 3, $r]
        %vf = shrink %ve, ranges=[(0, 2), (0, 3), (0, 3), (0, $n), (0, 3), (0, $n)]
        %m3 = permute %vf, axes=[0, 1, 2, 4, 3, 5]
        %col = reshape %m3 : i32[2, 1, 27, $a])";

std::string of_images(int64_t n, const std::string& params, const std::string& rest) {
  const int64_t padded = n + 2, row = padded + 1;
  return filled(
      "graph g(%x: i32[2, 3, $n, $n], " + params + ") {" + kColumns + rest,
      {{'n', n}, {'p', padded}, {'l', 4 * padded}, {'r', row}, {'c', 3 * row}, {'a', n * n}});
}

Case convolution(int64_t n) {
  return {of_images(n, "%w: i32[5, 3, 3, 3]", R"(
        %rows = reshape %w : i32[1, 1, 5, 27, 1]
        %re = expand %rows : i32[2, 1, 5, 27, $a]
        %cr = reshape %col : i32[2, 1, 1, 27, $a]
        %ce = expand %cr : i32[2, 1, 5, 27, $a]
        %p = mul %re, %ce
        %s = reduce.add %p, axes=[3]
        %y = reshape %s : i32[2, 5, $n, $n]
        return %y })")};
}

Case weight_gradient(int64_t n) {
  return {of_images(n, "%g: i32[2, 5, $n, $n]", R"(
        %cr = reshape %col : i32[2, 1, 27, $a]
        %ce = expand %cr : i32[2, 5, 27, $a]
        %gr = reshape %g : i32[2, 5, 1, $a]
        %ge = expand %gr : i32[2, 5, 27, $a]
        %p = mul %ge, %ce
        %s = reduce.add %p, axes=[0, 3]
        %y = reshape %s : i32[5, 3, 3, 3]
        return %y })")};
}

}  // namespace

std::vector<std::pair<std::string, Case>> window_cases() {
  return {{"windows of images", convolution(13)},
          {"windows of short lines", convolution(7)},
          {"weights of windows", weight_gradient(13)}};
}

}  // namespace tenon::test
