// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/walks/dags.hpp"

#include <fmt/format.h>

namespace tenon::test {
namespace {

constexpr int kLevels = 40;
/// Graphs in each other. With each branch apart a graph has 2^21 values at most, and those that
/// are planned and run are fewer.
constexpr int kDeepest = 8, kDepth = 5;

std::string replaced(std::string text, std::string_view what, const std::string& by) {
  for (size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += by.size())
    text.replace(at, what.size(), by);
  return text;
}

/// The lines once for each level: $in is the value of the level before, $out that of this one, and
/// # the level's number.
std::string levels(const std::string& lines, const std::string& value = "v", int count = kLevels) {
  std::string out;
  for (int k = 0; k < count; ++k) {
    std::string level = replaced(lines, "$in", fmt::format("%{}{}", value, k));
    level = replaced(level, "$out", fmt::format("%{}{}", value, k + 1));
    out += replaced(level, "#", std::to_string(k));
  }
  return out;
}

std::string graph(const std::string& params, const std::string& lines, const std::string& result,
                  const std::string& bounds = "") {
  return fmt::format("graph g({}){} {{\n{}  return {}\n}}\n", params, bounds, lines, result);
}

const std::string kLast = fmt::format("%v{}", kLevels);
const std::string kWaves =
    levels("  %sin# = sin $in\n  %cos# = cos $in\n  $out = sub %sin#, %cos#\n");

std::string of_matrix(const std::string& lines) {
  return graph("%v0: f32[4,4]", levels(lines), kLast);
}

/// softmax(query x keys) x values, where the query is a DAG.
std::string attention(const std::string& before, const std::string& query) {
  return graph("%v0: f32[4,4], %k: f32[4,4], %w: f32[4,4]",
               before + fmt::format("  %q1 = reshape {} : f32[4,1,4]\n", query) +
                   R"(  %q = expand %q1 : f32[4,4,4]
  %k1 = reshape %k : f32[1,4,4]
  %ke = expand %k1 : f32[4,4,4]
  %qk = mul %q, %ke
  %s1 = reduce.add %qk, axes=[2] : f32[4,4,1]
  %score = reshape %s1 : f32[4,4]
  %m = reduce.max %score, axes=[1] : f32[4,1]
  %me = expand %m : f32[4,4]
  %d = sub %score, %me
  %e = exp %d
  %l = reduce.add %e, axes=[1] : f32[4,1]
  %le = expand %l : f32[4,4]
  %p = fdiv %e, %le
  %p1 = reshape %p : f32[4,4,1]
  %pe = expand %p1 : f32[4,4,4]
  %w1 = reshape %w : f32[1,4,4]
  %we = expand %w1 : f32[4,4,4]
  %pw = mul %pe, %we
  %o = reduce.add %pw, axes=[1] : f32[4,1,4]
)",
               "%o");
}

/// A mask of positions as a DAG of ands, ors and exclusive ors.
std::string masked_attention() {
  const std::string mask = R"(  %i = index axis=0 : i32[4,4]
  %j = index axis=1 : i32[4,4]
  %two = const 2 : i32[4,4]
  %zero = const 0 : f32[4,4]
  %m0 = cmplt %i, %j
  %y = cmplt %j, %i
  %z = cmplt %i, %two
)" + levels("  %a# = and $in, %y\n  %b# = or $in, %z\n  $out = xor %a#, %b#\n", "m");
  return attention(kWaves + mask + fmt::format("  %r = where %m{}, {}, %zero\n", kLevels, kLast),
                   "%r");
}

/// A pair of the results of each level, in bodies in each other.
std::string nested_body(const std::string& call, int level, const std::string& indent) {
  std::string out = fmt::format("{}graph b{}(%c: bool[], %x: f32[4]) {{\n", indent, level);
  if (level == 0) {
    out += fmt::format("{0}  %y = add %x, %x\n{0}  %z = neg %x\n", indent);
  } else {
    out += nested_body(call, level - 1, indent + "  ");
    for (const int result : {0, 1})
      out += fmt::format("{}  %r{} = {}, result={}\n", indent, result,
                         replaced(call, "$", fmt::format("b{}", level - 1)), result);
    out += fmt::format("{0}  %y = add %r0, %r1\n{0}  %z = sub %r0, %r1\n", indent);
  }
  return out + fmt::format("{0}  return %y, %z\n{0}}}\n", indent);
}

std::string nested(const std::string& call, int depth = kDepth) {
  return graph(
      "%c: bool[], %x: f32[4]",
      nested_body(call, depth, "  ") +
          fmt::format("  %r = {}, result=0\n", replaced(call, "$", fmt::format("b{}", depth))),
      "%r");
}

