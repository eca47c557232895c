// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/device/queue.hpp"
#include "core/plugin/abi_struct.hpp"

namespace tenon {

void CommandList::copy_from(const std::vector<tn_command>& source) {
  commands.assign(source.begin(), source.end());
  size_t count = 0;
  for (const tn_command& c : source) count += c.argument_count;
  arguments.clear();
  arguments.reserve(count);  // so that pointers into it stay valid
  for (tn_command& c : commands) {
    if (c.argument_count == 0) continue;
    const size_t first = arguments.size();
    for (uint32_t i = 0; i < c.argument_count; ++i)
      arguments.push_back(abi_element(c.arguments, c.argument_stride, i));
    c.arguments = arguments.data() + first;
    c.argument_stride = sizeof(tn_argument);
  }
}

tn_submission submission_of(const std::vector<tn_command>& commands) {
  tn_submission submission = abi_struct<tn_submission>();
  submission.command_count = static_cast<uint32_t>(commands.size());
  submission.command_stride = sizeof(tn_command);
  submission.commands = commands.data();
  return submission;
}

}  // namespace tenon
