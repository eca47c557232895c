// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Lesson 4: IF and LOOP are nodes of a graph; what a loop carries stays on the device.
#include <tenon/tenon.hpp>

#include <cstdio>

using namespace tenon;

/// Newton's method for the square roots of a vector, until no element moves any more.
Graph newton(Builder& builder, int64_t n) {
  const Shape shape{Dim(n)};
  Graph body;
  body.name = "step";
  const NodeRef i = builder.param("i", DType::kI64, {});
  const NodeRef guess = builder.param("guess", DType::kF32, shape);
  const NodeRef x = builder.param("x", DType::kF32, shape);
  const NodeRef half = builder.constant(Scalar::of(DType::kF32, 0.5), shape);
  const NodeRef next = builder.binary(
      Op::MUL, half, builder.binary(Op::ADD, guess, builder.binary(Op::FDIV, x, guess)));
  const NodeRef moved = builder.reduce(Op::MAX, builder.binary(Op::CMPNE, next, guess), {0});
  body.params = {i, guess, x};
  body.outputs = {builder.reshape(moved, {}), next};  // go on while something moved
  body.output_names = {"go_on", "guess"};

  Graph graph;
  graph.name = "newton";
  const NodeRef input = builder.param("x", DType::kF32, shape);
  const NodeRef trips = builder.constant(Scalar::of_int(DType::kI64, 50));
  const NodeRef start = builder.constant(Scalar::of(DType::kF32, 1), shape);
  graph.params = {input};
  graph.outputs = {
      builder.loop(trips, {start}, {input}, std::make_shared<Graph>(body), /*is_while=*/true, 0)};
  graph.output_names = {"root"};
  return graph;
}

int main() try {
  Context& context = Context::standard();
  const Graph graph = newton(context.builder(), 3);
  std::printf("%s\n", print(graph).c_str());
  Array x = Array::zeros(DType::kF32, {3});
  const double squares[] = {4, 9, 1e6};
  for (int i = 0; i < 3; ++i) x.set(i, Scalar::of(DType::kF32, squares[i]));
  const Array root = context.run(graph, {x}, {}, "")[0];
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
