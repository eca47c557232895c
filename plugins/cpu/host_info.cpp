// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reads facts about the machine from /proc and /sys.
#include "plugins/cpu/host_info.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <charconv>
#include <fstream>
#include <thread>

namespace tenon::cpu {
namespace {

std::string first_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

/// "48K" or "2M".
uint64_t parse_size(const std::string& text) {
  uint64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [at, code] = std::from_chars(text.data(), end, value);
  if (code != std::errc()) return 0;
  return at == end ? value : *at == 'K' ? value << 10 : *at == 'M' ? value << 20 : value;
}

std::string processor_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const size_t colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos) return line.substr(colon + 2);
  }
  return "cpu";
}

void read_caches(HostInfo& info) {
  for (int i = 0; i < 8; ++i) {
    const std::string folder = fmt::format("/sys/devices/system/cpu/cpu0/cache/index{}/", i);
    const std::string level = first_line(folder + "level"), type = first_line(folder + "type");
    if (level.empty()) return;
    if (type == "Instruction") continue;
    const uint64_t bytes = parse_size(first_line(folder + "size"));
    if (level == "1") info.l1_bytes = bytes;
    if (level == "2") info.l2_bytes = bytes;
    if (level == "3") info.l3_bytes = bytes;
  }
}

}  // namespace

HostInfo read_host_info() {
  HostInfo info;
  info.processor = processor_name();
  read_caches(info);
  const long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
  if (pages > 0 && page > 0) info.memory_bytes = uint64_t(pages) * uint64_t(page);
  info.threads = std::max(1u, std::thread::hardware_concurrency());  // respects the affinity mask
  info.rates = measure_rates(host_target());
  return info;
}

}  // namespace tenon::cpu
