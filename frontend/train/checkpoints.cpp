// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/train/checkpoints.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <set>
#include <vector>

#include "core/support/error.hpp"
#include "frontend/train/number_of.hpp"

namespace tenon::train {
namespace {

constexpr std::string_view kBegin = "step-", kEnd = ".safetensors";

std::string name_of(int64_t step) { return fmt::format("{}{:08}{}", kBegin, step, kEnd); }

/// The step of a file of that name; -1: it is none of ours.
int64_t step_of(std::string_view name) {
  if (name.size() <= kBegin.size() + kEnd.size()) return -1;
  const std::string_view digits =
      name.substr(kBegin.size(), name.size() - kBegin.size() - kEnd.size());
  const int64_t step = number_of<int64_t>(digits).value_or(-1);
  return name == name_of(step) ? step : -1;
}

}  // namespace

Checkpoints::Checkpoints(std::filesystem::path folder, int64_t keep, int64_t keep_best)
    : folder_(std::move(folder)), keep_(keep), keep_best_(keep_best) {
  std::error_code error;
  std::filesystem::create_directories(folder_, error);
  auto entry = std::filesystem::directory_iterator(folder_, error);
  const auto check = [&] {
    if (error)
      fail(ErrorKind::kEnvironment, "{}: expected a folder for checkpoints, got: {}",
           folder_.string(), error.message());
  };
  check();
  for (const auto end = std::filesystem::directory_iterator(); entry != end;
       entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (name.starts_with(".tenon-") && name.ends_with(".part")) {
      std::error_code ignored;  // by write_file, of a process that was killed
      std::filesystem::remove(entry->path(), ignored);
    }
    const int64_t step = step_of(name);
    if (step < 0) continue;
    try {
      const formats::SafetensorsFile file(entry->path().string());
      const auto at = file.metadata().find("validation");
      std::optional<double> validation;
      if (at != file.metadata().end()) {
        validation = number_of<double>(at->second);
        TN_REQUIRE(validation, "{}: expected a number as 'validation', got '{}'",
                   entry->path().string(), at->second);
      }
      validations_[step] = validation;
    } catch (const Error& damaged) {
      std::fprintf(stderr, "tenon: warning: passed over: %s\n", damaged.what());
    }
  }
  check();
}

std::filesystem::path Checkpoints::path_of(int64_t step) const { return folder_ / name_of(step); }

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
