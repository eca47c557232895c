// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Random graphs, scheduled in random ways: the bits are those of the whole graph.
#include <catch2/catch_test_macros.hpp>
#include <random>

#include <fmt/format.h>

#include "core/ir/verify.hpp"
#include "core/rewrite/passes.hpp"
#include "core/schedule/uses.hpp"
#include "tests/schedule/execute.hpp"
#include "tests/schedule/models.hpp"

namespace tenon::test {
namespace {

class RandomGraph {
 public:
  RandomGraph(Models& m, uint32_t seed) : m_(m), random_(seed) {}

  Graph run() {
    for (uint32_t i = 0; i < 2 + below(2); ++i)
      pool_.push_back(m_.param(fmt::format("p{}", i), some_shape()));
    for (uint32_t i = 0; i < 4 + below(28); ++i) pool_.push_back(next());
    std::vector<NodeRef> outputs{pool_.back()};
    for (uint32_t i = 0; i < below(4); ++i) outputs.push_back(any());
    return m_.graph("random", outputs);
  }

 private:
  uint32_t below(uint32_t n) { return static_cast<uint32_t>(random_() % n); }
  NodeRef any() {
    // Recent nodes more often: deeper graphs.
    const size_t back = below(2) ? below(static_cast<uint32_t>(std::min<size_t>(4, pool_.size())))
                                 : below(static_cast<uint32_t>(pool_.size()));
    return pool_[pool_.size() - 1 - back];
  }

  Shape some_shape() {
    static constexpr int64_t kSizes[] = {0, 1, 2, 3, 4, 6};
    Shape out;
    for (uint32_t i = 0; i < below(4); ++i)
      out.push_back(Dim(kSizes[below(12) ? 1 + below(5) : 0]));
    return out;
  }

  /// A node of the same shape as x, made by moves of another if there is one that fits.
  NodeRef like(const NodeRef& x) {
    for (int tries = 0; tries < 8; ++tries) {
      const NodeRef y = any();
      if (same_shape(y->shape, x->shape)) return y;
      if (y->shape.size() == x->shape.size()) {
        bool grows = true;
        for (size_t i = 0; i < y->shape.size(); ++i)
          grows &= y->shape[i].is_const(1) || y->shape[i] == x->shape[i];
        if (grows) return m_.builder.expand(y, x->shape);
      }
      if (product(y->shape) == product(x->shape)) return m_.builder.reshape(y, x->shape);
    }
    return below(2) ? m_.builder.flip(x, all_axes(x)) : m_.number(0.5, x->shape);
  }

  static std::vector<int> all_axes(const NodeRef& x) {
    std::vector<int> out;
    for (size_t i = 0; i < x->shape.size(); ++i) out.push_back(static_cast<int>(i));
    return out;
  }

  NodeRef view(const NodeRef& x) {
    const size_t rank = x->shape.size();
    std::vector<std::pair<Dim, Dim>> pairs;
    std::vector<int> axes = all_axes(x);
    switch (below(6)) {
      case 0:
        std::shuffle(axes.begin(), axes.end(), random_);
        return m_.builder.permute(x, axes);
      case 1:
        return m_.builder.flip(x, axes);
      case 2: {
        for (size_t i = 0; i < rank; ++i) pairs.emplace_back(Dim(below(2)), Dim(below(2)));
        return m_.builder.pad(x, pairs, Scalar::of(x->dtype, 2));
      }
      case 3: {
        for (size_t i = 0; i < rank; ++i) {
          const int64_t size = x->shape[i].value();
          const int64_t begin = size ? below(static_cast<uint32_t>(size)) : 0;
          pairs.emplace_back(Dim(begin), Dim(size));
        }
        return m_.builder.shrink(x, pairs);
      }
      case 4:
        return m_.builder.reshape(x, {product(x->shape)});
      default: {
        Shape shape = x->shape;
        shape.insert(shape.begin() + below(static_cast<uint32_t>(rank) + 1), Dim(1));
        const NodeRef y = m_.builder.reshape(x, shape);
        for (Dim& dim : shape)
          if (dim.is_const(1) && product(x->shape).value() < 60) dim = Dim(1 + below(3));
        return m_.builder.expand(y, shape);
      }
    }
  }

