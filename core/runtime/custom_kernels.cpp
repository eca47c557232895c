// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/runtime/custom_kernels.hpp"

#include <fmt/ranges.h>

#include <algorithm>

#include "core/ir/text/cursor.hpp"
#include "core/support/error.hpp"
#include "core/support/printable.hpp"

namespace tenon {
namespace {

constexpr size_t kMaxNames = 16;

void check_name(const std::string& kernel) {
  const std::string_view name =
      std::string_view(kernel).substr(0, kernel.size() - kernel.ends_with('*'));
  TN_REQUIRE(is_identifier(name),
             "[kernel] expected a kernel's name, as reduce_0123456789abcdef or reduce_*, got '{}'",
             printable_line(shortened_text(kernel, 80)));
}

}  // namespace

void CustomKernels::add(Entry entry) {
  check_name(entry.kernel);
  std::erase_if(entries_, [&](const Entry& e) { return e.kernel == entry.kernel; });
  entry.matched = std::make_shared<std::atomic<bool>>(false);
  entries_.push_back(std::move(entry));
}

void CustomKernels::set_transforms(const std::string& kernel, std::string_view transforms) {
  add({kernel, parse_transforms(transforms), nullptr, nullptr});
}

void CustomKernels::set_program(const std::string& kernel, std::string_view program,
                                const std::array<int64_t, 3>& workgroups) {
  TN_REQUIRE(!kernel.ends_with('*'),
             "[kernel] expected the name of one kernel for a program, got '{}'",
             printable_line(shortened_text(kernel, 80)));
  add({kernel,
       {},
       std::make_shared<const CustomProgram>(parse_custom_program(program, workgroups)),
       nullptr});
}

void CustomKernels::reset(const std::string& kernel) {
  const auto removed = std::erase_if(entries_, [&](const Entry& e) { return e.kernel == kernel; });
  TN_REQUIRE(removed,
             "[kernel] expected a kernel that transforms or a program were set for, got '{}'",
             printable_line(shortened_text(kernel, 80)));
}

const CustomKernels::Entry* CustomKernels::find(std::string_view name) const {
  const Entry* found = nullptr;
  for (const Entry& entry : entries_) {
    const std::string_view kernel = entry.kernel;
    if (kernel == name) return &entry;
    if (kernel.ends_with('*') && name.starts_with(kernel.substr(0, kernel.size() - 1)))
      found = &entry;
  }
  return found;
}

std::vector<std::string> CustomKernels::unmatched() const {
  std::vector<std::string> out;
  const std::lock_guard lock(names_->mutex);
  for (const Entry& entry : entries_)
    if (!*entry.matched)
      out.push_back(fmt::format(
          "no kernel was called '{}', for which something is set; kernels were {}", entry.kernel,
          names_->known.empty() ? std::string("none since")
                                : fmt::format("{}", fmt::join(names_->known, ", "))));
  return out;
}

LoweredKernel CustomChooser::choose(const UnchosenKernel& kernel) {
  if (custom_.empty()) return templates_.choose(kernel);
  {
    const std::lock_guard lock(custom_.names_->mutex);
    if (custom_.names_->known.size() < kMaxNames) custom_.names_->known.emplace(kernel.name);
  }
  const CustomKernels::Entry* entry = custom_.find(kernel.name);
  if (!entry) return templates_.choose(kernel);
  *entry->matched = true;
  try {
    return choose_custom(kernel, *entry);
  } catch (const Error& error) {
    const bool program = entry->program != nullptr;
    throw Error(error.kind(),
                fmt::format("[kernel] {} with the {} set for {}: {}{}", kernel.name,
                            program ? "program" : "transforms", program ? "it" : entry->kernel,
                            error.what(), program ? "" : "\n" + print(kernel.tree)));
  }
}

std::shared_ptr<TransformChooser> CustomChooser::for_later(std::string_view name) const {
  return custom_.find(name) ? nullptr : templates_.for_later(name);
}

std::shared_ptr<TransformChooser> CustomChooser::with_smaller_tiles(std::string_view name,
                                                                    size_t steps) const {
  return custom_.find(name) ? nullptr : templates_.with_smaller_tiles(name, steps);
}

LoweredKernel CustomChooser::choose_custom(const UnchosenKernel& kernel,
                                           const CustomKernels::Entry& entry) {
  if (entry.program) return with_program(templates_.choose(kernel), *entry.program, kernel);
  if (!entry.transforms.empty() && needs_one_thread(kernel.tree, kernel.capabilities))
    fail(ErrorKind::kUnsupported,
         "expected no transforms where narrow elements share words that the device has no atomics "
         "on, got \"{}\"",
         print(entry.transforms));
  return WrittenChooser(entry.transforms).choose(kernel);
}

}  // namespace tenon
