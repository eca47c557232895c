// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/plugin/process_tree.hpp"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <charconv>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>

#include <fmt/format.h>

namespace tenon {
namespace {

struct Process {
  int parent = 0;
  char state = '?';
};

/// Reads /proc/N/stat: "N (name) S parent ...", where the name may contain any character.
Process read_process(int number) {
  std::ifstream file(fmt::format("/proc/{}/stat", number));
  std::string line;
  std::getline(file, line);
  Process process;
  const size_t name_end = line.rfind(") ");
  if (name_end == std::string::npos || name_end + 4 >= line.size()) return process;
  process.state = line[name_end + 2];
  std::from_chars(line.data() + name_end + 4, line.data() + line.size(), process.parent);
  return process;
}

}  // namespace

std::vector<int> processes_below(int root) {
  std::multimap<int, int> children;
  std::error_code error;
  std::filesystem::directory_iterator entries("/proc", error);
  for (; !error && entries != std::filesystem::directory_iterator(); entries.increment(error)) {
    const std::string name = entries->path().filename().string();
    int number = 0;
    const auto [end, wrong] = std::from_chars(name.data(), name.data() + name.size(), number);
    if (wrong != std::errc() || end != name.data() + name.size()) continue;
    const Process process = read_process(number);
    if (process.state != 'Z') children.emplace(process.parent, number);
  }
  std::vector<int> found{root};
  for (size_t i = 0; i < found.size(); ++i) {
    const auto [begin, end] = children.equal_range(found[i]);
    for (auto at = begin; at != end; ++at) found.push_back(at->second);
  }
  found.erase(found.begin());
  return found;
}

uint64_t own_memory(int process) {
  std::ifstream file(fmt::format("/proc/{}/status", process));
  uint64_t kibibytes = 0;
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with("RssAnon:") && !line.starts_with("RssShmem:")) continue;
    kibibytes += std::strtoull(line.c_str() + line.find(':') + 1, nullptr, 10);
  }
  return kibibytes << 10;
}

void end_processes_below(int root) {
  constexpr int kMostRounds = 200;
  for (int round = 0; round < kMostRounds; ++round) {
    const std::vector<int> processes = processes_below(root);
    // Stop all first, so that none starts others meanwhile.
    for (const int process : processes) kill(process, SIGSTOP);
    for (const int process : processes) kill(process, SIGKILL);
    while (waitpid(-1, nullptr, WNOHANG) > 0) {
    }
    if (processes.empty()) return;
    usleep(1000);
  }
}

}  // namespace tenon
