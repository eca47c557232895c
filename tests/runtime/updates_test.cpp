// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An optimizer's update of a hundred parameters: few launches, and the bits of each update alone.
#include <catch2/catch_test_macros.hpp>

#include "core/ir/build.hpp"
#include "tests/runtime/support.hpp"

using namespace tenon;
using namespace tenon::test;

namespace {

constexpr int kParameters = 100;

/// Each shape twice.
std::vector<int64_t> shape_of(int i) {
  i = i / 8 * 8 + i % 4;
  const int64_t n = i / 4;
  switch (i % 4) {
    case 0:
      return {n + 1, 3, 3, 3};
    case 1:
      return {70 + n, 33};
    case 2:
      return {5 * n + 1};
    default:
      return i % 3 == 0 ? std::vector<int64_t>{} : std::vector<int64_t>{i, 1, 7};
  }
}

/// Adam's, with a rate that all share, of the parameters from `first` to `end`.
Graph updates(Builder& b, int first, int end) {
  Graph out;
  out.name = "adam";
  const auto param = [&](const std::string& name, const Shape& shape) {
    out.params.push_back(b.param(name, DType::kF32, shape));
    return out.params.back();
  };
  const NodeRef rate = param("rate", {});
  for (int i = first; i < end; ++i) {
    Shape shape;
    for (const int64_t size : shape_of(i)) shape.push_back(size);
    const std::string number = std::to_string(i);
    const NodeRef p = param("p" + number, shape), m = param("m" + number, shape),
                  v = param("v" + number, shape), g = param("g" + number, shape);
    const auto scaled = [&](const NodeRef& x, double by) {
      return b.binary(Op::MUL, x, b.constant(Scalar::of(DType::kF32, by), shape));
    };
    const NodeRef m1 = b.binary(Op::ADD, scaled(m, 0.875), scaled(g, 0.125));
    const NodeRef v1 = b.binary(Op::ADD, scaled(v, 0.75), scaled(b.binary(Op::MUL, g, g), 0.25));
    const NodeRef root =
        b.binary(Op::ADD, b.unary(Op::SQRT, v1), b.constant(Scalar::of(DType::kF32, 0.5), shape));
    const NodeRef step = b.binary(Op::MUL, b.binary(Op::MUL, m1, b.unary(Op::RECIP, root)),
                                  b.expand(b.reshape(rate, Shape(shape.size(), Dim(1))), shape));
    out.outputs.push_back(b.binary(Op::ADD, p, step));
    out.outputs.push_back(m1);
    out.outputs.push_back(v1);
  }
  out.output_names.resize(out.outputs.size());
  return out;
}

/// Of the rate and all parameters; squares are no negative numbers.
std::vector<Array> values() {
  std::vector<Array> out{Array::zeros(DType::kF32, {})};
  out[0].set(0, Scalar::of(DType::kF32, 0.375));
  for (int i = 0; i < kParameters; ++i)
    for (int role = 0; role < 4; ++role) {
      Array array = Array::zeros(DType::kF32, shape_of(i));
      for (int64_t k = 0; k < array.count(); ++k)
        array.set(k, Scalar::of(DType::kF32, static_cast<double>((k * 7 + i + role) % 23) / 3 -
                                                 (role == 2 ? 0 : 3)));
      out.push_back(array);
    }
  return out;
}

std::vector<BufferRef> on_device(Runtime& runtime, const std::vector<Array>& arrays) {
  std::vector<BufferRef> out;
  for (const Array& array : arrays) {
    out.push_back(runtime.device().allocate(array.bytes.size()));
    runtime.device().write(*out.back(), 0, array.bytes.data(), array.bytes.size());
  }
  return out;
}

/// Two threads, so that sections run beside each other.
constexpr const char* kCpu = "cpu@threads=2";

}  // namespace

TEST_CASE("a hundred parameters are updated in ten launches, as each would be alone") {
  const std::vector<Array> inputs = values();
  for (const std::string& backend : backends()) {
    CAPTURE(backend);
    RuntimeOptions options = options_for(backend == "cpu" ? kCpu : backend, backend);
    options.validate = true;
    options.guard_bytes = 64;
    Runtime runtime(options);
    std::vector<std::vector<uint8_t>> alone;
    const std::vector<BufferRef> buffers = on_device(runtime, inputs);
    const auto keep = [](const std::vector<BufferRef>& got, int first,
                         std::vector<std::vector<uint8_t>>& out) {
      for (size_t o = 0; o < got.size(); ++o) {
        const Array like = Array::zeros(DType::kF32, shape_of(first + static_cast<int>(o) / 3));
        out.emplace_back(like.bytes.size());
        got[o]->device().read(*got[o], 0, out.back().data(), out.back().size());
      }
    };
    for (int i = 0; i < kParameters; ++i) {
      std::vector<BufferRef> own{buffers[0]};
      own.insert(own.end(), buffers.begin() + 1 + 4 * i, buffers.begin() + 5 + 4 * i);
      RunStats stats;
      keep(runtime.run(updates(runtime.builder(), i, i + 1), own, {}, &stats), i, alone);
      REQUIRE(stats.kernels == 1);
    }
    const Graph all = updates(runtime.builder(), 0, kParameters);
    for (const bool donate : {false, true}) {
      CAPTURE(donate);
      const std::vector<BufferRef> given = on_device(runtime, inputs);
      std::vector<bool> donated(given.size(), donate);
      donated[0] = false;
      RunStats stats;
      std::vector<std::vector<uint8_t>> together;
      keep(runtime.run(all, given, {}, &stats, donated), 0, together);
      // The null device binds 16 buffers: two parameters at a time.
      CHECK(stats.kernels <= (backend == "cpu" ? kParameters / 10 : kParameters * 6 / 10));
      CHECK(together == alone);
    }
    CHECK(runtime.device().check_guards().empty());
  }
}
