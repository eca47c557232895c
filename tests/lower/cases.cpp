// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The graphs of the execution tests.
#include "tests/lower/harness.hpp"

namespace tenon::test {

namespace {

std::vector<std::pair<std::string, Case>> all_cases() {
  std::vector<std::pair<std::string, Case>> cases = {
      {"elementwise", {R"(graph g(%x: f32[7, 19], %y: f32[7, 19]) {
        %a = add %x, %y : f32[7, 19]
        %b = mul %a, %y : f32[7, 19]
        return %b })"}},
      {"two_outputs", {R"(graph g(%x: i32[5, 9], %y: i32[5, 9]) {
        %a = add %x, %y : i32[5, 9]
        %b = mul %x, %y : i32[5, 9]
        return %a, %b })"}},
      {"in_place",
       {R"(graph g(%x: i32[37]) {
        %c = const 3 : i32[37]
        %a = add %x, %c : i32[37]
        %b = mul %x, %x : i32[37]
        return %a, %b })",
        {},
        {0, -1}}},
      {"product_bf16", {R"(graph g(%a: bf16[9, 10], %b: bf16[10, 19]) {
        %a1 = cast %a : f32[9, 10]
        %b1 = cast %b : f32[10, 19]
        %a2 = reshape %a1 : f32[9, 10, 1]
        %b2 = reshape %b1 : f32[1, 10, 19]
        %a3 = expand %a2 : f32[9, 10, 19]
        %b3 = expand %b2 : f32[9, 10, 19]
        %p = mul %a3, %b3
        %s = reduce.add %p, axes=[1]
        %r = reshape %s : f32[9, 19]
        %o = cast %r : bf16[9, 19]
        return %o })"}},
      {"product_i8", {R"(graph g(%a: i8[10, 13], %b: i8[13, 18]) {
        %a1 = cast %a : i32[10, 13]
        %b1 = cast %b : i32[13, 18]
        %a2 = reshape %a1 : i32[10, 13, 1]
        %b2 = reshape %b1 : i32[1, 13, 18]
        %a3 = expand %a2 : i32[10, 13, 18]
        %b3 = expand %b2 : i32[10, 13, 18]
        %p = mul %a3, %b3
        %s = reduce.add %p, axes=[1]
        %r = reshape %s : i32[10, 18]
        return %r })"}},
      {"product_of_blocks",  // of a scale and 4 bytes, which are 8 numbers
       {R"(graph g(%x: f32[5, 24], %b: u8[7, 15]) {
        %r = reshape %b : u8[7, 3, 5]
        %s = shrink %r, ranges=[(0,7),(0,3),(0,1)] : u8[7, 3, 1]
        %d = cast %s : f32[7, 3, 1]
        %p = shrink %r, ranges=[(0,7),(0,3),(1,5)] : u8[7, 3, 4]
        %p1 = reshape %p : u8[7, 3, 1, 4]
        %p2 = expand %p1 : u8[7, 3, 2, 4]
        %h = index axis=2 : u8[7, 3, 2, 4]
        %f = const 4 : u8[7, 3, 2, 4]
        %hs = mul %h, %f
        %q = shr %p2, %hs
        %m = const 15 : u8[7, 3, 2, 4]
        %n = and %q, %m
        %nf = cast %n : f32[7, 3, 2, 4]
        %n3 = reshape %nf : f32[7, 3, 8]
        %de = expand %d : f32[7, 3, 8]
        %w = mul %n3, %de
        %w1 = reshape %w : f32[1, 7, 24]
        %w2 = expand %w1 : f32[5, 7, 24]
        %x1 = reshape %x : f32[5, 1, 24]
        %x2 = expand %x1 : f32[5, 7, 24]
        %t = mul %x2, %w2
        %o = reduce.add %t, axes=[2]
        return %o })"}},
      {"product_u8_i8", {R"(graph g(%a: u8[5, 8], %b: i8[8, 17]) {
        %a1 = cast %a : i32[5, 8]
        %b1 = cast %b : i32[8, 17]
        %a2 = reshape %a1 : i32[5, 8, 1]
        %b2 = reshape %b1 : i32[1, 8, 17]
        %a3 = expand %a2 : i32[5, 8, 17]
        %b3 = expand %b2 : i32[5, 8, 17]
        %p = mul %a3, %b3
        %s = reduce.add %p, axes=[1]
        %r = reshape %s : i32[5, 17]
        return %r })"}},
      {"transpose", {R"(graph g(%x: f32[6, 11]) {
        %a = permute %x, axes=[1, 0] : f32[11, 6]
        return %a })"}},
      {"pad_flip_shrink", {R"(graph g(%x: i16[5, 6]) {
        %p = pad %x, pairs=[(1, 2), (3, 0)], fill=7 : i16[8, 9]
        %f = flip %p, axes=[1] : i16[8, 9]
        %s = shrink %f, ranges=[(0, 7), (2, 9)] : i16[7, 7]
        return %s })"}},
      {"pad_expand", {R"(graph g(%x: i32[1, 6]) {
        %e = expand %x : i32[4, 6]
        %p = pad %e, pairs=[(0, 0), (5, 6)], fill=-1 : i32[4, 17]
        return %p })"}},
      {"reshape", {R"(graph g(%x: f32[4, 6, 5], %y: f32[8, 15]) {
        %t = permute %x, axes=[1, 0, 2] : f32[6, 4, 5]
        %a = reshape %t : f32[8, 15]
        %b = add %a, %y : f32[8, 15]
        return %b })"}},
      {"cast", {R"(graph g(%x: f32[33]) {
        %h = cast %x : f16[33]
        %i = cast %h : i8[33]
        %b = cast %x : bool[33]
        return %h, %i, %b })"}},
      {"index", {R"(graph g(%x: i64[5, 17]) {
        %i = index axis=1 : i64[5, 17]
        %a = add %x, %i : i64[5, 17]
        return %a })"}},
      {"row_sum", {R"(graph g(%x: f32[6, 37]) {
        %s = reduce.add %x, axes=[1] : f32[6, 1]
        return %s })"}},
      {"column_max", {R"(graph g(%x: f32[23, 21]) {
        %s = reduce.max %x, axes=[0] : f32[1, 21]
        return %s })"}},
      {"sum_all", {R"(graph g(%x: i32[9, 14]) {
        %s = reduce.add %x, axes=[0, 1] : i32[1, 1]
        return %s })"}},
      {"half_sum", {R"(graph g(%x: f16[5, 40]) {
        %s = reduce.add %x, axes=[1], acc=f32 : f16[5, 1]
        return %s })"}},
      {"matmul", {R"(graph g(%a: f32[13, 22], %b: f32[22, 37]) {
        %a3 = reshape %a : f32[13, 22, 1]
        %ae = expand %a3 : f32[13, 22, 37]
        %b3 = reshape %b : f32[1, 22, 37]
        %be = expand %b3 : f32[13, 22, 37]
        %p = mul %ae, %be : f32[13, 22, 37]
        %s = reduce.add %p, axes=[1] : f32[13, 1, 37]
        %y = reshape %s : f32[13, 37]
        return %y })"}},
      {"matmul_transposed_symbolic",
       {R"(graph g(%a: i32[n, k], %b: i32[21, k]) where 0 <= n <= 40, 0 <= k <= 64 {
        %a3 = reshape %a : i32[n, 1, k]
        %ae = expand %a3 : i32[n, 21, k]
        %b3 = reshape %b : i32[1, 21, k]
        %be = expand %b3 : i32[n, 21, k]
        %p = mul %ae, %be : i32[n, 21, k]
        %s = reduce.add %p, axes=[2] : i32[n, 21, 1]
        return %s })",
        {{"n", 14}, {"k", 19}},
        {}}},
      {"few_rows_by_columns_along_the_sum", {R"(graph g(%a: f32[2, 6, 70], %b: f32[2, 9, 70]) {
        %a3 = reshape %a : f32[2, 6, 1, 70]
        %ae = expand %a3 : f32[2, 6, 9, 70]
        %b3 = reshape %b : f32[2, 1, 9, 70]
        %be = expand %b3 : f32[2, 6, 9, 70]
        %p = mul %ae, %be
        %s = reduce.add %p, axes=[3]
        return %s })"}},
      {"batches_of_rows", {R"(graph g(%a: f32[30, 4, 24], %b: f32[24, 40]) {
        %a3 = reshape %a : f32[30, 4, 24, 1]
        %ae = expand %a3 : f32[30, 4, 24, 40]
        %b3 = reshape %b : f32[1, 1, 24, 40]
        %be = expand %b3 : f32[30, 4, 24, 40]
        %p = mul %ae, %be
        %s = reduce.add %p, axes=[2]
        return %s })"}},
      {"matmul_tall", {R"(graph g(%a: f32[200, 6], %b: f32[6, 40]) {
        %a3 = reshape %a : f32[200, 6, 1]
        %ae = expand %a3 : f32[200, 6, 40]
        %b3 = reshape %b : f32[1, 6, 40]
        %be = expand %b3 : f32[200, 6, 40]
        %p = mul %ae, %be : f32[200, 6, 40]
        %s = reduce.add %p, axes=[1] : f32[200, 1, 40]
        return %s })"}},
      {"matmul_batched", {R"(graph g(%a: f32[2, 13, 7], %b: f32[2, 9, 7], %c: f32[9]) {
        %a3 = reshape %a : f32[2, 13, 1, 7]
        %ae = expand %a3 : f32[2, 13, 9, 7]
        %b3 = reshape %b : f32[2, 1, 9, 7]
        %be = expand %b3 : f32[2, 13, 9, 7]
        %p = mul %ae, %be : f32[2, 13, 9, 7]
        %s = reduce.add %p, axes=[3] : f32[2, 13, 9, 1]
        %t = reshape %s : f32[2, 13, 9]
        %c3 = reshape %c : f32[1, 1, 9]
        %ce = expand %c3 : f32[2, 13, 9]
        %y = add %t, %ce : f32[2, 13, 9]
        return %y })"}},
      {"long_rows", {R"(graph g(%x: i32[3, 300]) {
        %m = reduce.max %x, axes=[1] : i32[3, 1]
        %e = expand %m : i32[3, 300]
        %d = add %x, %e : i32[3, 300]
        %s = reduce.add %d, axes=[1] : i32[3, 1]
        %t = expand %s : i32[3, 300]
        %y = mul %x, %t : i32[3, 300]
        return %y })"}},
      {"softmax",
       {R"(graph g(%x: f32[n, 21]) where 1 <= n <= 64 {
        %m = reduce.max %x, axes=[1] : f32[n, 1]
        %me = expand %m : f32[n, 21]
        %neg = neg %me : f32[n, 21]
        %d = add %x, %neg : f32[n, 21]
        %e = exp2 %d : f32[n, 21]
        %s = reduce.add %e, axes=[1] : f32[n, 1]
        %r = recip %s : f32[n, 1]
        %re = expand %r : f32[n, 21]
        %y = mul %e, %re : f32[n, 21]
        return %y })",
        {{"n", 7}},
        {},
        1e-5}},
      {"softmax_of_halves_in_place",
       {R"(graph g(%x: f16[5, 37]) {
        %w = cast %x : f32[5, 37]
        %m = reduce.max %w, axes=[1] : f32[5, 1]
        %me = expand %m : f32[5, 37]
        %neg = neg %me : f32[5, 37]
        %d = add %w, %neg : f32[5, 37]
        %e = exp2 %d : f32[5, 37]
        %s = reduce.add %e, axes=[1] : f32[5, 1]
        %q = mul %e, %d : f32[5, 37]
        %t = reduce.add %q, axes=[1] : f32[5, 1]
        %se = expand %s : f32[5, 37]
        %u = add %t, %s : f32[5, 1]
        %ue = expand %u : f32[5, 37]
        %f = mul %e, %ue : f32[5, 37]
        %v = reduce.max %f, axes=[1] : f32[5, 1]
        %y = mul %e, %se : f32[5, 37]
        %h = cast %y : f16[5, 37]
        return %h, %v })",
        {},
        {0, -1},
        1e-3}},
      {"softmax_in_place",
       {R"(graph g(%x: f32[7, 21]) {
        %m = reduce.max %x, axes=[1] : f32[7, 1]
        %me = expand %m : f32[7, 21]
        %d = add %x, %me : f32[7, 21]
        return %d })",
        {},
        {0}}},
      {"mean_and_square", {R"(graph g(%x: i32[6, 18]) {
        %s = reduce.add %x, axes=[1] : i32[6, 1]
        %q = mul %x, %x : i32[6, 18]
        %t = reduce.add %q, axes=[1] : i32[6, 1]
        %u = add %s, %t : i32[6, 1]
        %ue = expand %u : i32[6, 18]
        %y = add %x, %ue : i32[6, 18]
        return %y, %s })"}},
      {"nested", {R"(graph g(%x: i32[4, 5, 17]) {
        %m = reduce.max %x, axes=[2] : i32[4, 5, 1]
        %s = reduce.add %m, axes=[1] : i32[4, 1, 1]
        return %s })"}},
      {"take",
       {R"(graph g(%x: f32[6, 9], %i: i32[6, 20]) {
        %t = take %x, %i, axis=1 : f32[6, 20]
        return %t })",
        {},
        {},
        0,
        12}},
      {"take_of_sum",
       {R"(graph g(%x: i32[6, 9], %y: i32[6, 9], %i: i64[11, 9]) {
        %a = add %x, %y : i32[6, 9]
        %t = take %a, %i, axis=0 : i32[11, 9]
        return %t })",
        {},
        {},
        0,
        12}},
      {"scatter_add",
       {R"(graph g(%x: i32[5, 8], %i: i32[5, 21], %v: i32[5, 21]) {
        %t = store.add %x, %i, %v, axis=1 : i32[5, 8]
        return %t })",
        {},
        {0},
        0,
        12}},
      {"scatter_rows",
       {R"(graph g(%x: i32[6, 3, 40], %i: i32[30], %v: i32[30, 3, 40]) {
        %i3 = reshape %i : i32[30, 1, 1]
        %ie = expand %i3 : i32[30, 3, 40]
        %t = store.add %x, %ie, %v, axis=0 : i32[6, 3, 40]
        return %t })",
        {},
        {0},
        0,
        8}},
      {"scatter_last",
       {R"(graph g(%x: i32[7, 20], %i: i8[9, 20], %v: i32[9, 20]) {
        %t = store %x, %i, %v, axis=0 : i32[7, 20]
        return %t })",
        {},
        {0},
        0,
        8}},
      {"zero_size", {R"(graph g(%x: f32[0, 5]) {
        %s = reduce.add %x, axes=[0] : f32[1, 5]
        %m = reduce.max %x, axes=[0] : f32[1, 5]
        return %s, %m })"}},
      {"scalar", {R"(graph g(%x: f32[], %y: f32[]) {
        %s = add %x, %y : f32[]
        return %s })"}},
      {"symbolic_elementwise",
       {R"(graph g(%x: f32[n, m], %y: f32[n, m]) where 0 <= n <= 100, 0 <= m <= 100 {
        %s = add %x, %y : f32[n, m]
        return %s })",
        {{"n", 5}, {"m", 23}},
        {}}},
      {"two_shapes", {R"(graph g(%x: f32[30], %y: f32[4, 9]) {
        %a = add %x, %x : f32[30]
        %b = mul %y, %y : f32[4, 9]
        return %a, %b })"}},
      {"sections",
       {R"(graph g(%x: f32[300], %y: f32[4, 9], %z: f32[4, 9], %s: f32[], %t: f32[]) {
        %a = add %y, %z : f32[4, 9]
        %b = mul %y, %z : f32[4, 9]
        %e = reshape %s : f32[1]
        %f = expand %e : f32[300]
        %c = mul %x, %f : f32[300]
        %d = add %s, %t : f32[]
        return %c, %a, %b, %d })",
        {},
        {0, 1, -1, -1},
        0,
        4,
        {1, 2, 1}}},
      {"convolution", {R"(graph g(%x: i32[12], %w: i32[3]) {
        %p = pad %x, pairs=[(1, 1)], fill=0 : i32[14]
        %a = shrink %p, ranges=[(0, 12)] : i32[12]
        %b = shrink %p, ranges=[(1, 13)] : i32[12]
        %c = shrink %p, ranges=[(2, 14)] : i32[12]
        %s = add %a, %b : i32[12]
        %t = add %s, %c : i32[12]
        return %t })"}},
      {"pads of casts", {R"(graph g(%x: f16[3, 5]) {
        %c = cast %x : f32[3, 5]
        %a = pad %c, pairs=[(1, 1), (0, 2)], fill=-2.0
        %b = pad %a, pairs=[(1, 0), (1, 1)], fill=0.1
        %h = cast %b : f16[6, 9]
        %i = cast %h : f32[6, 9]
        %d = pad %i, pairs=[(0, 2), (1, 0)], fill=-0.0
        %e = pad %d, pairs=[(0, 0), (1, 0)], fill=-0.0
        %one = const 1.0 : f32[8, 11]
        %r = fdiv %one, %e
        return %e, %r })"}},
  };
  for (auto& windows : window_cases()) cases.push_back(std::move(windows));
  return cases;
}

}  // namespace

const std::vector<std::pair<std::string, Case>>& representative_cases() {
  static const std::vector<std::pair<std::string, Case>> cases = all_cases();
  return cases;
}

}  // namespace tenon::test
