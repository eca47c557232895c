// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Arrays of others as tensors, and tensors as arrays.
#include "tenon/dlpack.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cstring>
#include <filesystem>

#include "tenon/tenon.hpp"
#include "tests/tensor/devices.hpp"
#include "tests/tensor/dlpack_array.hpp"

using namespace tenon;
using namespace tenon::test;
using Catch::Matchers::ContainsSubstring;

TEST_CASE("an array of the host is a tensor without a copy") {
  on_each_sharing([](Context& context) {
    Foreign array(12, {3, 4});
    {
      const Tensor x = from_dlpack(array.get(), context, Copying::kNever);
      CHECK(x.shape() == std::vector<int64_t>{3, 4});
      array.memory[5] = 100;  // not yet read
      CHECK((x + 1).to_vector<float>()[5] == 101);
      CHECK(array.released == 0);
    }
    CHECK(array.released == 1);
  });
}

TEST_CASE("any offset within a page, and axes in any order, are taken without a copy") {
  on_each_sharing([](Context& context) {
    for (const uint64_t offset : {4, 12, 60}) {
      Foreign array(100, {5, 7}, {1, 5});
      array.managed.tensor.byte_offset = offset;
      const Tensor x = from_dlpack(array.get(), context, Copying::kNever);
      const auto first = static_cast<float>(offset / 4);
      const std::vector<float> values = (x * 1).to_vector<float>();
      CHECK(values[0] == first);
      CHECK(values[1] == first + 5);
      CHECK(values[7] == first + 1);
      CHECK(x.sum().item<float>() == 35 * first + 34 * 35 / 2);
    }
  });
}

TEST_CASE("an array with gaps, or broadcast, or backwards is copied") {
  on_each_device([](Context& context) {
    Foreign gaps(40, {3, 2}, {10, 3});
    CHECK_THROWS_WITH(from_dlpack(gaps.get(), context, Copying::kNever),
                      ContainsSubstring("gaps between its elements"));
    CHECK(gaps.released == 0);
    const Tensor x = from_dlpack(gaps.get(), context);
    CHECK(gaps.released == 1);
    CHECK(x.to_vector<float>() == std::vector<float>{0, 3, 10, 13, 20, 23});
    Foreign same(4, {2, 3}, {0, 1});
    CHECK(from_dlpack(same.get(), context).to_vector<float>() ==
          std::vector<float>{0, 1, 2, 0, 1, 2});
    Foreign back(8, {3}, {-2});
    back.managed.tensor.byte_offset = 16;
    CHECK(from_dlpack(back.get(), context).to_vector<float>() == std::vector<float>{4, 2, 0});
    Foreign copied(4, {4});
    const Tensor y = from_dlpack(copied.get(), context, Copying::kAlways);
    CHECK(copied.released == 1);
    copied.memory[0] = 9;
    CHECK(y.to_vector<float>() == std::vector<float>{0, 1, 2, 3});
    Foreign none(4, {0, 3});
    CHECK(from_dlpack(none.get(), context).shape() == std::vector<int64_t>{0, 3});
    CHECK(none.released == 1);
    Foreign one(1, {});
    CHECK(from_dlpack(one.get(), context).item<float>() == 0);
  });
}

TEST_CASE("what is no array of the host is refused, and stays the caller's") {
  on_each_device([](Context& context) {
    const auto refused = [&](const auto& change, const char* words) {
      Foreign array(12, {3, 4});
      change(array.managed);
      CHECK_THROWS_WITH(from_dlpack(array.get(), context), ContainsSubstring(words));
      CHECK(array.released == 0);
    };
    refused([](auto& m) { m.major = 2; }, "expected DLPack 1, got 2.0");
    refused([](auto& m) { m.tensor.device_type = 2; }, "got that of cuda");
    refused([](auto& m) { m.tensor.device_type = 77; }, "got that of device type 77");
    refused([](auto& m) { m.tensor.dtype.lanes = 4; }, "32 bits and 4 lanes");
    refused([](auto& m) { m.tensor.dtype = {dlpack::kComplex, 64, 1}; }, "type code 5");
    refused([](auto& m) { m.tensor.ndim = -1; }, "a rank of 0 to 16, got -1");
    refused([](auto& m) { m.tensor.shape = nullptr; }, "expected a shape");
    refused([](auto& m) { m.tensor.ndim = 17; }, "a rank of 0 to 16, got 17");
    refused([](auto& m) { m.tensor.shape[0] = m.tensor.shape[1] = int64_t{1} << 31; },
            "fewer than 2^63 bytes");
    refused([](auto& m) { m.tensor.shape[0] = -3; }, "-3");
    refused([](auto& m) { m.tensor.data = nullptr; }, "got null for 12 elements");
    CHECK_THROWS_WITH(from_dlpack(static_cast<DLManagedTensor*>(nullptr), context),
                      ContainsSubstring("got null"));
  });
}

