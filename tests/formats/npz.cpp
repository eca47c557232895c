// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tenon/formats/npz.hpp"

#include <unistd.h>

#include <algorithm>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cstring>
#include <random>

#include "tenon/error.hpp"
#include "tenon/make.hpp"
#include "tenon/npy.hpp"
#include "tests/formats/files.hpp"

using namespace tenon;
using namespace tenon::formats;
using namespace tenon::test;
using Catch::Matchers::ContainsSubstring;

namespace {

bool same(const Array& a, const Array& b) {
  return a.dtype == b.dtype && a.shape == b.shape && a.bytes == b.bytes;
}

void check_same(const NamedArrays& a, const NamedArrays& b) {
  REQUIRE(a.size() == b.size());
  for (size_t i = 0; i < a.size(); ++i) {
    INFO(a[i].first);
    CHECK(a[i].first == b[i].first);
    CHECK(same(a[i].second, b[i].second));
  }
}

NamedArrays read_npz_bytes(const Folder& folder, const std::string& bytes) {
  return read_npz(folder.put("x.npz", bytes));
}

/// A field of the record of an array in the directory at the archive's end.
template <class T>
std::string changed(std::string bytes, const std::string& name, size_t field, T value) {
  const size_t at = bytes.rfind(name + ".npy");
  REQUIRE(at != std::string::npos);
  std::memcpy(&bytes[at - 46 + field], &value, sizeof value);
  return bytes;
}

}  // namespace

TEST_CASE("archives of NumPy are read, stored or compressed") {
  const NamedArrays arrays = read_npz(stored("stored.npz"));
  check_same(arrays, read_npz(stored("deflated.npz")));
  REQUIRE(arrays.size() == 16);
  CHECK(arrays[0].first == "a.bool");
  for (size_t i = 0; i < 12; ++i) {
    INFO(arrays[i].first);
    CHECK(arrays[i].second.shape == std::vector<int64_t>{2, 3});
    CHECK(arrays[i].second.at(5).as_double() == (i == 0 ? 1 : 5));
  }
  CHECK(arrays[12].second.shape.empty());
  CHECK(arrays[12].second.at(0).as_double() == 7.5);
  CHECK(arrays[13].second.shape == std::vector<int64_t>{0, 4});
  CHECK(arrays[14].first == "größe/量");
  CHECK(arrays[15].second.at(299).as_int() == 299 % 7);
}

TEST_CASE("archives that are written hold the bytes that NumPy writes, and are read back") {
  const Folder folder;
  const NamedArrays arrays = read_npz(stored("stored.npz"));
  const std::string numpy = bytes_of(stored("stored.npz"));
  for (const auto& [name, array] : arrays) {
    INFO(name);
    CHECK(numpy.find(print_npy(array)) != std::string::npos);
  }
  write_npz(folder / "a.npz", arrays);
  check_same(read_npz(folder / "a.npz"), arrays);
  const std::string first = bytes_of(folder / "a.npz");
  write_npz(folder / "a.npz", arrays, NpzCompression::kDeflated);
  check_same(read_npz(folder / "a.npz"), arrays);
  CHECK(bytes_of(folder / "a.npz").size() < first.size());
  write_npz(folder / "a.npz", arrays);
  CHECK(bytes_of(folder / "a.npz") == first);
  write_npz(folder / "a.npz", NamedTensors{{"x", arange(3) + 1}});
  const NamedArrays tensor = read_npz(folder / "a.npz");
  CHECK(tensor.at(0).second.at(2).as_int() == 3);
  write_npz(folder / "none.npz", NamedArrays{});
  CHECK(read_npz(folder / "none.npz").empty());
}

TEST_CASE("names that an archive cannot have, and disks that are full, leave the old file") {
  const Folder folder;
  const Array one = Array::zeros(DType::kU8, {1});
  write_npz(folder / "a.npz", {{"x", one}});
  const std::string before = bytes_of(folder / "a.npz");
  const auto refuses = [&](const NamedArrays& arrays, const char* why) {
    CHECK_THROWS_WITH(write_npz(folder / "a.npz", arrays), ContainsSubstring(why));
    CHECK(bytes_of(folder / "a.npz") == before);
  };
  refuses({{"x", one}, {"x", one}}, "'x': expected a name of its own");
  refuses({{"", one}}, "expected names of 1 to 1000 bytes");
  refuses({{"/x", one}}, "expected names");
  refuses({{"a\\b", one}}, "expected names");
  refuses({{std::string("a\0b", 3), one}}, "expected names");
  refuses({{"\xff", one}}, "in UTF-8");
  Array wrong = one;
  wrong.shape = {2};
  refuses({{"x", wrong}}, "[print_npy]");
  const FullDisk disk(64);
  refuses({{"x", Array::zeros(DType::kF32, {500})}}, "a.npz");
}

