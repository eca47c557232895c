// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The pool against a source that counts and refuses.
#include "core/device/pool.hpp"

#include <catch2/catch_test_macros.hpp>
#include <map>
#include <random>

#include "tests/runtime/support.hpp"

using namespace tenon;
using namespace tenon::test;

namespace {

struct Source final : SlabSource {
  uint64_t capacity = UINT64_MAX, held = 0, waited = 0;
  uintptr_t next = 1;
  std::map<tn_memory*, uint64_t> slabs;

  tn_memory* allocate_slab(uint64_t size) override {
    if (size > capacity - held) throw Error(ErrorKind::kOutOfMemory, "full");
    auto* memory = reinterpret_cast<tn_memory*>(next++);
    slabs[memory] = size;
    held += size;
    return memory;
  }
  void free_slab(tn_memory* memory) override {
    held -= slabs.at(memory);
    slabs.erase(memory);
  }
  void wait_idle(uint64_t submission) noexcept override { waited = std::max(waited, submission); }
};

constexpr uint64_t kMiB = 1 << 20;

}  // namespace

TEST_CASE("blocks never overlap, are aligned, and go back whole") {
  Source source;
  {
    Pool pool(source, {"x:0", 256, 0, 0});
    std::map<std::pair<tn_memory*, uint64_t>, uint64_t> live;
    std::mt19937 random(3);
    for (int i = 0; i < 5000; ++i) {
      if (live.size() > 50 || (random() % 2 && !live.empty())) {
        auto at = std::next(live.begin(), static_cast<int64_t>(random() % live.size()));
        pool.release(at->first.first, at->first.second, 0);
        live.erase(at);
        continue;
      }
      const uint64_t size = 1 + random() % (i % 50 == 0 ? 3 * kMiB : 5000);
      const Pool::Block block = pool.allocate(size, "test");
      REQUIRE(block.offset % 256 == 0);
      REQUIRE(block.offset + size <= source.slabs.at(block.memory));
      const auto after = live.lower_bound({block.memory, block.offset});
      if (after != live.end() && after->first.first == block.memory)
        REQUIRE(block.offset + size <= after->first.second);
      if (after != live.begin() && std::prev(after)->first.first == block.memory)
        REQUIRE(std::prev(after)->first.second + std::prev(after)->second <= block.offset);
      live[{block.memory, block.offset}] = size;
    }
    for (const auto& [key, size] : live) pool.release(key.first, key.second, 0);
    CHECK(pool.bytes_in_use() == 0);
    CHECK(pool.bytes_reserved() == source.held);
    pool.trim();
    CHECK(pool.bytes_reserved() == 0);
    CHECK(source.slabs.empty());
    pool.allocate(10, "left behind");
  }
  CHECK(source.slabs.empty());
}

TEST_CASE("a released block is ready when its last work is") {
  Source source;
  Pool pool(source, {"x:0", 64, 0, 0});
  const Pool::Block a = pool.allocate(kMiB, "a");
  pool.release(a.memory, a.offset, 42);
  CHECK(pool.allocate(100, "b").ready == 42);
  CHECK(pool.allocate(100, "c").ready == 42);
}

TEST_CASE("a slab of just the size is tried where a shared one does not fit") {
  Source source;
  source.capacity = 3 * kMiB / 2;
  Pool pool(source, {"x:0", 256, 0, 0});
  pool.allocate(1000, "small");
  pool.allocate(kMiB / 4, "fits the shared slab");
  pool.allocate(kMiB / 2 - 256, "a slab of its own");
  CHECK(source.held <= source.capacity);
}

TEST_CASE("out of memory: trimmed and tried again, then an error with the holders") {
  Source source;
  source.capacity = 4 * kMiB;
  Pool pool(source, {"x:0", 256, 0, 0});
  const Pool::Block old = pool.allocate(3 * kMiB, "old");
  pool.release(old.memory, old.offset, 7);
  const Pool::Block big = pool.allocate(4 * kMiB, "weights");  // needs the old slab's room
  CHECK(source.waited == 7);
  ErrorKind kind{};
  const std::string message = error_of([&] { pool.allocate(kMiB, "one more"); }, &kind);
  CHECK(kind == ErrorKind::kOutOfMemory);
  CHECK(has(message,
            "[allocate] x:0: expected 1.0 MiB of free memory for one more, got 4.0 MiB in "
            "use; largest holders: weights 4.0 MiB in 1 block"));
  pool.release(big.memory, big.offset, 0);
  pool.allocate(kMiB, "now it fits");
}

TEST_CASE("the limit counts slabs, and absurd sizes are errors") {
  Source source;
  Pool pool(source, {"x:0", 256, 0, 2 * kMiB});
  pool.allocate(kMiB, "a");
  CHECK(has(error_of([&] { pool.allocate(3 * kMiB / 2, "b"); }), "in use of @pool=2.0 MiB"));
  CHECK(source.held <= 2 * kMiB);
  for (const uint64_t size : {UINT64_MAX, UINT64_MAX / 2, uint64_t{1} << 62})
    CHECK(has(error_of([&] { pool.allocate(size, ""); }), "of free memory for a buffer"));
  Pool small(source, {"x:1", 256, kMiB, 0});
  CHECK(has(error_of([&] { small.allocate(2 * kMiB, ""); }), "[allocate] x:1"));
}
