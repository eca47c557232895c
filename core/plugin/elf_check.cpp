// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/plugin/elf_check.hpp"

#include <fmt/format.h>

#include <fstream>

#if defined(__linux__)
#include <elf.h>
#endif

namespace tenon {

#if defined(__linux__)
namespace {

#if defined(__x86_64__)
constexpr uint16_t kMachine = EM_X86_64;
#elif defined(__aarch64__)
constexpr uint16_t kMachine = EM_AARCH64;
#elif defined(__riscv)
constexpr uint16_t kMachine = EM_RISCV;
#else
constexpr uint16_t kMachine = EM_NONE;
#endif

bool is_within(uint64_t offset, uint64_t size, uint64_t whole) {
  return offset <= whole && size <= whole - offset;
}

template <class T>
bool read_at(std::ifstream& file, uint64_t offset, T& out) {
  file.seekg(static_cast<std::streamoff>(offset));
  file.read(reinterpret_cast<char*>(&out), sizeof(T));
  return static_cast<bool>(file);
}

std::string check_segments(std::ifstream& file, const Elf64_Ehdr& header, uint64_t size) {
  bool dynamic = false;
  for (uint64_t i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment{};
    if (!read_at(file, header.e_phoff + i * sizeof segment, segment)) return "cannot be read";
    if ((segment.p_type == PT_LOAD || segment.p_type == PT_DYNAMIC) &&
        !is_within(segment.p_offset, segment.p_filesz, size))
      return fmt::format("is truncated: segment {} ends at byte {}, the file has {}", i,
                         segment.p_offset + segment.p_filesz, size);
    dynamic |= segment.p_type == PT_DYNAMIC;
  }
  return dynamic ? "" : "is not a shared library: it has no dynamic segment";
}

std::string check_sections(std::ifstream& file, const Elf64_Ehdr& header, uint64_t size) {
  for (uint64_t i = 0; i < header.e_shnum; ++i) {
    Elf64_Shdr section{};
    if (!read_at(file, header.e_shoff + i * sizeof section, section)) return "cannot be read";
    if (section.sh_type == SHT_NOBITS || section.sh_type == SHT_NULL) continue;
    if (!is_within(section.sh_offset, section.sh_size, size))
      return fmt::format("is truncated: section {} lies outside its {} bytes", i, size);
    const bool symbols = section.sh_type == SHT_SYMTAB || section.sh_type == SHT_DYNSYM;
    if (symbols && section.sh_size > 0 && section.sh_size < sizeof(Elf64_Sym))
      return fmt::format("is damaged: section {} is smaller than one symbol", i);
  }
  return "";
}

}  // namespace

std::string check_shared_library(const std::filesystem::path& path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) return "is not a file";
  const uint64_t size = std::filesystem::file_size(path, error);
  std::ifstream file(path, std::ios::binary);
  if (error || !file) return "cannot be opened for reading";
  Elf64_Ehdr header{};
  if (size < SELFMAG || !read_at(file, 0, header.e_ident) ||
      std::string_view(reinterpret_cast<char*>(header.e_ident), SELFMAG) != ELFMAG)
    return "is not a shared library: expected an ELF file";
  if (size < sizeof header || !read_at(file, 0, header))
    return fmt::format("is truncated: it has {} bytes", size);
  if (header.e_ident[EI_CLASS] != ELFCLASS64)
    return fmt::format("is built for another machine: expected ELF class {} (64 bits), got {}",
                       ELFCLASS64, header.e_ident[EI_CLASS]);
  if (header.e_ident[EI_DATA] != ELFDATA2LSB)
    return fmt::format("is built for another machine: expected byte order {} (little), got {}",
                       ELFDATA2LSB, header.e_ident[EI_DATA]);
  if (header.e_ident[EI_VERSION] != EV_CURRENT || header.e_version != EV_CURRENT)
    return fmt::format("is damaged: expected ELF version {}, got {} and {}", EV_CURRENT,
                       header.e_ident[EI_VERSION], header.e_version);
  if (header.e_machine != kMachine)
    return fmt::format("is built for another machine: expected ELF machine {}, got {}", kMachine,
                       header.e_machine);
  if (header.e_type != ET_DYN)
    return fmt::format("is not a shared library: expected ELF type 3, got {}", header.e_type);
  if (header.e_phentsize != sizeof(Elf64_Phdr) || header.e_shentsize != sizeof(Elf64_Shdr) ||
      header.e_shstrndx >= header.e_shnum)
    return "is damaged: its ELF header contradicts itself";
  if (!is_within(header.e_phoff, uint64_t{header.e_phnum} * sizeof(Elf64_Phdr), size) ||
      !is_within(header.e_shoff, uint64_t{header.e_shnum} * sizeof(Elf64_Shdr), size))
    return fmt::format("is truncated: its tables end after its {} bytes", size);
  if (std::string why = check_segments(file, header, size); !why.empty()) return why;
  return check_sections(file, header, size);
}
#else
std::string check_shared_library(const std::filesystem::path& path) {
  std::error_code error;
  return std::filesystem::is_regular_file(path, error) ? "" : "is not a file";
}
#endif

}  // namespace tenon
