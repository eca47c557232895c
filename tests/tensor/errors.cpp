// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Wrong calls of each group of functions, and what they are told.
#include <array>
#include <functional>
#include <limits>

#include "core/support/error.hpp"
#include "tenon/tenon.hpp"
#include "tests/tensor/devices.hpp"

namespace tenon::test {
namespace {

struct Wrong {
  std::function<void()> call;
  const char* message;
};

void check(const std::vector<Wrong>& calls) {
  for (const Wrong& wrong : calls) {
    INFO(wrong.message);
    std::string got = "nothing";
    try {
      wrong.call();
    } catch (const Error& error) {
      CHECK(error.kind() == ErrorKind::kInvalid);
      got = error.what();
    }
    CHECK(got == wrong.message);
  }
}

Context& context() {
  static const std::unique_ptr<Context> shared = [] {
    ContextOptions options;
    options.plugins = plugin_files();
    options.devices = "cpu";
    options.use_environment = false;
    options.disk_cache = false;
    return std::make_unique<Context>(options);
  }();
  return *shared;
}

Tensor of_zeros(std::vector<int64_t> shape, DType dtype = DType::kF32) {
  return tenon::zeros(std::move(shape), dtype, context());
}

TEST_CASE("wrong calls of what makes tensors") {
  const auto with = [](auto... arguments) { arange(arguments..., std::nullopt, context()); };
  check({
      {[&] { with(0, 4, 0); },
       "[arange] expected finite numbers and a step that is not 0, got 0, 4 and 0"},
      {[&] { with(0, std::numeric_limits<double>::infinity(), 1); },
       "[arange] expected finite numbers and a step that is not 0, got 0, inf and 1"},
      {[] { arange(0, 300, 1, DType::kU8, context()); },
       "[arange] expected a value of u8, got 299"},
      {[] { arange(0.5, 3, 1, DType::kI32, context()); },
       "[arange] expected a float dtype for 0.5, 3 and 1, got i32"},
      {[] { linspace(0, 1, -1, true, DType::kF32, context()); },
       "[linspace] expected a count of at least 0, got -1"},
      {[] { linspace(0, 1, 5, true, DType::kI32, context()); },
       "[linspace] expected a float dtype, got i32"},
      {[] {
         const std::array bytes{std::byte{0}, std::byte{1}, std::byte{2}};
         tensor(std::span<const std::byte>(bytes), DType::kBool, {3}, context());
       },
       "[tensor] expected bools as bytes of 0 or 1, got 2 at 2"},
      {[] { eye(-1, {}, 0, DType::kF32, context()); },
       "[eye] expected sizes of at least 0 and below 2^63 elements, got [-1, -1]"},
      {[] { tri(3, -2, 0, DType::kF32, context()); },
       "[tri] expected sizes of at least 0 and below 2^63 elements, got [3, -2]"},
      {[] { tril(of_zeros({3})); }, "[tril] expected a tensor of rank 2 or more, got rank 1"},
      {[] { triu(of_zeros({})); }, "[triu] expected a tensor of rank 2 or more, got rank 0"},
      {[] { one_hot(of_zeros({3}), 4); }, "[one_hot] expected integers, got f32"},
      {[] { one_hot(of_zeros({3}, DType::kI32), -4); },
       "[one_hot] expected a count of at least 0, got -4"},
      {[] {
         meshgrid({of_zeros({3}), of_zeros({2, 2})});
       },
       "[meshgrid] expected tensors of rank 1, got rank 2"},
      {[] { full_like(of_zeros({2}, DType::kU8), -1); }, "[full] expected a value of u8, got -1"},
  });
}

TEST_CASE("wrong calls of what joins, cuts and repeats") {
  check({
      {[] { stack({}); }, "[stack] expected at least one tensor, got none"},
      {[] {
         stack({of_zeros({2}), of_zeros({3})});
       },
       "[stack] expected equal shapes, got [2] and [3]"},
      {[] { concatenate({}); }, "[concatenate] expected at least one tensor, got none"},
      {[] {
         concatenate({of_zeros({2, 3}), of_zeros({2, 4})});
       },
       "[concatenate] expected equal sizes but on axis 0, got [2, 3] and [2, 4]"},
      {[] {
         concatenate({of_zeros({2}), of_zeros({2, 1})});
       },
       "[concatenate] expected equal sizes but on axis 0, got [2] and [2, 1]"},
      {[] { concatenate({of_zeros({2})}, 1); }, "[concatenate] expected an axis in [-1, 1), got 1"},
      {[] {
         split(of_zeros({5}), {2, 2});
       },
       "[split] expected sizes that add up to 5, got [2, 2]"},
      {[] {
         split(of_zeros({5}), {7, -2});
       },
       "[split] expected sizes that add up to 5, got [7, -2]"},
      {[] { chunk(of_zeros({5}), 0); }, "[chunk] expected a count above 0, got 0"},
      {[] { tile(of_zeros({2}), {-1}); },
       "[tile] expected sizes of at least 0 and below 2^63 elements, got [-1]"},
      {[] { repeat(of_zeros({2}), -1, 0); }, "[repeat] expected a count of at least 0, got -1"},
      {[] {
         roll(of_zeros({2, 2}), {1, 2}, {0});
       },
       "[roll] expected a shift for each axis or one without axes, got 2 shifts and 1 axes"},
  });
}

TEST_CASE("wrong calls of what moves axes and takes parts") {
  const Tensor m = of_zeros({3, 4});
  check({
      {[&] {
         moveaxis(m, {0}, {1, 0});
       },
       "[moveaxis] expected as many places as axes, got 2 and 1"},
      {[&] {
         moveaxis(m, {0, 0}, {1, 0});
       },
       "[moveaxis] expected each axis once, got 0, 0"},
      {[&] { rot90(m, 1, 1, -1); }, "[rot90] expected two axes, got 1 twice"},
      {[&] { squeeze(m, 1); }, "[squeeze] expected size 1 on axis 1, got 4"},
      {[&] { expand_dims(m, 3); }, "[expand_dims] expected an axis in [-3, 3), got 3"},
      {[&] {
         broadcast_to(m, {4, 3});
       },
       "[broadcast_to] expected shapes that broadcast, got [3, 4] and [4, 3]"},
      {[&] {
         as_strided(m, {2, 7}, {6, 1});
       },
       "[as_strided] expected elements in [0, 12), got some outside with shape [2, 7], strides "
       "[6, 1] and offset 0"},
      {[&] {
         as_strided(m, {2}, {6, 1});
       },
       "[as_strided] expected a stride for each of 1 axes, got 2"},
      {[&] { diagonal(m, 0, 1, 1); }, "[diagonal] expected two axes, got 1 twice"},
      {[] {
         diag(of_zeros({2, 2, 2}));
       },
       "[diag] expected a tensor of rank 1 or 2, got rank 3"},
      {[&] { unfold(m, 1, 5); },
       "[unfold] expected windows of size 0 to 4 and a step above 0, got 5 and 1"},
      {[&] {
         m.slice({{0, 5}});
       },
       "[slice] expected a range inside [0, 3) on axis 0, got 0:5"},
      {[&] {
         m.slice({{0, 3, 0}});
       },
       "[slice] expected a step that is not 0, got it on axis 0"},
      {[&] {
         m.slice({{1, 2, -1}});
       },
       "[slice] expected a range that goes down, as its step does, on axis 0, got 1:2:-1"},
      {[&] {
         pad(m, {{3, 0}}, PadMode::kReflect);
       },
       "[pad] expected sides in [0, 2] on axis 0 of size 3, got 3 and 0"},
      {[&] {
         pad(m, {{0, 4}}, PadMode::kCircular);
       },
       "[pad] expected sides in [0, 3] on axis 0 of size 3, got 0 and 4"},
      {[] {
         pad(of_zeros({0}), {{1, 0}}, PadMode::kReplicate);
       },
       "[pad] expected sides in [0, 0] on axis 0 of size 0, got 1 and 0"},
      {[&] {
         pad(m, {{0, 0}, {0, 0}, {0, 0}}, PadMode::kReflect);
       },
       "[pad] expected at most 2 pairs, got 3"},
  });
}

TEST_CASE("wrong calls of elementwise functions") {
  const Tensor x = of_zeros({3}), n = of_zeros({3}, DType::kI32), b = of_zeros({3}, DType::kBool);
  check({
      {[&] { x + of_zeros({4}); }, "[add] expected shapes that broadcast, got [3] and [4]"},
      {[&] { atan2(x, of_zeros({2})); }, "[atan2] expected shapes that broadcast, got [3] and [2]"},
      {[&] { sign(b); }, "[sign] expected numbers, got bool"},
      {[&] { fmod(b, b); }, "[fmod] expected numbers, got bool"},
      {[&] { remainder(b, b); }, "[remainder] expected numbers, got bool"},
      {[&] { floor_divide(b, b); }, "[floor_divide] expected numbers, got bool"},
      {[&] { pow(b, b); }, "[pow] expected numbers, got bool"},
      {[&] { ~x; }, "[bitwise_not] expected integers or bool, got f32"},
      {[&] { n << x; }, "[left_shift] expected integers, got i32 and f32"},
      {[&] { n >> 1.5; }, "[right_shift] expected integers, got i32 and f32"},
      {[&] { isclose(x, x, -1); }, "[isclose] expected tolerances of at least 0, got -1 and 1e-08"},
      {[&] { celu(x, 0); }, "[celu] expected an alpha that is not 0, got 0"},
      {[&] { nan_to_num(x, 1e300); }, "[nan_to_num] expected a value of f32, got 1e+300"},
      {[&] { n + 3000000000; }, "[add] expected a value of i32, got 3000000000"},
      {[&] { clip(of_zeros({3}, DType::kU8), -1, 5); }, "[clip] expected a value of u8, got -1"},
      {[] { promote_types(DType::kVoid, DType::kF32); },
       "[promote_types] expected dtypes of tensors, got void"},
  });
}

}  // namespace
}  // namespace tenon::test
