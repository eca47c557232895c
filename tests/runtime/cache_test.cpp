// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The disk cache: kept, shared by processes, bounded, and never in the way.
#include <sys/stat.h>
#include <sys/wait.h>

#include <catch2/catch_test_macros.hpp>
#include <fstream>
#include <random>

#include "core/support/disk_cache.hpp"
#include "tests/runtime/support.hpp"

using namespace tenon;
using namespace tenon::test;

namespace {

int files_with(const fs::path& folder, const std::string& part) {
  int count = 0;
  for (const auto& entry : fs::directory_iterator(folder))
    count += has(entry.path().filename().string(), part);
  return count;
}

bool from_cache(const fs::path& folder, const std::string& devices = "fake:0") {
  RuntimeOptions options = options_for(devices, "fake");
  options.disk_cache = true;
  options.cache_dir = folder;
  Runtime runtime(options);
  return runtime.device().compile(*named_program("fill7").get())->from_cache;
}

}  // namespace

TEST_CASE("entries stay, are replaced and removed") {
  TempFolder folder;
  {
    DiskCache cache(folder.path);
    CHECK_FALSE(cache.get("a"));
    cache.put("a", bytes_of("one"));
    cache.put("a", bytes_of("two"));
    cache.put("empty", {});
  }
  DiskCache cache(folder.path);
  CHECK(cache.get("a") == bytes_of("two"));
  CHECK(cache.get("empty") == std::vector<uint8_t>());
  cache.remove("a");
  CHECK_FALSE(cache.get("a"));
}

TEST_CASE("the size is bounded") {
  TempFolder folder;
  DiskCache cache(folder.path, 10'000);
  for (int i = 0; i < 50; ++i) cache.put("k" + std::to_string(i), std::vector<uint8_t>(1000));
  int kept = 0;
  for (int i = 0; i < 50; ++i) kept += cache.get("k" + std::to_string(i)).has_value();
  CHECK(kept >= 5);
  CHECK(kept <= 10);
  cache.put("huge", std::vector<uint8_t>(20'000));
  CHECK_FALSE(cache.get("huge"));
}

TEST_CASE("an entry is added without a look at the others") {
  TempFolder folder;
  DiskCache cache(folder.path);
  for (int i = 0; i < 32; ++i)
    cache.put(std::to_string(i), std::vector<uint8_t>(1 << 20, static_cast<uint8_t>(i)));
  const auto bytes_read = [] {
    std::ifstream io("/proc/self/io");
    std::string name;
    uint64_t count = 0;
    io >> name >> count;
    return count;
  };
  const uint64_t before = bytes_read();
  cache.put("small", bytes_of("one"));
  CHECK(bytes_read() - before < 1 << 20);
  CHECK(cache.get("small") == bytes_of("one"));
}

TEST_CASE("a damaged file is set aside and started anew") {
  TempFolder folder;
  { DiskCache(folder.path).put("a", std::vector<uint8_t>(5000, 1)); }
  const fs::path file = folder.path / "cache.sqlite";
  SECTION("not a database") { write_file(file, std::string(4096, 'x')); }
  SECTION("pages overwritten") {
    std::string bytes = read_file(file);
    for (size_t i = 100; i < bytes.size(); ++i) bytes[i] = static_cast<char>(0xEE);
    write_file(file, bytes);
  }
  SECTION("a value changed") {
    std::string bytes = read_file(file);
    bytes[bytes.find(std::string(100, '\1')) + 50] = 2;
    write_file(file, bytes);
  }
  DiskCache cache(folder.path);
  CHECK_FALSE(cache.get("a"));
  CHECK(cache.works());
  cache.put("a", bytes_of("new"));
  CHECK(cache.get("a") == bytes_of("new"));
  CHECK(files_with(folder.path, ".damaged-") == 1);
}

TEST_CASE("no folder, no cache, no harm") {
  TempFolder folder;
  write_file(folder.path / "file", "x");
  for (const fs::path& path : {fs::path(), folder.path / "file", fs::path("/proc/nothing/here")}) {
    DiskCache cache(path);
    CHECK_FALSE(cache.works());
    cache.put("a", bytes_of("one"));
    CHECK_FALSE(cache.get("a"));
  }
}

TEST_CASE("mutated database files never crash") {
  TempFolder folder;
  const fs::path file = folder.path / "cache.sqlite";
  {
    DiskCache cache(folder.path);
    for (int i = 0; i < 20; ++i) cache.put("key" + std::to_string(i), std::vector<uint8_t>(300, 9));
  }
  const std::string whole = read_file(file);
  const char* more = std::getenv("TENON_MUTATIONS");
  const int count = more ? std::atoi(more) : 20000;
  std::mt19937 random(5);
  // Warnings of thousands of damaged files would drown the report.
  const int errors = dup(2);
  REQUIRE(freopen("/dev/null", "w", stderr) != nullptr);
  int wrong = 0, reads = 0;
  for (int i = 0; i < count; ++i) {
    std::string bytes = whole;
    for (uint32_t k = 0; k < 1 + random() % 4; ++k) {
      // Half of the mutations hit the page headers, where the structure is.
      const size_t page = random() % (bytes.size() / 4096) * 4096;
      const size_t at = random() % 2 ? random() % bytes.size() : page + random() % 110;
      bytes[at] = static_cast<char>(random());
    }
    if (random() % 8 == 0) bytes.resize(random() % bytes.size());
    write_file(file, bytes);
    DiskCache cache(folder.path);
    const auto got = cache.get("key" + std::to_string(i % 20));
    reads += got.has_value();
    wrong += got && *got != std::vector<uint8_t>(300, 9);
    if (i % 4 == 0) cache.put("new", bytes_of("value"));
    if (i % 64 != 0) continue;
    for (const auto& entry : fs::directory_iterator(folder.path))
      if (has(entry.path().filename().string(), ".damaged-")) fs::remove(entry.path());
  }
  fflush(stderr);
  dup2(errors, 2);
  close(errors);
  CHECK(wrong == 0);
  CHECK(reads > 0);
}

TEST_CASE("many processes share one cache") {
  TempFolder folder;
  constexpr int kProcesses = 4, kEntries = 10;  // no lock is waited for for long
  std::vector<pid_t> children;
  for (int p = 0; p < kProcesses; ++p) {
    const pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
      int bad = 0;
      {
        DiskCache cache(folder.path);
        for (int i = 0; i < kEntries; ++i) {
          const std::string key = "k" + std::to_string(i);
          cache.put(key, bytes_of("value of " + key));
          const auto got = cache.get(key);
          bad += got && *got != bytes_of("value of " + key);
        }
        bad += !cache.works();
      }
      _exit(bad == 0 ? 0 : 1);
    }
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = 0;
    waitpid(child, &status, 0);
    CHECK(status == 0);
  }
  DiskCache cache(folder.path);
  for (int i = 0; i < kEntries; ++i)
    CHECK(cache.get("k" + std::to_string(i)) == bytes_of("value of k" + std::to_string(i)));
  CHECK(files_with(folder.path, ".damaged-") == 0);
}

TEST_CASE("executables come from the cache, refused ones are made anew") {
  TempFolder folder;
  CHECK_FALSE(from_cache(folder.path));
  CHECK(from_cache(folder.path));
  CHECK_FALSE(from_cache(folder.path, "fake:0@stale=1"));
  CHECK(from_cache(folder.path));                  // the refused one was replaced
  CHECK_FALSE(from_cache(folder.path, "fake:1"));  // a device that cannot save
}
