// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Objects of a plugin that destroy themselves, and the calls that make them: a legal call that
// fails throws a Finding.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "conformance/abi/finding.hpp"
#include "conformance/abi/subject.hpp"
#include "core/plugin/abi_struct.hpp"
#include "sdk/program/command.hpp"

namespace tenon::conformance::abi {

/// Calls a destroying function of the table.
template <class Handle>
struct Destroyer {
  void (*destroy)(Handle*) = nullptr;
  void operator()(Handle* handle) const {
    if (handle) destroy(handle);
  }
};
using DeviceHandle = std::unique_ptr<tn_device, Destroyer<tn_device>>;
using MemoryHandle = std::unique_ptr<tn_memory, Destroyer<tn_memory>>;
using ExecutableHandle = std::unique_ptr<tn_executable, Destroyer<tn_executable>>;
using TimelineHandle = std::unique_ptr<tn_timeline, Destroyer<tn_timeline>>;

/// What compile said.
struct CompileAnswer {
  ExecutableHandle executable;  ///< null where it refused
  int32_t status = TN_OK;
  std::string text;
};

/// One open device with what it declares. Its objects must go before it.
class OpenDevice {
 public:
  OpenDevice(const Subject& subject, uint32_t index, const char* options);

  tn_device* handle() const { return handle_.get(); }
  const tn_plugin& table() const { return subject_.table; }
  const Subject& subject() const { return subject_; }
  const tn_properties& properties() const { return properties_; }
  const std::vector<tn_memory_space>& spaces() const { return spaces_; }
  bool computes() const { return properties_.flags & TN_DEVICE_COMPUTE; }
  bool is_async() const { return properties_.flags & TN_DEVICE_ASYNC; }
  /// Copies and fills need submit, which a device with memory only may leave out.
  bool submits() const { return table().submit != nullptr; }
  bool claims(tn_opcode op) const { return properties_.native_ops[op >> 6] >> (op & 63) & 1; }
  const std::vector<tn_dtype_caps>& dtypes() const { return dtypes_; }
  const std::vector<tn_matrix_atom>& atoms() const { return atoms_; }
  /// TN_DTYPE_ flags of a dtype, 0 if it is not listed.
  uint32_t dtype_flags(uint32_t dtype) const;
  bool is_visible(uint32_t space) const { return spaces_[space].flags & TN_MEMORY_HOST_VISIBLE; }
  /// The first space that the host sees, and from which or to which `space` is copied.
  std::optional<uint32_t> window_to(uint32_t space) const;
  std::optional<uint32_t> window_from(uint32_t space) const;

  /// Null where there is no room.
  MemoryHandle allocate(uint32_t space, uint64_t size) const;
  TimelineHandle make_timeline(uint64_t value) const;
  /// Asks `supports` first; what it promises must come true.
  CompileAnswer compile(const tn_program& program) const;
  tn_target target() const;

  void* map(tn_memory* memory, uint64_t offset, uint64_t size) const;
  void unmap(tn_memory* memory) const;
  void submit(const tn_submission& submission) const;
  void wait(tn_timeline* timeline, uint64_t value) const;
  uint64_t query(tn_timeline* timeline) const;
  void signal(tn_timeline* timeline, uint64_t value) const;
  /// Commands that have ended when it returns, on queue 0.
  void run(std::span<const tn_command> commands) const;
  /// Bytes of a slab in any space.
  void read(tn_memory* memory, uint32_t space, uint64_t offset, std::span<uint8_t> bytes) const;
  void write(tn_memory* memory, uint32_t space, uint64_t offset,
             std::span<const uint8_t> bytes) const;

  ExecutableHandle own(tn_executable* executable) const {
    return ExecutableHandle(executable, {table().executable_destroy});
  }
  MemoryHandle own(tn_memory* memory) const { return MemoryHandle(memory, {table().memory_free}); }

 private:
  const Subject& subject_;
  DeviceHandle handle_;
  tn_properties properties_{};
  std::vector<tn_memory_space> spaces_;
  std::vector<tn_dtype_caps> dtypes_;
  std::vector<tn_matrix_atom> atoms_;
};

/// Work that waits for the host. Whatever is found meanwhile, it is let go and waited for at the
/// end of this, before what it uses is destroyed.
class Unfinished {
 public:
  /// The host raises `gate` to `opens`.
  Unfinished(const OpenDevice& device, tn_timeline* gate, uint64_t opens)
      : device_(device), gates_{{gate, opens}} {}
  ~Unfinished();
  Unfinished(const Unfinished&) = delete;
  Unfinished& operator=(const Unfinished&) = delete;
  /// It waits for this one, too.
  void opens_with(const tn_point& gate) { gates_.push_back(gate); }
  /// Submitted was what raises this, and nothing else does: where it fails, that work has ended.
  void ends_with(const tn_point& end) { ends_.push_back(end); }

 private:
  const OpenDevice& device_;
  std::vector<tn_point> gates_, ends_;
};

using sdk::buffer_argument, sdk::copy_command, sdk::fill_command, sdk::launch_command;
using sdk::submission_of;

}  // namespace tenon::conformance::abi
