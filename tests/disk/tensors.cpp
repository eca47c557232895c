// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tensors in files: read where used, row by row, written into new, grown and sparse files.
#include <sys/stat.h>

#include <catch2/catch_test_macros.hpp>

#include "tenon/make.hpp"
#include "tests/disk/support.hpp"

using namespace tenon;
using namespace tenon::test;

TEST_CASE("a file is a tensor that computations read") {
  const TempFolder folder;
  const fs::path path = folder.path / "x.bin";
  write_floats(path, counted(60));
  for (const std::string options : {"", "@readonly"}) {
    Context context(with_files(computing() + "," + disk(path) + options));
    CHECK(runtime_of(context).devices()[1]->id() == disk(path));
    CHECK_FALSE(runtime_of(context).devices()[1]->capabilities().compute);
    const Tensor x = from_file(disk(path), DType::kF32, {6, 10}, 0, context);
    CHECK(x.device() == disk(path));
    CHECK(x.to_vector<float>() == counted(60));
    CHECK((x + x).sum().item<float>() == 2 * 59 * 30);
    CHECK(x.take(3, 0).to_vector<float>()[4] == 34);
    CHECK(x.slice({{2, 4}, {5, 7}}).to_vector<float>() == std::vector<float>{25, 26, 35, 36});
    const Tensor y = from_file("disk", DType::kF32, {2, 5}, 4 * 7, context);
    CHECK(y.matrix_transpose().to_vector<float>() ==
          std::vector<float>{7, 12, 8, 13, 9, 14, 10, 15, 11, 16});
    CHECK(from_file("disk", DType::kF32, {0}, 240, context).to_vector<float>().empty());
  }
}

TEST_CASE("results are written, the file grows, and what lies between is a hole") {
  const TempFolder folder;
  const fs::path path = folder.path / "new.bin";
  Context context(with_files(computing() + "," + disk(path) + "@create"));
  const Tensor x = tensor(std::span<const float>(counted(8)), {2, 4}, context);
  (x * 2.0f).write_file(disk(path), 16);
  CHECK(read_floats(path) == std::vector<float>{0, 0, 0, 0, 0, 2, 4, 6, 8, 10, 12, 14});
  x.matrix_transpose().write_file("disk", 16);
  CHECK(read_floats(path) == std::vector<float>{0, 0, 0, 0, 0, 4, 1, 5, 2, 6, 3, 7});
  const uint64_t far = uint64_t{1} << 32;
  x.write_file("disk", far);
  struct stat facts = {};
  REQUIRE(stat(path.c_str(), &facts) == 0);
  CHECK(static_cast<uint64_t>(facts.st_size) == far + 32);
  CHECK(facts.st_blocks * 512 < 1 << 24);  // sparse
  CHECK(from_file("disk", DType::kF32, {4}, far + 16, context).to_vector<float>() ==
        std::vector<float>{4, 5, 6, 7});
  CHECK(from_file("disk", DType::kF32, {2}, far / 2, context).to_vector<float>() ==
        std::vector<float>{0, 0});
  // Inside one file, too.
  from_file("disk", DType::kF32, {4}, 16, context).write_file("disk", 64);
  CHECK(from_file("disk", DType::kF32, {4}, 64, context).to_vector<float>() ==
        std::vector<float>{0, 4, 1, 5});
  CHECK(has(
      error_of([&] { from_file("disk", DType::kF32, {4}, 16, context).write_file("disk", 20); }),
      "do not overlap"));
}

TEST_CASE("memory without a name: in a folder, beside a file, in the scratch folder") {
  const TempFolder folder;
  const fs::path path = folder.path / "x.bin";
  write_floats(path, counted(4));
  for (const std::string& device : {disk(folder.path), disk(path), std::string("disk")}) {
    CAPTURE(device);
    Context context(with_files(computing() + "," + device));
    const Tensor x = tensor(std::span<const float>(counted(100'000)), {100, 1000}, context);
    const Tensor there = (x + 1.0f).to("disk");
    CHECK(there.slice({{7, 8}, {0, 2}}).to_vector<float>() == std::vector<float>{7001, 7002});
    CHECK(there.to_vector<float>()[99'999] == 100'000);
    const Tensor again = there.slice({{1, 2}}).to("disk");
    CHECK(again.to_vector<float>()[0] == 1001);
    CHECK(context.device("disk").bytes_in_use > 400'000);
    CHECK(std::distance(fs::directory_iterator(folder.path), {}) == 1);  // nothing to be seen
  }
  CHECK(read_floats(path) == counted(4));
}

TEST_CASE("every device reads and writes files, also one whose memory the host does not see") {
  const TempFolder folder;
  const fs::path path = folder.path / "x.bin";
  constexpr uint64_t kBytes = (9 << 20) + 52;
  std::string bytes(kBytes, '\0');
  for (uint64_t i = 0; i < kBytes; ++i) bytes[i] = static_cast<char>(i * 31 >> 4);
  write_file(path, bytes);
  for (const std::string device : {"fake:0", "fake:1", "null"}) {
    for (const std::string option : {"", "@readonly"}) {
      CAPTURE(device, option);
      Context context(with_files(device + "," + disk(path) + option));
      Device& files = runtime_of(context).device("disk");
      Device& on = runtime_of(context).device();
      const auto* imports =
          on.plugin().get_extension
              ? static_cast<const uint64_t*>(on.plugin().get_extension("org.tenon.fake.imports"))
              : nullptr;
      const uint64_t before = imports ? *imports : 0;
      const BufferRef range = files.open_range(0, kBytes, false);
      const BufferRef copy = on.allocate(kBytes);
      on.copy(*range, 0, *copy, 0, kBytes);
      std::string back(kBytes, '\0');
      on.read(*copy, 0, back.data(), kBytes);
      CHECK(back == bytes);
      // The pages of a file that nobody writes to go to the device without a copy on the host.
      if (device == "fake:1") CHECK((*imports > before) == (option == "@readonly"));
      if (option.empty()) {
        const BufferRef to = files.open_range(kBytes, kBytes, true);
        files.wait(files.copy(*copy, 4, *to, 4, kBytes - 4));
        CHECK(read_file(path).substr(kBytes + 4) == bytes.substr(4));
        fs::resize_file(path, kBytes);
      }
    }
  }
}
