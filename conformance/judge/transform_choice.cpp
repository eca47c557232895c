// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "conformance/judge/transform_choice.hpp"

#include <fmt/ranges.h>

#include <algorithm>

#include "conformance/cases/random.hpp"
#include "core/kernel/heuristics/heuristics.hpp"
#include "core/kernel/transforms/random_transforms.hpp"
#include "core/kernel/tree/build.hpp"
#include "core/lower/pack.hpp"
#include "core/support/error.hpp"

namespace tenon::conformance {
namespace {

/// Of a program, each counted for each lane where there are no vectors: some drivers take minutes
/// for more.
constexpr uint64_t kMostOps = 1500;
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

/// Padding on padding makes lists that take minutes: their first part will do.
void shorten(const Kernel& kernel, TransformList& list) {
  const double most = std::max(kFewIterations, kMoreIterations * iterations(kernel, kernel.body));
  for (; !list.empty(); list.resize(list.size() / 2)) {
    Kernel transformed = kernel;
    apply_transforms(transformed, list);
    if (iterations(transformed, transformed.body) <= most) return;
  }
}

uint64_t size_of(const sdk::ProgramView& program, const Capabilities& capabilities) {
  uint64_t total = 0;
  for (uint32_t i = 0; i < program.op_count(); ++i)
    total += capabilities.vector_bytes ? 1 : std::max<uint32_t>(program.op(i).lanes, 1);
  return total;
}

TransformList draw(const Graph& graph, const std::vector<int>& alias,
                   const Capabilities& capabilities, Random& random) {
  const Kernel kernel = build_kernel(graph, alias);
  RandomTransformOptions options;
  options.vectors = capabilities.has(Op::BROADCAST);
  options.threads = capabilities.max_workgroup_threads > 1 && capabilities.has(Op::BARRIER);
  // Some steps, as those for matrix atoms, come only in the right order: what the rules begin with.
  if (random.chance(30)) {
    options.first = choose_transforms(kernel, capabilities);
    options.first.resize(random.below(options.first.size() + 1));
  }
  const auto below = [&](uint32_t n) { return static_cast<uint32_t>(random.below(n)); };
  TransformList list = random_transforms(kernel, below, options);
  shorten(kernel, list);
  return list;
}

}  // namespace

TransformChoice::TransformChoice(const Case& test)
    : seed_(test.transform_seed.value_or(0)),
      written_(test.transforms),
      is_written_(!test.transforms.empty()) {}

LoweredKernel TransformChoice::lower(const Graph& kernel, const Capabilities& capabilities,
                                     const LowerOptions& options, size_t number) {
  LoweredKernel lowered = is_written_ ? lower_written(kernel, capabilities, options, number)
                                      : lower_at_random(kernel, capabilities, options, number);
  const std::lock_guard lock(mutex_);
  if (applied_.size() <= number) applied_.resize(number + 1);
  applied_[number] = lowered.transforms.empty() ? kNone : print(lowered.transforms);
  return lowered;
}

LoweredKernel TransformChoice::lower_written(const Graph& kernel, const Capabilities& capabilities,
                                             LowerOptions options, size_t number) {
  options.use_rules = false;
  if (number < written_.size() && written_[number] != kNone) options.transforms = written_[number];
  try {
    return lower_kernel(kernel, capabilities, options);
  } catch (const Error& error) {
    const std::lock_guard lock(mutex_);
    if (error.kind() != ErrorKind::kInternal)
      refused_ = fmt::format("kernel {}, \"{}\": {}", number, options.transforms, error.what());
    throw;
  }
}

LoweredKernel TransformChoice::lower_at_random(const Graph& kernel,
                                               const Capabilities& capabilities,
                                               LowerOptions options, size_t number) const {
  TransformList list;
  if (takes_transforms(capabilities)) {
    Random random(mix(seed_, number));
    list = draw(kernel, options.alias, capabilities, random);
  }
  for (; !list.empty(); list.resize(list.size() / 2)) {
    options.transforms = print(list);
    try {
      LoweredKernel lowered = lower_kernel(kernel, capabilities, options);
      if (size_of(lowered.program.view(), capabilities) <= kMostOps) return lowered;
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::kUnsupported) throw;
    }
  }
  options.transforms.clear();
  return lower_kernel(kernel, capabilities, options);
}

std::string TransformChoice::text() const {
  const std::lock_guard lock(mutex_);
  return fmt::format("{}", fmt::join(applied_, "\n"));
}

std::string TransformChoice::refused() const {
  const std::lock_guard lock(mutex_);
  return refused_;
}

}  // namespace tenon::conformance
