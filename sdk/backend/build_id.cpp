// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reads the build id note of the linker.
#include "sdk/backend/build_id.hpp"

#if defined(__linux__)
#include <elf.h>
#include <fmt/format.h>
#include <link.h>

#include <cstring>
#endif

namespace tenon::sdk {

#if defined(__linux__)
namespace {

struct Search {
  uintptr_t address;
  std::string id;
};

/// If the object contains the address, reads its build id note and returns true.
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

std::string build_id() {
  Search search{reinterpret_cast<uintptr_t>(&build_id), {}};
  dl_iterate_phdr(visit, &search);
  return search.id;
}
#else
std::string build_id() { return {}; }
#endif

}  // namespace tenon::sdk