/// Shifts around by other distances at each level: nearly every path reads another element.
std::string rolls() {
  constexpr int kSize = 64;
  std::string lines;
  for (int k = 0; k < kLevels; ++k) {
    const int by = (1 << (k % 6)) + k % 3;
    lines += fmt::format(
        "  %a{0} = shrink %v{0}, ranges=[({1},64)] : f32[{2}]\n"
        "  %b{0} = pad %a{0}, pairs=[(0,{1})], fill=0 : f32[64]\n"
        "  %c{0} = shrink %v{0}, ranges=[(0,{1})] : f32[{1}]\n"
        "  %d{0} = pad %c{0}, pairs=[({2},0)], fill=0 : f32[64]\n"
        "  %e{0} = add %b{0}, %d{0}\n  %v{3} = sub %e{0}, %v{0}\n",
        k, by, kSize - by, k + 1);
  }
  return graph("%v0: f32[64]", lines, kLast);
}

}  // namespace

std::vector<Dag> graph_dags() {
  const std::string with_indices = "%v0: f32[4,4], %i: i32[4,4]";
  return {
      {"sums", of_matrix("  $out = add $in, $in\n")},
      {"products", of_matrix("  $out = mul $in, $in\n")},
      {"waves", graph("%v0: f32[4,4]", kWaves, kLast)},
      {"selects",
       graph("%v0: f32[4,4]",
             "  %half = const 0.5 : f32[4,4]\n" +
                 levels("  %t# = cmplt $in, %half\n  %n# = neg $in\n  $out = where %t#, %n#, "
                        "$in\n"),
             kLast)},
      {"conditions",
       graph("%v0: bool[4], %y: bool[4], %z: bool[4]",
             levels("  %a# = and $in, %y\n  %b# = or $in, %z\n  $out = xor %a#, %b#\n"), kLast)},
      {"random bits", graph("%v0: u32[4,4]",
                            "  %three = const 3 : u32[4,4]\n" +
                                levels("  %a# = shl $in, %three\n  %b# = add $in, %three\n  $out = "
                                       "xor %a#, %b#\n"),
                            kLast)},
      {"casts",
       of_matrix("  %n# = cast $in : f16[4,4]\n  %w# = cast %n# : f32[4,4]\n  $out = sub $in, "
                 "%w#\n")},
      {"permutes",
       of_matrix("  %t# = permute $in, axes=[1,0] : f32[4,4]\n  $out = sub $in, %t#\n")},
      {"flips", of_matrix("  %t# = flip $in, axes=[0] : f32[4,4]\n  $out = sub $in, %t#\n")},
      {"reshapes",
       of_matrix("  %a# = reshape $in : f32[2,8]\n  %b# = permute %a#, axes=[1,0] : f32[8,2]\n"
                 "  %c# = reshape %b# : f32[4,4]\n  $out = sub $in, %c#\n")},
      {"pads",
       of_matrix("  %a# = pad $in, pairs=[(0,1),(0,0)], fill=0 : f32[5,4]\n"
                 "  %b# = shrink %a#, ranges=[(1,5),(0,4)] : f32[4,4]\n  $out = add $in, %b#\n")},
      {"rolls", rolls()},
      {"maxima",
       of_matrix("  %m# = reduce.max $in, axes=[1] : f32[4,1]\n  %e# = expand %m# : f32[4,4]\n"
                 "  $out = sub $in, %e#\n")},
      {"sums of both axes",
       of_matrix("  %a# = reduce.add $in, axes=[0] : f32[1,4]\n  %b# = expand %a# : f32[4,4]\n"
                 "  %c# = reduce.add $in, axes=[1] : f32[4,1]\n  %d# = expand %c# : f32[4,4]\n"
                 "  %e# = sub %b#, %d#\n  $out = max $in, %e#\n")},
      {"gathers",
       graph(with_indices,
             levels("  %t# = take $in, %i, axis=0 : f32[4,4]\n  $out = sub $in, %t#\n"), kLast)},
      {"scatters",
       graph(with_indices,
             levels("  %t# = store $in, %i, $in, axis=0 : f32[4,4]\n  $out = sub $in, %t#\n", "v",
                    20),
             "%v20")},
      {"exponents", graph("%v0: f32[4,4]",
                          levels("  $out = mul $in, $in\n") +
                              fmt::format("  %e = exp2 {}\n  %p = mul %e, %v0\n  %r = reduce.add "
                                          "%p, axes=[1] : f32[4,1]\n",
                                          kLast),
                          "%r")},
      {"attention", attention(kWaves, kLast)},
      {"masked attention", masked_attention()},
      {"symbols", graph("%v0: f32[n,n]",
                        levels("  %t# = permute $in, axes=[1,0] : f32[n,n]\n  $out = sub $in, "
                               "%t#\n"),
                        kLast, " where 2 <= n <= 8")},
      {"ifs", nested("if %c, %c, %x, then=$, else=$")},
      {"calls", nested("call %c, %x, body=$")},
  };
}

std::vector<Dag> deep_bodies() {
  return {{"ifs", nested("if %c, %c, %x, then=$, else=$", kDeepest)},
          {"calls", nested("call %c, %x, body=$", kDeepest)}};
}

}  // namespace tenon::test
