// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Commands, arguments and submissions of the C interface, as a host makes them.
#pragma once

#include <cstdint>
#include <span>

#include "tenon/plugin.h"

namespace tenon::sdk {

/// Sizes are bytes.
tn_command copy_command(tn_memory* to, uint64_t to_offset, tn_memory* from, uint64_t from_offset,
                        uint64_t size);
/// `pattern_size` bytes of the pattern, over and over.
tn_command fill_command(tn_memory* to, uint64_t offset, uint64_t size, uint64_t pattern,
                        uint32_t pattern_size);

/// Workgroups of a launch, or threads of a workgroup.
struct Extent {
  uint32_t x = 1, y = 1, z = 1;
};
/// The arguments must live as long as the command.
tn_command launch_command(tn_executable* executable, const Extent& grid, const Extent& block,
                          std::span<const tn_argument> arguments);
tn_argument buffer_argument(tn_memory* memory, uint64_t offset, uint64_t size);
tn_argument scalar_argument(uint64_t bits);

/// All that is given must live until it was submitted.
tn_submission submission_of(std::span<const tn_command> commands,
                            std::span<const tn_point> waits = {},
                            std::span<const tn_point> signals = {});

}  // namespace tenon::sdk
