// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Results of probes, their caching, and their effect on plugins that a selector names.
#include "core/plugin/probe.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <catch2/catch_test_macros.hpp>

#include "core/device/open_devices.hpp"
#include "core/plugin/library.hpp"
#include "core/plugin/probes.hpp"
#include "core/plugin/process_state.hpp"
#include "tests/runtime/support.hpp"

using namespace tenon;
using namespace tenon::test;

namespace {

class Limit {
 public:
  Limit(__rlimit_resource which, rlim_t value) : which_(which) {
    getrlimit(which_, &before_);
    const rlimit now{value, before_.rlim_max};
    REQUIRE(setrlimit(which_, &now) == 0);
  }
  ~Limit() { setrlimit(which_, &before_); }
  Limit(const Limit&) = delete;
  Limit& operator=(const Limit&) = delete;

 private:
  __rlimit_resource which_;
  rlimit before_{};
};

}  // namespace

TEST_CASE("a probe survives a plugin that ends its process") {
  const ProbeResult crashed = probe_plugin(plugin_file("aborts"), false);
  CHECK(crashed.status == ProbeResult::Status::kCrashed);
  CHECK(has(crashed.reason, "ended by SIGABRT while it was loaded; its last words: no luck today"));
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

TEST_CASE("a program that ignores its children's ends can probe") {
  struct sigaction ignore {
  }, before{};
  ignore.sa_handler = SIG_IGN;
  sigaction(SIGCHLD, &ignore, &before);
  const ProbeResult result = probe_plugin(plugin_file("fake"), false);
  sigaction(SIGCHLD, &before, nullptr);
  CAPTURE(result.reason);
  CHECK(result.status == ProbeResult::Status::kOk);
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

TEST_CASE("answers are remembered: good ones, bad ones for a while, none without devices") {
  TempFolder folder;
  const fs::path file = folder.path / "libtenon_fake.so";
  fs::copy_file(plugin_file("aborts"), file);
  const PluginCandidate candidate{file, "fake", "test"};
  const auto cache = std::make_shared<DiskCache>(folder.path / "cache");
  const auto ask = [&](Probes::Options how) { return Probes(cache, how).of(candidate); };
  CHECK(ask({}).status == ProbeResult::Status::kCrashed);
  // With no time at all there is an answer only from memory.
  CHECK(ask({.seconds = 0}).status == ProbeResult::Status::kCrashed);
  CHECK(ask({.seconds = 0, .afresh = true}).status == ProbeResult::Status::kTimeout);
  CHECK(ask({}).status == ProbeResult::Status::kTimeout);
  // Another file is another plugin, whatever its times say.
  const auto time = fs::last_write_time(file);
  fs::remove(file);
  fs::copy_file(plugin_file("fake"), file);
  fs::last_write_time(file, time);
  CHECK(ask({}).status == ProbeResult::Status::kOk);
  CHECK(ask({.seconds = 0}).devices.size() == 3);
}

TEST_CASE("a bad answer under other limits says nothing") {
  TempFolder folder;
  const PluginCandidate candidate{plugin_file("aborts"), "aborts", "test"};
  const auto cache = std::make_shared<DiskCache>(folder.path / "cache");
  const auto ask = [&] { return Probes(cache, {.seconds = 0}).of(candidate); };
  CHECK(Probes(cache, {}).of(candidate).status == ProbeResult::Status::kCrashed);
  CHECK(ask().status == ProbeResult::Status::kCrashed);  // remembered
  {
    const Limit other(RLIMIT_STACK, 1 << 20);
    CHECK(ask().status == ProbeResult::Status::kTimeout);
  }
  CHECK(ask().status == ProbeResult::Status::kCrashed);
}

TEST_CASE("a probe that cannot run says nothing of the plugin") {
  const Limit few(RLIMIT_NOFILE, 9);
  CHECK(probe_plugin(plugin_file("fake"), false).status == ProbeResult::Status::kUnknown);
}

TEST_CASE("what is refused is not probed") {
  Probes probes(std::make_shared<DiskCache>(fs::path()), {});
  const PluginCandidate candidate{plugin_file("fake"), "fake", "test", false, "it is a bad day"};
  probes.ask({&candidate});
  CHECK(probes.of(candidate).status == ProbeResult::Status::kRejected);
  CHECK(probes.of(candidate).reason == "it is a bad day");
}

TEST_CASE("a plugin that is named is probed, unless @noprobe") {
  const auto open = [](const std::string& devices, const std::string& backend) {
    RuntimeOptions options = options_for(devices, backend);
    options.probe = true;
    return error_of([&] { Runtime runtime(options); });
  };
  CHECK(open("fake:0", "fake").empty());
  CHECK(has(open("aborts", "aborts"),
            "libtenon_aborts.so is not loaded: ended by SIGABRT while it "
            "was loaded"));
  CHECK(has(open("fake:2", "fake"),
            "fake:2 is not opened: its self-test failed: a+b gave a wrong "
            "sum (fake@noprobe opens it all the same)"));
  CHECK(open("fake:2@noprobe", "fake").empty());
  CHECK(open("aborts@optional,fake:0", "aborts").find("no backend 'fake'") != std::string::npos);
}

TEST_CASE("an option that is wrong is a mistake, whether the device is optional or not") {
  const auto open = [](const std::string& devices) {
    return error_of([&] { Runtime runtime(options_for(devices, "fake")); });
  };
  CHECK(has(open("fake:0@colour=red@optional,fake:1"),
            "option colour: expected a key that the backend knows"));
  CHECK(open("fake:9@colour=red@optional,fake:1").empty());
}

TEST_CASE("a second term for an open device asks for the same or for nothing") {
  const auto open = [](const std::string& devices) {
    ErrorKind kind = ErrorKind::kInvalid;
    const std::string text =
        error_of([&] { Runtime runtime(options_for(devices, "fake")); }, &kind);
    CHECK(kind == ErrorKind::kInvalid);
    return text;
  };
  CHECK(open("fake:0@oom=1000000,fake").empty());
  CHECK(open("fake:0@oom=1000000@pool=1M,fake:0@pool=1M@oom=1000000").empty());
  CHECK(has(open("fake:0,fake:0@oom=1000000"),
            "term 'fake:0@oom=1000000': expected the options of the term 'fake:0', which has "
            "opened fake:0, got others"));
  CHECK(has(open("fake@pool=1M,fake:1@pool=2M"), "'fake:1@pool=2M'"));
}

TEST_CASE("a table that is null and says nothing is refused with words") {
  const std::string message = error_of([] {
    PluginLibrary::load({plugin_file("mute"), "mute", "test"});
  });
  CHECK(has(message,
            "it does not speak ABI version 1 to 1: tn_plugin_query gave no table and no "
            "reason"));
}

TEST_CASE("each part of a process is compared") {
  const ProcessState before = ProcessState::now();
  CHECK(difference(before, ProcessState::now()).empty());
  const auto said = [&](auto&& change) {
    ProcessState after = before;
    change(after);
    return difference(before, after);
  };
  CHECK(has(said([](auto& s) { s.directory += "/x"; }), "the working directory"));
  CHECK(has(said([](auto& s) { s.locale = "xx"; }), "the locale"));
  CHECK(has(said([](auto& s) { s.umask ^= 1; }), "the umask"));
  CHECK(has(said([](auto& s) { s.handlers[1] += 1; }), "the action of SIGINT"));
  CHECK(has(said([](auto& s) { s.blocked[SIGTERM] = !s.blocked[SIGTERM]; }), "signal 15"));
  CHECK(
      has(said([](auto& s) { CPU_ZERO(&s.processors); }), "the processors of the calling thread"));
  CHECK(has(said([](auto& s) { s.rounding += 1; }), "the rounding"));
  CHECK(has(said([](auto& s) { s.float_control ^= 1; }), "the floating point control"));
  CHECK(has(said([](auto& s) { s.streams[1] = {}; }), "standard output: expected file"));
  CHECK(has(said([](auto& s) { s.alarm = true; }), "the timer of SIGALRM"));
  const auto path = [](auto& s) {
    return std::ranges::find_if(s.variables, [](auto& v) { return v.starts_with("PATH="); });
  };
  CHECK(
      has(said([&](auto& s) { s.variables.erase(path(s)); }), "expected PATH as before, got none"));
  CHECK(has(said([&](auto& s) { *path(s) += ":/x"; }), "got another value"));
  CHECK(has(said([](auto& s) { s.variables.emplace_back("LD_AUDIT=x"); }), "expected no LD_AUDIT"));
  CHECK(said([](auto& s) { s.variables.emplace_back("VENDOR_OWN=x"); }).empty());
  CHECK(said([](auto& s) { std::ranges::reverse(s.variables); }).empty());
}
