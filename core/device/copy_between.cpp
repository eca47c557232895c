// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Copies between the memories of two devices, driven by the host.
#include <algorithm>
#include <cstring>

#include "core/device/host_access.hpp"
#include "core/plugin/abi_struct.hpp"
#include "core/plugin/status.hpp"

namespace tenon {
namespace {

/// Smaller copies do not repay an import.
constexpr uint64_t kSmallestImport = uint64_t{1} << 20;

}  // namespace

void HostAccess::copy_from(HostAccess& source, MemoryPlace from, MemoryPlace to, uint64_t size) {
  for (uint64_t done = 0; done < size;) {
    uint64_t chunk = std::min(size - done, kMappedChunk);
    const MemoryPlace chunk_from{from.memory, from.offset + done},
        chunk_to{to.memory, to.offset + done};
    // Locks both without deadlock: two devices may copy to each other.
    const std::scoped_lock lock(mutex_, source.mutex_);
    if (chunk < kSmallestImport || !copy_imported(source, chunk_from, chunk_to, chunk)) {
      chunk = std::min({chunk, largest_chunk(), source.largest_chunk()});
      copy_chunk(source, chunk_from, chunk_to, chunk);
    }
    done += chunk;
  }
}

void HostAccess::copy_chunk(HostAccess& source, MemoryPlace from, MemoryPlace to, uint64_t size) {
  if (opened_.files) {
    Window window(source, Access::kRead, from, size);
    file_bytes(Access::kWrite, to, window.data(), size);
    return window.close();
  }
  Window window(*this, Access::kWrite, to, size);
  if (source.opened_.files) {
    source.file_bytes(Access::kRead, from, window.data(), size);
  } else {
    Window read(source, Access::kRead, from, size);
    std::memcpy(window.data(), read.data(), size);
    read.close();
  }
  window.close();
}

/// Copies by a device that can import the other's host memory. False if neither can.
bool HostAccess::copy_imported(HostAccess& source, MemoryPlace from, MemoryPlace to,
                               uint64_t size) {
  if (!opened_.is_visible() && source.opened_.files) {
    void* pages = nullptr;
    tn_error error = abi_struct<tn_error>();
    if (!source.opened_.files->pin ||
        source.opened_.files->pin(from.memory, from.offset, size, &pages, &error) != TN_OK)
      return false;
    bool done = false;
    try {
      done = run_imported(Access::kWrite, to, pages, size);
    } catch (...) {
      source.opened_.files->unpin(from.memory);
      throw;
    }
    source.opened_.files->unpin(from.memory);
    return done;
  }
  if (opened_.files || source.opened_.files || opened_.is_visible() == source.opened_.is_visible())
    return false;
  if (source.opened_.is_visible()) {
    Window window(source, Access::kRead, from, size);
    const bool done = run_imported(Access::kWrite, to, window.data(), size);
    window.close();
    return done;
  }
  Window window(*this, Access::kWrite, to, size);
  const bool done = source.run_imported(Access::kRead, from, window.data(), size);
  window.close();
  return done;
}

bool HostAccess::run_imported(Access access, MemoryPlace place, void* host, uint64_t size) {
  uint32_t space = 0;
  const auto copies = [&](uint32_t to, uint32_t from) {
    return (opened_.facts.spaces[to].copy_from >> from & 1) != 0;
  };
  while (space < opened_.facts.spaces.size() &&
         !((opened_.facts.spaces[space].flags & TN_MEMORY_IMPORT) &&
           (access == Access::kWrite ? copies(0, space) : copies(space, 0))))
    ++space;
  if (space == opened_.facts.spaces.size() || !opened_.plugin().memory_import) return false;
  tn_error error = abi_struct<tn_error>();
  tn_memory* imported = nullptr;
  if (opened_.plugin().memory_import(opened_.handle, space, host, size, &imported, &error) != TN_OK)
    return false;
  try {
    if (access == Access::kWrite) {
      run_copy({imported, 0}, place, size);
    } else {
      run_copy(place, {imported, 0}, size);
    }
  } catch (...) {
    opened_.plugin().memory_free(imported);
    throw;
  }
  opened_.plugin().memory_free(imported);
  return true;
}

}  // namespace tenon
