// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Lesson 4: IF and LOOP are nodes of a graph; what a loop carries stays on the device.
#include <tenon/tenon.hpp>

#include <cstdio>

using namespace tenon;

/// Newton's method for the square roots of a vector, until no element moves any more. A loop's body
/// takes the number of the iteration, what is carried and what is captured; of a `while` loop it
/// first gives whether to go on.
constexpr const char* kNewton = R"(
graph newton(%x: f32[3]) {
  graph step(%i: i64[], %guess: f32[3], %x: f32[3]) {
    %half = const 0.5               : f32[3]
    %ratio = fdiv %x, %guess
    %sum = add %guess, %ratio
    %next = mul %half, %sum
    %differs = cmpne %next, %guess
    %any = reduce.max %differs, axes=[0]
    %go_on = reshape %any           : bool[]
    return %go_on, %next
  }
  %trips = const 50                 : i64[]
  %start = const 1.0                : f32[3]
  %root = loop %trips, %start, %x, body=step, carried=1, while=true
  return %root
}
)";

int main() try {
  Context& context = Context::standard();
  const Function newton = Function::parse(kNewton, context, "newton");
  std::printf("%s\n", newton.text().c_str());
  Array x = Array::zeros(DType::kF32, {3});
  const double squares[] = {4, 9, 1e6};
  for (int i = 0; i < 3; ++i) x.set(i, Scalar::of(DType::kF32, squares[i]));
  const Array root = context.run(newton, {x})[0];
  std::printf("roots: %g %g %g\n", root.at(0).as_double(), root.at(1).as_double(),
              root.at(2).as_double());
  return root.at(0).as_double() == 2 && root.at(1).as_double() == 3 &&
                 root.at(2).as_double() == 1000
             ? 0
             : 1;
} catch (const Error& error) {
  std::fprintf(stderr, "04_control_flow: %s\n", error.what());
  return 3;
}
