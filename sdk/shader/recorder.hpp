// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Converts a submission to commands of a driver that binds buffers, as Vulkan and WebGPU. Checks
// each command against its memory, its executable and the device's properties. The backend
// implements the virtual functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "sdk/backend/hazards.hpp"
#include "sdk/shader/executable.hpp"

namespace tenon::sdk {

/// Bytes rounded up to 32-bit words, for copies, fills and bindings.
constexpr uint64_t whole_words(uint64_t bytes) { return (bytes + 3) / 4 * 4; }

/// A byte range of a slab.
struct Range {
  Memory* memory = nullptr;
  uint64_t offset = 0, size = 0;
  Range part(uint64_t at, uint64_t bytes) const { return {memory, offset + at, bytes}; }
};

class Recorder {
 public:
  virtual ~Recorder() = default;
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  /// Records a submission. Throws TN_ERROR_INVALID_ARGUMENT for a wrong command, and what the
  /// virtual functions throw; then the recording is invalid. Executables must be ShaderExecutables.
  void record(const Submission& submission);

 protected:
  /// The device must outlive the recorder.
  explicit Recorder(const Device& device) : device_(device) {}

  struct Launch {
    const ShaderExecutable& executable;
    std::span<const Range> buffers;      ///< by binding; no memory if it has no bytes
    std::span<const std::byte> scalars;  ///< as in scalar_layout()
    const uint32_t (&grid)[3];           ///< without a zero
  };

  /// Begins a submission of `launches` launches, which bind at most `buffers` buffers in all.
  virtual void begin(uint32_t launches, uint32_t buffers) = 0;
  virtual void end() = 0;
  virtual void dispatch(const Launch& launch) = 0;
  /// Ranges of equal size, not 0, at any byte.
  virtual void copy(const Range& to, const Range& from) = 0;
  /// Offset and size are multiples of 4.
  virtual void fill_words(const Range& to, uint32_t word) = 0;
  /// Writes at most kWriteBytes at any byte, and calls touch(). `from` can be read in whole words.
  virtual void write(const Range& to, const std::byte* from) = 0;
  /// Makes earlier writes visible to later commands. Empty for drivers that track hazards
  /// themselves.
  virtual void barrier() {}

  static constexpr uint64_t kWriteBytes = 256;

  /// Adds the barrier that a command with these accesses needs. Called for all commands but
  /// write().
  void touch(std::span<const Hazards::Access> accesses);
  void touch(const Range& range, bool writes);
  /// copy() after a barrier if needed.
  void copy_in_order(const Range& to, const Range& from);

 private:
  void launch(const tn_command& command);
  void fill(const Range& to, uint64_t pattern);
  void write_pattern(const Range& to, uint64_t pattern);

  const Device& device_;
  Hazards hazards_;
};

}  // namespace tenon::sdk
