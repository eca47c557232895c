// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Short words for commands on memory of the sdk's, without a C interface between.
#pragma once

#include "sdk/backend/backend.hpp"
#include "sdk/program/command.hpp"

namespace tenon::sdk {

inline tn_memory* handle_of(Memory& memory) { return reinterpret_cast<tn_memory*>(&memory); }

inline tn_point at(Timeline& timeline, uint64_t value) {
  return {reinterpret_cast<tn_timeline*>(&timeline), value};
}

inline tn_executable* handle_of(Executable& executable) {
  return reinterpret_cast<tn_executable*>(&executable);
}

inline tn_command fill_command(Memory& to, uint64_t offset, uint64_t size, uint64_t pattern,
                               uint32_t pattern_size) {
  return fill_command(handle_of(to), offset, size, pattern, pattern_size);
}

inline tn_command copy_command(Memory& to, uint64_t to_offset, Memory& from, uint64_t from_offset,
                               uint64_t size) {
  return copy_command(handle_of(to), to_offset, handle_of(from), from_offset, size);
}

}  // namespace tenon::sdk
