// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Refuses a submission with invalid arrays or handles.
#include "sdk/backend/submission.hpp"

#include <fmt/format.h>

namespace tenon::sdk {
namespace {

void require_submit(bool condition, const char* expected) {
  if (!condition) refuse(fmt::format("submit: expected {}", expected));
}

}  // namespace

void Submission::check() const {
  require_submit(header_.command_count == 0 || header_.commands, "commands, got null");
  require_submit(header_.command_count == 0 || header_.command_stride >= 16,
                 "a stride of commands");
  require_submit(header_.wait_count == 0 || header_.waits, "waits, got null");
  require_submit(header_.signal_count == 0 || header_.signals, "signals, got null");
  for (uint32_t i = 0; i < wait_count(); ++i)
    require_submit(wait(i).timeline, "a timeline to wait for");
  for (uint32_t i = 0; i < signal_count(); ++i)
    require_submit(signal(i).timeline, "a timeline to signal");
  for (uint32_t i = 0; i < command_count(); ++i) {
    const tn_command c = command(i);
    switch (c.kind) {
      case TN_COMMAND_LAUNCH:
        require_submit(c.executable, "an executable, got null");
        require_submit(c.argument_count == 0 || c.arguments, "arguments, got null");
        require_submit(c.argument_count == 0 || c.argument_stride >= sizeof(tn_argument),
                       "a stride of arguments");
        break;
      case TN_COMMAND_COPY:
        require_submit(c.size == 0 || (c.source && c.destination), "a source and a destination");
        break;
      case TN_COMMAND_FILL:
        require_submit(c.size == 0 || c.destination, "a destination");
        require_submit(c.pattern_size == 1 || c.pattern_size == 2 || c.pattern_size == 4 ||
                           c.pattern_size == 8,
                       "a pattern_size of 1, 2, 4 or 8");
        require_submit(c.size % c.pattern_size == 0, "a size that is a multiple of pattern_size");
        break;
      default:
        require_submit(false, "a command of kind 1, 2 or 3");
    }
  }
}

uint64_t repeat_pattern(uint64_t pattern, uint32_t size) {
  if (size == 8) return pattern;
  pattern &= (uint64_t{1} << (size * 8)) - 1;
  for (uint32_t bits = size * 8; bits < 64; bits *= 2) pattern |= pattern << bits;
  return pattern;
}

}  // namespace tenon::sdk
