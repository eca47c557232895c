// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The files of the format's own library come back byte for byte; files that lie are refused.
#include "tenon/formats/safetensors.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cstring>
#include <random>

#include "tenon/error.hpp"
#include "tenon/make.hpp"
#include "tests/formats/files.hpp"
#include "tests/tensor/devices.hpp"

using namespace tenon;
using namespace tenon::formats;
using namespace tenon::test;
using Catch::Matchers::ContainsSubstring;

namespace {

NamedArrays arrays_of(const SafetensorsFile& file) {
  NamedArrays arrays;
  for (const TensorInfo& tensor : file.tensors())
    arrays.emplace_back(tensor.name, file.read(tensor.name));
  return arrays;
}

std::string with_header(const std::string& header, size_t data) {
  const uint64_t length = header.size();
  std::string bytes(8, '\0');
  std::memcpy(bytes.data(), &length, 8);
  return bytes + header + std::string(data, '\1');
}

void refused(const Folder& folder, const std::string& header, size_t data,
             const std::string& message) {
  INFO(header);
  const std::string path = folder.put("x.safetensors", with_header(header, data));
  CHECK_THROWS_WITH(SafetensorsFile(path), ContainsSubstring(path) && ContainsSubstring(message));
}

std::string tensor(const std::string& dtype, const std::string& shape, const std::string& offsets) {
  return R"({"dtype":")" + dtype + R"(","shape":)" + shape + R"(,"data_offsets":)" + offsets + "}";
}

Array count_up(DType dtype, std::vector<int64_t> shape) {
  Array array = Array::zeros(dtype, std::move(shape));
  for (int64_t i = 0; i < array.count(); ++i) array.set(i, Scalar::of_int(dtype, i % 2));
  return array;
}

}  // namespace

TEST_CASE("files of the format's own library are read, and written byte for byte") {
  const Folder folder;
  for (const char* name : {"dtypes", "shapes", "names", "nothing"}) {
    INFO(name);
    const std::string path = stored(std::string(name) + ".safetensors");
    const SafetensorsFile file(path);
    write_safetensors(folder / "back", arrays_of(file), file.metadata());
    CHECK(bytes_of(folder / "back") == bytes_of(path));
  }
}

TEST_CASE("what files of the format's own library hold") {
  const SafetensorsFile dtypes(stored("dtypes.safetensors"));
  CHECK(dtypes.tensors().size() == all_dtypes().size());
  CHECK(dtypes.metadata() == Metadata{{"format", "pt"}});
  const Array u32 = dtypes.read("a.uint32");
  CHECK(u32.dtype == DType::kU32);
  CHECK(u32.shape == std::vector<int64_t>{2, 3});
  CHECK(u32.at(5).as_int() == 0x00010001);
  CHECK(dtypes.read("a.bfloat16").at(0) == Scalar{DType::kBF16, 1});
  CHECK(dtypes.read("a.float8_e5m2").dtype == DType::kF8E5M2);
  CHECK(dtypes.read("a.bool").at(1).is_zero());
  CHECK_THROWS_WITH(dtypes.read("b"), ContainsSubstring("expected a tensor 'b'"));

  const SafetensorsFile shapes(stored("shapes.safetensors"));
  CHECK(shapes.find("scalar")->shape.empty());
  CHECK(shapes.find("empty")->shape == std::vector<int64_t>{2, 0, 5});
  CHECK(shapes.find("other") == nullptr);
  CHECK(SafetensorsFile(stored("names.safetensors")).find("größe.量") != nullptr);
}

TEST_CASE("tensors come back in their order, each aligned to its element") {
  const Folder folder;
  NamedArrays arrays;
  for (const DType dtype : all_dtypes())
    for (const std::vector<int64_t>& shape :
         std::vector<std::vector<int64_t>>{{}, {0}, {3}, {5, 1}})
      arrays.emplace_back("t" + std::to_string(arrays.size()), count_up(dtype, shape));
  write_safetensors(folder / "x", arrays, {{"step", "7"}});
  const SafetensorsFile file(folder / "x");
  CHECK(arrays_of(file) == arrays);
  CHECK(file.metadata().at("step") == "7");
  const std::string bytes = bytes_of(folder / "x");
  uint64_t header = 0;
  std::memcpy(&header, bytes.data(), 8);
  CHECK(header % 8 == 0);
  for (const TensorInfo& tensor : file.tensors())
    CHECK(tensor.begin % dtype_size(tensor.dtype) == 0);
}

TEST_CASE("lazy tensors are computed, saved and loaded") {
  const Folder folder;
  on_each_device([&](Context& context) {
    const Tensor x = arange(6, DType::kF32, context).reshape({2, 3});
    write_safetensors(folder / "x", NamedTensors{{"x", x * 2}, {"sum", x.sum()}}, {{"a", "b"}});
    const Safetensors back = read_safetensors(folder / "x", context);
    REQUIRE(back.tensors.size() == 2);
    CHECK(back.tensors[0].first == "x");
    CHECK(back.tensors[0].second.to_vector<float>() == std::vector<float>{0, 2, 4, 6, 8, 10});
    CHECK(back.tensors[1].second.item<float>() == 15);
    CHECK(back.metadata == Metadata{{"a", "b"}});
  });
}

