// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Lesson 7: rules and kernels of one's own. Each is tried before it counts; one that is wrong is an
// error that shows where.
#include <tenon/tenon.hpp>

#include <cstdio>
#include <string>

using namespace tenon;

namespace {

/// What is wrong about it, or "" if it is taken.
template <class Action>
std::string mistake_of(Action action) {
  try {
    action();
    return "";
  } catch (const Error& error) {
    return error.what();
  }
}

}  // namespace

int main() try {
  Context context;
  const std::string wrong = mistake_of(
      [&] { context.add_rules("halve: fdiv(mul(x, 2), 2) -> x where f32", "my.rules"); });
  std::printf("%s\n\n", wrong.c_str());
  if (wrong.empty()) return 1;
  context.add_rules("halve: fdiv(mul(x, 2), 2) -> x where float approximate", "my.rules");
  const Tensor x = tensor<float>({3e38F, 1, 2, 3}, context);
  const std::vector<float> same = ((x * 2) / 2).to_vector<float>();  // 2x alone would be infinite
  if (same[0] != 3e38F) return 1;

  const auto thrice = [&] {
    const Tensor y = x * 2 + x;
    return y.to_vector<float>();
  };
  const std::vector<float> expected = thrice();
  std::string name;
  for (const KernelInfo& kernel : context.kernels()) {
    if (kernel.program.find("add") == std::string::npos) continue;
    std::printf("%s on %s\n%s\n", kernel.name.c_str(), kernel.device.c_str(), kernel.loops.c_str());
    name = kernel.name;
  }
  context.set_transforms(name, "unroll a0");
  if (thrice() != expected) return 1;

  const std::string program =
      "program mine(%x: global f32 read, %y: global f32 write) workgroup 1 1 1 {\n"
      "  %i = index grid.x : i32\n"
      "  %v = load %x, %i : f32\n"
      "  %k = const 3.0 : f32\n"
      "  %p = mul %v, %k : f32\n"
      "  store %y, %i, %p\n"
      "}\n";
  context.set_program(name, program, {4, 1, 1});
  if (thrice() != expected) return 1;
  context.set_program(name, program, {3, 1, 1});  // one element too few
  const std::string late = mistake_of(thrice);
  std::printf("%s\n", late.c_str());
  return late.empty() ? 1 : 0;
} catch (const Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
