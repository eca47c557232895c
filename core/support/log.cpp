// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/support/log.hpp"

#include <cstdio>
#include <set>

#include "core/support/output.hpp"
#include "core/support/process.hpp"

namespace tenon {
namespace {

struct Channels {
  ForkSafeMutex mutex;
  std::set<std::string, std::less<>> names;
  bool all = false;
};

Channels& channels() {
  static auto& instance =
      *new Channels();  // never destroyed: destructors of static objects log too
  return instance;
}
/// Made at load: a child of fork would hang if a thread of its parent was constructing it.
[[maybe_unused]] const Channels& channels_made_at_load = channels();

}  // namespace

void set_log_channels(std::string_view text) {
  Channels& c = channels();
  const std::lock_guard lock(c.mutex);
  c.names.clear();
  c.all = false;
  while (!text.empty()) {
    const size_t comma = text.find(',');
    const std::string_view name = text.substr(0, comma);
    if (name == "all") c.all = true;
    if (!name.empty()) c.names.emplace(name);
    text = comma == std::string_view::npos ? "" : text.substr(comma + 1);
  }
}

bool log_enabled(std::string_view channel) {
  Channels& c = channels();
  const std::lock_guard lock(c.mutex);
  return c.all || c.names.contains(channel);
}

void log_line(std::string_view channel, const std::string& message) {
  fmt::print(stderr, "tenon[{}] {}\n", channel, printable(message));
}

void log_warning(const std::string& message) { complain("tenon: warning", message); }

}  // namespace tenon
