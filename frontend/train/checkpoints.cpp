// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/train/checkpoints.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <set>
#include <vector>

#include "core/support/error.hpp"

namespace tenon::train {
namespace {

constexpr std::string_view kBegin = "step-", kEnd = ".safetensors";

/// The step of a file of that name; -1: it is none of ours.
int64_t step_of(const std::string& name) {
  if (name.size() <= kBegin.size() + kEnd.size() || !name.starts_with(kBegin) ||
      !name.ends_with(kEnd))
    return -1;
  const std::string digits = name.substr(kBegin.size(), name.size() - kBegin.size() - kEnd.size());
  if (digits.size() > 18 || digits.find_first_not_of("0123456789") != std::string::npos) return -1;
  return std::atoll(digits.c_str());
}

}  // namespace

Checkpoints::Checkpoints(std::filesystem::path folder, int64_t keep, int64_t keep_best)
    : folder_(std::move(folder)), keep_(keep), keep_best_(keep_best) {
  std::error_code error;
  std::filesystem::create_directories(folder_, error);
  auto entry = std::filesystem::directory_iterator(folder_, error);
  if (error)
    fail(ErrorKind::kEnvironment, "{}: expected a folder for checkpoints, got: {}",
         folder_.string(), error.message());
  for (const auto end = std::filesystem::directory_iterator(); entry != end; ++entry) {
    const std::string name = entry->path().filename().string();
    if (name.starts_with(".tenon-") && name.ends_with(".part"))
      std::filesystem::remove(entry->path(), error);  // by write_file, of a process that was killed
    const int64_t step = step_of(name);
    if (step < 0) continue;
    try {
      const formats::SafetensorsFile file(entry->path().string());
      const auto at = file.metadata().find("validation");
      validations_[step] = at == file.metadata().end()
                               ? std::nullopt
                               : std::optional(std::strtod(at->second.c_str(), nullptr));
    } catch (const Error& damaged) {
      std::fprintf(stderr, "tenon: warning: passed over: %s\n", damaged.what());
    }
  }
}

std::filesystem::path Checkpoints::path_of(int64_t step) const {
  return folder_ / fmt::format("{}{:08}{}", kBegin, step, kEnd);
}

std::optional<Checkpoints::Newest> Checkpoints::newest() const {
  if (validations_.empty()) return std::nullopt;
  const int64_t step = validations_.rbegin()->first;
  return Newest{step, path_of(step).string()};
}

bool Checkpoints::is_among_best(double validation) const {
  const auto better = std::ranges::count_if(
      validations_, [&](const auto& of) { return of.second && *of.second <= validation; });
  return !std::isnan(validation) && better < keep_best_;
}

void Checkpoints::add(int64_t step, std::optional<double> validation,
                      const std::function<void(const std::string& path)>& save) {
  save(path_of(step).string());
  validations_[step] = validation;
  std::vector<std::pair<double, int64_t>> best;
  std::set<int64_t> kept;
  for (auto at = validations_.rbegin(); at != validations_.rend(); ++at) {
    if (static_cast<int64_t>(kept.size()) < keep_) kept.insert(at->first);
    if (at->second && !std::isnan(*at->second)) best.emplace_back(*at->second, at->first);
  }
  std::ranges::sort(best);
  for (size_t i = 0; i < best.size() && static_cast<int64_t>(i) < keep_best_; ++i)
    kept.insert(best[i].second);
  std::erase_if(validations_, [&](const auto& of) {
    if (kept.contains(of.first)) return false;
    std::error_code error;  // one that stays is in nobody's way
    std::filesystem::remove(path_of(of.first), error);
    return true;
  });
}

}  // namespace tenon::train
