// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/compile/chooser.hpp"

#include <algorithm>

#include "core/kernel/heuristics/heuristics.hpp"
#include "core/lower/pack.hpp"
#include "core/lower/word_ops.hpp"

namespace tenon {

bool needs_one_thread(const Kernel& kernel, const Capabilities& capabilities) {
  if (capabilities.storage_bytes < 4 || has_word_atomics(capabilities)) return false;
  return std::ranges::any_of(kernel.buffers, [](const KernelBuffer& b) {
    return b.written && b.space == BufferSpace::kGlobal && is_narrow(b.dtype);
  });
}

LoweredKernel HeuristicChooser::choose(const UnchosenKernel& kernel) {
  const Capabilities& capabilities = kernel.capabilities;
  if (needs_one_thread(kernel.tree, capabilities)) return kernel.lower({kernel.tree, {}});
  LoweredKernel out = kernel.lower(choose_transforms(kernel.tree, capabilities));
  if (out.program.get()->shared_bytes <= capabilities.max_shared_bytes) return out;
  // Recipes see one reduction at a time. Where all of them together want more shared memory than
  // there is, each thread reduces for itself.
  Capabilities alone = capabilities;
  alone.max_shared_bytes = 0;
  return kernel.lower(choose_transforms(kernel.tree, alone));
}

LoweredKernel WrittenChooser::choose(const UnchosenKernel& kernel) {
  Chosen chosen{kernel.tree, list_};
  apply_transforms(chosen.kernel, list_);
  return kernel.lower(std::move(chosen));
}

}  // namespace tenon
