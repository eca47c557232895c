// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The "key=value,key=value" that a selector hands to device_open.
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
  /// Takes a key out; a key without "=" has the empty value.
  std::optional<std::string> take(std::string_view key);
  /// A whole number in [minimum, maximum]; `otherwise` if the key is not there.
  int64_t take_integer(std::string_view key, int64_t minimum, int64_t maximum, int64_t otherwise);
  /// Throws TN_ERROR_INVALID_ARGUMENT for a key that nobody took.
  void require_all_taken() const;

 private:
  std::vector<std::pair<std::string, std::string>> entries_;
};

}  // namespace tenon::sdk
