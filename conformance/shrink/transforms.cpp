// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Layer 3: from a seed to written lists, to the first step that changes the result, to the fewest
// steps.
#include <sstream>

#include "conformance/shrink/minimise.hpp"
#include "conformance/shrink/search.hpp"
#include "core/support/error.hpp"

namespace tenon::conformance::shrink {
namespace {

struct Step {
  size_t kernel = 0;
  std::string text;
};

std::vector<Step> steps_of(const std::vector<std::string>& lists) {
  std::vector<Step> steps;
  for (size_t kernel = 0; kernel < lists.size(); ++kernel) {
    std::istringstream in(lists[kernel]);
    for (std::string step; std::getline(in >> std::ws, step, ';');)
      if (step != kNoTransforms) steps.push_back({kernel, step});
  }
  return steps;
}

std::vector<std::string> lists_of(const std::vector<Step>& steps, size_t kernels) {
  std::vector<std::string> lists(kernels);
  for (const Step& step : steps)
    lists[step.kernel] += (lists[step.kernel].empty() ? "" : "; ") + step.text;
  std::ranges::replace(lists, std::string(), std::string(kNoTransforms));
  return lists;
}

bool with_lists(Search& search, std::vector<std::string> lists) {
  Case candidate = search.best();
  candidate.transform_seed.reset();
  candidate.transforms = std::move(lists);
  return search.accept(std::move(candidate));
}

void shrink_sizes(Search& search) {
  const DeviceSizes sizes = search.best().sizes;
  for (const auto& [name, value] : sizes) {
    Case candidate = search.best();
    candidate.sizes.erase(name);
    search.accept(std::move(candidate));
  }
}

std::vector<std::string> lines(const std::string& text) {
  std::vector<std::string> out;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) out.push_back(line);
  return out;
}

}  // namespace

std::string shrink_transforms(Search& search) {
  shrink_sizes(search);
  Case plain = search.best();
  if (!plain.transform_seed && plain.transforms.empty()) return {};
  plain.transform_seed.reset();
  plain.transforms.clear();
  if (search.accept(std::move(plain))) return {};
  if (search.best().transforms.empty() && !with_lists(search, lines(search.outcome().transforms)))
    return {};
  const size_t kernels = search.best().transforms.size();
  std::vector<Step> steps = steps_of(search.best().transforms);
  // The shortest prefix that fails ends with the step to blame.
  std::string first;
  for (size_t length = 0; length <= steps.size() && first.empty() && !search.spent(); ++length) {
    std::vector<Step> prefix(steps.begin(), steps.begin() + static_cast<std::ptrdiff_t>(length));
    if (length == steps.size() || with_lists(search, lists_of(prefix, kernels))) {
      if (length == 0) return {};
      const Step& last = prefix.back();
      first = kernels == 1 ? last.text : fmt::format("{} (kernel {})", last.text, last.kernel);
      steps = std::move(prefix);
    }
  }
  minimise(steps, [&](const std::vector<Step>& rest) {
    return !search.spent() && with_lists(search, lists_of(rest, kernels));
  });
  // Lists of the last kernels that say nothing need not be there.
  std::vector<std::string> lists = search.best().transforms;
  while (lists.size() > 1 && lists.back() == kNoTransforms) lists.pop_back();
  if (lists.size() < kernels) with_lists(search, std::move(lists));
  return first;
}

}  // namespace tenon::conformance::shrink
