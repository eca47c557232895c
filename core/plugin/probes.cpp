// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/plugin/probes.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <future>
#include <mutex>

#include "core/plugin/install_paths.hpp"
#include "core/plugin/library.hpp"
#include "core/support/error.hpp"
#include "core/support/log.hpp"
#include "core/support/process.hpp"

namespace tenon {
namespace {

using Status = ProbeResult::Status;

constexpr size_t kMostAtOnce = 8;  ///< more would take each other's time
constexpr int kProbeSchema = 3;    ///< of what a remembered probe asked

bool is_good(const ProbeResult& result) {
  return result.status == Status::kOk && !result.devices.empty() &&
         std::ranges::all_of(result.devices, &ProbedDevice::selftest_ok);
}

/// Without a disk cache a process still asks once. Process-wide, as what the system's loader keeps
/// is.
class Answers {
 public:
  static Answers& here() {
    static auto& answers = *new Answers();
    return answers;
  }
  std::optional<ProbeResult> get(const std::string& key) {
    const std::lock_guard lock(mutex_);
    const auto at = answers_.find(key);
    return at == answers_.end() ? std::nullopt : std::optional(at->second);
  }
  void put(const std::string& key, const ProbeResult& result) {
    const std::lock_guard lock(mutex_);
    answers_.insert_or_assign(key, result);
  }
  void remove(const std::string& key) {
    const std::lock_guard lock(mutex_);
    answers_.erase(key);
  }

 private:
  ForkSafeMutex mutex_;
  std::map<std::string, ProbeResult> answers_;
};
/// Before there are threads: a child made by fork would wait for one that makes them.
[[maybe_unused]] const Answers& answers_made_at_load = Answers::here();

/// A plugin that fails for want of stack or memory may be good in a program that has them.
std::string limits() {
  std::string text;
  for (const auto resource : {RLIMIT_AS, RLIMIT_DATA, RLIMIT_FSIZE, RLIMIT_MEMLOCK, RLIMIT_NOFILE,
                              RLIMIT_NPROC, RLIMIT_STACK}) {
    rlimit limit{};
    getrlimit(resource, &limit);
    text += fmt::format(" {}", limit.rlim_cur);
  }
  return text;
}

}  // namespace

Probes::Probes(std::shared_ptr<DiskCache> cache, Options options)
    : cache_(std::move(cache)), options_(options) {}

ProbeResult Probes::remembered_or_asked(const std::filesystem::path& path) const {
  std::error_code error;
  const std::filesystem::path real = std::filesystem::canonical(path, error);
  // Of the program that asks too: a fault of its own goes with it.
  const std::string key = fmt::format(
      "probe | {} | {} | {} | {} | {} | {}", kProbeSchema, TN_ABI_VERSION, path.filename().string(),
      (error ? path : real).string(), file_identity(path), file_identity(probe_program()));
  const auto day =
      std::chrono::floor<std::chrono::days>(std::chrono::system_clock::now()).time_since_epoch();
  const std::string today = fmt::format("{} | day {} | limits{}", key, day.count(), limits());
  for (const std::string& name : {key, today}) {
    if (options_.afresh) break;
    if (auto answer = Answers::here().get(name)) return *std::move(answer);
    const auto bytes = cache_->get(name);
    if (!bytes) continue;
    try {
      return probe_from_json({reinterpret_cast<const char*>(bytes->data()), bytes->size()});
    } catch (const Error&) {
      cache_->remove(name);
    }
  }
  ProbeResult result = probe_plugin(path, /*selftest=*/true, options_.seconds);
  const bool may_come = result.status == Status::kOk && result.devices.empty();
  if (result.status == Status::kUnknown) return result;
  const std::string& stored_as = is_good(result) ? key : today;
  for (const std::string& name : {key, today}) {
    if (name == stored_as && !may_come) continue;
    if (cache_->get(name)) cache_->remove(name);  // a look is cheaper than a write
    Answers::here().remove(name);
  }
  if (may_come) return result;
  const std::string line = probe_to_json(result);
  cache_->put(stored_as, {line.begin(), line.end()});
  Answers::here().put(stored_as, result);
  return result;
}

void Probes::ask(const std::vector<const PluginCandidate*>& candidates) {
  std::vector<std::pair<std::filesystem::path, ProbeResult>> unknown;
  for (const PluginCandidate* candidate : candidates)
    if (candidate->refused.empty() && !results_.contains(candidate->path))
      unknown.emplace_back(candidate->path, ProbeResult());
  std::atomic<size_t> next{0};
  const auto work = [&] {
    for (size_t i; (i = next++) < unknown.size();)
      unknown[i].second = remembered_or_asked(unknown[i].first);
  };
  std::vector<std::future<void>> others;
  for (size_t i = 1; i < std::min(unknown.size(), kMostAtOnce); ++i)
    others.push_back(std::async(std::launch::async | std::launch::deferred, work));
  work();
  for (std::future<void>& other : others) other.get();
  results_.insert(unknown.begin(), unknown.end());
}

const ProbeResult& Probes::of(const PluginCandidate& candidate) {
  const auto at = results_.find(candidate.path);
  if (at != results_.end()) return at->second;
  if (candidate.refused.empty())
    return results_.emplace(candidate.path, remembered_or_asked(candidate.path)).first->second;
  ProbeResult result;
  result.reason = candidate.refused;
  return results_.emplace(candidate.path, std::move(result)).first->second;
}

void Probes::warn(const PluginCandidate& candidate) {
  if (!options_.warns || !warned_.insert(candidate.path).second) return;
  const ProbeResult& result = of(candidate);
  if (result.status != Status::kOk)
    log_warning(fmt::format("{} is not used: {}", candidate.path.string(), result.reason));
  for (const ProbedDevice& device : result.devices)
    if (!device.selftest_ok)
      log_warning(
          fmt::format("{} is not used: its self-test failed: {}", device.id, device.reason));
}

}  // namespace tenon
