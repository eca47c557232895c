// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Missing, forbidden, shortened, full: each error names the file, and leaves it as it was.
#include <fcntl.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <catch2/catch_test_macros.hpp>
#include <chrono>
#include <thread>

#include "tenon/ext/files.h"
#include "tenon/tenon.hpp"
#include "tests/disk/support.hpp"

using namespace tenon;
using namespace tenon::test;

namespace {

std::string opening(const std::string& device, ErrorKind* kind = nullptr) {
  return error_of([&] { Context context(with_files(computing() + "," + device)); }, kind);
}

struct FileLimit {
  rlimit before{};
  explicit FileLimit(rlim_t bytes) {
    getrlimit(RLIMIT_FSIZE, &before);
    const rlimit limit{bytes, before.rlim_max};
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileLimit() { setrlimit(RLIMIT_FSIZE, &before); }
};

}  // namespace

TEST_CASE("a file that cannot be opened says why") {
  const TempFolder folder;
  const fs::path path = folder.path / "x.bin";
  ErrorKind kind{};
  CHECK(has(opening(disk(path), &kind), path.string() + ": expected a file to read and write "
                                                        "(@create makes one), got: No such file"));
  CHECK(kind == ErrorKind::kEnvironment);
  CHECK_FALSE(fs::exists(path));
  CHECK(has(opening(disk(path) + "@readonly"), ": expected a file to read, got: No such file"));
  CHECK(has(opening(disk(path / "y") + "@create"), "No such file"));
  CHECK(opening(disk(path) + "@create").empty());
  CHECK(fs::file_size(path) == 0);
  CHECK(has(opening(disk(path) + "@create@readonly"), "expected @readonly or @create, got both"));
  CHECK(has(opening(disk(path) + "@colour=red"), "option colour"));
  CHECK(has(opening(disk(folder.path) + "@readonly"), "got a folder"));
  mkfifo((folder.path / "pipe").c_str(), 0600);
  CHECK(has(opening(disk(folder.path / "pipe")), "expected a regular file or a folder"));
  CHECK(has(opening("disk:/proc/self/exe"), "/proc/self/exe: expected a file to read and write"));
  CHECK(opening("disk:/proc/self/exe@readonly").empty());
  if (geteuid() == 0) {  // whom permissions do not bind
    chmod(path.c_str(), 0600);
    chmod(folder.path.c_str(), 0755);
    REQUIRE(seteuid(65534) == 0);
    const std::string message = opening(disk(path));
    REQUIRE(seteuid(0) == 0);
    CHECK(has(message, path.string() + ": expected a file to read and write (@readonly only "
                                       "reads), got: Permission denied"));
  }
}

TEST_CASE("a range outside the file, a write to what is only read") {
  const TempFolder folder;
  const fs::path path = folder.path / "x.bin";
  write_floats(path, counted(10));
  Context context(with_files(computing() + "," + disk(path) + "@readonly"));
  ErrorKind kind{};
  CHECK(has(error_of(
                [&] {
                  from_file("disk", DType::kF32, {3, 3}, 8, context);
                },
                &kind),
            path.string() + ": expected 36 bytes at 8, got a file of 40 bytes"));
  CHECK(kind == ErrorKind::kEnvironment);
  CHECK(has(error_of([&] { from_file("disk", DType::kF32, {1}, UINT64_MAX, context); }),
            "got a file of 40 bytes"));
  CHECK(has(error_of([&] { from_file("disk", DType::kF32, {-1}, 0, context); }, &kind),
            "[file] expected sizes"));
  const Tensor x = full({4}, 1, DType::kF32, context);
  CHECK(has(error_of([&] { x.write_file("disk"); }), "expected a file opened to write"));
  CHECK(has(error_of([&] { x.to("disk").to_vector<float>(); }), "not @readonly"));
  CHECK(has(error_of([&] { from_file(computing(), DType::kF32, {1}, 0, context); }, &kind),
            "[open_range]"));
  CHECK(kind == ErrorKind::kUnsupported);
  CHECK(read_floats(path) == counted(10));
  Context other(with_files(computing() + "," + disk(folder.path)));
  CHECK(has(error_of([&] { from_file("disk", DType::kF32, {1}, 0, other); }),
            "expected a device of a file, got one of a folder"));
}

TEST_CASE("a file that another shortens is an error, and the process lives") {
  const TempFolder folder;
  const fs::path path = folder.path / "x.bin";
  for (const std::string options : {"", "@readonly"}) {
    write_floats(path, counted(100'000));
    Context context(with_files(computing() + "," + disk(path) + options));
    const Tensor x = from_file("disk", DType::kF32, {100'000}, 0, context);
    CHECK(x.slice({{99'999, 100'000}}).item<float>() == 99'999);
    fs::resize_file(path, 400);
    CHECK(has(error_of([&] { x.to_vector<float>(); }),
              path.string() + ": expected 400000 bytes at 0, got a file of 400 bytes; it was "
                              "shortened"));
    CHECK(has(error_of([&] { (x + 1.0f).sum().item<float>(); }), "it was shortened"));
    CHECK(x.slice({{0, 100}}).sum().item<float>() == 4950);  // the rest is still good
    const tn_plugin& plugin = runtime_of(context).device("disk").plugin();
    const BufferRef buffer = runtime_of(context).device("disk").open_range(0, 400, false);
    fs::resize_file(path, 4);
    tn_error error = TN_INIT(tn_error);
    void* mapped = nullptr;
    CHECK(plugin.memory_map(buffer->memory(), 0, 400, &mapped, &error) == TN_ERROR_IO);
    CHECK(has(error.message, "it was shortened"));
  }
}

TEST_CASE("numbers that a failed submission was to write are written again") {
  const TempFolder folder;
  const fs::path path = folder.path / "x.bin";
  write_floats(path, counted(100'000));
  Context context(with_files(computing() + "," + disk(path)));
  const Tensor x = from_file("disk", DType::kF32, {100'000}, 0, context);
  const std::vector<float> values(1 << 10, 1.0f);
  const Tensor y = tensor<float>(std::span<const float>(values), {1 << 10}, context);
  const auto compiled = compile([](const Tensor& a, const Tensor& by) { return a * by; });
  const auto lifted = [&](double by) { return y * by + y * (by + 1); };
  for (const double by : {2.0, 3.0}) {
    CHECK(compiled(y, by).to_vector<float>()[0] == by);
    CHECK(lifted(by).to_vector<float>()[0] == 2 * by + 1);
  }
  fs::resize_file(path, 400);
  const Tensor bad = x + 1.0f;
  realize({bad});  // the copy fails by and by, and what is submitted until that is told
  const Tensor one = compiled(y, 5.0), two = lifted(5.0);
  realize({two});
  CHECK(has(error_of([&] { bad.to_vector<float>(); }), "it was shortened"));
  CHECK(has(error_of([&] { one.to_vector<float>(); }), "it was shortened"));
  CHECK(has(error_of([&] { two.to_vector<float>(); }), "it was shortened"));
  CHECK(compiled(y, 5.0).to_vector<float>()[0] == 5);
  CHECK(lifted(5.0).to_vector<float>()[0] == 11);
}

TEST_CASE("what a failed run was to write feeds no later one") {
  const TempFolder folder;
  const fs::path path = folder.path / "x.bin";
  write_floats(path, counted(100'000));
  const std::string devices = computing() == "cpu" ? "cpu,null" : "null";
  Context context(with_files(devices + "," + disk(path)));
  const Tensor x = from_file("disk", DType::kF32, {100'000}, 0, context);
  const Tensor good = arange(100'000, DType::kF32, context);
  realize({good});
  fs::resize_file(path, 400);
  const Tensor bad = x + good;
  realize({bad});
  const auto add_one = compile([](const Tensor& t) { return t + 1.0; });
  const auto replace = compile([](const Tensor& t) { return t + 1.0; }, {.donate = {0}});
  for (int i = 0; i < 2; ++i) {  // once it is told, the device goes on
    CHECK(has(error_of([&] { bad.to_vector<float>(); }), "it was shortened"));
    CHECK(has(error_of([&] { (bad * 2.0f).to_vector<float>(); }), "it was shortened"));
    CHECK(has(error_of([&] { (bad + good).sum().item<float>(); }), "it was shortened"));
    CHECK(has(error_of([&] { bad.to("null").to_vector<float>(); }), "it was shortened"));
    CHECK(has(error_of([&] { add_one(bad).to_vector<float>(); }), "it was shortened"));
    CHECK(has(error_of([&] { replace(bad).to_vector<float>(); }), "it was shortened"));
    CHECK((good - 1.0f).slice({{1, 2}}).item<float>() == 0);
    CHECK(add_one(good).slice({{1, 2}}).item<float>() == 2);
  }
}

TEST_CASE("whoever wants to shorten a file whose pages are in use waits") {
  const TempFolder folder;
  const fs::path path = folder.path / "x.bin";
  write_floats(path, counted(50'000));
  for (const std::string options : {"@readonly", ""}) {
    Context context(with_files(computing() + "," + disk(path) + options));
    Device& device = runtime_of(context).device("disk");
    const auto* files = static_cast<const tn_files*>(device.plugin().get_extension(TN_FILES_ID));
    const BufferRef range = device.open_range(4000, 100'000, false);
    tn_error error = TN_INIT(tn_error);
    void* pages = nullptr;
    const int32_t status = files->pin(range->memory(), 4, 90'000, &pages, &error);
    if (options.empty()) {  // open to write: it could be shortened through this very device
      CHECK(status == TN_ERROR_UNSUPPORTED);
      CHECK(has(error.message, path.string() + ": expected a lease"));
      continue;
    }
    if (status == TN_ERROR_UNSUPPORTED) SKIP("a filesystem without leases");
    REQUIRE(status == TN_OK);
    std::atomic<bool> done{false};
    std::jthread other([&] {
      fs::resize_file(path, 4);
      done = true;
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    CHECK_FALSE(done);
    CHECK(static_cast<const float*>(pages)[0] == 1001);
    CHECK(static_cast<const float*>(pages)[22'499] == 23'500);
    files->unpin(range->memory());
    other.join();
    CHECK(fs::file_size(path) == 4);
    write_floats(path, counted(50'000));
  }
}

TEST_CASE("a file must not outgrow its limit, and is as it was when it would") {
  const TempFolder folder;
  const fs::path path = folder.path / "x.bin";
  write_floats(path, counted(1000));
  Context context(with_files(computing() + "," + disk(path)));
  const Tensor x = full({100'000}, 1, DType::kF32, context);
  realize({x});
  {
    const FileLimit limit(100'000);
    CHECK(has(error_of([&] { x.write_file("disk", 2000); }),
              path.string() + ": expected room for 400000 bytes at 2000, got: File too large"));
    CHECK(has(error_of([&] { x.write_file("disk", INT64_MAX - 8); }), "File too large"));
    CHECK(has(error_of([&] { x.to("disk").to_vector<float>(); }), "File too large"));
  }
  CHECK(read_floats(path) == counted(1000));
  x.write_file("disk", 4000);
  CHECK(fs::file_size(path) == 404'000);
}

TEST_CASE("a full disk is told before a byte is written") {
  const TempFolder folder;
  if (mount("tmpfs", folder.path.c_str(), "tmpfs", 0, "size=1m") != 0)
    SKIP("no right to mount a small disk");
  const fs::path path = folder.path / "x.bin";
  {
    write_floats(path, counted(1000));
    Context context(with_files(computing() + "," + disk(path)));
    const Tensor x = full({1 << 20}, 1, DType::kF32, context);
    CHECK(has(error_of([&] { x.write_file("disk", 0); }),
              path.string() + ": expected room for 4194304 bytes at 0, got: No space left"));
    CHECK(read_floats(path) == counted(1000));
    ErrorKind kind{};
    CHECK(has(error_of([&] { x.to("disk").to_vector<float>(); }, &kind),
              folder.path.string() + ": expected room for 4194304 bytes, got: No space left"));
    CHECK(kind == ErrorKind::kOutOfMemory);
    full({1000}, 7, DType::kF32, context).write_file("disk", 4000);
    CHECK(fs::file_size(path) == 8000);
  }
  umount(folder.path.c_str());
}

TEST_CASE("a map of a range is private until it is unmapped, and only changes are written") {
  const TempFolder folder;
  const fs::path path = folder.path / "x.bin";
  write_floats(path, counted(50'000));
  Context context(with_files(computing() + "," + disk(path)));
  Device& files = runtime_of(context).device("disk");
  const tn_plugin& plugin = files.plugin();
  const BufferRef buffer = files.open_range(0, 200'000, true);
  tn_error error = TN_INIT(tn_error);
  void* mapped = nullptr;
  REQUIRE(plugin.memory_map(buffer->memory(), 0, 200'000, &mapped, &error) == TN_OK);
  auto* values = static_cast<float*>(mapped);
  CHECK(values[49'999] == 49'999);
  CHECK(plugin.memory_map(buffer->memory(), 0, 4, &mapped, &error) == TN_ERROR_INVALID_ARGUMENT);
  values[49'999] = -1;
  CHECK(read_floats(path) == counted(50'000));
  REQUIRE(plugin.memory_unmap(buffer->memory(), &error) == TN_OK);
  CHECK(read_floats(path)[49'999] == -1);
  const BufferRef reading = files.open_range(0, 4, false);
  REQUIRE(plugin.memory_map(reading->memory(), 0, 4, &mapped, &error) == TN_OK);
  static_cast<float*>(mapped)[0] = 5;
  CHECK(plugin.memory_unmap(reading->memory(), &error) == TN_ERROR_IO);
  CHECK(read_floats(path)[0] == 0);
}
