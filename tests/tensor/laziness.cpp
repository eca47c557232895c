// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// When tensors run, what they keep, and what they refuse.
#include "core/support/error.hpp"
#include "frontend/tensor/state.hpp"
#include "tenon/literal.hpp"
#include "tenon/make.hpp"
#include "tenon/move.hpp"
#include "tenon/random.hpp"
#include "tests/runtime/support.hpp"
#include "tests/tensor/devices.hpp"
#include "tests/tensor/refusals.hpp"

using namespace tenon;
using test::on_each_device;
using test::refuses;

namespace {

using F = std::vector<float>;

}  // namespace

TEST_CASE("reading replaces the graph by its result") {
  on_each_device([](Context& context) {
    const Tensor x = tensor<float>({1, 2, 3}, context);
    const Tensor y = x * 2.0f + 1.0f;
    CHECK(node_of(y)->op == Op::ADD);
    CHECK(y.to_vector<float>() == F{3, 5, 7});
    CHECK(node_of(y)->op == Op::PARAM);
    const Tensor z = y + x;
    CHECK(topological({node_of(z)}).size() == 3);
    CHECK(z.to_vector<float>() == F{4, 7, 10});
  });
}

TEST_CASE("several tensors run as one graph") {
  on_each_device([](Context& context) {
    const Tensor x = tensor<float>({1, 2, 3, 4}, context);
    const Tensor a = x + 1.0f, b = x * 3.0f, unread = x - 1.0f;
    realize({a, b});
    CHECK(node_of(a)->op == Op::PARAM);
    CHECK(node_of(b)->op == Op::PARAM);
    CHECK(node_of(unread)->op != Op::PARAM);
    CHECK(a.to_vector<float>() == F{2, 3, 4, 5});
    CHECK(b.to_vector<float>() == F{3, 6, 9, 12});
  });
}

TEST_CASE("equal computations on other values share a plan and not their buffers") {
  on_each_device([](Context& context) {
    for (float i = 0; i < 5; ++i) {
      const Tensor x = tensor<float>({i, i + 1}, context);
      CHECK((x * x + x).to_vector<float>() == F{i * i + i, (i + 1) * (i + 1) + i + 1});
    }
  });
}

TEST_CASE("long chains overflow no stack") {
  on_each_device([](Context& context) {
    Tensor x = tensor<float>({1}, context);
    for (int i = 0; i < 3000; ++i) x = x + 1.0f;
    CHECK(x.item<float>() == 3001);
    Tensor dropped = tensor<float>({1}, context);
    for (int i = 0; i < 200000; ++i) dropped = dropped + 1.0f;
    CHECK(dropped.shape() == std::vector<int64_t>{1});
  });
}

TEST_CASE("empty and 0-d tensors") {
  on_each_device([](Context& context) {
    const Tensor none = zeros({0, 3}, DType::kF32, context);
    CHECK((none + 1.0f).to_vector<float>().empty());
    CHECK(none.sum(0).to_vector<float>() == F{0, 0, 0});
    CHECK(none.max(0).to_vector<float>() == F{-INFINITY, -INFINITY, -INFINITY});
    const Tensor one = full({}, 3, DType::kF32, context);
    CHECK(one.rank() == 0);
    CHECK((one * one).item<float>() == 9);
    CHECK(one.sum().item<float>() == 3);
  });
}

TEST_CASE("copies to a device") {
  on_each_device([](Context& context) {
    const Tensor x = tensor<float>({1, 2}, context);
    const Tensor y = (x + 1.0f).to(context.device().id);
    CHECK(y.device() == context.device().id);
    CHECK((y * 2.0f).to_vector<float>() == F{4, 6});
    refuses([&] { x.to("nosuch:7"); }, "nosuch");
  });
}

TEST_CASE("a lazy tensor knows the device that it will be on") {
  if (tenon::test::plugin_files().size() < 2) return;
  Context context(tenon::test::cpu_and_null());
  const Tensor x = tensor<float>({1, 2}, context);
  const Tensor moved = x.to("null:0") + x, stays = x + x.to("null:0");
  const Tensor constant = full({2}, 3, DType::kF32, context);
  const std::pair<Tensor, const char*> rows[] = {
      {x, "cpu:0"},
      {moved, "null:0"},
      {stays, "cpu:0"},
      {moved + x, "null:0"},
      {(x + moved) * x, "cpu:0"},
      {moved.to("cpu:0") + moved, "cpu:0"},
      {constant, "cpu:0"},
      {constant + moved, "null:0"},
  };
  for (const auto& [tensor, device] : rows) {
    CHECK(tensor.device() == device);
    realize({tensor});
    CHECK(tensor.device() == device);
  }
}

TEST_CASE(".npy files keep a tensor") {
  on_each_device([](Context& context) {
    const test::TempFolder folder;
    const auto path = folder.path / "x.npy";
    write_npy(path, (tensor<float>({{1, 2}, {3, 4}}, context) * 2.0f).to_array());
    const Tensor back = tensor(read_npy(path), context);
    CHECK(back.shape() == std::vector<int64_t>{2, 2});
    CHECK(back.to_vector<float>() == F{2, 4, 6, 8});
  });
}

TEST_CASE("mistakes are named") {
  on_each_device([](Context& context) {
    const Tensor x = zeros({2, 3}, DType::kF32, context);
    refuses([&] { x + zeros({4}, DType::kF32, context); }, "broadcast");
    refuses([&] { x.matmul(x); }, "[matmul]");
    refuses([&] { x.reshape({4, -1}); }, "[reshape]");
    refuses([&] { x.reshape({-1, -1}); }, "[reshape]");
    refuses([&] { x.reshape({int64_t{1} << 62, 3, -1}); }, "below 2^63 elements");
    refuses([&] { x.reshape({-1, -2}); }, "[reshape]");
    refuses([&] { uniform(Key(1, x.context()), {int64_t{1} << 62, 4}); }, "below 2^63 elements");
    refuses([&] { x.sum(2); }, "[sum] expected an axis");
    refuses([&] { x.sum({0, -2}); }, "each axis once");
    refuses([&] { x.to_vector<int32_t>(); }, "f32");
    refuses([&] { x.item<float>(); }, "one element, got 6");
    refuses([&] { x.slice({{0, 5}}); }, "[slice]");
    refuses([&] { x.broadcast_to({2, 4}); }, "[2, 3]");
    refuses([&] { x.take(2, 0); }, "[take]");
    refuses([&] { tensor(std::vector{1.f, 2.f}, {3}, context); }, "[tensor] expected 3 values");
    refuses([&] { concatenate({}, 0); }, "[concatenate]");
    refuses([&] { x.pad({{1, -1}, {0, 0}}); }, "[pad]");
  });
}