  NodeRef next() {
    const NodeRef x = any();
    const int rank = static_cast<int>(x->shape.size());
    switch (below(12)) {
      case 0:
        return m_.builder.unary(Op::EXP2, m_.scaled(x, 0.125));
      case 1:
        return m_.builder.unary(Op::RECIP, x);
      case 2:
      case 3:
        return view(x);
      case 4:
      case 5: {
        if (rank == 0) return x;
        const Op ops[] = {Op::ADD, Op::MAX, Op::MUL};
        std::vector<int> axes{static_cast<int>(below(rank))};
        if (rank > 1 && below(4) == 0) axes = {0, rank - 1};
        const NodeRef sum = m_.builder.reduce(ops[below(3)], x, axes);
        return below(2) ? m_.builder.expand(sum, x->shape) : sum;
      }
      case 6: {
        if (rank == 0) return x;
        const int axis = static_cast<int>(below(rank));
        const NodeRef index = m_.builder.cast(like(x), DType::kI32);
        return m_.builder.take(x, index, axis);
      }
      case 7: {
        if (rank == 0) return x;
        const int axis = static_cast<int>(below(rank));
        const NodeRef index = m_.builder.cast(like(x), DType::kI64);
        return m_.builder.store(x, index, like(x), axis,
                                below(2) ? StoreMode::kLast : StoreMode::kAdd);
      }
      case 8:
        return m_.builder.where(m_.builder.binary(Op::CMPLT, x, like(x)), like(x), x);
      case 9:
        return rank == 2 ? m_.matmul(x, m_.builder.permute(like(x), {1, 0})) : m_.mul(x, like(x));
      default:
        return m_.builder.binary(below(2) ? Op::ADD : Op::MUL, x, like(x));
    }
  }

  Models& m_;
  std::mt19937 random_;
  std::vector<NodeRef> pool_;
};

TEST_CASE("random graphs give the same bits in every cut") {
  for (uint32_t seed = 0; seed < 600; ++seed) {
    INFO("seed " << seed);
    Models m;
    const Graph g = RandomGraph(m, seed).run();
    verify(g);
    Capabilities caps = generic_capabilities();
    constexpr uint32_t kBindings[] = {0, 0, 4, 5, 8};
    caps.max_bindings = kBindings[seed % 5];
    ScheduleOptions options = on_one_device(caps);
    options.fuse = seed % 7 != 0;
    require_same(g, schedule(g, options, m.builder), seed);
  }
}

TEST_CASE("random graphs give the same bits over donated inputs") {
  size_t written = 0;
  for (uint32_t seed = 2000; seed < 2600; ++seed) {
    INFO("seed " << seed);
    Models m;
    const Graph g = RandomGraph(m, seed).run();
    ScheduleOptions options = on_one_device();
    options.fuse = seed % 7 != 0;
    for (size_t i = 0; i < g.params.size(); ++i)
      options.input_places.emplace_back(
          0, (seed + i) % 3 == 0 ? InputPlace::kNotDonated : InputPlace::kForAny);
    const Schedule s = schedule(g, options, m.builder);
    written += scheduling::inputs_written(s).size();
    require_same(g, s, seed, {}, options.input_places);
  }
  CHECK(written > 100);
}

TEST_CASE("random graphs over two devices give the same bits") {
  for (uint32_t seed = 1000; seed < 1200; ++seed) {
    INFO("seed " << seed);
    Models m;
    const Graph g = RandomGraph(m, seed).run();
    ScheduleOptions options = on_one_device();
    options.devices.push_back({"null:0", generic_capabilities()});
    for (size_t i = 0; i < g.params.size(); ++i)
      options.input_places.push_back(static_cast<int>((seed + i) % 2));
    require_same(g, schedule(g, options, m.builder), seed);
  }
}

TEST_CASE("the same graph gives the same schedule") {
  std::string first;
  for (int round = 0; round < 3; ++round) {
    Models m;
    const Graph g = RandomGraph(m, 17).run();
    const std::string text = print(schedule(g, on_one_device(), m.builder));
    if (round == 0) first = text;
    REQUIRE(text == first);
  }
}

}  // namespace
}  // namespace tenon::test
