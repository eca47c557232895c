// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The bytes of event files: events as protocol buffers, in records with checksums.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace tenon::formats {

/// The first event of a file.
std::string version_event(double wall_time);
std::string scalar_event(double wall_time, int64_t step, std::string_view tag, float value);

/// Length, its checksum, the data, its checksum: CRC-32C, masked.
std::string event_record(std::string_view data);

/// CRC-32C (Castagnoli; RFC 3720, appendix B.4).
uint32_t crc32c(std::string_view data);

}  // namespace tenon::formats