TEST_CASE("an archive that lies is refused, with the array that does") {
  const Folder folder;
  const std::string good = bytes_of(stored("deflated.npz"));
  const auto refuses = [&](const std::string& bytes, const char* why) {
    CHECK_THROWS_WITH(read_npz_bytes(folder, bytes), ContainsSubstring(why));
  };
  refuses("", "expected a .npz archive");
  refuses("text", "expected a .npz archive");
  refuses(good.substr(0, good.size() - 30), "expected a .npz archive");
  // Offsets in a record: 8 flags, 10 method, 16 checksum, 20 size in the file, 24 size.
  for (const uint32_t size : {299u, 301u, 128u + 1200u + 1u, 0x7fffffffu, 0xfffffff0u})
    CHECK_THROWS_AS(read_npz_bytes(folder, changed(good, "many", 24, size)), Error);
  refuses(changed(good, "many", 24, uint32_t{0x7fffffff}), "x.npz");
  CHECK_THROWS_AS(read_npz_bytes(folder, changed(good, "many", 16, uint32_t{1})), Error);
  CHECK_THROWS_AS(read_npz_bytes(folder, changed(good, "many", 20, uint32_t{0xfffffff0})), Error);
  CHECK_THROWS_AS(read_npz_bytes(folder, changed(good, "many", 10, uint16_t{99})), Error);
  CHECK_THROWS_AS(read_npz_bytes(folder, changed(good, "many", 8, uint16_t{1})), Error);

  std::string other = good;
  for (size_t at = 0; (at = other.find("many.npy", at)) != std::string::npos;)
    other.replace(at, 8, "many.txt");
  refuses(other, "many.txt: expected an array, whose name ends with .npy");
  other = good;
  for (size_t at = 0; (at = other.find("a.int8.npy", at)) != std::string::npos;)
    other.replace(at, 10, "a.bool.npy");
  refuses(other, "expected a .npz archive");
  CHECK_THROWS_AS(read_npz(folder / "none"), Error);
  CHECK_THROWS_WITH(read_npz("/dev/zero"), ContainsSubstring("regular file"));
}

TEST_CASE("an archive whose arrays fit one by one, but not all together, is refused") {
  constexpr uint32_t kSize = 1 << 26, kPacked = kSize / 1000;
  const auto memory =
      static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  const uint64_t count = memory / 2 / kSize + 1;
  REQUIRE(count < 1 << 16);
  std::string file, directory;
  const auto add = [](std::string& to, auto... fields) {
    (to.append(reinterpret_cast<const char*>(&fields), sizeof fields), ...);
  };
  for (uint64_t i = 0; i < count; ++i) {
    const std::string name = std::to_string(i) + ".npy";
    const auto offset = static_cast<uint32_t>(file.size());
    const auto both = [&](std::string& to) {  // version, flags, deflate, time, date, checksum, ..
      add(to, uint16_t{20}, uint16_t{0}, uint16_t{8}, uint16_t{0}, uint16_t{33}, uint32_t{0},
          kPacked, kSize, static_cast<uint16_t>(name.size()), uint16_t{0});
    };
    both(file.append("PK\3\4"));
    file += name + std::string(kPacked, '\0');
    both(directory.append("PK\1\2\x14\0", 6));
    add(directory, uint16_t{0}, uint16_t{0}, uint16_t{0}, uint32_t{0}, offset);
    directory += name;
  }
  const auto begin = static_cast<uint32_t>(file.size());
  file += directory + "PK\5\6";
  add(file, uint32_t{0}, static_cast<uint16_t>(count), static_cast<uint16_t>(count),
      static_cast<uint32_t>(directory.size()), begin, uint16_t{0});
  const Folder folder;
  CHECK_THROWS_WITH(read_npz_bytes(folder, file),
                    ContainsSubstring("x.npz: expected at most half of the machine's memory"));
}

TEST_CASE("an archive with any byte changed or cut off is read or refused") {
  const Folder folder;
  const NamedArrays arrays{{"a", Array::zeros(DType::kI16, {40})},
                           {"b", Array::zeros(DType::kF64, {3, 2})}};
  std::mt19937 random(7);
  for (const NpzCompression how : {NpzCompression::kStored, NpzCompression::kDeflated}) {
    write_npz(folder / "good.npz", arrays, how);
    const std::string good = bytes_of(folder / "good.npz");
    for (size_t size = 0; size < good.size(); size += 3)
      CHECK_THROWS_AS(read_npz_bytes(folder, good.substr(0, size)), Error);
    for (int round = 0; round < 1000; ++round) {
      std::string bytes = good;
      bytes[random() % bytes.size()] = static_cast<char>(random());
      try {
        for (const auto& [name, array] : read_npz_bytes(folder, bytes))
          CHECK(std::ranges::all_of(array.bytes, [](uint8_t byte) { return byte == 0; }));
      } catch (const Error& error) {
        CHECK(error.kind() != ErrorKind::kEnvironment);
      }
    }
  }
}
