// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Log lines on stderr by channel, chosen with TENON_LOG: "loader", "schedule,cache", "all".
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>

namespace tenon {

/// Sets comma-separated channels, "all", or "" for none. Warnings are always printed. Process-wide,
/// as stderr is.
void set_log_channels(std::string_view channels);
bool log_enabled(std::string_view channel);
void log_line(std::string_view channel, const std::string& message);
void log_warning(const std::string& message);

}  // namespace tenon
#define TN_LOG(channel, ...)                                                                   \
  do {                                                                                         \
    if (::tenon::log_enabled(channel)) ::tenon::log_line(channel, ::fmt::format(__VA_ARGS__)); \
  } while (false)
