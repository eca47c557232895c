// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a user waits for: a process of its own, from its start to its end, that computes one small
// elementwise graph, or the gradient of a transformer. A compiler that has compiled before, as in
// bench_compile, is three to ten times quicker than one that has not.
#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "core/support/error.hpp"
#include "tests/bench/scratch_folder.hpp"
#include "tests/bench/suite.hpp"

namespace tenon::bench {
namespace {

constexpr int kRounds = 9;
constexpr int64_t kElementwiseCount = 64;

/// One process: all of its time, and the part that compiled.
struct Start {
  double seconds = 0, compile_seconds = 0;
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

Start start(std::vector<std::string> variables, std::string what = "elementwise") {
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
  out.compile_seconds = facts.at("compile_ms").get<double>() * 1e-3;
  out.wrong = facts.at("wrong").get<std::string>();
  return out;
}

/// Starts one after the other, which share a cache folder or each have a new one.
struct Series {
  std::vector<double> seconds, compile_seconds;
  std::string wrong;

  void add(const Start& one) {
    seconds.push_back(one.seconds);
    compile_seconds.push_back(one.compile_seconds);
    if (!one.wrong.empty()) wrong = one.wrong;
  }
};

}  // namespace

int print_first_result(const std::string& what) {
  if (what == "transformer") {
    fmt::print("{}\n", nlohmann::json{{"compile_ms", 0.0}, {"wrong", transformer_fault()}}.dump());
    return 0;
  }
  Runtime runtime;
  const std::vector<BufferRef> inputs{
      to_device(runtime, std::vector<float>(static_cast<size_t>(kElementwiseCount), 1.0f))};
  RunStats stats;
  const std::vector<BufferRef> out =
      runtime.run(elementwise_graph(runtime.builder(), kElementwiseCount), inputs, {}, &stats);
  const nlohmann::json facts{{"compile_ms", stats.compile_ms},
                             {"wrong", elementwise_fault(to_host(out[0], 1)[0])}};
  fmt::print("{}\n", facts.dump());
  return 0;
}

namespace {

void bench_fresh_transformer(Suite& suite) {
  const std::string cold = "compile/process to gradient of 12 blocks, no cache";
  const std::string again = "compile/process to gradient of 12 blocks, cached kernels";
  if (!suite.wanted(cold) && !suite.wanted(again)) return;
  Series none, cached;
  for (int round = 0; round < 5; ++round) {
    const ScratchFolder folder;
    none.add(start(environment(folder.path(), "cpu"), "transformer"));
    cached.add(start(environment(folder.path(), "cpu"), "transformer"));
  }
  const auto add = [&](const std::string& name, const Series& series, double bar) {
    if (!suite.wanted(name)) return;
    Row row = against_bar(name, summary(series.seconds), 1, "s", bar);
    row.wrong = series.wrong;
    suite.add(std::move(row));
  };
  add(cold, none, 5);
  add(again, cached, 0.5);
}

}  // namespace

void bench_fresh(Suite& suite) {
  const std::string first = "compile/process to first result, no cache";
  const std::string unset = "compile/process to first result, no cache, devices unset";
  const std::string again = "compile/process to first result, cached kernels";
  const std::string compile = "compile/elementwise, first of a process";
  bench_fresh_transformer(suite);
  bool wanted = false;
  for (const std::string& name : {first, unset, again, compile})
    wanted = wanted || suite.wanted(name);
  if (!wanted) return;
  Series none, all, cached;
  for (int round = 0; round < kRounds; ++round) {
    const ScratchFolder folder, other;
    none.add(start(environment(folder.path(), "cpu")));
    cached.add(start(environment(folder.path(), "cpu")));
    all.add(start(environment(other.path(), "")));
  }
  const auto add = [&](const std::string& name, const std::vector<double>& seconds,
                       const std::string& wrong, std::optional<double> bar) {
    if (!suite.wanted(name)) return;
    Row row = against_bar(name, summary(seconds), 1e3, "ms", bar.value_or(0));
    row.wrong = wrong;
    if (!bar) {
      row.peer.reset();
      row.ratio.reset();
      row.peer_name = "none: no bar was set";
    }
    suite.add(std::move(row));
  };
  add(compile, none.compile_seconds, none.wrong, 10);
  add(first, none.seconds, none.wrong, {});
  add(unset, all.seconds, all.wrong, {});
  add(again, cached.seconds, cached.wrong, {});
}

}  // namespace tenon::bench
