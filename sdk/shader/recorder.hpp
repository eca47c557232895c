// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From a submission to the commands of a driver that binds buffers, as Vulkan and WebGPU do. Each
// command is checked against its memory, its executable and the device's properties; what is left
// to the driver are the six calls below.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "sdk/backend/hazards.hpp"
#include "sdk/shader/executable.hpp"

namespace tenon::sdk {

/// What copies, fills and bindings of 32-bit words need for so many bytes.
constexpr uint64_t whole_words(uint64_t bytes) { return (bytes + 3) / 4 * 4; }

/// Bytes of a slab.
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

  /// Throws TN_ERROR_INVALID_ARGUMENT where a command does not fit, and what the calls throw; then
  /// what was recorded is of no use. Executables must be ShaderExecutables.
  void record(const Submission& submission);

 protected:
  /// The device outlives the recorder.
  explicit Recorder(const Device& device) : device_(device) {}

  struct Launch {
    const ShaderExecutable& executable;
    std::span<const Range> buffers;      ///< by binding; without memory where there are no bytes
    std::span<const std::byte> scalars;  ///< as in scalar_layout()
    const uint32_t (&grid)[3];           ///< without a zero
  };

  /// A submission of so many launches, which bind at most so many buffers in all.
  virtual void begin(uint32_t launches, uint32_t buffers) = 0;
  virtual void end() = 0;
  virtual void dispatch(const Launch& launch) = 0;
  /// Ranges of one size, which is not 0, at any byte.
  virtual void copy(const Range& to, const Range& from) = 0;
  /// Offset and size are multiples of 4.
  virtual void fill_words(const Range& to, uint32_t word) = 0;
  /// At most kWriteBytes at any byte, and touch() for them. `from` can be read in whole words.
  virtual void write(const Range& to, const std::byte* from) = 0;
  /// What was written before is seen by what comes after. A driver that finds out by itself where
  /// it must wait has nothing to do here.
  virtual void barrier() {}

  static constexpr uint64_t kWriteBytes = 256;

  /// Before a command that does this: sets the barrier that it needs. Done for all but write().
  void touch(std::span<const Hazards::Access> accesses);
  void touch(const Range& range, bool writes);
  /// copy() after the barrier that it needs.
  void copy_in_order(const Range& to, const Range& from);

 private:
  void launch(const tn_command& command);
  void fill(const Range& to, uint64_t pattern);
  void write_pattern(const Range& to, uint64_t pattern);

  const Device& device_;
  Hazards hazards_;
};

}  // namespace tenon::sdk
