// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// .npy files: round trips, refusals with the byte, and mutated files that must never crash.
#include "tenon/npy.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>

#include "core/support/error.hpp"
#include "tests/runtime/support.hpp"

using namespace tenon;

namespace {

std::filesystem::path temporary(const std::string& name) {
  static const test::TempFolder folder;
  return folder.path / name;
}

std::string bytes_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

Array parse(const std::string& bytes, std::optional<DType> as = std::nullopt) {
  return parse_npy(std::as_bytes(std::span(bytes)), "x.npy", as);
}

Array sample(DType dtype, std::vector<int64_t> shape) {
  Array array = Array::zeros(dtype, std::move(shape));
  for (int64_t i = 0; i < array.count(); ++i) array.set(i, Scalar::of_int(dtype, i % 2));
  return array;
}

}  // namespace

TEST_CASE("every dtype and shape comes back from a .npy file") {
  const std::vector<std::vector<int64_t>> shapes = {{},     {0},       {1},         {3},
                                                    {2, 3}, {2, 0, 5}, {1, 2, 3, 4}};
  for (const DType dtype : all_dtypes()) {
    for (const auto& shape : shapes) {
      const Array array = sample(dtype, shape);
      write_npy(temporary("x.npy"), array);
      const Array back = read_npy(temporary("x.npy"), dtype);
      CHECK(back.dtype == array.dtype);
      CHECK(back.shape == array.shape);
      CHECK(back.bytes == array.bytes);
    }
  }
}

TEST_CASE("the header is the one that NumPy writes") {
  write_npy(temporary("x.npy"), sample(DType::kF32, {2, 3}));
  const std::string bytes = bytes_of(temporary("x.npy"));
  CHECK(bytes.substr(10, 60) == "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), } ");
  CHECK((bytes.size() - 24) % 64 == 0);
}

TEST_CASE("files in Fortran's order and big-endian ones are read") {
  const std::vector<int64_t> shape{2, 3, 4};
  for (const DType dtype : {DType::kF32, DType::kI16, DType::kU64, DType::kU8, DType::kBool}) {
    Array fortran = Array::zeros(dtype, shape), array = sample(dtype, shape);
    for (int64_t i = 0; i < 2; ++i)
      for (int64_t j = 0; j < 3; ++j)
        for (int64_t k = 0; k < 4; ++k)
          fortran.set(i + 2 * (j + 3 * k), array.at((i * 3 + j) * 4 + k));
    std::string bytes = print_npy(fortran);
    bytes.replace(bytes.find("False"), 5, "True ");
    CHECK(parse(bytes).bytes == array.bytes);
    if (dtype_size(dtype) == 1) continue;
    bytes[bytes.find('<')] = '>';
    const size_t data = bytes.size() - array.bytes.size();
    for (size_t at = data; at < bytes.size(); at += dtype_size(dtype))
      std::reverse(bytes.begin() + static_cast<std::ptrdiff_t>(at),
                   bytes.begin() + static_cast<std::ptrdiff_t>(at + dtype_size(dtype)));
    CHECK(parse(bytes).bytes == array.bytes);
  }
  // numpy.save of numpy.array([[1, 2, 3], [4, 5, 6]], 'f4').T
  std::string saved = print_npy(Array::zeros(DType::kF32, {3, 2}));
  saved.replace(saved.find("False"), 5, "True ");
  for (int i = 0; i < 6; ++i) {
    const float value = static_cast<float>(i + 1);
    std::memcpy(saved.data() + saved.size() - 24 + 4 * i, &value, 4);
  }
  const Array array = parse(saved);
  CHECK(array.shape == std::vector<int64_t>{3, 2});
  for (int64_t i = 0; i < 6; ++i) CHECK(array.at(i).as_double() == (i % 2) * 3 + i / 2 + 1);
}

TEST_CASE("a malformed file is refused with the byte") {
  using Catch::Matchers::ContainsSubstring;
  write_npy(temporary("x.npy"), sample(DType::kI32, {4}));
  const std::string good = bytes_of(temporary("x.npy"));
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string text = good;
    return text.replace(text.find(from), from.size(), to);
  };
  CHECK_THROWS_WITH(parse("hello"), ContainsSubstring("byte 0"));
  CHECK_THROWS_WITH(parse(good.substr(0, 8)), ContainsSubstring("byte 8"));
  CHECK_THROWS_WITH(parse(good.substr(0, 20)), ContainsSubstring("expected a header of"));
  CHECK_THROWS_WITH(parse(good.substr(0, good.size() - 1)), ContainsSubstring("expected 16 bytes"));
  CHECK_THROWS_WITH(parse(good + "x"), ContainsSubstring("got 17"));
  CHECK_THROWS_WITH(parse(with("<i4", ">V4")), ContainsSubstring("'>V4'"));
  CHECK_THROWS_WITH(parse(with("<i4", ">i1")), ContainsSubstring("'>i1'"));
  CHECK_THROWS_WITH(parse(with("False", "Truly")), ContainsSubstring("fortran_order"));
  CHECK_THROWS_WITH(parse(with("(4,)", "(-4)")), ContainsSubstring("expected a size"));
  CHECK_THROWS_WITH(parse(with("descr", "dascr")), ContainsSubstring("dascr"));
  CHECK_THROWS_AS(read_npy(temporary("missing.npy")), Error);
}

TEST_CASE("a failed write leaves the old file as it was") {
  const auto folder = temporary("no-such-folder") / "x.npy";
  CHECK_THROWS_AS(write_npy(folder, sample(DType::kI32, {4})), Error);
  CHECK_FALSE(std::filesystem::exists(folder));
}

TEST_CASE("mutated files are read or refused, never worse") {
  write_npy(temporary("x.npy"), sample(DType::kF32, {2, 3}));
  const std::string good = bytes_of(temporary("x.npy"));
  const char* wanted = std::getenv("TENON_MUTATIONS");
  const int count = wanted != nullptr ? std::atoi(wanted) : 20000;
  std::mt19937 random(7);
  int refused = 0;
  for (int i = 0; i < count; ++i) {
    std::string bytes = good;
    for (unsigned edits = 1 + random() % 4; edits > 0 && !bytes.empty(); --edits) {
      const size_t at = random() % bytes.size();
      switch (random() % 4) {
        case 0:
          bytes[at] = static_cast<char>(random());
          break;
        case 1:
          bytes.erase(at, 1 + random() % 8);
          break;
        case 2:
          bytes.insert(at, 1 + random() % 4, "(){}',9"[random() % 7]);
          break;
        default:
          bytes.resize(at + 1);
      }
    }
    try {
      const Array array = parse(bytes);
      CHECK(array.bytes.size() == static_cast<size_t>(array.count()) * dtype_size(array.dtype));
    } catch (const Error& error) {
      CHECK(error.kind() == ErrorKind::kInvalid);
      ++refused;
    }
  }
  CHECK(refused > count / 4);
}
