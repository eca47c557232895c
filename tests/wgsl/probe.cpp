// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A process of its own for what is decided once a process: which library is opened, a device that
// is lost, and which plugin comes first.
//   probe list PLUGIN              "devices N" and the reason
//   probe lose PLUGIN              what submissions answer, one a line, before and after a loss
//   probe run PLUGIN PLUGIN...     runs a program on device 0 of each, twice round
#include <cstdio>
#include <cstring>
#include <stdexcept>
#include <string>

#include "tests/wgsl/harness.hpp"

using namespace tenon;
using namespace tenon::wgsl_test;

namespace {

int list(const tn_plugin& plugin) {
  char reason[512] = "";
  uint32_t count = 0;
  tn_error error = TN_INIT(tn_error);
  const int32_t status =
      plugin.device_enumerate(0, 0, nullptr, sizeof reason, reason, &count, &error);
  std::printf("devices %u status %d\n%s\n", count, status, reason);
  return 0;
}

/// Prints the word, or the status that the action throws.
template <class Action>
void report(const char* word, Action&& action) {
  try {
    action();
    std::puts(word);
  } catch (const CallFailed& failed) {
    std::printf("%d %s\n", failed.status, failed.what());
  }
}

int lose(const tn_plugin& plugin) {
  const Device device(plugin);
  const Memory memory(device, 64);
  for (int i = 0; i < 6; ++i)
    report("done", [&] { device.run({sdk::fill_command(memory, 0, 64, 1, 1)}); });
  report("allocated", [&] { Memory(device, 64); });
  return 0;
}

/// On any plugin.
void run(const tn_plugin& plugin) {
  const Device device(plugin);
  Bytes x = floats({1, 2}), y = floats({0, 0});
  device.run(scaled_program(1), {2}, {{&x}, {&y}, {{}, 3}, {{}, 2}});
  if (y != floats({5, 7})) throw std::runtime_error(std::string(plugin.backend) + ": wrong result");
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc < 3) return 2;
  if (!std::strcmp(argv[1], "list")) return list(load_plugin(argv[2]));
  if (!std::strcmp(argv[1], "lose")) return lose(load_plugin(argv[2]));
  for (int round = 0; round < 2; ++round) {
    for (int i = 2; i < argc; ++i) run(load_plugin(argv[i]));
  }
  std::puts("all ran");
  return 0;
} catch (const std::exception& error) {
  std::printf("failed %s\n", error.what());
  return 1;
}
