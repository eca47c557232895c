// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Checks of slabs beside each other: where they lie, how they are copied, what room is left.
#include <chrono>
#include <cstring>
#include <optional>
#include <thread>

#include "conformance/abi/checks/check.hpp"
#include "conformance/abi/refused.hpp"
#include "conformance/abi/slab.hpp"
#include "conformance/cases/random.hpp"

namespace tenon::conformance::abi::checks {
namespace {

/// Around powers of two, and what lies between two of them.
std::vector<uint64_t> many_sizes(uint64_t most) {
  std::vector<uint64_t> sizes = {1, 2, 3, 10000, 12345, 100000, 300001};
  for (uint64_t power = 4; power <= uint64_t{1} << 20; power *= 2)
    for (const uint64_t size : {power - 1, power, power + 1, power + power / 8, power + power / 4,
                                power + power / 4 + 1, power + power / 2})
      sizes.push_back(size);
  std::erase_if(sizes, [&](uint64_t size) { return size > most; });
  return sizes;
}

uint64_t largest_of(const OpenDevice& device, uint32_t space) {
  const uint64_t largest = device.spaces()[space].largest;
  return largest ? largest : UINT64_MAX;
}

void aligned_slabs(const CheckContext& c) {
  const OpenDevice device = c.open();
  bool any = false;
  for (uint32_t s = 0; s < device.spaces().size(); ++s) {
    if (!device.is_visible(s)) continue;
    const uint32_t alignment = device.spaces()[s].alignment;
    for (const uint64_t size : many_sizes(largest_of(device, s))) {
      c.alive();
      const MemoryHandle memory = device.allocate(s, size);
      if (!memory) continue;
      any = true;
      const auto at = reinterpret_cast<uintptr_t>(device.map(memory.get(), 0, size));
      device.unmap(memory.get());
      expect(at % alignment == 0,
             "memory_map of a slab of {} bytes in space {}: expected a pointer aligned to {}, got "
             "{} beyond one",
             size, s, alignment, at % alignment);
    }
  }
  need(any, "the host sees no memory");
}

/// Every slab holds another pattern; all are written before the first is read.
class Neighbours {
 public:
  Neighbours(const OpenDevice& device, uint64_t seed) : device_(device), seed_(seed) {}

  bool add(uint64_t size) {
    Held held;
    held.memory = device_.allocate(0, size);
    if (!held.memory) return false;
    held.size = size;
    held.number = next_++;
    device_.write(held.memory.get(), 0, 0, pattern(held));
    held_.push_back(std::move(held));
    return true;
  }
  void free_every_other() {
    size_t number = 0;
    std::erase_if(held_, [&](const Held&) { return number++ % 2 == 0; });
  }
  void expect_apart(const std::function<void()>& alive) const {
    for (const Held& held : held_) {
      alive();
      std::vector<uint8_t> got(held.size);
      device_.read(held.memory.get(), 0, 0, got);
      const auto wanted = pattern(held);
      const auto [at, other] = std::ranges::mismatch(wanted, got);
      if (at != wanted.end())
        find("mismatch",
             "byte {} of a slab of {} bytes among {} others: expected {:#04x}, got {:#04x}",
             at - wanted.begin(), held.size, held_.size() - 1, *at, *other);
    }
  }

