// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/lower/attention.hpp"

#include <fmt/format.h>

#include <utility>

#include "tests/lower/harness.hpp"

namespace tenon::test {

std::string text(const Attention& a) {
  const Names names = {
      {"$S", fmt::format("[{}, {}, {}]", a.heads, a.queries, a.keys)},
      {"$P", fmt::format("[{}, {}, {}, {}]", a.heads, a.queries, a.keys, a.size)},
      {"$O", fmt::format("[{}, {}, {}, {}]", a.heads, a.queries, a.keys, a.values)},
      {"$G", std::to_string(a.heads / a.each)},
      {"$R", std::to_string(a.each)},
      {"$T", a.dtype},
      {"$H", std::to_string(a.heads)},
      {"$Q", std::to_string(a.queries)},
      {"$K", std::to_string(a.keys)},
      {"$D", std::to_string(a.size)},
      {"$E", std::to_string(a.values)}};
  std::string out = "graph g(%q_: $T[$H, $Q, $D], %k_: $T[$G, $K, $D], %v_: $T[$G, $K, $E]) {\n";
  if (a.fused) {
    out = "graph g(%qkv: $T[$Q, 3, $H, $D]) {\n";
    for (const auto& [name, from] : {std::pair{'q', 0}, {'k', 1}, {'v', 2}})
      out += fmt::format(
          "%{0}1 = shrink %qkv, ranges=[(0,$Q),({1},{2}),(0,$H),(0,$D)]\n"
          " %{0}2 = permute %{0}1, axes=[1,2,0,3]\n %{0}_ = reshape %{0}2 : [$H,$Q,$D]\n",
          name, from, from + 1);
  }
  for (const char name : {'q', 'k', 'v'}) {
    std::string source = fmt::format("%{}_", name);
    if (a.each > 1 && name != 'q') {
      const char* const size = name == 'k' ? "$D" : "$E";
      out += fmt::format(
          "%{0}6 = reshape %{0}_ : [$G, 1, $K, {1}]\n %{0}7 = expand %{0}6 : $T[$G, $R, $K, {1}]\n"
          " %{0}8 = reshape %{0}7 : [$H, $K, {1}]\n",
          name, size);
      source = fmt::format("%{}8", name);
    }
    out += fmt::format("%{} = cast {} : f32\n", name, source);
  }
  out += R"(
    %q4 = reshape %q : [$H, $Q, 1, $D]
    %qe = expand %q4 : f32$P
    %k4 = reshape %k : [$H, 1, $K, $D]
    %ke = expand %k4 : f32$P
    %qk = mul %qe, %ke
    %dot0 = reduce.add %qk, axes=[3]
    %dot1 = cast %dot0 : $T
    %dot = cast %dot1 : f32
    %scores = reshape %dot : $S
    %scale = const 0.25 : f32$S
    %x0 = mul %scores, %scale
)";
  std::string x = "%x0", w = "%w0";
  if (!a.unmasked.empty()) {
    out += "%query = index axis=1 : i64$S\n %key = index axis=2 : i64$S\n" + a.unmasked;
    out += "%masked_score = const " + a.masked_score +
           " : f32$S\n %x1 = where %unmasked, %x0, %masked_score\n";
    x = "%x1";
  }
  out += "%m = reduce.max " + x + ", axes=[2]\n %me = expand %m : f32$S\n %z = sub " + x +
         ", %me\n %p = " + a.power +
         "\n %l = reduce.add %p, axes=[2]\n %le_ = expand %l : f32$S\n %w0 = fdiv %p, %le_\n";
  if (!a.unmasked.empty() && a.masks_weights) {
    out += "%none = const 0.0 : f32$S\n %w1 = where %unmasked, %w0, %none\n";
    w = "%w1";
  }
  out += "%wr = cast " + w + " : $T\n %ww = cast %wr : f32\n";
  out += R"(%w4 = reshape %ww : [$H, $Q, $K, 1]
    %we = expand %w4 : f32$O
    %v4 = reshape %v : [$H, 1, $K, $E]
    %ve = expand %v4 : f32$O
    %wv = mul %we, %ve
    %o = reduce.add %wv, axes=[2]
    %yo = reshape %o : [$H, $Q, $E]
    %y = cast %yo : $T
    return %y })";
  return filled(std::move(out), names);
}

}  // namespace tenon::test
