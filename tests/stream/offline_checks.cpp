// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Targets, samples, threads: nothing here needs a device.
#include <fmt/format.h>

#include <atomic>
#include <catch2/catch_test_macros.hpp>
#include <thread>

#include "tenon/ext/graphs.h"
#include "tenon/ext/peers.h"
#include "tests/sdk/null_device.hpp"
#include "tests/sdk/samples.hpp"
#include "tests/stream/offline.hpp"

namespace tenon::sdk {
namespace {

void need(OfflinePlugin& plugin, const std::string& target) {
  if (!plugin.properties(target.c_str())) SKIP("no compiler: " << plugin.error());
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

std::string filled(const std::string& mark, const std::string& entry) {
  return fmt::format(fmt::runtime(mark), entry);
}

void check_saved(OfflinePlugin& plugin, tn_executable* executable, const std::string& target,
                 const std::string& other) {
  const std::string saved = plugin.save(executable);
  tn_executable* loaded = plugin.load(target.c_str(), saved);
  REQUIRE(loaded);
  CHECK(plugin.save(loaded) == saved);
  plugin.destroy(loaded);
  CHECK(!plugin.load(other.c_str(), saved));
  CHECK(plugin.code() == TN_ERROR_INCOMPATIBLE);
  std::string damaged = saved;
  damaged[damaged.size() / 2] ^= 1;
  CHECK(!plugin.load(target.c_str(), damaged));
  CHECK(plugin.code() == TN_ERROR_INCOMPATIBLE);
}

}  // namespace

void check_targets(OfflinePlugin& plugin, const OfflineExpectation& expected) {
  need(plugin, expected.first);
  for (const std::string& target : {expected.first, expected.second}) {
    const tn_properties* p = plugin.properties(target.c_str());
    REQUIRE(p);
    CHECK(p->flags & TN_DEVICE_ASYNC);
    CHECK(p->subgroup_min == p->subgroup_max);
    CHECK(p->memory_space_count == 2);
    CHECK(plugin.properties(target.c_str()) == p);
  }
  for (const char* wrong : expected.unknown) {
    INFO(wrong);
    CHECK(!plugin.properties(wrong));
    CHECK(plugin.code() == TN_ERROR_NOT_FOUND);
  }
}

void check_samples(OfflinePlugin& plugin, const OfflineExpectation& expected) {
  need(plugin, expected.first);
  for (const std::string& target : {expected.first, expected.second}) {
    const std::string other = target == expected.first ? expected.second : expected.first;
    int compiled = 0;
    for (const std::string_view text : samples::kAll) {
      const Program program = parsed(text);
      tn_executable* executable = plugin.compile(target.c_str(), program);
      INFO(target << "\n" << text << plugin.error());
      if (!plugin.supports(target.c_str(), program)) {
        CHECK(!executable);  // another device's subgroup or atoms
        continue;
      }
      ++compiled;
      REQUIRE(executable);
      CHECK((plugin.report.registers > 0 || text == samples::kConstants));
      CHECK(plugin.report.spills == 0);
      CHECK(plugin.report.binary_bytes > 0);
      const std::string entry = "kernel_" + std::string(program.view().name());
      CHECK(has(plugin.save(executable),
                "\x7f"
                "ELF"));
      CHECK(has(plugin.save(executable), filled(expected.entry_mark, entry)));
      CHECK(has(plugin.text(executable, TN_TEXT_SOURCE), entry));
      CHECK(has(plugin.text(executable, TN_TEXT_ASSEMBLY), filled(expected.assembly_mark, entry)));
      check_saved(plugin, executable, target, other);
      plugin.destroy(executable);
    }
    CHECK(compiled >= 4);
  }
}

void check_threads(OfflinePlugin& plugin, const OfflineExpectation& expected) {
  need(plugin, expected.first);
  const Program program = parsed(samples::kSoftmax);
  std::vector<std::thread> threads;
  std::atomic<int> made = 0;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      tn_target target = TN_INIT(tn_target);
      target.name = (t % 2 ? expected.first : expected.second).c_str();
      tn_executable* executable = nullptr;
      const int32_t code =
          plugin.table().compile(&target, program.get(), nullptr, &executable, nullptr);
      if (code == TN_OK) {
        ++made;
        plugin.destroy(executable);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(made == 4);
}

void check_extensions(OfflinePlugin& plugin) {
  const auto* graphs = static_cast<const tn_graphs*>(plugin.table().get_extension(TN_GRAPHS_ID));
  REQUIRE(graphs);
  CHECK(graphs->struct_size == sizeof(tn_graphs));
  CHECK(graphs->record(nullptr, 0, 0, nullptr, nullptr, nullptr) == TN_ERROR_INVALID_ARGUMENT);
  CHECK(graphs->launch(nullptr, nullptr, nullptr) == TN_ERROR_INVALID_ARGUMENT);
  graphs->destroy(nullptr);
  const auto* peers = static_cast<const tn_peers*>(plugin.table().get_extension(TN_PEERS_ID));
  REQUIRE(peers);
  CHECK(peers->can_copy(nullptr, nullptr) == 0);
  CHECK(!plugin.table().get_extension("org.tenon.none.v1"));
}

void use_device(OfflinePlugin& plugin, bool compiles,
                const std::function<void(const char*)>& check) {
  const tn_plugin& p = plugin.table();
  tn_error error = TN_INIT(tn_error);
  tn_device* device = nullptr;
  REQUIRE(p.device_open(0, nullptr, &device, &error) == TN_OK);
  check("open");
  tn_executable* executable = nullptr;
  if (compiles) {
    tn_target target = TN_INIT(tn_target);
    target.device = device;
    const Program program = parsed(samples::kSoftmax);
    REQUIRE(p.compile(&target, program.get(), nullptr, &executable, &error) == TN_OK);
    check("compile");
  }
  tn_memory *memory = nullptr, *host = nullptr, *import = nullptr;
  REQUIRE(p.memory_allocate(device, 0, 4096, &memory, &error) == TN_OK);
  REQUIRE(p.memory_allocate(device, 1, 4096, &host, &error) == TN_OK);
  check("allocate");
  std::vector<char> own(4096);
  REQUIRE(p.memory_import(device, 1, own.data(), own.size(), &import, &error) == TN_OK);
  check("import");
  tn_timeline* timeline = nullptr;
  REQUIRE(p.timeline_create(device, 0, &timeline, &error) == TN_OK);
  check("timeline");
  const tn_command command = fill_command(host, 0, 4096, 7, 4);
  const tn_point point = {timeline, 1};
  const tn_submission submission = submission_of({&command, 1}, {}, {&point, 1});
  REQUIRE(p.submit(device, &submission, &error) == TN_OK);
  check("submit");
  REQUIRE(p.timeline_wait(timeline, 1, UINT64_MAX, &error) == TN_OK);
  check("wait");
  uint64_t value = 0;
  REQUIRE(p.timeline_query(timeline, &value, &error) == TN_OK);
  CHECK(value == 1);
  check("query");
  p.timeline_destroy(timeline);
  for (tn_memory* each : {memory, host, import}) p.memory_free(each);
  check("free");
  if (executable) p.executable_destroy(executable);
  check("destroy");
  p.device_close(device);
  check("close");
}

}  // namespace tenon::sdk
