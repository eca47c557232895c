// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Short words for commands on memory of the sdk's, without a C interface between.
#pragma once

#include "sdk/backend/backend.hpp"

namespace tenon::sdk {

inline tn_memory* handle_of(Memory& memory) { return reinterpret_cast<tn_memory*>(&memory); }

inline tn_point at(Timeline& timeline, uint64_t value) {
  return {reinterpret_cast<tn_timeline*>(&timeline), value};
}

inline tn_command fill_command(Memory& to, uint64_t offset, uint64_t size, uint64_t pattern,
                               uint32_t pattern_size) {
  tn_command c = TN_INIT(tn_command);
  c.kind = TN_COMMAND_FILL;
  c.destination = handle_of(to);
  c.destination_offset = offset;
  c.size = size;
  c.pattern = pattern;
  c.pattern_size = pattern_size;
  return c;
}

inline tn_command copy_command(Memory& to, uint64_t to_offset, Memory& from, uint64_t from_offset,
                               uint64_t size) {
  tn_command c = TN_INIT(tn_command);
  c.kind = TN_COMMAND_COPY;
  c.destination = handle_of(to);
  c.destination_offset = to_offset;
  c.source = handle_of(from);
  c.source_offset = from_offset;
  c.size = size;
  return c;
}

}  // namespace tenon::sdk
