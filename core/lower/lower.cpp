// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/lower/lower.hpp"

#include <algorithm>
#include <optional>
#include <set>

#include "core/kernel/transforms/legality.hpp"
#include "core/kernel/tree/register_tiles.hpp"
#include "core/lower/emitter.hpp"
#include "core/support/error.hpp"
#include "sdk/program/verify.hpp"

namespace tenon {
namespace {

/// A unique C identifier.
std::string param_name(std::string_view wanted, std::set<std::string>& taken) {
  std::string name;
  for (const char c : wanted) {
    const bool digit = c >= '0' && c <= '9';
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    if (digit && name.empty()) name += '_';
    name += digit || letter ? c : '_';
  }
  if (name.empty()) name = "param";
  const std::string base = name;
  for (int n = 1; !taken.insert(name).second; ++n) name = base + "_" + std::to_string(n);
  return name;
}

uint32_t declare_buffer(sdk::ProgramBuilder& builder, const KernelBuffer& b,
                        const std::string& name, const Capabilities& capabilities) {
  if (b.space != BufferSpace::kGlobal)
    return builder.allocate(
        name, abi(b.dtype), b.space == BufferSpace::kShared ? TN_SPACE_SHARED : TN_SPACE_SCRATCH,
        static_cast<uint64_t>(b.count.value()), b.swizzled ? kLinesAlignment : kTileAlignment);
  uint32_t access = 0;
  if (b.read) access |= TN_ACCESS_READ;
  if (b.written) access |= TN_ACCESS_WRITE | TN_ACCESS_NOALIAS;
  return builder.buffer(name, abi(b.dtype), access,
                        static_cast<uint64_t>(std::max<int64_t>(0, b.count.min())),
                        buffer_alignment(b, capabilities));
}

/// Buffers in the kernel's order, then symbols, tiles, partial results.
std::vector<uint32_t> declare_params(const Kernel& kernel,
                                     const std::vector<ProgramParams::Param>& params,
                                     const Capabilities& capabilities, sdk::ProgramBuilder& builder,
                                     std::vector<LaunchArgument>& arguments) {
  using Kind = ProgramParams::Param::Kind;
  std::vector<uint32_t> order(params.size());
  for (uint32_t i = 0; i < order.size(); ++i) order[i] = i;
  const auto rank = [&](uint32_t i) {
    const ProgramParams::Param& p = params[i];
    if (p.kind == Kind::kScalar) return std::pair(1, std::string(p.symbol.name()));
    if (p.kind == Kind::kShared) return std::pair(3, std::string());
    const bool tile = kernel.buffers[p.buffer].space != BufferSpace::kGlobal;
    return std::pair(tile ? 2 : 0, fmt::format("{:06}", p.buffer));
  };
  std::ranges::stable_sort(order, {}, rank);
  std::vector<uint32_t> values(params.size());
  std::set<std::string> taken;
  for (const uint32_t i : order) {
    const ProgramParams::Param& p = params[i];
    if (p.kind == Kind::kScalar) {
      values[i] = builder.scalar(param_name(p.symbol.name(), taken), abi(p.dtype), p.symbol.min(),
                                 std::min(p.symbol.max(), highest(p.dtype).as_int()));
      arguments.push_back({LaunchArgument::Kind::kSymbol, 0, p.symbol});
    } else if (p.kind == Kind::kShared) {
      values[i] = builder.allocate(param_name("partial", taken), abi(p.dtype), TN_SPACE_SHARED,
                                   static_cast<uint64_t>(p.count), kTileAlignment);
    } else {
      const KernelBuffer& b = kernel.buffers[p.buffer];
      values[i] = declare_buffer(builder, b, param_name(b.name, taken), capabilities);
      if (b.input >= 0)
        arguments.push_back({LaunchArgument::Kind::kInput, b.input, 0});
      else if (b.output >= 0)
        arguments.push_back({LaunchArgument::Kind::kOutput, b.output, 0});
    }
  }
  return values;
}

/// A memory of which the program needs more than the device has.
struct Shortage {
  std::string_view memory;
  uint32_t limit, asked;
};

std::optional<Shortage> shortage(const sdk::Program& program, const Capabilities& capabilities) {
  const tn_program& p = *program.get();
  if (p.shared_bytes > capabilities.max_shared_bytes)
    return Shortage{"shared memory", capabilities.max_shared_bytes, p.shared_bytes};
  if (capabilities.max_scratch_bytes && p.scratch_bytes > capabilities.max_scratch_bytes)
    return Shortage{"scratch memory", capabilities.max_scratch_bytes, p.scratch_bytes};
  return {};
}

}  // namespace

LoweredKernel emit_program(const Chosen& chosen, const Capabilities& capabilities,
                           const std::string& name) {
  LoweredKernel out;
  out.chosen = chosen;
  const std::optional<Kernel> placed = with_register_tiles(out.chosen.kernel, capabilities);
  const Kernel& kernel = placed ? *placed : out.chosen.kernel;
  check_limits(kernel, capabilities);
  out.loop_bound = loop_bound(kernel, capabilities);

  Emitter emitter(kernel, capabilities);
  emitter.run();

  out.index_bounds = index_bounds(kernel, capabilities);
  sdk::ProgramBuilder builder(name);
  const std::vector<uint32_t> params =
      declare_params(kernel, emitter.params().all(), capabilities, builder, out.arguments);
  const LaunchDims& launch = emitter.launch();
  for (size_t d = 0; d < 3; ++d) {
    out.grid[d] = launch.extent(LaunchDims::kGrid[d]);
    out.block[d] = static_cast<uint32_t>(launch.extent(LaunchDims::kBlock[d]).value());
  }
  builder.workgroup(out.block[0], out.block[1], out.block[2]);
  builder.subgroup(launch.subgroup());
  emitter.tree().write(builder, params);
  out.program = builder.finish();
  return out;
}

void check_program(const sdk::Program& program) {
  if (const std::string error = sdk::verify_program(program.get(), program.size()); !error.empty())
    fail(ErrorKind::kInternal, "[lower] kernel {}: expected a legal program, got: {}",
         program.view().name(), error);
}

bool fits_memory(const sdk::Program& program, const Capabilities& capabilities) {
  return !shortage(program, capabilities);
}

void check_memory(const sdk::Program& program, const Capabilities& capabilities) {
  if (const auto s = shortage(program, capabilities))
    fail(ErrorKind::kUnsupported, "[lower] kernel {}: expected at most {} bytes of {}, got {}",
         program.view().name(), s->limit, s->memory, s->asked);
}

}  // namespace tenon
