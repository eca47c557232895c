// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What this machine is, from /proc and /sys.
#include "plugins/cpu/host_info.hpp"

#include <elf.h>
#include <fmt/format.h>
#include <link.h>
#include <unistd.h>

#include <charconv>
#include <cstring>
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

struct Search {
  uintptr_t address;
  std::string id;
};

/// Whether the object holds the address; then its build id note is read.
int visit(dl_phdr_info* object, size_t, void* data) {
  auto& search = *static_cast<Search*>(data);
  bool ours = false;
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const ElfW(Phdr)& header = object->dlpi_phdr[i];
    const uintptr_t start = object->dlpi_addr + header.p_vaddr;
    ours |= header.p_type == PT_LOAD && search.address >= start &&
            search.address < start + header.p_memsz;
  }
  if (!ours) return 0;
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const ElfW(Phdr)& header = object->dlpi_phdr[i];
    if (header.p_type != PT_NOTE) continue;
    const char* at = reinterpret_cast<const char*>(object->dlpi_addr + header.p_vaddr);
    const char* end = at + header.p_memsz;
    while (at + sizeof(ElfW(Nhdr)) <= end) {
      ElfW(Nhdr) note;
      std::memcpy(&note, at, sizeof note);
      const char* name = at + sizeof note;
      const char* description = name + ((note.n_namesz + 3) & ~3u);
      if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && !std::memcmp(name, "GNU", 4)) {
        for (unsigned b = 0; b < note.n_descsz; ++b)
          search.id += fmt::format("{:02x}", static_cast<unsigned char>(description[b]));
        return 1;
      }
      at = description + ((note.n_descsz + 3) & ~3u);
    }
  }
  return 1;
}

}  // namespace

HostInfo read_host_info() {
  HostInfo info;
  info.processor = processor_name();
  read_caches(info);
  const long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
  if (pages > 0 && page > 0) info.memory_bytes = uint64_t(pages) * uint64_t(page);
  info.threads = std::max(1u, std::thread::hardware_concurrency());  // heeds the affinity mask
  return info;
}

std::string build_id() {
  Search search{reinterpret_cast<uintptr_t>(&build_id), {}};
  dl_iterate_phdr(visit, &search);
  return search.id;
}

}  // namespace tenon::cpu
