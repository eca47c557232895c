// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The CUDA plugin where there need be no GPU.
#include <catch2/catch_test_macros.hpp>
#include <thread>

#include "tests/sdk/plugin_host.hpp"
#include "tests/sdk/samples.hpp"
#include "tests/stream/offline.hpp"

using namespace tenon::sdk;

namespace {

OfflinePlugin& plugin() {
  static OfflinePlugin instance("cuda");
  return instance;
}

/// Skips the test where there is no NVRTC.
void need_compiler() {
  if (!plugin().properties("sm_80")) SKIP("no compiler: " << plugin().error());
}

}  // namespace

TEST_CASE("cuda: no driver is no device, with the reason") {
  std::string reason;
  if (plugin().enumerate(reason) > 0) SKIP("there is a device");
  CHECK((reason.find("libcuda.so.1") != std::string::npos ||
         reason.find("cuInit") != std::string::npos || reason == "the driver lists no device"));
  std::string again;
  CHECK(plugin().enumerate(again) == 0);
  CHECK(again == reason);
}

TEST_CASE("cuda: targets by name") {
  need_compiler();
  CHECK(plugin().properties("sm_90a"));
  for (const char* wrong :
       {"sm_", "sm_9", "sm_80a", "sm_90ab", "sm_12345", "gfx90a", "", "sm_81"}) {
    INFO(wrong);
    CHECK(!plugin().properties(wrong));
    CHECK(plugin().code() == TN_ERROR_NOT_FOUND);
  }
  const tn_properties& p = *plugin().properties("sm_90a");
  CHECK(p.max_shared_bytes == 227u << 10);
  CHECK(p.subgroup_min == 32);
  CHECK(p.matrix_atom_count > 0);
  CHECK(p.storage_bytes == 0);
}

TEST_CASE("cuda: every sample compiles, and its entry is in the binary") {
  need_compiler();
  for (const char* target : {"sm_80", "sm_90a"}) {
    for (const std::string_view text : samples::kAll) {
      const Program program = parsed(text);
      tn_executable* executable = plugin().compile(target, program);
      INFO(target << "\n" << text << plugin().error());
      // A subgroup of 8 is none of this device's.
      if (program.get()->subgroup_size == 8) {
        CHECK(!executable);
        continue;
      }
      REQUIRE(executable);
      CHECK(plugin().report.registers > 0);
      CHECK(plugin().report.spills == 0);
      CHECK(plugin().report.binary_bytes > 0);
      const std::string entry = "kernel_" + std::string(program.view().name());
      const std::string saved = plugin().save(executable);
      CHECK(saved.find("\x7f"
                       "ELF") != std::string::npos);
      CHECK(saved.find(".text." + entry) != std::string::npos);
      CHECK(plugin().text(executable, TN_TEXT_SOURCE).find(entry) != std::string::npos);
      CHECK(plugin().text(executable, TN_TEXT_ASSEMBLY).find(".entry " + entry) !=
            std::string::npos);
      tn_executable* loaded = plugin().load(target, saved);
      REQUIRE(loaded);
      CHECK(plugin().save(loaded) == saved);
      plugin().destroy(loaded);
      CHECK(!plugin().load(target == std::string("sm_80") ? "sm_90a" : "sm_80", saved));
      CHECK(plugin().code() == TN_ERROR_INCOMPATIBLE);
      std::string damaged = saved;
      damaged[damaged.size() / 2] ^= 1;
      CHECK(!plugin().load(target, damaged));
      CHECK(plugin().code() == TN_ERROR_INCOMPATIBLE);
      plugin().destroy(executable);
    }
  }
}

TEST_CASE("cuda: several threads compile at once") {
  need_compiler();
  const Program program = parsed(samples::kSoftmax);
  std::vector<std::thread> threads;
  std::atomic<int> made = 0;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&] {
      tn_target target = TN_INIT(tn_target);
      target.name = "sm_80";
      tn_executable* executable = nullptr;
      if (plugin().table().compile(&target, program.get(), nullptr, &executable, nullptr) ==
          TN_OK) {
        ++made;
        plugin().destroy(executable);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(made == 3);
}

TEST_CASE("cuda: the extensions that it has") {
  const auto* graphs = plugin().table().get_extension("org.tenon.graphs.v1");
  CHECK(graphs);
  CHECK(plugin().table().get_extension("org.tenon.peers.v1"));
  CHECK(!plugin().table().get_extension("org.tenon.none.v1"));
}
