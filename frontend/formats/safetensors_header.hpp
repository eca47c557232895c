// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The header of a safetensors file: its JSON, read and written.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tenon/formats/safetensors.hpp"

namespace tenon::formats {

inline constexpr uint64_t kMostHeader = 100'000'000;  ///< as in the format's own library

struct SafetensorsHeader {
  std::vector<TensorInfo> tensors;
  Metadata metadata;
};

/// `data_size`: bytes that follow the header, all of which the tensors must share. Throws kInvalid.
SafetensorsHeader parse_safetensors_header(const std::string& path, std::string_view text,
                                           uint64_t data_size);

/// Padded with spaces to a multiple of 8.
std::string print_safetensors_header(const SafetensorsHeader& header);

}  // namespace tenon::formats
