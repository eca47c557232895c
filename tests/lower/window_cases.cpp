// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Convolutions and a gradient of one, as frontend/nn writes them.
#include "tests/lower/harness.hpp"

namespace tenon::test {

std::vector<std::pair<std::string, Case>> window_cases() {
  return {
      {"windows of images",
       {R"(graph g(%x: i32[2, 3, 13, 13], %w: i32[5, 3, 3, 3]) {
        %xp = pad %x, pairs=[(0, 0), (0, 0), (1, 1), (1, 1)]
        %m1 = permute %xp, axes=[0, 1, 3, 2]
        %ua = reshape %m1 : i32[2, 3, 15, 1, 15]
        %ub = expand %ua : i32[2, 3, 15, 4, 15]
        %uc = reshape %ub : i32[2, 3, 15, 60]
        %ud = shrink %uc, ranges=[(0, 2), (0, 3), (0, 15), (0, 48)]
        %ue = reshape %ud : i32[2, 3, 15, 3, 16]
        %uf = shrink %ue, ranges=[(0, 2), (0, 3), (0, 15), (0, 3), (0, 13)]
        %m2 = permute %uf, axes=[0, 1, 3, 4, 2]
        %va = reshape %m2 : i32[2, 3, 3, 13, 1, 15]
        %vb = expand %va : i32[2, 3, 3, 13, 4, 15]
        %vc = reshape %vb : i32[2, 3, 3, 13, 60]
        %vd = shrink %vc, ranges=[(0, 2), (0, 3), (0, 3), (0, 13), (0, 48)]
        %ve = reshape %vd : i32[2, 3, 3, 13, 3, 16]
        %vf = shrink %ve, ranges=[(0, 2), (0, 3), (0, 3), (0, 13), (0, 3), (0, 13)]
        %m3 = permute %vf, axes=[0, 1, 2, 4, 3, 5]
        %col = reshape %m3 : i32[2, 1, 27, 169]
        %rows = reshape %w : i32[1, 1, 5, 27, 1]
        %re = expand %rows : i32[2, 1, 5, 27, 169]
        %cr = reshape %col : i32[2, 1, 1, 27, 169]
        %ce = expand %cr : i32[2, 1, 5, 27, 169]
        %p = mul %re, %ce
        %s = reduce.add %p, axes=[3]
        %y = reshape %s : i32[2, 5, 13, 13]
        return %y })",
        {},
        {}}},
      {"windows of short lines",
       {R"(graph g(%x: i32[2, 3, 7, 7], %w: i32[5, 3, 3, 3]) {
        %xp = pad %x, pairs=[(0, 0), (0, 0), (1, 1), (1, 1)]
        %m1 = permute %xp, axes=[0, 1, 3, 2]
        %ua = reshape %m1 : i32[2, 3, 9, 1, 9]
        %ub = expand %ua : i32[2, 3, 9, 4, 9]
        %uc = reshape %ub : i32[2, 3, 9, 36]
        %ud = shrink %uc, ranges=[(0, 2), (0, 3), (0, 9), (0, 30)]
        %ue = reshape %ud : i32[2, 3, 9, 3, 10]
        %uf = shrink %ue, ranges=[(0, 2), (0, 3), (0, 9), (0, 3), (0, 7)]
        %m2 = permute %uf, axes=[0, 1, 3, 4, 2]
        %va = reshape %m2 : i32[2, 3, 3, 7, 1, 9]
        %vb = expand %va : i32[2, 3, 3, 7, 4, 9]
        %vc = reshape %vb : i32[2, 3, 3, 7, 36]
        %vd = shrink %vc, ranges=[(0, 2), (0, 3), (0, 3), (0, 7), (0, 30)]
        %ve = reshape %vd : i32[2, 3, 3, 7, 3, 10]
        %vf = shrink %ve, ranges=[(0, 2), (0, 3), (0, 3), (0, 7), (0, 3), (0, 7)]
        %m3 = permute %vf, axes=[0, 1, 2, 4, 3, 5]
        %col = reshape %m3 : i32[2, 1, 27, 49]
        %rows = reshape %w : i32[1, 1, 5, 27, 1]
        %re = expand %rows : i32[2, 1, 5, 27, 49]
        %cr = reshape %col : i32[2, 1, 1, 27, 49]
        %ce = expand %cr : i32[2, 1, 5, 27, 49]
        %p = mul %re, %ce
        %s = reduce.add %p, axes=[3]
        %y = reshape %s : i32[2, 5, 7, 7]
        return %y })",
        {},
        {}}},
      {"weights of windows",
       {R"(graph g(%x: i32[2, 3, 13, 13], %g: i32[2, 5, 13, 13]) {
        %xp = pad %x, pairs=[(0, 0), (0, 0), (1, 1), (1, 1)]
        %m1 = permute %xp, axes=[0, 1, 3, 2]
        %ua = reshape %m1 : i32[2, 3, 15, 1, 15]
        %ub = expand %ua : i32[2, 3, 15, 4, 15]
        %uc = reshape %ub : i32[2, 3, 15, 60]
        %ud = shrink %uc, ranges=[(0, 2), (0, 3), (0, 15), (0, 48)]
        %ue = reshape %ud : i32[2, 3, 15, 3, 16]
        %uf = shrink %ue, ranges=[(0, 2), (0, 3), (0, 15), (0, 3), (0, 13)]
        %m2 = permute %uf, axes=[0, 1, 3, 4, 2]
        %va = reshape %m2 : i32[2, 3, 3, 13, 1, 15]
        %vb = expand %va : i32[2, 3, 3, 13, 4, 15]
        %vc = reshape %vb : i32[2, 3, 3, 13, 60]
        %vd = shrink %vc, ranges=[(0, 2), (0, 3), (0, 3), (0, 13), (0, 48)]
        %ve = reshape %vd : i32[2, 3, 3, 13, 3, 16]
        %vf = shrink %ve, ranges=[(0, 2), (0, 3), (0, 3), (0, 13), (0, 3), (0, 13)]
        %m3 = permute %vf, axes=[0, 1, 2, 4, 3, 5]
        %col = reshape %m3 : i32[2, 1, 27, 169]
        %cr = reshape %col : i32[2, 1, 27, 169]
        %ce = expand %cr : i32[2, 5, 27, 169]
        %gr = reshape %g : i32[2, 5, 1, 169]
        %ge = expand %gr : i32[2, 5, 27, 169]
        %p = mul %ge, %ce
        %s = reduce.add %p, axes=[0, 3]
        %y = reshape %s : i32[5, 3, 3, 3]
        return %y })",
        {},
        {}}},
  };
}

}  // namespace tenon::test
