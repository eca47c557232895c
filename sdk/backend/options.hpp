// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The options "key=value,key=value" that a selector passes to device_open.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tenon::sdk {

class Options {
 public:
  explicit Options(std::string_view text);
  /// Removes a key and returns its value, which is empty for a key without "=".
  std::optional<std::string> take(std::string_view key);
  /// Removes a key with an integer in [minimum, maximum]. `otherwise` if the key is missing.
  int64_t take_integer(std::string_view key, int64_t minimum, int64_t maximum, int64_t otherwise);
  /// Throws TN_ERROR_INVALID_ARGUMENT for a key that was not taken.
  void require_all_taken() const;

 private:
  std::vector<std::pair<std::string, std::string>> entries_;
};

}  // namespace tenon::sdk
