// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "conformance/judge/transform_choice.hpp"

#include <fmt/ranges.h>

#include <algorithm>

#include "conformance/cases/random.hpp"
#include "core/kernel/templates/templates.hpp"
#include "core/kernel/transforms/random_transforms.hpp"
#include "core/lower/storage_words.hpp"
#include "core/support/error.hpp"

namespace tenon::conformance::judge {
namespace {

/// Of a program, each counted for each lane where there are no vectors: some drivers take minutes
/// for more.
constexpr uint64_t kMostOps = 700;
constexpr uint64_t kFewestSteps = 2, kMoreSteps = 12;
constexpr double kFewIterations = 1000, kMoreIterations = 5;
constexpr const char* kNone = "none";

/// Narrow stores to packed words without atomics are right in one thread only.
bool takes_transforms(const Capabilities& capabilities) {
  return capabilities.storage_bytes < 4 || has_word_atomics(capabilities);
}

/// Of all loops together.
double iterations(const Kernel& kernel, const std::vector<Statement>& body) {
  double total = 1;
  for (const Statement& s : body) {
    const bool loop = s.kind == Statement::Kind::kLoop;
    const double times = loop ? static_cast<double>(kernel.axes[s.axis].extent.max()) : 1;
    total += times * iterations(kernel, s.body);
  }
  return total;
}

/// What the first half of a list makes of the tree.
Chosen first_half(const Kernel& tree, TransformList list) {
  list.resize(list.size() / 2);
  Chosen chosen{tree, std::move(list)};
  apply_transforms(chosen.kernel, chosen.list);
  return chosen;
}

uint64_t size_of(const sdk::ProgramView& program, const Capabilities& capabilities) {
  uint64_t total = 0;
  for (uint32_t i = 0; i < program.op_count(); ++i)
    total += capabilities.vector_bytes ? 1 : std::max<uint32_t>(program.op(i).lanes, 1);
  return total;
}

Chosen draw_transforms(const Kernel& tree, const Capabilities& capabilities, Random& random) {
  RandomTransformOptions options;
  options.steps = static_cast<int>(kFewestSteps + random.below(kMoreSteps));
  options.vectors = capabilities.has(Op::BROADCAST);
  options.threads = capabilities.max_workgroup_threads > 1 && capabilities.has(Op::BARRIER);
  // Some steps, as those for matrix atoms, come only in the right order: what templates begin
  // with, however they decide; or all of it, which is seldom drawn otherwise.
  const bool whole = random.chance(20);
  if (whole || random.chance(30)) {
    const auto any = [&](std::string_view, std::span<const int64_t> of) {
      return static_cast<size_t>(random.below(of.size()));
    };
    const Chosen chosen = choose_transforms(tree, capabilities, any);
    options.first = written(chosen.kernel, chosen.list);
    if (!whole) options.first.resize(random.below(options.first.size() + 1));
    if (whole) options.steps = 0;
  }
  const auto below = [&](uint32_t n) { return static_cast<uint32_t>(random.below(n)); };
  Chosen chosen = random_transforms(tree, below, options);
  // Padding on padding makes lists that take minutes: their first part will do.
  const double most = std::max(kFewIterations, kMoreIterations * iterations(tree, tree.body));
  while (!chosen.list.empty() && iterations(chosen.kernel, chosen.kernel.body) > most)
    chosen = first_half(tree, std::move(chosen.list));
  return chosen;
}

}  // namespace

TransformChoice::TransformChoice(const Case& test)
    : seed_(test.transform_seed),
      written_(test.transforms),
      sizes_(test.sizes),
      is_written_(!test.transforms.empty()) {}

LoweredKernel TransformChoice::choose(const UnchosenKernel& kernel) {
  LoweredKernel lowered = is_written_ ? choose_written(kernel)
                          : seed_     ? choose_at_random(kernel, *seed_)
                                      : TemplateChooser().choose(kernel);
  keep(kernel.number, lowered.chosen);
  return lowered;
}

void TransformChoice::keep(size_t number, const Chosen& chosen) {
  const std::lock_guard lock(mutex_);
  if (applied_.size() <= number) applied_.resize(number + 1);
  applied_[number] = chosen.list.empty() ? kNone : list_text(chosen);
}

LoweredKernel TransformChoice::choose_written(const UnchosenKernel& kernel) {
  const bool has_list = kernel.number < written_.size() && written_[kernel.number] != kNone;
  const std::string text = has_list ? written_[kernel.number] : "";
  try {
    LoweredKernel lowered = WrittenChooser(parse_transforms(text)).choose(kernel);
    check_memory(lowered.program, kernel.capabilities);
    return lowered;
  } catch (const Error& error) {
    const std::lock_guard lock(mutex_);
    if (error.kind() != ErrorKind::kInternal)
      refused_ = fmt::format("kernel {}, \"{}\": {}", kernel.number, text, error.what());
    throw;
  }
}

LoweredKernel TransformChoice::choose_at_random(const UnchosenKernel& kernel, uint64_t seed) {
  const Capabilities& capabilities = kernel.capabilities;
  if (takes_transforms(capabilities)) {
    Random random(mix(seed, kernel.number));
    Chosen chosen = draw_transforms(kernel.tree, capabilities, random);
    while (!chosen.list.empty()) {
      try {
        LoweredKernel lowered = kernel.lower(chosen);
        if (fits_memory(lowered.program, capabilities) &&
            size_of(lowered.program.view(), capabilities) <= kMostOps)
          return lowered;
      } catch (const Error& error) {
        keep(kernel.number, chosen);
        if (error.kind() != ErrorKind::kUnsupported) throw;
      }
      chosen = first_half(kernel.tree, std::move(chosen.list));
    }
  }
  return TemplateChooser().choose(kernel);
}

std::string TransformChoice::text() const {
  const std::lock_guard lock(mutex_);
  return fmt::format("{}", fmt::join(applied_, "\n"));
}

std::string TransformChoice::refused() const {
  const std::lock_guard lock(mutex_);
  return refused_;
}

}  // namespace tenon::conformance::judge
