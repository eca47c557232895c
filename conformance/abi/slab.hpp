// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A slab of the plugin, and what its bytes must be.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "conformance/abi/kernel.hpp"
#include "conformance/abi/open_device.hpp"

namespace tenon::conformance::abi {

/// A range of a slab that work reads or writes.
struct Access {
  size_t slab = 0;
  uint64_t begin = 0, end = 0;
  bool writes = false;
};
bool conflict(const Access& a, const Access& b);

struct Slab {
  size_t device = 0;
  uint32_t space = 0;
  std::vector<uint8_t> imported;  ///< host memory that it is made of; goes after `memory`
  size_t imported_at = 0;
  MemoryHandle memory;
  std::vector<uint8_t> bytes, known;  ///< contents are undefined until they are written
  struct Write {
    uint64_t begin, end;
    size_t step;
  };
  std::vector<Write> writes;  ///< the last one of a byte made it
  uint8_t* mapped = nullptr;  ///< [mapped_begin, mapped_end)
  uint64_t mapped_begin = 0, mapped_end = 0;

  uint64_t size() const { return bytes.size(); }
  void resize(uint64_t size);
  ModelBytes range(uint64_t offset, uint64_t count);
  void note(uint64_t offset, uint64_t count, size_t step);
  void set(uint64_t offset, const uint8_t* from, uint64_t count, size_t step);
  void fill(uint64_t offset, uint64_t count, uint64_t pattern, uint32_t width, size_t step);
  void copy(uint64_t offset, const Slab& from, uint64_t from_offset, uint64_t count, size_t step);
  /// Throws a Finding "mismatch" for the first known byte that differs.
  void compare(size_t slab, uint64_t offset, std::span<const uint8_t> got,
               const std::string& when) const;
  /// The same of the whole slab, of which so many bytes were bound to a launch: a Finding "guard"
  /// if it wrote others.
  void compare_bound(size_t slab, uint64_t begin, uint64_t count, std::span<const uint8_t> got,
                     const std::string& when) const;
};

}  // namespace tenon::conformance::abi