TEST_CASE("imported memory is never written over") {
  on_each_sharing([](Context& context) {
    Foreign array(1 << 16, {1 << 16});
    const std::vector<float> before = array.memory;
    Tensor x = from_dlpack(array.get(), context, Copying::kNever);
    const auto twice = compile([](const Tensor& t) { return t * 2; }, {.donate = {0}});
    CHECK_THROWS_WITH(twice(x), ContainsSubstring("expected a donated input that nothing else"));
    x = x + 1;  // nobody else holds what x was
    realize({x});
    CHECK(x.to_vector<float>()[7] == 8);
    CHECK(array.memory == before);
  });
}

TEST_CASE("a tensor is an array that is only read, for as long as that is there") {
  on_each_sharing([](Context& context) {
    DLManagedTensorVersioned* array = nullptr;
    {
      const Tensor x = arange(24, DType::kI32, context).reshape({2, 3, 4}) * 2;
      array = to_dlpack(x, Copying::kNever);
      const auto twice = compile([](const Tensor& t) { return t * 2; }, {.donate = {0}});
      CHECK_THROWS_WITH(twice(x), ContainsSubstring("expected a donated input that nothing else"));
    }
    for (int i = 0; i < 4; ++i) realize({full({24}, 7, DType::kI32, context)});
    const auto& managed = *reinterpret_cast<dlpack::Managed*>(array);
    CHECK(managed.flags == dlpack::kReadOnly);
    CHECK(managed.tensor.ndim == 3);
    CHECK(managed.tensor.strides[0] == 12);
    const auto* const values = static_cast<const int32_t*>(managed.tensor.data);
    for (int i = 0; i < 24; ++i) CHECK(values[i] == 2 * i);
    const Tensor back = from_dlpack(array, context, Copying::kNever);  // it owns the array now
    CHECK(back.to_vector<int32_t>()[23] == 46);
  });
}

TEST_CASE("what is computed in place leaves an array of the tensor as it was") {
  on_each_sharing([](Context& context) {
    const std::vector<float> numbers(1 << 16, 3);
    Tensor x = tensor<float>(std::span<const float>(numbers), {1 << 16}, context);
    const auto array = taken(to_dlpack(x, Copying::kNever));
    x = x + 1;
    realize({x});
    x = x * 2;
    realize({x});
    CHECK(x.to_vector<float>()[5] == 8);
    CHECK(std::equal(numbers.begin(), numbers.end(), array.data<float>()));
  });
}

TEST_CASE("a copy of a tensor may be written") {
  on_each_device([](Context& context) {
    const Tensor x = arange(6, DType::kF32, context).reshape({2, 3});
    const auto array = taken(to_dlpack(x, Copying::kAlways));
    CHECK(array.managed->flags == dlpack::kIsCopied);
    CHECK(array.managed->tensor.shape[1] == 3);
    CHECK(array.data<float>()[5] == 5);
    array.data<float>()[5] = 50;
    CHECK(x.to_vector<float>()[5] == 5);
    const auto old = taken(to_unversioned_dlpack(x));
    CHECK(old.managed->tensor.ndim == 2);
    CHECK(old.data<float>()[4] == 4);
    old.data<float>()[4] = 40;
    CHECK(x.to_vector<float>()[4] == 4);
    const auto none = taken(to_dlpack(zeros({0, 3}, DType::kF32, context), Copying::kAlways));
    CHECK(none.managed->flags == dlpack::kIsCopied);
    CHECK(none.managed->tensor.shape[0] == 0);
  });
}

TEST_CASE("memory that the host does not see is copied to an array") {
  ContextOptions options = cpu_and_null();
  options.plugins.push_back(TENON_BINARY_DIR "/lib/tenon/libtenon_disk.so");
  if (!std::filesystem::exists(options.plugins.back())) SKIP("not built");
  const std::filesystem::path file =
      std::filesystem::temp_directory_path() / fmt::format("tenon_dlpack_{}", getpid());
  const std::string disk = "disk:" + file.string();
  options.devices = "cpu," + disk + "@create";
  {
    Context context(options);
    const Tensor x = arange(5, DType::kI32, context).to(disk);
    realize({x});
    CHECK_THROWS_WITH(to_dlpack(x, Copying::kNever), ContainsSubstring("got one on " + disk));
    const auto array = taken(to_dlpack(x));
    CHECK(array.managed->flags == dlpack::kIsCopied);
    CHECK(array.data<int32_t>()[4] == 4);
  }
  std::filesystem::remove(file);
}

