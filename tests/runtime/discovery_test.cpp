// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which files are candidates, their order, and why others are refused.
#include "core/plugin/discovery.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <random>

#include "core/plugin/elf_check.hpp"
#include "core/plugin/environment.hpp"
#include "core/plugin/library.hpp"
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

TEST_CASE("a link of another name hides no plugin") {
  TempFolder a, b;
  write_file(b.path / "libtenon_good.so", "x");
  fs::create_symlink(b.path / "libtenon_good.so", a.path / "libtenon_alias.so");
  DiscoveryOptions options;
  options.env_plugin_path = a.path.string() + ":" + b.path.string();
  const Discovery found = discover_plugins(options);
  CHECK(from(found, "TENON_PLUGIN_PATH") == "alias good ");
  REQUIRE(find_backend(found, "good") != nullptr);
  CHECK(find_backend(found, "good")->path == b.path / "libtenon_good.so");
}

TEST_CASE("what others can write is refused, unless TENON_PLUGINS names it") {
  TempFolder a;
  const fs::path file = a.path / "libtenon_one.so";
  write_file(file, "x");
  DiscoveryOptions options;
  options.env_plugin_path = a.path.string();
  const auto refused = [&] {
    const Discovery found = discover_plugins(options);
    const auto at = std::ranges::find(found.candidates, "one", &PluginCandidate::backend);
    REQUIRE(at != found.candidates.end());
    CHECK((find_backend(found, "one") == nullptr) == !at->refused.empty());
    return at->refused;
  };
  CHECK(refused().empty());
  fs::permissions(file, fs::perms::others_write, fs::perm_options::add);
  CHECK(has(refused(), "expected a file that not everyone can write, got " + file.string()));
  fs::permissions(file, fs::perms::others_write, fs::perm_options::remove);
  fs::permissions(a.path, fs::perms::others_write, fs::perm_options::add);
  CHECK(has(refused(), "expected a folder that not everyone can write, got " + a.path.string()));
  // Through a link from a folder that is fine.
  TempFolder b;
  fs::create_symlink(file, b.path / "libtenon_one.so");
  options.env_plugin_path = b.path.string();
  CHECK(has(refused(), "expected a folder that not everyone can write"));
  options.env_plugins = file.string();
  CHECK(refused().empty());
  fs::permissions(a.path, fs::perms::others_write, fs::perm_options::remove);
  options.env_plugins.reset();
  CHECK(refused().empty());
  if (geteuid() != 0) return;  // only root can give a file away
  REQUIRE(chown(file.c_str(), 12345, 12345) == 0);
  CHECK(has(refused(), "of this user, of root or of the owner of the core library, got " +
                           file.string() + " of user 12345"));
  // A refused file does not shadow later ones.
  TempFolder c;
  write_file(c.path / "libtenon_one.so", "y");
  options.env_plugin_path = a.path.string() + ":" + c.path.string();
  const Discovery both = discover_plugins(options);
  REQUIRE(find_backend(both, "one") != nullptr);
  CHECK(find_backend(both, "one")->path == c.path / "libtenon_one.so");
}

TEST_CASE("a folder that cannot be read for want of descriptors is no folder without plugins") {
  rlimit before{};
  getrlimit(RLIMIT_NOFILE, &before);
  rlimit none = before;
  none.rlim_cur = 3;
  setrlimit(RLIMIT_NOFILE, &none);
  const Discovery found = discover_plugins({});
  setrlimit(RLIMIT_NOFILE, &before);
  REQUIRE_FALSE(found.problems.empty());
  CHECK(has(found.problems[0], "expected a folder, got"));
  CHECK(has(found.problems[0], "Too many open files"));
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
  const auto with = [&](size_t at, char value) {
    std::string bytes = whole;
    bytes[at] = value;
    return bytes;
  };
  CHECK(has(why(with(18, 8)), "another machine: expected ELF machine 62, got 8"));
  CHECK(has(why(with(4, 1)), "another machine: expected ELF class 2 (64 bits), got 1"));
  CHECK(has(why(with(5, 2)), "another machine: expected byte order 1 (little), got 2"));
  CHECK(has(why(with(6, 0)), "is damaged: expected ELF version 1, got 0 and 1"));
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

TEST_CASE("the environment's table and its checks") {
  CHECK(environment_variables().size() == 9);
  CHECK(has(environment_markdown(), "| `TENON_VALIDATE` | 0 or 1 | 0 |"));
  CHECK(parse_flag("TENON_VALIDATE", "1"));
  CHECK(has(error_of([] { parse_flag("TENON_VALIDATE", "yes"); }),
            "[TENON_VALIDATE] expected 0 or 1, got 'yes'"));
  CHECK(parse_precision("TENON_MATMUL", "bf16") == Precision::kBf16);
  CHECK(has(error_of([] { parse_precision("TENON_MATMUL", "fast"); }),
            "[TENON_MATMUL] expected exact, tf32 or bf16, got 'fast'"));
  CHECK(has(error_of([] { parse_folder("TENON_CACHE_DIR", "here"); }),
            "[TENON_CACHE_DIR] expected an absolute folder, got 'here'"));
  CHECK(parse_seconds("TENON_PROBE_SECONDS", "2.5") == 2.5);
  for (const char* wrong : {"", "0", "-1", "1e9", "3s", "nan"})
    CHECK(has(error_of([&] { parse_seconds("TENON_PROBE_SECONDS", wrong); }),
              "[TENON_PROBE_SECONDS] expected seconds from 0.1 to 600, got '"));
  CHECK(has(error_of([] { check_log_channels("TENON_LOG", "loader,nose"); }), "got 'nose'"));
}
