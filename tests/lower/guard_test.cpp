// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Guards of trees that no transform of today makes, and a chooser may.
#include <catch2/catch_test_macros.hpp>

#include "core/compile/chooser.hpp"
#include "tests/lower/harness.hpp"

using namespace tenon;
using namespace tenon::test;

namespace {

/// Runs the inner half of a split from its end, then goes on with a list.
class Reversed : public TransformChooser {
 public:
  explicit Reversed(const char* after) : after_(after) {}
  LoweredKernel choose(const UnchosenKernel& kernel) override {
    Chosen chosen{kernel.tree, {}};
    apply_transforms(chosen.kernel, parse_transforms("split a0 8"));
    const KernelAxis& inner = chosen.kernel.axes[chosen.kernel.axis("a0.i")];
    substitute(chosen.kernel, {{inner.name, inner.extent - inner.symbol() - 1}});
    apply_transforms(chosen.kernel, parse_transforms(after_));
    return kernel.lower(chosen);
  }

 private:
  const char* after_;
};

}  // namespace

TEST_CASE("a guard whose left side falls along an axis keeps its real points") {
  Builder builder;
  const Graph graph =
      parse_graph("graph g(%x: i32[21]) {\n%y = add %x, %x : i32[21]\nreturn %y }", builder);
  Array x = Array::zeros(DType::kI32, {21});
  for (int64_t i = 0; i < 21; ++i) x.set(i, Scalar::of_int(DType::kI32, i + 1));
  const Compiler compiler(builder, {.verify = true});
  for (const char* after :
       {"", "stage b0 at a0.o", "stage b0 at a0.i", "stage b0 at a0.o; unroll a0.i",
        "vectorize a0.i", "bind a0.i block.x; stage b0 at a0.o"}) {
    INFO(after);
    Reversed chooser(after);
    const LoweredKernel kernel =
        compiler.lower(graph, everything(), {.alias = {}, .name = "kernel"}, chooser);
    const std::vector<Array> got = run(kernel, graph, {}, {x}, {});
    for (int64_t i = 0; i < 21; ++i) CHECK(got[0].at(i) == Scalar::of_int(DType::kI32, 2 * i + 2));
  }
}

TEST_CASE("copies of a row of one stored value store it once") {
  // a1.o has one iteration, of eight after the second split.
  const Case sums{R"(graph g(%x: f32[4, 5, 3]) {
    %s = reduce.add %x, axes=[2]
    %y = reshape %s : f32[4, 5]
    %z = mul %y, %y
    return %z })",
                  {},
                  {}};
  for (const char* list : {"split a1 6; split a1.o 8; compute_at r0 a0; unroll a1.o.i.c",
                           "split a1 6; split a1.o 8; compute_at r0 a0; vectorize a1.o.i.c",
                           "split a1 6; split a1.o 8; compute_at r0 a0; reorder a1.o.i.c a1.i.c; "
                           "unroll a1.o.i.c; unroll a1.i.c"}) {
    INFO(list);
    CHECK(difference(sums, everything(), list, false) == "");
  }
}
