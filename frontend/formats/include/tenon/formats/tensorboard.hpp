// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Event files of scalars, which TensorBoard shows (tensorflow/core/util/event.proto and
// tensorflow/core/lib/io/record_writer.cc of TensorFlow).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "tenon/export.hpp"

namespace tenon::formats {

class AppendFile;

/// A new file in a folder, which is made if it is not there. Each scalar is in the file when the
/// call returns. Throws kEnvironment for what the system refuses.
class TENON_API EventWriter {
 public:
  explicit EventWriter(const std::string& folder);
  ~EventWriter();
  EventWriter(const EventWriter&) = delete;
  EventWriter& operator=(const EventWriter&) = delete;

  /// The curve `tag` has `value` at `step`.
  void scalar(std::string_view tag, int64_t step, float value);
  const std::string& path() const;

 private:
  std::unique_ptr<AppendFile> file_;
};

}  // namespace tenon::formats
