// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "conformance/cases/selection.hpp"

#include <algorithm>
#include <set>

#include "conformance/cases/abi/patterns/pattern.hpp"
#include "conformance/cases/abi/sequence.hpp"
#include "conformance/cases/graphs/cells.hpp"
#include "core/support/error.hpp"

namespace tenon::conformance {
namespace {

uint32_t bits_of_layers(std::span<const std::string_view> names) {
  uint32_t bits = 0;
  for (const std::string_view name : names) {
    const auto* found = std::ranges::find(kLayerNames, name);
    TN_REQUIRE(found != std::end(kLayerNames), "[layers] expected names of {}, got \"{}\"",
               fmt::join(kLayerNames, ", "), name);
    bits |= 1u << (found - std::begin(kLayerNames));
  }
  return bits;
}

/// One of "a, b, c".
bool is_among(std::string_view names, std::string_view name) {
  for (size_t at = 0; at <= names.size();) {
    const size_t end = std::min(names.find(", ", at), names.size());
    if (names.substr(at, end - at) == name) return true;
    at = end + 2;
  }
  return false;
}

std::string op_names() {
  std::set<std::string> ops;
  for (const graphs::CellSpec& spec : graphs::all_cells()) ops.insert(graphs::describe(spec).op);
  return fmt::format("{}", fmt::join(ops, ", "));
}

bool holds(const std::vector<bool>& numbers, uint32_t number) {
  return number < numbers.size() && numbers[number];
}

}  // namespace

Selection::Selection(std::span<const std::string> layers, std::span<const std::string> only)
    : only_(only.begin(), only.end()) {
  const std::vector<std::string_view> names(layers.begin(), layers.end());
  if (!names.empty()) layers_ = bits_of_layers(names);
  if (only_.empty()) return;
  cells_.resize(graphs::all_cells().size());
  checks_.resize(abi::abi_checks().size());
  patterns_.resize(abi::all_patterns().size());
  for (const std::string& name : only_) add(name);
  const auto has = [](const std::vector<bool>& numbers) {
    return std::ranges::count(numbers, true);
  };
  std::vector<std::string_view> reachable;
  if (has(cells_)) reachable.insert(reachable.end(), {"cells", "transforms"});
  if (has(checks_)) reachable.push_back("checks");
  if (has(patterns_)) reachable.push_back("patterns");
  TN_REQUIRE(layers_ & bits_of_layers(reachable), "[only] expected --layers with {} for {}, got {}",
             fmt::join(reachable, " or "), only_text(), layers_text());
}

void Selection::add(const std::string& name) {
  // As the report has it.
  const std::string plain = name.starts_with("api.") ? name.substr(4) : name;
  bool any = false;
  const auto take = [&](std::vector<bool>& numbers, size_t number, bool is_meant) {
    if (is_meant) numbers[number] = any = true;
  };
  for (size_t i = 0; i < cells_.size(); ++i)
    take(cells_, i, graphs::describe(graphs::all_cells()[i]).op == name);
  // each_op stands for each_op.f32 and the others.
  for (size_t i = 0; i < checks_.size(); ++i) {
    const std::string& check = abi::abi_checks()[i];
    take(checks_, i, check == plain || check.starts_with(plain + '.'));
  }
  for (size_t i = 0; i < patterns_.size(); ++i) {
    const abi::Pattern& pattern = abi::all_patterns()[i];
    take(patterns_, i, pattern.family == plain || is_among(pattern.name, plain));
  }
  TN_REQUIRE(any,
             "[only] expected the name of a check, an op, a family of patterns or a pattern, got "
             "\"{}\"\nchecks: {}\nops: {}\nfamilies: {}",
             name, fmt::join(abi::abi_checks(), ", "), op_names(), fmt::join(abi::kFamilies, ", "));
}

bool Selection::wants(const Plan& plan) const {
  if (!(layers_ >> layer_of(plan) & 1)) return false;
  if (only_.empty()) return true;
  switch (plan.spec.layer) {
    case Layer::kCell:
      return holds(cells_, plan.spec.number);
    case Layer::kCheck:
      return holds(checks_, plan.spec.number);
    case Layer::kPattern:
      return holds(patterns_, plan.spec.number);
    case Layer::kGraph:
    case Layer::kGradient:
    case Layer::kSequence:
      return false;
  }
  return false;
}

bool Selection::keep(std::span<const std::string_view> layers) {
  layers_ &= bits_of_layers(layers);
  return layers_ != 0;
}

std::string Selection::layers_text() const {
  if (layers_ == UINT32_MAX) return "all";
  std::string out;
  for (size_t i = 0; i < std::size(kLayerNames); ++i)
    if (layers_ >> i & 1) out += fmt::format("{}{}", out.empty() ? "" : ",", kLayerNames[i]);
  return out;
}

std::string Selection::only_text() const { return fmt::format("{}", fmt::join(only_, ",")); }

}  // namespace tenon::conformance