 private:
  struct Held {
    MemoryHandle memory;
    uint64_t size = 0, number = 0;
  };
  std::vector<uint8_t> pattern(const Held& held) const {
    std::vector<uint8_t> bytes(held.size);
    const uint64_t key = mix(seed_, held.number);
    for (uint64_t i = 0; i < held.size; ++i)
      bytes[i] = static_cast<uint8_t>((key >> (i % 8 * 8)) + i / 251);
    return bytes;
  }
  const OpenDevice& device_;
  uint64_t seed_, next_ = 0;
  std::vector<Held> held_;
};

void slabs_apart(const CheckContext& c) {
  const OpenDevice device = c.open();
  Neighbours neighbours(device, c.seed);
  Random random(mix(c.seed, 0x736c6162));
  constexpr uint64_t kMostBytes = 160 << 10;
  std::vector<uint64_t> sizes = many_sizes(std::min(largest_of(device, 0), kMostBytes));
  // Two of a size in a row, then the order by chance, then into the holes of half of them.
  for (int round = 0; round < 3; ++round) {
    for (size_t i = 0; i < sizes.size(); ++i) {
      c.alive();
      const uint64_t size = round == 1 ? sizes[random.below(sizes.size())] : sizes[i];
      if (!neighbours.add(size) || (round == 0 && !neighbours.add(size))) break;
    }
    neighbours.expect_apart(c.alive);
    neighbours.free_every_other();
  }
  neighbours.expect_apart(c.alive);
}

void expect_copied(const OpenDevice& device, uint32_t to, uint32_t from) {
  constexpr uint64_t kSize = 4099;
  const MemoryHandle source = device.allocate(from, kSize), target = device.allocate(to, kSize);
  if (!source || !target) return;
  std::vector<uint8_t> bytes(kSize), got(kSize);
  for (uint64_t i = 0; i < kSize; ++i) bytes[i] = static_cast<uint8_t>(i * 7 + i / 251);
  std::vector<uint8_t> wanted(kSize, 0x3D);
  device.write(source.get(), from, 0, bytes);
  device.write(target.get(), to, 0, wanted);
  std::vector<tn_command> commands;
  const auto copy = [&](uint64_t at, uint64_t of, uint64_t size) {
    commands.push_back(copy_command(target.get(), at, source.get(), of, size));
    std::memcpy(wanted.data() + at, bytes.data() + of, size);
  };
  copy(0, 0, 1024);
  copy(1025, 3, 1);
  copy(1031, 1030, 7);
  copy(1041, 2, 1001);
  copy(kSize - 1023, kSize - 1022, 1022);
  device.run(commands);
  device.read(target.get(), to, 0, got);
  const auto [at, other] = std::ranges::mismatch(wanted, got);
  if (at != wanted.end())
    find("mismatch",
         "copies from space {} to space {}, which the properties claim: expected {:#04x} as byte "
         "{}, got {:#04x}",
         from, to, *at, at - wanted.begin(), *other);
}

void between_spaces(const CheckContext& c) {
  const OpenDevice device = c.open();
  need(device.submits(), "the device takes no submissions");
  bool any = false;
  for (uint32_t to = 0; to < device.spaces().size(); ++to) {
    for (uint32_t from = 0; from < device.spaces().size(); ++from) {
      if (!(device.spaces()[to].copy_from >> from & 1)) continue;
      // What the host cannot reach in either way is tried by others.
      const bool is_reached = (device.is_visible(from) || device.window_to(from)) &&
                              (device.is_visible(to) || device.window_from(to)) &&
                              (device.is_visible(to) || device.window_to(to));
      if (!is_reached) continue;
      c.alive();
      any = true;
      expect_copied(device, to, from);
    }
  }
  need(any, "no space takes copies");
}

enum class Beside { kNothing, kOwn, kOfAnotherHandle };

/// Imported memory and the caller's are one: what either writes the other sees; beside another
/// import of the same memory, which a driver may refuse. Whether any space took it.
bool import_and_write(const CheckContext& c, uint64_t size, Beside beside = Beside::kNothing) {
  const OpenDevice device = c.open();
  need(c.table().memory_import, "the plugin imports nothing");
  std::optional<OpenDevice> another;
  if (beside == Beside::kOfAnotherHandle) another.emplace(c.open());
  const OpenDevice& first = another ? *another : device;  // that imports before, if any does
  constexpr uint64_t kPage = 4096;
  bool any = false;
  for (uint32_t s = 0; s < device.spaces().size(); ++s) {
    if (!(device.spaces()[s].flags & TN_MEMORY_IMPORT)) continue;
    c.alive();
    std::vector<uint8_t> storage(size + 3 * kPage, 0x11);
    uint8_t* const host =
        storage.data() + (kPage - reinterpret_cast<uintptr_t>(storage.data()) % kPage) % kPage;
    const auto import = [&](const OpenDevice& into, tn_memory** out, tn_error* error) {
      return c.table().memory_import(into.handle(), s, host, size, out, error);
    };
    MemoryHandle before;
    if (beside != Beside::kNothing) {
      tn_memory* made = nullptr;
      if (import(first, &made, nullptr) != TN_OK) continue;
      before = first.own(made);
    }
    tn_memory* made = nullptr;
    tn_error error = abi_struct<tn_error>();
    const int32_t status = import(device, &made, &error);
    if (beside != Beside::kNothing && status != TN_OK) continue;
    expect_ok(status, error, "memory_import");
    expect(made, "memory_import: expected a slab, got TN_OK and null");
    const MemoryHandle memory = device.own(made);
    const auto expect_in = [&](std::span<const uint8_t> got, uint8_t wanted, const char* where) {
      for (size_t i = 0; i < got.size(); ++i)
        if (got[i] != wanted)
          find("mismatch", "memory_import into space {}: expected {:#04x} at {} {}, got {:#04x}", s,
               wanted, i, where, got[i]);
    };
    std::vector<uint8_t> got(size);
    any = true;
    if (!device.submits()) continue;
    for (const uint8_t round : {uint8_t{0x21}, uint8_t{0x22}}) {
      const tn_command fill =
          fill_command(made, 0, size, round * uint64_t{0x01010101}, size % 4 ? 1 : 4);
      device.run({&fill, 1});
      // Coherent memory needs no map and unmap between the device and the host.
      if (!(device.spaces()[s].flags & TN_MEMORY_COHERENT)) device.read(made, s, 0, got);
      expect_in({host, size}, round, "of the caller's memory after the device filled it");
      expect_in({host + size, kPage}, 0x11, "after the memory that the device filled");
    }
    if (before) {
      const tn_command fill = fill_command(before.get(), 0, size, 0x23, 1);
      first.run({&fill, 1});
      if (!(device.spaces()[s].flags & TN_MEMORY_COHERENT)) first.read(before.get(), s, 0, got);
      device.read(made, s, 0, got);
      expect_in(got, 0x23, "after it was filled as what it was imported as before");
    }
    if (!(device.spaces()[s].flags & TN_MEMORY_COHERENT)) {
      const std::vector<uint8_t> bytes(size, 0x33);
      device.write(made, s, 0, bytes);
    } else {
      std::memset(host, 0x33, size);
    }
    for (uint32_t to = 0; to < device.spaces().size(); ++to) {
      if (!(device.spaces()[to].copy_from >> s & 1)) continue;
      const MemoryHandle other = device.allocate(to, size);
      if (!other) continue;
      const tn_command copy = copy_command(other.get(), 0, made, 0, size);
      device.run({&copy, 1});
      device.read(other.get(), to, 0, got);
      expect_in(got, 0x33, "of a copy of it after the host wrote it");
    }
  }
  return any;
}

constexpr const char* kNoImports = "no space takes host memory";

void imported_memory(const CheckContext& c) {
  for (const uint64_t size : {3 * 4096, 1, 4095, 10'001})
    need(import_and_write(c, size), kNoImports);
}
void imported_twice(const CheckContext& c) {
  bool any = false;
  for (const Beside beside : {Beside::kOwn, Beside::kOfAnotherHandle})
    any |= import_and_write(c, uint64_t{3} * 4096, beside);
  need(any, "no space takes host memory twice");
}
void large_imports(const CheckContext& c) {
  need(import_and_write(c, uint64_t{5000} * 4096), kNoImports);
}

/// Rule 45 of large ones too, which often come from elsewhere.
void large_slabs_begin_aligned(const CheckContext& c) {
  const OpenDevice device = c.open();
  bool any = false;
  for (uint32_t s = 0; s < device.spaces().size(); ++s) {
    const tn_memory_space& space = device.spaces()[s];
    if (!device.is_visible(s)) continue;
    for (const int bits : {20, 23, 26, 28}) {
      const uint64_t size = (uint64_t{1} << bits) + 64;
      if (space.largest && space.largest < size) continue;
      const MemoryHandle memory = device.allocate(s, size);
      if (!memory) continue;
      any = true;
      const auto at = reinterpret_cast<uintptr_t>(device.map(memory.get(), 0, size));
      device.unmap(memory.get());
      if (at % space.alignment)
        find("wrong", "memory_map of a slab of {} bytes: expected a multiple of {}, got {:#x}",
             size, space.alignment, at);
    }
  }
  need(any, "the host sees no slab of a MiB");
}

/// Takes slabs of a size until one is refused, and frees them; whether one was.
bool fill_space(const CheckContext& c, const OpenDevice& device, uint32_t space, uint64_t size) {
  constexpr int kMost = 64;
  std::vector<MemoryHandle> held;
  for (int i = 0; i < kMost; ++i) {
    c.alive();
    tn_memory* made = nullptr;
    const int32_t status = refuse_or_make<tn_memory*>(
        fmt::format("memory_allocate of {} bytes", size).c_str(),
        [&](tn_memory** memory, tn_error* error) {
          return c.table().memory_allocate(device.handle(), space, size, memory, error);
        },
        made);
    if (status != TN_OK) return true;
    held.push_back(device.own(made));
  }
  return false;
}

/// Not all of the room: others share it, and what the system promises changes with the hour.
void room_after_refusal(const CheckContext& c) {
  const OpenDevice device = c.open();
  bool any = false;
  for (uint32_t s = 0; s < device.spaces().size(); ++s) {
    const tn_memory_space& space = device.spaces()[s];
    const uint64_t size = space.largest ? space.largest : uint64_t{1} << 60;
    const uint64_t modest = std::min<uint64_t>(size / 8 + 1, uint64_t{128} << 20);
    const bool fitted = device.allocate(s, modest) != nullptr;
    if (!fitted || !fill_space(c, device, s, size)) continue;
    any = true;
    bool fits = false;
    for (int tries = 0; tries < 8 && !fits; ++tries) {
      std::this_thread::sleep_for(std::chrono::milliseconds(100 * tries));
      fits = device.allocate(s, modest) != nullptr;
    }
    expect(fits,
           "memory_allocate of {} bytes in space {}: expected it to fit as before {} bytes were "
           "refused and all was freed, got a refusal",
           modest, s, size);
  }
  need(any, "nothing that was asked for was refused");
}

}  // namespace

std::span<const CheckRow> slab_checks() {
  static constexpr CheckRow kRows[] = {
      {"aligned_slabs", aligned_slabs, 45},
      {"slabs_apart", slabs_apart, 62},
      {"between_spaces", between_spaces, 46},
      {"imported_memory", imported_memory, 47},
      {"imported_twice", imported_twice, 47},
      {"large_imports", large_imports, 59},
      {"large_slabs_begin_aligned", large_slabs_begin_aligned, 45},
      {"room_after_refusal", room_after_refusal, 13},
  };
  return kRows;
}

}  // namespace tenon::conformance::abi::checks
