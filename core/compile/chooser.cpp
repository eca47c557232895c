// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/compile/chooser.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "core/kernel/templates/templates.hpp"
#include "core/lower/storage_words.hpp"
#include "core/lower/word_ops.hpp"

namespace tenon {
namespace {

/// Decision points whose smaller options need fewer registers.
constexpr std::array<std::string_view, 3> kTiles{"tile", "rows", "copies"};

/// The defaults, or options that are `steps` smaller at the points above.
Decide decide_smaller(size_t steps) {
  if (steps == 0) return {};
  return [steps](std::string_view point, std::span<const int64_t> options) -> size_t {
    if (std::ranges::find(kTiles, point) == kTiles.end()) return 0;
    std::vector<size_t> smaller;  // indices of smaller options, largest first
    for (size_t i = 1; i < options.size(); ++i)
      if (options[i] < options[0]) smaller.push_back(i);
    std::ranges::sort(smaller, std::greater(), [&](size_t i) { return options[i]; });
    return smaller.empty() ? 0 : smaller[std::min(steps, smaller.size()) - 1];
  };
}

}  // namespace

bool needs_one_thread(const Kernel& kernel, const Capabilities& capabilities) {
  if (capabilities.storage_bytes < 4 || has_word_atomics(capabilities)) return false;
  return std::ranges::any_of(kernel.buffers, [](const KernelBuffer& b) {
    return b.written && b.space == BufferSpace::kGlobal && is_narrow(b.dtype);
  });
}

LoweredKernel TemplateChooser::choose(const UnchosenKernel& kernel) {
  const Capabilities& capabilities = kernel.capabilities;
  if (needs_one_thread(kernel.tree, capabilities)) return kernel.lower({kernel.tree, {}});
  const Decide decide = decide_smaller(smaller_);
  LoweredKernel out = kernel.templates && smaller_ == 0
                          ? kernel.lower(*kernel.templates)
                          : kernel.lower(choose_transforms(kernel.tree, capabilities, decide));
  // Templates see one reduction at a time. If together they exceed shared memory, retry without it.
  if (out.program.get()->shared_bytes > capabilities.max_shared_bytes) {
    Capabilities alone = capabilities;
    alone.max_shared_bytes = 0;
    out = kernel.lower(choose_transforms(kernel.tree, alone, decide));
  }
  // If scratch is exceeded, use no transforms.
  const uint32_t scratch = capabilities.max_scratch_bytes;
  if (scratch && out.program.get()->scratch_bytes > scratch) out = kernel.lower({kernel.tree, {}});
  return out;
}

LoweredKernel WrittenChooser::choose(const UnchosenKernel& kernel) {
  Chosen chosen{kernel.tree, {}};
  chosen.list = apply_transforms(chosen.kernel, list_);
  return kernel.lower(chosen);
}

}  // namespace tenon
