// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Slabs in host memory, and checked submissions.
#include "sdk/backend/host_device.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <new>

#include "sdk/backend/saved_executable.hpp"
#include "sdk/program/text.hpp"
#include "sdk/program/verify.hpp"

#if defined(__linux__)
#include <sys/mman.h>
#include <unistd.h>
#endif

namespace tenon::sdk {
namespace {

constexpr uint64_t kHugePage = uint64_t{2} << 20;

std::byte* range_of(tn_memory* handle, uint64_t offset, uint64_t size, const char* what) {
  check_range(handle, offset, size, what);
  return size ? static_cast<const HostMemory&>(*memory_of(handle)).data() + offset : nullptr;
}

HostArgument read_argument(const tn_argument& from, const LaunchSignature::Argument& expected,
                           uint32_t i) {
  if (expected.kind != TN_PARAM_BUFFER) return {nullptr, 0, from.scalar};
  std::byte* data = range_of(from.memory, from.offset, from.size, "an argument");
  if (reinterpret_cast<uintptr_t>(data) % expected.alignment) {
    refuse(fmt::format("launch: expected argument {} aligned to {}, got offset {}", i,
                       expected.alignment, from.offset));
  }
  return {data, from.size, 0};
}

void read_launch(const tn_command& from, HostCommand& to, HostWork& work) {
  to.executable = static_cast<const HostExecutable*>(executable_of(from.executable));
  const LaunchSignature& signature = to.executable->signature();
  check_launch(from, signature);
  std::copy(from.grid, from.grid + 3, to.grid);
  to.first_argument = static_cast<uint32_t>(work.arguments.size());
  to.argument_count = from.argument_count;
  for (uint32_t i = 0; i < from.argument_count; ++i) {
    work.arguments.push_back(
        read_argument(Submission::argument(from, i), signature.arguments[i], i));
  }
}

/// Writes the pattern once, then copies it in doubling pieces that stay in cache.
void fill(const HostCommand& command) {
  if (command.size == 0) return;
  std::memcpy(command.destination, &command.pattern, command.pattern_size);
  for (uint64_t done = command.pattern_size; done < command.size;) {
    const uint64_t piece = std::min({done, command.size - done, uint64_t{1} << 15});
    std::memcpy(command.destination + done, command.destination, piece);
    done += piece;
  }
}

}  // namespace

HostMemory::HostMemory(uint64_t size, size_t alignment) : size_(size), is_owned_(true) {
  const bool is_large = size >= 2 * kHugePage;
  const size_t align = is_large ? size_t{kHugePage} : std::max<size_t>(alignment, sizeof(void*));
  if (size > SIZE_MAX - align) throw std::bad_alloc();
  const size_t rounded = (size + align - 1) / align * align;
  data_ = static_cast<std::byte*>(std::aligned_alloc(align, rounded));
  if (!data_) throw std::bad_alloc();
#if defined(__linux__)
  if (is_large) madvise(data_, rounded, MADV_HUGEPAGE);  // fewer TLB misses; failure is harmless
#endif
}

HostMemory::HostMemory(void* pointer, uint64_t size)
    : data_(static_cast<std::byte*>(pointer)), size_(size), is_owned_(false) {}

HostMemory::~HostMemory() {
  if (is_owned_) std::free(data_);
}

std::string ProgramExecutable::text(tn_text_kind) const { return print_program(program()); }

std::vector<std::byte> ProgramExecutable::save() const {
  const std::span<const std::byte> bytes = program().bytes();
  return pack_saved("program", std::span(&bytes, 1));
}

Program ProgramExecutable::saved_program(std::span<const std::byte> bytes) {
  return load_program(unpack_saved(bytes, "program", 1)[0]);
}

HostWork read_work(const Submission& submission) {
  HostWork work;
  work.commands.reserve(submission.command_count());
  for (uint32_t i = 0; i < submission.command_count(); ++i) {
    const tn_command from = submission.command(i);
    HostCommand to;
    to.kind = static_cast<tn_command_kind>(from.kind);
    if (from.kind == TN_COMMAND_LAUNCH) {
      read_launch(from, to, work);
    } else {
      to.size = from.size;
      to.destination =
          range_of(from.destination, from.destination_offset, from.size, "a destination");
      to.pattern = from.pattern;
      to.pattern_size = from.pattern_size;
      if (from.kind == TN_COMMAND_COPY) {
        to.source = range_of(from.source, from.source_offset, from.size, "a source");
      }
    }
    work.commands.push_back(to);
  }
  return work;
}

void run_work(const HostWork& work, const LaunchFunction& launch) {
  for (const HostCommand& command : work.commands) {
    switch (command.kind) {
      case TN_COMMAND_LAUNCH:
        if (command.grid[0] && command.grid[1] && command.grid[2]) {
          launch(command, work.arguments_of(command));
        }
        break;
      case TN_COMMAND_COPY:
        if (command.size) std::memcpy(command.destination, command.source, command.size);
        break;
      case TN_COMMAND_FILL:
        fill(command);
        break;
    }
  }
}

std::unique_ptr<Memory> HostDevice::allocate(uint32_t space, uint64_t size) {
  const tn_properties& p = properties();
  const uint32_t alignment = row_at(p.memory_spaces, p.memory_space_stride, space)->alignment;
  return std::make_unique<HostMemory>(size, alignment);
}

std::unique_ptr<Memory> HostDevice::import_host(uint32_t, void* pointer, uint64_t size) {
  return std::make_unique<HostMemory>(pointer, size);
}

void HostDevice::submit(const Submission& submission) {
  if (submission.wait_count() || submission.signal_count()) {
    refuse("submit: expected no waits or signals on a synchronous device");
  }
  run_work(read_work(submission),
           [this](const HostCommand& command, auto arguments) { launch(command, arguments); });
}

void each_workgroup(const uint32_t (&grid)[3],
                    const std::function<void(const uint32_t (&group)[3])>& run) {
  uint32_t group[3];
  for (group[2] = 0; group[2] < grid[2]; ++group[2]) {
    for (group[1] = 0; group[1] < grid[1]; ++group[1]) {
      for (group[0] = 0; group[0] < grid[0]; ++group[0]) run(group);
    }
  }
}

tn_memory_space host_memory_space(uint32_t alignment, uint32_t read_alignment) {
  tn_memory_space space = TN_INIT(tn_memory_space);
  space.flags = TN_MEMORY_DEVICE | TN_MEMORY_HOST_VISIBLE | TN_MEMORY_COHERENT | TN_MEMORY_IMPORT |
                TN_MEMORY_PERSISTENT;
  space.alignment = alignment;
  space.read_alignment = read_alignment;
#if defined(__linux__)
  const long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGE_SIZE);
  if (pages > 0 && page > 0) space.total = space.largest = uint64_t(pages) * uint64_t(page);
#endif
  space.copy_from = 1;
  return space;
}

}  // namespace tenon::sdk