TEST_CASE("an open file is the same after another took its name") {
  const Folder folder;
  const NamedArrays old = {{"w", count_up(DType::kF32, {1000})}};
  write_safetensors(folder / "x", old);
  const SafetensorsFile file(folder / "x");
  write_safetensors(folder / "x", NamedArrays{{"w", Array::zeros(DType::kU8, {3})}});
  CHECK(arrays_of(file) == old);
  CHECK(SafetensorsFile(folder / "x").find("w")->dtype == DType::kU8);
}

TEST_CASE("a disk that is full leaves the last good file and nothing else") {
  const Folder folder;
  const NamedArrays good = {{"w", count_up(DType::kF32, {10})}};
  write_safetensors(folder / "x", good);
  const NamedArrays large = {{"w", count_up(DType::kF32, {100'000})}};
  {
    const FullDisk full(5000);
    CHECK_THROWS_WITH(write_safetensors(folder / "x", large), ContainsSubstring(folder / "x"));
    CHECK_THROWS_AS(write_safetensors(folder / "new", large), Error);
  }
  CHECK(arrays_of(SafetensorsFile(folder / "x")) == good);
  CHECK(folder.files() == 1);
  CHECK_THROWS_WITH(write_safetensors("/dev/full", good), ContainsSubstring("No space left"));
}

TEST_CASE("a file that ends while it is read is an error") {
  const Folder folder;
  write_safetensors(folder / "x", NamedArrays{{"w", count_up(DType::kF32, {1000})}});
  const SafetensorsFile file(folder / "x");
  fs::resize_file(folder / "x", 200);
  CHECK_THROWS_WITH(file.read("w"), ContainsSubstring("became shorter"));
}

TEST_CASE("what cannot be written is refused before anything is") {
  const Folder folder;
  const Array one = Array::zeros(DType::kU8, {1});
  const auto refuses = [&](const NamedArrays& arrays, const Metadata& metadata, const char* why) {
    CHECK_THROWS_WITH(write_safetensors(folder / "x", arrays, metadata), ContainsSubstring(why));
  };
  refuses({{"a", one}, {"a", one}}, {}, "each name once");
  refuses({{"__metadata__", one}}, {}, "__metadata__");
  refuses({{"\xff", one}}, {}, "UTF-8");
  refuses({{"a", one}}, {{"k", "\xc0"}}, "UTF-8");
  refuses({{"a", Array{DType::kF32, {2}, {1}}}}, {}, "expected the bytes of f32 [2], got 1");
  refuses({{"a", Array{DType::kVoid, {}, {}}}}, {}, "expected a dtype");
  CHECK(folder.files() == 0);
}

TEST_CASE("a header's length that lies is refused without an allocation") {
  const Folder folder;
  for (const uint64_t length : {uint64_t{9}, uint64_t{1} << 40, UINT64_MAX}) {
    std::string bytes(16, ' ');
    std::memcpy(bytes.data(), &length, 8);
    const std::string path = folder.put("x", bytes);
    CHECK_THROWS_WITH(SafetensorsFile(path), ContainsSubstring("expected a header of at most 8"));
  }
  CHECK_THROWS_WITH(SafetensorsFile(folder.put("x", "short")), ContainsSubstring("got 5"));
  CHECK_THROWS_WITH(SafetensorsFile(folder / "none"), ContainsSubstring("No such file"));
  CHECK_THROWS_WITH(SafetensorsFile("/dev/null"), ContainsSubstring("regular file"));
  CHECK_THROWS_WITH(SafetensorsFile(folder / ""), ContainsSubstring("regular file"));
}

TEST_CASE("a header that is no header is refused with the place") {
  const Folder folder;
  refused(folder, "", 0, "begins with {");
  refused(folder, " {}", 0, "begins with {");
  refused(folder, "[]", 0, "begins with {");
  refused(folder, "{", 0, "byte 9");
  refused(folder, "{}x", 0, "byte 10");
  const std::string whole = R"({"a":)" + tensor("F32", "[1]", "[0,4]") + "}";
  refused(folder, whole + std::string("\0junk!!", 7), 4,
          "byte 62: expected a header of JSON, got 7 bytes from a NUL on");
  refused(folder, whole + std::string(8, '\0'), 4, "got 8 bytes from a NUL on");
  refused(folder, R"({"a":1})", 0, "'a': expected an object, got a number");
  refused(folder, R"({"a":[]})", 0, "'a': expected an object, got an array");
  refused(folder, R"({"a":{}})", 0, "expected the key dtype, got none");
  refused(folder, R"({"a":{"dtype":"U8","shape":[]}})", 0, "expected the key data_offsets");
  refused(folder, R"({"a":{"type":"U8"}})", 0, "expected dtype, shape or data_offsets, got 'type'");
  refused(folder, R"({"a":{"dtype":{}}})", 0, "expected the name of a dtype, got an object");
  refused(folder, R"({"a":{"dtype":8}})", 0, "expected the name of a dtype, got a number");
  refused(folder, R"({"a":{"shape":"U8"}})", 0, "expected an array of sizes, got a string");
  refused(folder, R"({"a":{"shape":[[1]]}})", 0, "expected an array of sizes, got an array");
  refused(folder, R"({"a":{"shape":[null]}})", 0, "got null");
  refused(folder, R"({"a":{"dtype":"U8","dtype":"U8"}})", 0, "each key once");
  refused(folder, "{\"\xff\":1}", 0, "byte");
  refused(folder, std::string(100'000, '{'), 0, "byte");
  refused(folder, R"({"a":{"shape":)" + std::string(100'000, '[') + "}}", 0, "got an array");
  refused(folder, R"({"__metadata__":{"a":1}})", 0, "expected texts, got a number");
  refused(folder, R"({"__metadata__":{"a":{}}})", 0, "got an object");
  refused(folder, R"({"__metadata__":{"a":"b","a":"b"}})", 0, "each key once");
}

TEST_CASE("tensors that lie are refused by name") {
  const Folder folder;
  const auto one = [&](const std::string& value, size_t data, const std::string& message) {
    refused(folder, "{\"w\":" + value + "}", data, "'w': " + message);
  };
  one(tensor("F7", "[1]", "[0,1]"), 1, "expected a dtype that Tenon has, got 'F7'");
  one(tensor("U8", "[-1]", "[0,1]"), 1, "expected numbers of at least 0, got -1");
  one(tensor("U8", "[1.5]", "[0,1]"), 1, "expected whole numbers below 2^64, got 1.5");
  one(tensor("U8", "[1e3]", "[0,1]"), 1, "expected whole numbers");
  one(tensor("U8", "[99999999999999999999]", "[0,1]"), 1, "expected whole numbers");
  one(tensor("U8", "[18446744073709551615]", "[0,1]"), 1, "expected sizes below 2^63");
  one(tensor("F32", "[4294967296,4294967296]", "[0,0]"), 0, "expected too many bytes");
  one(tensor("F32", "[4611686018427387904]", "[0,0]"), 0, "expected too many bytes");
  one(tensor("F32", "[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]", "[0,4]"), 4, "expected at most 16 axes");
  one(tensor("F32", "[2]", "[0,4]"), 4, "expected 8 bytes for [2] of f32, got offsets [0, 4)");
  one(tensor("U8", "[1]", "[-1,0]"), 1, "expected numbers of at least 0, got -1");
  one(tensor("U8", "[1]", "[1,0]"), 1, "expected offsets within the 1 bytes of data, got [1, 0)");
  one(tensor("U8", "[9]", "[0,9]"), 8, "expected offsets within the 8 bytes of data, got [0, 9)");
  one(tensor("U8", "[1]", "[0]"), 1, "expected two data_offsets, got 1");
  one(tensor("U8", "[1]", "[0,1,2]"), 1, "expected two data_offsets, got 3");
  one(tensor("U8", "[1]", "[1,2]"), 2, "expected to begin at 0");
  const auto two = [&](const std::string& a, const std::string& b, size_t data,
                       const std::string& message) {
    refused(folder, "{\"a\":" + tensor("U8", "[2]", a) + ",\"b\":" + tensor("U8", "[2]", b) + "}",
            data, message);
  };
  two("[0,2]", "[1,3]", 3, "'b': expected to begin at 2");
  two("[0,2]", "[0,2]", 2, "'b': expected to begin at 2");
  two("[0,2]", "[3,5]", 5, "'b': expected to begin at 2");
  two("[0,2]", "[2,4]", 5, "expected 4 bytes of data, as the header has them, got 5");
  const std::string u8 = tensor("U8", "[1]", "[0,1]");
  refused(folder, "{\"w\":" + u8 + ",\"w\":" + u8 + "}", 1,
          "expected each name once, got 'w' again");
}

TEST_CASE("a file with any byte changed is read or refused") {
  const Folder folder;
  const std::string good = bytes_of(stored("dtypes.safetensors"));
  std::mt19937 random(7);
  for (int round = 0; round < 3000; ++round) {
    std::string bytes = good;
    for (unsigned changes = 1 + random() % 3; changes-- > 0;)
      bytes[random() % bytes.size()] = static_cast<char>(random());
    if (round % 5 == 0) bytes.resize(random() % bytes.size());
    try {
      arrays_of(SafetensorsFile(folder.put("x", bytes)));
    } catch (const Error& error) {
      CHECK(error.kind() == ErrorKind::kInvalid);
    }
  }
}
