// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Opens the built CPU plugin through the ABI, and runs programs on byte vectors.
#pragma once

#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <span>
#include <string>
#include <vector>

#include "sdk/program/builder.hpp"
#include "sdk/program/dtype_info.hpp"
#include "tenon/plugin.h"

namespace tenon::cpu_test {

using Bytes = std::vector<unsigned char>;

template <class T>
Bytes to_bytes(const std::vector<T>& values) {
  Bytes bytes(values.size() * sizeof(T));
  if (!bytes.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}
template <class T>
std::vector<T> from_bytes(const Bytes& bytes) {
  std::vector<T> values(bytes.size() / sizeof(T));
  if (!values.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}
/// Element `i` of a packed array of `size`-byte elements, zero-extended.
uint64_t element(const Bytes& bytes, size_t i, uint32_t size);
void set_element(Bytes& bytes, size_t i, uint32_t size, uint64_t value);

/// The plugin's table; loaded once. Throws std::runtime_error.
const tn_plugin& plugin();
/// Throws std::runtime_error with the plugin's message unless `status` is TN_OK.
void require_ok(int32_t status, const tn_error& error);

/// An argument of a launch: a buffer, in and out, or the bits of a scalar.
struct Argument {
  Bytes* buffer = nullptr;
  uint64_t scalar = 0;
};

struct Grid {
  uint32_t x = 1, y = 1, z = 1;
};

class Device {
 public:
  explicit Device(const char* options = nullptr);
  ~Device();
  Device(const Device&) = delete;
  tn_device* get() const { return device_; }
  tn_target target() const;
  const tn_properties& properties() const;

  tn_executable* compile(const sdk::Program& program, tn_compile_report* report = nullptr) const;
  tn_memory* allocate(uint64_t size) const;
  void* map(tn_memory* memory, uint64_t size) const;
  /// Copies the buffers in, launches, waits, and copies all of them out.
  void launch(tn_executable* executable, Grid grid, std::span<const Argument> arguments) const;
  void run(const sdk::Program& program, Grid grid, std::initializer_list<Argument> arguments) const;
  /// Submits and waits until it is done; throws what the timeline says.
  void submit_and_wait(std::span<const tn_command> commands) const;

 private:
  tn_device* device_ = nullptr;
};

/// One device with default options for all tests.
const Device& shared_device();

tn_command launch_command(tn_executable* executable, Grid grid,
                          std::span<const tn_argument> arguments);

/// Those of dtypes.def that `is` is true of.
std::vector<tn_dtype> dtypes_where(bool (*is)(const sdk::DTypeInfo&));

/// A program that applies one op to elements [0, count) of its input buffers, `lanes` at a time.
sdk::Program elementwise_program(tn_opcode op, std::span<const tn_dtype> inputs, tn_dtype output,
                                 uint16_t lanes, uint64_t imm = 0);

/// Bit patterns worth trying: specials of the dtype and random ones. Deterministic.
std::vector<uint64_t> interesting_values(tn_dtype dtype, size_t random_count);

}  // namespace tenon::cpu_test
