// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reads a tn_submission of any struct_size. Valid during the call that passed it.
#pragma once

#include <cstdint>

#include "sdk/support/failure.hpp"
#include "tenon/plugin.h"

namespace tenon::sdk {

class Submission {
 public:
  explicit Submission(const tn_submission* from) : header_(read_struct(from)) {}

  uint32_t queue() const { return header_.queue; }
  uint32_t command_count() const { return header_.command_count; }
  tn_command command(uint32_t i) const {
    return read_struct(row_at(header_.commands, header_.command_stride, i));
  }
  static const tn_argument& argument(const tn_command& command, uint32_t i) {
    return *row_at(command.arguments, command.argument_stride, i);
  }
  uint32_t wait_count() const { return header_.wait_count; }
  const tn_point& wait(uint32_t i) const { return header_.waits[i]; }
  uint32_t signal_count() const { return header_.signal_count; }
  const tn_point& signal(uint32_t i) const { return header_.signals[i]; }

  /// Throws TN_ERROR_INVALID_ARGUMENT for null arrays, short strides and null handles.
  void check() const;

 private:
  tn_submission header_;
};

/// The low `size` bytes of a FILL pattern, repeated to eight bytes.
uint64_t repeat_pattern(uint64_t pattern, uint32_t size);

}  // namespace tenon::sdk
