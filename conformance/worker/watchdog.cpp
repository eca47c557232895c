// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "conformance/worker/watchdog.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>

namespace tenon::conformance::worker {
namespace {

/// Work that ends within this is never looked at.
constexpr double kBrief = 0.2;
/// To ask again who has waited for a processor all the time, so that the wait does not count yet.
constexpr double kAgain = 0.1;

double seconds(uint64_t later, uint64_t earlier) {
  return later > earlier ? static_cast<double>(later - earlier) * 1e-9 : 0;
}

/// "pid (name) state ...", where the name may hold anything.
bool is_ready(const std::filesystem::path& thread) {
  std::ifstream file(thread / "stat");
  std::string line;
  std::getline(file, line);
  const size_t end = line.rfind(')');
  return end != std::string::npos && end + 2 < line.size() && line[end + 2] == 'R';
}

}  // namespace

std::map<int, ProcessorTime> processor_times(int pid) {
  std::map<int, ProcessorTime> out;
  std::error_code error;
  const std::string threads = fmt::format("/proc/{}/task", pid);
  for (auto entry = std::filesystem::directory_iterator(threads, error);
       !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    int thread = 0;
    std::from_chars(name.data(), name.data() + name.size(), thread);
    ProcessorTime time;
    if (std::ifstream(entry->path() / "schedstat") >> time.ran >> time.waited) {
      time.is_ready = is_ready(entry->path());
      out[thread] = time;
    }
  }
  return out;
}

void Watchdog::expect_within(double seconds) {
  begin_ = Clock::now();
  limit_ = seconds;
  deadline_ =
      begin_ + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
  counts_ = false;
}

double Watchdog::passed() const {
  return std::chrono::duration<double>(Clock::now() - begin_).count();
}

double Watchdog::seconds_left() const {
  return std::chrono::duration<double>(deadline_ - Clock::now()).count();
}

void Watchdog::look(int pid) {
  if (counts_ || passed() < kBrief) return;
  before_ = processor_times(pid);
  counts_ = true;
}

bool Watchdog::is_late(int pid) {
  if (seconds_left() > 0) return false;
  if (passed() > kPatience * limit_) return true;
  double waited = 0;  // by the thread that waited longest
  bool starves = false;
  if (counts_) {
    for (const auto& [thread, now] : processor_times(pid)) {
      const ProcessorTime before = before_[thread];
      waited = std::max(waited, seconds(now.waited, before.waited));
      starves |= now.is_ready && seconds(now.ran, before.ran) < limit_ / 2;
    }
  }
  double owed = limit_ - (passed() - waited);
  if (owed <= 0 && starves) owed = kAgain;
  if (owed <= 0) return true;
  deadline_ = Clock::now() +
              std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(owed));
  return false;
}

}  // namespace tenon::conformance::worker
