// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a user waits for: a process of its own that computes something for the first time, from its
// start to its end, or that part of it of which the process tells. A compiler that has compiled
// before, as in bench_compile, is three to ten times quicker than one that has not.
#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <nlohmann/json.hpp>

#include "core/support/error.hpp"
#include "tests/bench/scratch_folder.hpp"
#include "tests/bench/suite.hpp"

namespace tenon::bench {
namespace {

/// One process: all of its time, and the part that it tells of.
struct Start {
  double seconds = 0, told = 0;
  std::string wrong;
};

/// The environment, with all of ours replaced.
std::vector<std::string> environment(const std::string& cache, const std::string& devices) {
  std::vector<std::string> out{"TENON_CACHE_DIR=" + cache};
  if (!devices.empty()) out.push_back("TENON_DEVICES=" + devices);
  for (char** variable = environ; *variable; ++variable) {
    const std::string_view text = *variable;
    const bool is_ours = text.starts_with("TENON_") && !text.starts_with("TENON_PLUGIN_PATH=");
    if (!is_ours) out.emplace_back(text);
  }
  return out;
}

Start start(std::vector<std::string> variables, std::string what) {
  std::vector<char*> environment;
  for (std::string& variable : variables) environment.push_back(variable.data());
  environment.push_back(nullptr);
  std::string program = "/proc/self/exe", option = "--first-result";
  char* arguments[] = {program.data(), option.data(), what.data(), nullptr};
  int ends[2];
  TN_REQUIRE(pipe2(ends, O_CLOEXEC) == 0, "[bench] expected a pipe");
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  Start out;
  const double begin = now();
  pid_t child = 0;
  const int failed =
      posix_spawn(&child, arguments[0], &actions, nullptr, arguments, environment.data());
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  std::string text;
  std::array<char, 512> part{};
  for (ssize_t got = 0; (got = read(ends[0], part.data(), part.size())) > 0;)
    text.append(part.data(), static_cast<size_t>(got));
  close(ends[0]);
  int status = 0;
  if (failed == 0) waitpid(child, &status, 0);
  out.seconds = now() - begin;
  const auto facts = nlohmann::json::parse(text, nullptr, false);
  if (failed || !WIFEXITED(status) || WEXITSTATUS(status) || facts.is_discarded()) {
    out.wrong = fmt::format("expected a process that ends well, got status {}", status);
    return out;
  }
  out.told = facts.at("seconds").get<double>();
  out.wrong = facts.at("wrong").get<std::string>();
  return out;
}

enum class Cache { kEmpty, kFull };
enum class Part { kWhole, kTold };

/// Processes that compute a subject of first_calls.cpp.
struct FreshRow {
  const char *name, *subject;
  Cache cache;
  Part part;
  const char* unit;
  double bar = 0;               ///< in that unit; 0: none was set
  const char* devices = "cpu";  ///< "": unset, so that every plugin is probed
};

constexpr FreshRow kRows[] = {
    {"process to first result, no cache", "elementwise", Cache::kEmpty, Part::kWhole, "ms"},
    {"process to first result, no cache, devices unset", "elementwise", Cache::kEmpty, Part::kWhole,
     "ms", 0, ""},
    {"process to first result, cached kernels", "elementwise", Cache::kFull, Part::kWhole, "ms"},
    {"elementwise, first of a process", "elementwise", Cache::kEmpty, Part::kTold, "ms", 10},
    {"elementwise, second of a process", "elementwise later", Cache::kEmpty, Part::kTold, "ms", 4},
    {"product, second of a process", "product later", Cache::kEmpty, Part::kTold, "ms", 15},
    {"GELU of a product, second of a process", "gelu product later", Cache::kEmpty, Part::kTold,
     "ms", 15},
    {"process to gradient of 12 blocks, no cache", "transformer", Cache::kEmpty, Part::kWhole, "s",
     5},
    {"process to gradient of 12 blocks, cached kernels", "transformer", Cache::kFull, Part::kWhole,
     "s", 0.5},
    {"GPT-2 forward, no cache", "gpt2 forward", Cache::kEmpty, Part::kTold, "s", 1},
    {"GPT-2 forward, cached kernels", "gpt2 forward", Cache::kFull, Part::kTold, "s", 0.1},
    {"GPT-2 step of AdamW, no cache", "gpt2 step", Cache::kEmpty, Part::kTold, "s", 3},
    {"GPT-2 step of AdamW, cached kernels", "gpt2 step", Cache::kFull, Part::kTold, "s"},
};

Row measured(const FreshRow& row, const std::string& name) {
  const bool in_seconds = row.unit == std::string_view("s");
  const ScratchFolder kept;
  const auto one = [&](const std::string& cache) {
    return start(environment(cache, row.devices), row.subject);
  };
  if (row.cache == Cache::kFull) one(kept.path());
  std::vector<double> seconds;
  std::string wrong;
  for (int round = 0; round < (in_seconds ? 5 : 9); ++round) {
    const ScratchFolder fresh;
    const Start made = one(row.cache == Cache::kFull ? kept.path() : fresh.path());
    seconds.push_back(row.part == Part::kWhole ? made.seconds : made.told);
    if (!made.wrong.empty()) wrong = made.wrong;
  }
  Row out = against_bar(name, summary(seconds), in_seconds ? 1 : 1e3, row.unit, row.bar);
  out.wrong = wrong;
  if (row.bar > 0) return out;
  out.peer.reset();
  out.ratio.reset();
  out.peer_name = "none: no bar was set";
  return out;
}

}  // namespace

void bench_fresh(Suite& suite) {
  for (const FreshRow& row : kRows)
    if (const std::string name = fmt::format("compile/{}", row.name); suite.wanted(name))
      suite.add(measured(row, name));
}

}  // namespace tenon::bench