TEST_CASE("arrays of DLPack 0.x are taken as those of 1.x") {
  on_each_sharing([](Context& context) {
    ForeignArray<float, dlpack::Unversioned> array(12, {3, 4}, {1, 3});
    {
      const Tensor x = from_dlpack(array.get(), context, Copying::kNever);
      CHECK((x * 1).to_vector<float>()[1] == 3);
      CHECK(array.released == 0);
    }
    CHECK(array.released == 1);
    ForeignArray<float, dlpack::Unversioned> bad(12, {3, 4});
    bad.managed.tensor.device_type = 10;
    CHECK_THROWS_WITH(from_dlpack(bad.get(), context), ContainsSubstring("got that of rocm"));
    CHECK(bad.released == 0);
  });
}

TEST_CASE("arrays of every dtype come and go") {
  on_each_device([](Context& context) {
    for (const DType dtype : all_dtypes()) {
      if (dtype == DType::kVoid) continue;
      INFO(dtype_name(dtype));
      const Tensor x = (arange(5, DType::kI32, context) % 2).astype(dtype);
      DLManagedTensorVersioned* const array = to_dlpack(x);
      const Tensor back = from_dlpack(array, context);
      CHECK(back.dtype() == dtype);
      CHECK(back.to_array().bytes == x.to_array().bytes);
    }
    const auto one = taken(to_dlpack(full({}, 7, DType::kI64, context)));
    CHECK(one.managed->tensor.ndim == 0);
    CHECK(*one.data<int64_t>() == 7);
  });
  const auto number = taken(to_unversioned_dlpack(Tensor(2.5)));
  CHECK(number.managed->tensor.ndim == 0);
}

TEST_CASE("bools of an array are 0 and 1") {
  on_each_sharing([](Context& context) {
    ForeignArray<uint8_t> array(4, {4});
    array.managed.tensor.dtype = {dlpack::kBool, 8, 1};
    for (const Copying copying : {Copying::kAllowed, Copying::kNever, Copying::kAlways})
      CHECK_THROWS_WITH(from_dlpack(array.get(), context, copying),
                        "[from_dlpack] expected bools as bytes of 0 or 1, got 2 at 2");
    CHECK(array.released == 0);
    array.memory[2] = 1, array.memory[3] = 0;
    CHECK(from_dlpack(array.get(), context, Copying::kNever).to_vector<bool>() ==
          std::vector<bool>{false, true, true, false});
  });
}

TEST_CASE("an array that may only be read is shared, one of odd bytes is copied") {
  on_each_sharing([](Context& context) {
    Foreign array(8, {8});
    array.managed.flags = dlpack::kReadOnly;
    array.managed.minor = 9;
    CHECK((from_dlpack(array.get(), context, Copying::kNever) + 1).to_vector<float>()[7] == 8);
    Foreign odd(8, {4});
    auto* const bytes = reinterpret_cast<char*>(odd.memory.data());
    std::memmove(bytes + 1, bytes, 16);
    odd.managed.tensor.byte_offset = 1;
    CHECK_THROWS_WITH(from_dlpack(odd.get(), context, Copying::kNever),
                      ContainsSubstring("one that it does not import"));
    CHECK(from_dlpack(odd.get(), context).to_vector<float>() == std::vector<float>{0, 1, 2, 3});
    CHECK(odd.released == 1);
  });
}

TEST_CASE("a device that binds whole words copies narrow elements") {
  ContextOptions options;
  options.plugins = {TENON_BINARY_DIR "/test-plugins/limited/libtenon_limited_webgpu.so"};
  if (!std::filesystem::exists(options.plugins[0])) SKIP("not built");
  options.devices = "limited_webgpu";
  options.use_environment = false;
  options.disk_cache = false;
  Context context(options);
  alignas(4096) static float page[1024] = {};
  ForeignArray<uint8_t> narrow(8, {3});
  narrow.managed.tensor.dtype = {dlpack::kUInt, 8, 1};
  narrow.managed.tensor.data = page;
  CHECK_THROWS_WITH(from_dlpack(narrow.get(), context, Copying::kNever),
                    ContainsSubstring("one that it does not import"));
  CHECK((from_dlpack(narrow.get(), context) + 1).to_vector<uint8_t>() ==
        std::vector<uint8_t>{1, 1, 1});
  Foreign whole(8, {3});
  whole.managed.tensor.data = page;
  CHECK((from_dlpack(whole.get(), context, Copying::kNever) + 1).to_vector<float>() ==
        std::vector<float>{1, 1, 1});
  whole.managed.tensor.byte_offset = 4;  // its read_alignment is its alignment
  CHECK_THROWS_WITH(from_dlpack(whole.get(), context, Copying::kNever),
                    ContainsSubstring("one that it does not import"));
}
