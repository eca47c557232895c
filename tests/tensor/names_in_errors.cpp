// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a function refuses names that function, whatever it is made of: each row of functions.def is
// called with every kind of argument that means nothing.
#include <functional>
#include <set>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

#include "tenon/tenon.hpp"
#include "tests/tensor/devices.hpp"
#include "tests/tensor/refusals.hpp"
#include "tests/tensor/table_calls.hpp"

#include <catch2/catch_test_macros.hpp>

namespace tenon::test {
namespace {

/// What is said by another name, or not at all as an Error.
struct Misnamed {
  std::set<std::string> all;

  template <class F>
  void look(const std::string& name, const F& f, const Tensor& x) {
    for (size_t number = 0; number < 400; ++number) {
      size_t left = number;  // the number of a combination, in digits of bases that differ
      Picks picks(x, [&](size_t n) { return std::exchange(left, left / n) % n; });
      auto values = arguments(f, picks);
      if (left != 0) return;
      try {
        std::apply([&](auto&... each) { f(each...); }, values);
      } catch (const Error& error) {
        const std::string text = error.what(), own = "[" + name + "] ";
        if (text.starts_with(own)) continue;
        all.insert(name + ": " + text);
      } catch (const std::exception& other) {
        all.insert(name + ": " + other.what());
      }
    }
  }
};

}  // namespace

TEST_CASE("what a function refuses is said by its name") {
  on_each_device([](Context& context) {
    Misnamed misnamed;
    const std::vector<int64_t> most(16, 1);
    for (const Tensor& own : {ones({3, 4}, DType::kF32, context), ones({4}, DType::kI32, context),
                              ones({2, 2}, DType::kBool, context), ones({3}, DType::kU8, context),
                              zeros({0, 3}, DType::kI32, context), ones(most, DType::kF32, context),
                              full({}, 2, DType::kF32, context)}) {
#define TENON_FUNCTION(name, parameters, arguments, meaning) \
  misnamed.look(                                             \
      #name, [&own] TENON_THE_REST parameters { own.name arguments; }, own);
#include "tenon/functions.def"
#undef TENON_FUNCTION
    }
    std::string text;
    for (const std::string& line : misnamed.all) text += line + "\n";
    INFO(text);
    CHECK(misnamed.all.empty());
  });
}

TEST_CASE("so it is of operators and of what joins tensors") {
  on_each_device([](Context& context) {
    const Tensor u8 = ones({3}, DType::kU8, context), f = ones({3}, DType::kF32, context);
    const Tensor b = ones({3}, DType::kBool, context), two = ones({2}, DType::kF32, context);
    const std::pair<std::function<void()>, const char*> wrong[] = {
        {[&] { b / b; }, "[divide] expected "},
        {[&] { u8 == 300; }, "[equal] expected a value of u8, got 300"},
        {[&] { u8 < 300; }, "[less] expected a value of u8, got 300"},
        {[&] { u8 > 300; }, "[greater] expected a value of u8, got 300"},
        {[&] { u8 >= 300; }, "[greater_equal] expected a value of u8, got 300"},
        {[&] { f << 1; }, "[left_shift] expected integers, got f32 and i64"},
        {[&] { f & 1; }, "[bitwise_and] expected "},
        {[&] { f - two; }, "[subtract] expected shapes that broadcast, got [3] and [2]"},
        {[&] { u8.clip(-1, 300); }, "[clip] expected a value of u8, got -1"},
        {[&] { f.median(7); }, "[median] expected an axis in [-1, 1), got 7"},
        {[&] { f.gather(0, two); }, "[gather] expected an index of integers, got f32"},
        {[&] { f.take(b, 0); }, "[take] expected an index of integers, got bool"},
        {[&] { f.scatter(0, arange(2, DType::kI64, context), f); }, "[scatter] expected "},
        {[&] { set(arange(3, DType::kI64, context), {0}, 1.5); },
         "[set] expected a value of i64, got 1.5"},
        {[&] {
           set(f, {tensor({0, 0}, context)}, two, Combine(77));
         },
         "[set] expected one of Combine, got 77"},
        {[&] { get(f, {9}); }, "[get] expected an index in [-3, 3) on axis 0, got 9"},
        {[&] { linspace(1e39, 2e39, 3); }, "[linspace] expected "},
        {[&] { f.diag(INT64_MAX); }, "[diag] expected "},
        {[&] {
           f.transpose({0, 0});
         },
         "[transpose] expected "},
        {[&] { Tensor(1.0).matrix_transpose(); },
         "[matrix_transpose] expected a rank of 2 or more, got 0"},
        {[&] {
           split(f, {INT64_MAX, INT64_MAX, 5});
         },
         "[split] expected sizes that add up to 3, got [9223372036854775807, "},
        {[&] { f.atleast_nd(INT_MAX); }, "[atleast_nd] expected a rank of at most 16"},
        {[&] { vstack({}); }, "[vstack] expected at least one tensor, got none"},
        {[&] { f.matmul(two); }, "[matmul] expected [k] and [k], got [3] and [2]"},
        {[&] { f.roll({}); }, "[roll] expected at least one shift, got none"},
        {[&] {
           f.pad({{1, 1}}, PadMode(9));
         },
         "[pad] expected a mode of PadMode, got 9"},
        {[&] { u8.softmax(); }, "[softmax] expected a float dtype, got u8; use astype"},
        {[&] {
           zeros({0, 3}, DType::kI32, context).max(0);
         },
         "[max] expected at least one integer to reduce, got none"},
        {[&] {
           ones({5}, DType::kF32, context).slice({Slice{1, 3, -1}});
         },
         "[slice] expected a range that goes down, as its step does, on axis 0, got 1:3:-1"},
        {[&] { f.sum(4294967295U); }, "[axes] expected an axis below 2^31, got 4294967295"},
        {[&] { histogram(f, 2, -1e308, 1e308); },
         "[histogram] expected edges that differ and are finite in f32"},
        {[&] { einsum("\u00e9j", {f}); }, "[einsum] expected letters"},
        {[&] { ones(std::vector<int64_t>(16, 1), DType::kF32, context).repeat(2, 0); },
         "[repeat] expected a rank of at most 15, got 16"},
        {[&] { ones(std::vector<int64_t>(16, 1), DType::kF32, context).cumsum(0); },
         "[cumsum] expected a rank of at most 15, got 16"},
        {[&] {
           const Tensor x = ones(std::vector<int64_t>(16, 1), DType::kF32, context);
           x.matmul(x);
         },
         "[matmul] expected a rank of at most 15, got 16"},
        {[&] {
           const Tensor x = ones(std::vector<int64_t>(10, 1), DType::kF32, context);
           kron(x, x);
         },
         "[kron] expected ranks of at most 8, got 10"},
    };
    for (const auto& [call, words] : wrong) {
      CAPTURE(words);
      refuses(call, words);
    }
  });
}

TEST_CASE("numbers beside tensors, lists of one, and integers of another name") {
  on_each_device([](Context& context) {
    const Tensor ints = tensor<int32_t>({1, 2}, context);
    CHECK(ints.lerp(10, 0.5).dtype() == DType::kF32);
    CHECK(ints.lerp(ints + 9, 0.5).to_vector<float>() == std::vector<float>{5.5, 6.5});
    CHECK(tensor<int8_t>({1}, context).lerp(2.5, 1.0).dtype() == DType::kF32);
    const Tensor x = tensor({{1.0F, 2.0F}, {3.0F, 5.0F}}, context);
    CHECK(x.quantile({0.5}).shape() == std::vector<int64_t>{1});
    CHECK(x.quantile(0.5).rank() == 0);
    CHECK(x.quantile(std::vector{0.5, 1.0}).shape() == std::vector<int64_t>{2});
    CHECK(tensor({1LL, 2LL}, context).dtype() == DType::kI64);
    CHECK(tensor({1ULL}, context).dtype() == DType::kU64);
    CHECK(tensor({1L}, context).item<long long>() == 1);
    STATIC_CHECK(!std::is_copy_constructible_v<Literal>);
  });
}

TEST_CASE("brackets read, and operators assign") {
  on_each_device([](Context& context) {
    const Tensor x = arange(12, DType::kI32, context).reshape({3, 4});
    CHECK(x[1].to_vector<int32_t>() == std::vector<int32_t>{4, 5, 6, 7});
    CHECK(x[{1, 2}].item<int32_t>() == 6);
    CHECK(x[{-1, Slice{1, {}, 2}}].to_vector<int32_t>() == std::vector<int32_t>{9, 11});
    CHECK(x[{ellipsis, 0}].to_vector<int32_t>() == std::vector<int32_t>{0, 4, 8});
    CHECK(x[Slice{1, 2}].shape() == std::vector<int64_t>{1, 4});
    CHECK(x[x > 9].to_vector<int32_t>() == std::vector<int32_t>{10, 11});
    CHECK(x[tensor({2, 0}, context)].shape() == std::vector<int64_t>{2, 4});
    refuses([&] { x[3]; }, "[get] expected an index in [-3, 3) on axis 0, got 3");
    STATIC_CHECK(!std::is_assignable_v<Tensor, Tensor>);  // x[0] = y would change nothing
    STATIC_CHECK(std::is_assignable_v<Tensor&, Tensor>);

    Tensor a = tensor({6.0F, 8.0F}, context);
    const Tensor before = a;
    a += 2;
    a *= tensor({2.0F}, context);
    a -= 1;
    a /= 3;
    CHECK(a.to_vector<float>() == std::vector<float>{5, 19.0F / 3});
    CHECK(before.to_vector<float>() == std::vector<float>{6, 8});
    Tensor n = tensor<int32_t>({5, 6}, context);
    n %= 4;
    n <<= 3;
    n >>= 1;
    n |= 1;
    n &= 13;
    n ^= 2;
    CHECK(n.to_vector<int32_t>() == std::vector<int32_t>{7, 11});
    refuses([&] { n += 0.5; },
            "[add] expected a result of i32[2], as it is assigned to, got f32[2]");
    refuses(
        [&] {
          a += ones({3, 2}, DType::kF32, context);
        },
        "[add] expected a result of f32[2], as it is assigned to, got f32[3, 2]");
    CHECK(n.to_vector<int32_t>() == std::vector<int32_t>{7, 11});
    Tensor sum = 0.0;
    sum += a;
    CHECK(sum.shape() == std::vector<int64_t>{2});
  });
}

}  // namespace tenon::test
