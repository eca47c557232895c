// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Arrays of others through the C API. Not in the frozen header, so not with its tests.
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include "tenon/tenon.h"
#include "tests/tensor/dlpack_array.hpp"

using Catch::Matchers::ContainsSubstring;

namespace {

using tenon::test::Foreign;
using tenon::test::ForeignArray;
using tenon::test::taken;

tenon_context* cpu_context() {
  tenon_context_options options{};
  options.size = sizeof options;
  options.devices = "cpu";
  tenon_context* out = nullptr;
  REQUIRE(tenon_context_create(&options, &out) == TENON_OK);
  return out;
}

constexpr const char* kTwice = R"(
graph twice(%x: f32[n]) where 1 <= n <= 100000 {
  %y = add %x, %x
  return %y
}
)";

}  // namespace

TEST_CASE("an array goes through C without a copy, there and back") {
  Foreign array(4, {4});
  tenon_context* const context = cpu_context();
  tenon_tensor* x = nullptr;
  REQUIRE(tenon_tensor_from_dlpack(context, array.get(), TENON_COPY_NEVER, &x) == TENON_OK);
  {
    DLManagedTensorVersioned* out = nullptr;
    REQUIRE(tenon_tensor_to_dlpack(x, TENON_COPY_NEVER, &out) == TENON_OK);
    const auto again = taken(out);
    CHECK(again.data<float>() == array.memory.data());
    tenon_context_destroy(context);
    tenon_tensor_destroy(x);
    CHECK(array.released == 0);
  }
  CHECK(array.released == 1);
}

TEST_CASE("arrays of DLPack 0.x, and copies, go through C") {
  ForeignArray<float, tenon::dlpack::Unversioned> array(4, {4});
  tenon_context* const context = cpu_context();
  tenon_tensor* x = nullptr;
  REQUIRE(tenon_tensor_from_unversioned_dlpack(context, array.get(), TENON_COPY_ALWAYS, &x) ==
          TENON_OK);
  CHECK(array.released == 1);
  DLManagedTensor* old = nullptr;
  DLManagedTensorVersioned* copy = nullptr;
  REQUIRE(tenon_tensor_to_unversioned_dlpack(x, &old) == TENON_OK);
  REQUIRE(tenon_tensor_to_dlpack(x, TENON_COPY_ALWAYS, &copy) == TENON_OK);
  tenon_tensor_destroy(x);
  tenon_context_destroy(context);
  const auto one = taken(old);
  const auto other = taken(copy);
  CHECK(one.data<float>()[3] == 3);
  CHECK(other.data<float>()[3] == 3);
  CHECK(one.data<float>() != other.data<float>());
}

TEST_CASE("C says what it expected of an array, which stays the caller's") {
  Foreign array(4, {2}, {3});
  tenon_context* const context = cpu_context();
  tenon_tensor* x = nullptr;
  CHECK(tenon_tensor_from_dlpack(context, array.get(), TENON_COPY_NEVER, &x) ==
        TENON_ERROR_UNSUPPORTED);
  CHECK_THAT(tenon_last_error(), ContainsSubstring("gaps between its elements"));
  CHECK(tenon_tensor_from_dlpack(context, array.get(), 3, &x) == TENON_ERROR_INVALID);
  CHECK_THAT(tenon_last_error(),
             ContainsSubstring("[tenon_tensor_from_dlpack] expected a copy of 0 to 2, got 3"));
  CHECK(tenon_tensor_from_dlpack(context, nullptr, 0, &x) == TENON_ERROR_INVALID);
  CHECK(tenon_tensor_from_dlpack(nullptr, array.get(), 0, &x) == TENON_ERROR_INVALID);
  CHECK(tenon_tensor_from_dlpack(context, array.get(), 0, nullptr) == TENON_ERROR_INVALID);
  CHECK(tenon_tensor_to_dlpack(nullptr, 0, nullptr) == TENON_ERROR_INVALID);
  CHECK(tenon_tensor_to_unversioned_dlpack(nullptr, nullptr) == TENON_ERROR_INVALID);
  CHECK(x == nullptr);
  CHECK(array.released == 0);
  tenon_context_destroy(context);
}

TEST_CASE("a run in C neither donates an array of another nor one that another reads") {
  Foreign array(1 << 15, {1 << 15});
  const std::vector<float> before = array.memory;
  tenon_context* const context = cpu_context();
  tenon_graph* twice = nullptr;
  REQUIRE(tenon_graph_parse(context, kTwice, "twice.tn", &twice) == TENON_OK);
  const auto refuses = [&](tenon_tensor* x) {
    const uint8_t donated = 1;
    tenon_run_options options{};
    options.size = sizeof options;
    options.donated = &donated;
    tenon_tensor* y = nullptr;
    CHECK(tenon_graph_run(twice, &x, 1, &options, &y, 1) == TENON_ERROR_INVALID);
    CHECK_THAT(tenon_last_error(), ContainsSubstring("expected a donated input that nothing else"));
  };
  tenon_tensor* x = nullptr;
  REQUIRE(tenon_tensor_from_dlpack(context, array.get(), TENON_COPY_NEVER, &x) == TENON_OK);
  refuses(x);
  tenon_tensor_destroy(x);
  CHECK(array.memory == before);
  REQUIRE(tenon_tensor_create(context, TENON_F32, 1, array.shape.data(), before.data(),
                              uint64_t{4} << 15, &x) == TENON_OK);
  DLManagedTensorVersioned* out = nullptr;
  REQUIRE(tenon_tensor_to_dlpack(x, TENON_COPY_NEVER, &out) == TENON_OK);
  {
    const auto reader = taken(out);
    refuses(x);
    CHECK(reader.data<float>()[9] == 9);
  }
  tenon_tensor_destroy(x);
  tenon_graph_destroy(twice);
  tenon_context_destroy(context);
}
