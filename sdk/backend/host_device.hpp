// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A device with host memory: slabs, copies, fills, and launches whose arguments are checked and
// converted to pointers. Shared by the CPU plugin and the null backend.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include "sdk/backend/backend.hpp"
#include "sdk/backend/launch.hpp"
#include "sdk/program/builder.hpp"

namespace tenon::sdk {

class HostMemory : public Memory {
 public:
  /// `alignment` is a power of two; throws std::bad_alloc.
  HostMemory(uint64_t size, size_t alignment);
  /// Wraps memory of the caller, who must keep it alive.
  HostMemory(void* pointer, uint64_t size);
  ~HostMemory() override;
  HostMemory(const HostMemory&) = delete;
  HostMemory& operator=(const HostMemory&) = delete;

  void* map(uint64_t offset, uint64_t) override { return data_ + offset; }
  uint64_t size() const override { return size_; }
  std::byte* data() const { return data_; }

 private:
  std::byte* data_;
  uint64_t size_;
  bool is_owned_;
};

/// Executables that HostDevice launches.
class HostExecutable : public Executable {
 public:
  explicit HostExecutable(LaunchSignature signature) : signature_(std::move(signature)) {}
  const LaunchSignature& signature() const { return signature_; }

 private:
  LaunchSignature signature_;
};

/// An executable that stores its program: returns it as text, and saves it with a checksum.
class ProgramExecutable : public HostExecutable {
 public:
  explicit ProgramExecutable(Program program)
      : HostExecutable(LaunchSignature(program.view())), program_(std::move(program)) {}
  std::string text(tn_text_kind kind) const override;
  std::vector<std::byte> save() const override;
  /// The program in bytes saved by this build. Throws TN_ERROR_INCOMPATIBLE for other bytes.
  static Program saved_program(std::span<const std::byte> bytes);
  ProgramView program() const { return program_.view(); }

 private:
  Program program_;
};

struct HostArgument {
  std::byte* data = nullptr;  ///< of a buffer; null only if its size is 0
  uint64_t size = 0;          ///< bytes
  uint64_t scalar = 0;        ///< bits of a scalar
};

/// A checked command that does not refer to memory of the caller.
struct HostCommand {
  tn_command_kind kind = TN_COMMAND_LAUNCH;
  const HostExecutable* executable = nullptr;
  uint32_t grid[3] = {0, 0, 0};
  uint32_t first_argument = 0, argument_count = 0;  ///< in HostWork::arguments
  std::byte* destination = nullptr;
  const std::byte* source = nullptr;
  uint64_t size = 0, pattern = 0;
  uint32_t pattern_size = 1;
};

struct HostWork {
  std::vector<HostCommand> commands;
  std::vector<HostArgument> arguments;
  std::span<const HostArgument> arguments_of(const HostCommand& command) const {
    return std::span(arguments).subspan(command.first_argument, command.argument_count);
  }
};

/// Throws TN_ERROR_INVALID_ARGUMENT if a command exceeds its memory or a launch does not match its
/// executable. Memory and executables must be HostMemory and HostExecutable.
HostWork read_work(const Submission& submission);

/// Runs copies, fills and, by `launch`, launches in order.
using LaunchFunction = std::function<void(const HostCommand&, std::span<const HostArgument>)>;
void run_work(const HostWork& work, const LaunchFunction& launch);

/// Implements slabs and imports. Derive and add properties() and launch(), or override submit() to
/// be asynchronous.
class HostDevice : public Device {
 public:
  /// Aligned as the memory space requires.
  std::unique_ptr<Memory> allocate(uint32_t space, uint64_t size) override;
  std::unique_ptr<Memory> import_host(uint32_t space, void* pointer, uint64_t size) override;
  void submit(const Submission& submission) override;

 protected:
  /// Runs one launch. No size of its grid is zero.
  virtual void launch(const HostCommand& command, std::span<const HostArgument> arguments) = 0;
};

/// Calls `run` with the coordinates of each workgroup, x fastest.
void each_workgroup(const uint32_t (&grid)[3],
                    const std::function<void(const uint32_t (&group)[3])>& run);

/// The only memory space of such a device: host memory with `alignment`. `read_alignment`: that of
/// buffers that are only read, as of imported memory; 0: the same.
tn_memory_space host_memory_space(uint32_t alignment, uint32_t read_alignment = 0);

}  // namespace tenon::sdk
