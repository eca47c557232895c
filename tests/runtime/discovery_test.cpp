// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which files are candidates, in which order, and what is wrong with the others.
#include "core/runtime/discovery.hpp"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <random>

#include "core/runtime/elf_check.hpp"
#include "core/runtime/environment.hpp"
#include "core/runtime/plugin_library.hpp"
#include "core/runtime/probe.hpp"
#include "tests/runtime/support.hpp"

using namespace tenon;
using namespace tenon::test;

namespace {

/// Candidates of a source, as "backend*" where shadowed.
std::string from(const Discovery& discovery, const std::string& source) {
  std::string text;
  for (const PluginCandidate& c : discovery.candidates)
    if (c.source == source) text += c.backend + (c.shadowed ? "* " : " ");
  return text;
}

}  // namespace

TEST_CASE("folders are searched in order, sorted, without doubles") {
  TempFolder a, b;
  for (const char* name : {"libtenon_zeta.so", "libtenon_alpha.so", "libother.so", "libtenon_.so",
                           "libtenon_Bad.so", "libtenon_x.so.1", "notes.txt"})
    write_file(a.path / name, "x");
  write_file(b.path / "libtenon_alpha.so", "y");
  fs::create_symlink(a.path / "libtenon_zeta.so", b.path / "libtenon_zeta.so");
  DiscoveryOptions options;
  options.env_plugin_path = a.path.string() + ":" + b.path.string();
  const Discovery found = discover_plugins(options);
  CHECK(found.problems.empty());
  CHECK(from(found, "TENON_PLUGIN_PATH") == "alpha zeta alpha* ");
  CHECK(found.candidates[0].path == a.path / "libtenon_alpha.so");
}

TEST_CASE("files of the API come first, TENON_PLUGINS is exclusive") {
  TempFolder a;
  write_file(a.path / "libtenon_one.so", "x");
  write_file(a.path / "libtenon_two.so", "x");
  DiscoveryOptions options;
  options.plugins = {a.path / "libtenon_two.so"};
  options.env_plugins = (a.path / "libtenon_one.so").string();
  options.env_plugin_path = a.path.string();
  const Discovery found = discover_plugins(options);
  REQUIRE(found.candidates.size() == 2);
  CHECK(found.candidates[0].backend == "two");
  CHECK(found.candidates[1].backend == "one");
}

TEST_CASE("problems name the variable and what was found") {
  TempFolder a;
  const auto problem = [](const DiscoveryOptions& options) {
    const Discovery found = discover_plugins(options);
    return found.problems.empty() ? std::string() : found.problems[0];
  };
  DiscoveryOptions missing, unnamed, relative, empty, nowhere;
  missing.env_plugins = "/no/such/libtenon_a.so";
  CHECK(has(problem(missing),
            "[TENON_PLUGINS] expected a plugin file, got '/no/such/libtenon_a.so'"));
  write_file(a.path / "plugin.so", "x");
  unnamed.env_plugins = (a.path / "plugin.so").string();
  CHECK(has(problem(unnamed), "expected a file named libtenon_<backend>.so"));
  relative.env_plugin_path = ".";
  CHECK(has(problem(relative),
            "[TENON_PLUGIN_PATH] expected absolute folders separated by ':', got '.'"));
  empty.env_plugins = "";
  CHECK(has(problem(empty), "[TENON_PLUGINS] expected files"));
  nowhere.env_plugin_path = "/no/such/folder";
  CHECK(has(problem(nowhere), "expected a folder, got '/no/such/folder'"));
}

TEST_CASE("bad files are refused with a reason and without loading them") {
  TempFolder a;
  const fs::path file = a.path / "libtenon_bad.so";
  const auto why = [&](const std::string& bytes) {
    write_file(file, bytes);
    ErrorKind kind{};
    const std::string message = error_of(
        [&] {
          PluginLibrary::load({file, "bad", "test", false});
        },
        &kind);
    CHECK(kind == ErrorKind::kEnvironment);
    return message;
  };
  const std::string whole = read_file(plugin_file("fake"));
  REQUIRE(whole.size() > 1000);
  CHECK(has(why(""), "expected an ELF file"));
  CHECK(has(why("I am a text file.\n"), "expected an ELF file"));
  CHECK(has(why(whole.substr(0, 20)), "is truncated"));
  CHECK(has(why(whole.substr(0, whole.size() / 2)), "is truncated"));
  CHECK(has(why(whole.substr(0, whole.size() - 100)), "is truncated"));
  std::string foreign = whole;
  foreign[18] = 8;  // e_machine: MIPS
  CHECK(has(why(foreign), "is built for another machine"));
  CHECK(has(error_of([&] {
              PluginLibrary::load({"/proc/self/exe", "bad", "test", false});
            }),
            "it does not export tn_plugin_query"));
  CHECK(has(why(whole), "expected backend 'bad' as in the file name, got 'fake'"));
  CHECK(has(error_of([&] {
              PluginLibrary::load({a.path, "bad", "test", false});
            }),
            "is not a file"));
}

TEST_CASE("a library without the symbol is not loaded") {
  TempFolder a;
  std::string bytes = read_file(plugin_file("fake"));
  for (size_t at; (at = bytes.find("tn_plugin_query")) != std::string::npos;) bytes[at] = 'x';
  write_file(a.path / "libtenon_fake.so", bytes);
  CHECK(has(error_of([&] {
              PluginLibrary::load({a.path / "libtenon_fake.so", "fake", "", false});
            }),
            "it does not export tn_plugin_query"));
}

