// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tenon/formats/idx.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <random>

#include "tenon/error.hpp"
#include "tests/formats/files.hpp"

using namespace tenon;
using namespace tenon::formats;
using namespace tenon::test;
using Catch::Matchers::ContainsSubstring;

namespace {

Array read_idx_bytes(const Folder& folder, const std::string& bytes) {
  return read_idx(folder.put("x.idx", bytes));
}

}  // namespace

TEST_CASE("an IDX file is read, compressed or not") {
  const Folder folder;
  const Array array = read_idx(stored("u8.idx.gz"));
  CHECK(array.dtype == DType::kU8);
  CHECK(array.shape == std::vector<int64_t>{2, 3, 4});
  for (int64_t i = 0; i < 24; ++i) CHECK(array.at(i).as_int() == i);

  const Array words = read_idx_bytes(folder, std::string("\0\0\x0b\1\0\0\0\2\1\2\xff\xfe", 12));
  CHECK(words.dtype == DType::kI16);
  CHECK(words.at(0).as_int() == 258);
  CHECK(words.at(1).as_int() == -2);
  const Array floats = read_idx_bytes(folder, std::string("\0\0\x0d\1\0\0\0\1\x3f\xc0\0\0", 12));
  CHECK(floats.at(0).as_double() == 1.5);
  CHECK(read_idx_bytes(folder, std::string("\0\0\x08\0\7", 5)).shape.empty());
  CHECK(read_idx_bytes(folder, std::string("\0\0\x08\2\0\0\0\0\0\0\0\5", 12)).shape ==
        std::vector<int64_t>{0, 5});
}

TEST_CASE("an IDX file that lies is refused") {
  const Folder folder;
  const auto refuses = [&](const std::string& bytes, const char* why) {
    CHECK_THROWS_WITH(read_idx_bytes(folder, bytes), ContainsSubstring(why));
  };
  refuses("", "byte 0");
  refuses("text", "byte 0");
  refuses(std::string("\0\0\x0a\1", 4), "byte 2: expected the code of a dtype");
  refuses(std::string("\0\0\x08\xff", 4), "byte 3: expected at most 16 axes, got 255");
  refuses(std::string("\0\0\x08\2\0\0\0\1", 8), "expected 2 sizes, got the end");
  refuses(std::string("\0\0\x08\1\0\0\0\3ab", 10), "expected 3 bytes of u8 [3], got 2");
  refuses(std::string("\0\0\x08\1\0\0\0\3abcd", 12), "expected 3 bytes of u8 [3], got more");
  refuses(std::string("\0\0\x0e\2\xff\xff\xff\xff\xff\xff\xff\xff", 12), "cannot hold them");
  refuses(std::string("\0\0\x0e\1\xff\xff\xff\xff", 8), "cannot hold them");
  CHECK_THROWS_AS(read_idx(folder / "none"), Error);
  CHECK_THROWS_WITH(read_idx("/dev/zero"), ContainsSubstring("regular file"));
}

TEST_CASE("what follows a gzip member is another one, or refused") {
  const Folder folder;
  const std::string good = bytes_of(stored("u8.idx.gz"));
  for (const std::string& rest :
       {std::string("x"), std::string(100, '\0'), std::string("\x1f\x8b")})
    CHECK_THROWS_WITH(read_idx_bytes(folder, good + rest), ContainsSubstring("gzip data, got: "));
  CHECK_THROWS_WITH(read_idx_bytes(folder, good + good), ContainsSubstring("got more"));
}

TEST_CASE("a compressed file with any byte changed or cut off is read or refused") {
  const Folder folder;
  const std::string good = bytes_of(stored("u8.idx.gz"));
  for (size_t size = 2; size < good.size(); ++size)
    CHECK_THROWS_AS(read_idx_bytes(folder, good.substr(0, size)), Error);
  std::mt19937 random(7);
  for (int round = 0; round < 1000; ++round) {
    std::string bytes = good;
    bytes[random() % bytes.size()] = static_cast<char>(random());
    try {
      read_idx_bytes(folder, bytes);
    } catch (const Error& error) {
      CHECK(error.kind() == ErrorKind::kInvalid);
    }
  }
}
