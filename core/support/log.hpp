// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Log lines on stderr by channel, chosen with TENON_LOG: "loader", "schedule,cache", "all".
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>

namespace tenon {

inline constexpr std::string_view kLogChannels[] = {"cache",   "compile", "loader",   "memory",
                                                    "plan",    "plugin",  "program",  "random",
                                                    "rewrite", "runtime", "schedule", "trace"};

/// `name`, which must be one of kLogChannels: anything else does not compile.
consteval std::string_view log_channel(std::string_view name) {
  for (const std::string_view known : kLogChannels)
    if (known == name) return known;
  throw "no such channel";
}

/// Sets comma-separated channels, "all", or "" for none. Warnings are always printed. Process-wide,
/// as stderr is.
void set_log_channels(std::string_view channels);
bool log_enabled(std::string_view channel);
void log_line(std::string_view channel, const std::string& message);
void log_warning(const std::string& message);

}  // namespace tenon
#define TN_LOG(channel, ...)                                               \
  do {                                                                     \
    constexpr std::string_view tn_channel = ::tenon::log_channel(channel); \
    if (::tenon::log_enabled(tn_channel))                                  \
      ::tenon::log_line(tn_channel, ::fmt::format(__VA_ARGS__));           \
  } while (false)