TEST_CASE("mutated ELF headers are refused or whole, never a crash") {
  TempFolder a;
  const fs::path file = a.path / "libtenon_fake.so";
  const std::string whole = read_file(plugin_file("fake"));
  uint64_t sections = 0;
  std::memcpy(&sections, whole.data() + 40, sizeof sections);
  std::mt19937 random(11);
  int refused = 0;
  for (int i = 0; i < 1000; ++i) {
    std::string bytes = whole;
    for (uint32_t k = 0; k < 1 + random() % 4; ++k) {
      const uint64_t tables =
          random() % 2 ? random() % 512 : sections + random() % (bytes.size() - sections);
      bytes[tables] = static_cast<char>(random());
    }
    if (random() % 4 == 0) bytes.resize(random() % bytes.size());
    write_file(file, bytes);
    refused += !check_plugin_file(file).empty();
  }
  CHECK(refused > 100);
}

TEST_CASE("tables are checked with a sentence each") {
  tn_plugin table{};
  table.struct_size = sizeof table;
  table.abi_version = 1;
  table.backend = "x";
  table.version = "1";
  const auto why = [&] { return check_plugin_table(&table, "x"); };
  CHECK(
      has(why(), "expected every mandatory function, got null for device_enumerate, device_open"));
  table.struct_size = 8;
  CHECK(has(why(), "got struct_size 8"));
  table.struct_size = 0xffffffff;
  CHECK(has(why(), "got struct_size 4294967295"));
  table.struct_size = sizeof table;
  table.abi_version = 99;
  CHECK(has(why(), "expected ABI version 1 to 1, got 99"));
  table.abi_version = 1;
  table.version = nullptr;
  CHECK(has(why(), "got null"));
  CHECK(has(check_device_functions(table, TN_DEVICE_COMPUTE), "null for supports, compile"));
  CHECK(has(check_device_functions(table, TN_DEVICE_ASYNC), "timeline_create"));
  CHECK(check_device_functions(table, 0).empty());
}

TEST_CASE("a probe survives a plugin that ends its process") {
  const ProbeResult crashed = probe_plugin(plugin_file("aborts"), false);
  CHECK(crashed.status == ProbeResult::Status::kCrashed);
  CHECK(has(crashed.reason, "ended by SIGABRT; its last words: no luck today"));
  const ProbeResult ok = probe_plugin(plugin_file("fake"), false);
  CHECK(ok.status == ProbeResult::Status::kOk);
  REQUIRE(ok.devices.size() == 3);
  CHECK(ok.devices[1].id == "fake:1");
  CHECK(ok.devices[1].kind == "gpu");
  CHECK(ok.devices[1].uuid == "10111213-1415-1617-1819-1a1b1c1d1e1f");
  CHECK(ok.abi == 1);
  const ProbeResult text = probe_plugin("/etc/hostname", false);
  CHECK(text.status == ProbeResult::Status::kRejected);
  const ProbeResult late = probe_plugin(plugin_file("fake"), false, 0.0);
  CHECK(late.status == ProbeResult::Status::kTimeout);
}

TEST_CASE("a good plugin passes its self-test") {
  const ProbeResult result = probe_plugin(plugin_file("null"), true);
  CHECK(result.status == ProbeResult::Status::kOk);
  REQUIRE(result.devices.size() == 1);
  CAPTURE(result.devices[0].reason);
  CHECK(result.devices[0].selftest_ok);
}

TEST_CASE("the lines of a probe are read back, damaged ones refused") {
  ProbeResult result;
  result.status = ProbeResult::Status::kOk;
  result.devices.push_back({"x:0", "gpu", "a \"name\"\n\xff", "", "d", "t", true, ""});
  const ProbeResult back = probe_from_json(probe_to_json(result));
  CHECK(back.devices.at(0).kind == "gpu");
  CHECK(back.devices.at(0).selftest_ok);
  for (const char* line : {"", "{}", "[1]", "{\"status\":9}", "nonsense"})
    CHECK(has(error_of([&] { probe_from_json(line); }), "[probe] expected a result"));
}

TEST_CASE("the environment's table and its checks") {
  CHECK(environment_variables().size() == 7);
  CHECK(has(environment_markdown(), "| `TENON_VALIDATE` | 0 or 1 | 0 |"));
  CHECK(parse_flag("TENON_VALIDATE", "1"));
  CHECK(has(error_of([] { parse_flag("TENON_VALIDATE", "yes"); }),
            "[TENON_VALIDATE] expected 0 or 1, got 'yes'"));
  CHECK(parse_precision("TENON_MATMUL", "bf16") == Precision::kBf16);
  CHECK(has(error_of([] { parse_precision("TENON_MATMUL", "fast"); }),
            "[TENON_MATMUL] expected exact, tf32 or bf16, got 'fast'"));
  CHECK(has(error_of([] { parse_folder("TENON_CACHE_DIR", "here"); }),
            "[TENON_CACHE_DIR] expected an absolute folder, got 'here'"));
  CHECK(has(error_of([] { check_log_channels("TENON_LOG", "loader,nose"); }), "got 'nose'"));
}
