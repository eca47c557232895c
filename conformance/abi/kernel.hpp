// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Small programs whose result is known bit for bit, and that result.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "conformance/abi/open_device.hpp"
#include "sdk/program/builder.hpp"

namespace tenon::conformance::abi {

/// What one of them is made from. Twins differ in one field.
struct KernelSpec {
  std::string kind = "add";  ///< one of program_kinds()
  tn_dtype dtype = TN_DTYPE_I32;
  int64_t constant = 1;
  uint32_t threads = 1;
  bool swapped = false;  ///< operands of the op that does not commute
  bool renamed = false;
};

/// Bytes of a slab, and for each whether its value is known.
struct ModelBytes {
  std::span<uint8_t> bytes, known;
};

class Kernel {
 public:
  /// What the device can do of the request: fewer threads; nothing where it lacks dtype or op.
  static std::optional<Kernel> fit(const KernelSpec& request, const OpenDevice& device);

  const KernelSpec& spec() const { return spec_; }
  sdk::Program build() const;

  bool has_input() const;
  bool writes_in_place() const { return spec_.kind == "accumulate"; }
  bool has_scalar() const { return spec_.kind == "scalar"; }
  uint32_t element_bytes() const { return sdk::dtype_bytes(spec_.dtype); }
  /// Whether an element is made from the one at its own place, so that output may be input.
  bool is_elementwise() const;

  /// A launch for about `count` elements of output; a count of 0 has a grid with a zero.
  struct Extent {
    uint32_t grid[3] = {0, 1, 1};
    uint64_t inputs = 0, outputs = 0;  ///< elements touched
  };
  Extent extent(uint64_t count) const;
  /// Bits of a SCALAR argument.
  uint64_t scalar_bits(int64_t request) const;

  /// What the launch leaves in `out`.
  void apply(const Extent& extent, ModelBytes in, ModelBytes out, uint64_t scalar) const;

 private:
  struct Value {
    uint64_t bits = 0;
    bool known = false;
  };
  Kernel(KernelSpec spec, bool exact_zeros) : spec_(std::move(spec)), exact_zeros_(exact_zeros) {}
  uint64_t bits_of(int64_t number) const;
  uint64_t length() const;  ///< of a row of sum, of what reverse turns round
  int64_t shift() const;
  bool is_certain(uint64_t bits) const;
  Value load(ModelBytes from, uint64_t index) const;
  Value combine(uint16_t op, Value a, Value b) const;
  Value element(ModelBytes in, ModelBytes out, uint64_t index, uint64_t scalar) const;

  KernelSpec spec_;
  bool exact_zeros_;
  uint64_t most_groups_ = 1;
};

/// A kernel with its executable.
struct Loaded {
  Kernel kernel;
  ExecutableHandle executable;
};
/// Nothing where the device may refuse it and does.
std::optional<Loaded> load_kernel(const KernelSpec& request, const OpenDevice& device);

/// A launch of a kernel. `arguments` is filled, and must live as long as the command.
struct LaunchArguments {
  tn_argument rows[3];
};
struct BoundRange {
  tn_memory* memory = nullptr;
  uint64_t offset = 0;
};
tn_command launch_command(const Kernel& kernel, tn_executable* executable,
                          const Kernel::Extent& extent, BoundRange out, BoundRange in,
                          uint64_t scalar, LaunchArguments& arguments);

}  // namespace tenon::conformance::abi
