// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which library is taken, in processes of their own; a lost device; other drivers beside it.
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cstdio>
#include <filesystem>

#include "tests/wgsl/harness.hpp"

using namespace tenon::wgsl_test;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::EndsWith;
using Catch::Matchers::StartsWith;

namespace {

const std::string kPlugin = TENON_BINARY_DIR "/lib/tenon/libtenon_wgsl.so";
const std::string kFakes = TENON_BINARY_DIR "/test-plugins/wgsl/";

/// What the probe prints, with a library chosen (or not).
std::string probe(const std::string& arguments, const std::string& library) {
  const std::string command =
      "TENON_WEBGPU_LIBRARY='" + library + "' '" TENON_WGSL_PROBE "' " + arguments + " 2>/dev/null";
  FILE* pipe = popen(command.c_str(), "r");
  std::string out;
  for (int c; (c = std::fgetc(pipe)) != EOF;) out.push_back(static_cast<char>(c));
  CAPTURE(command, out);
  REQUIRE(pclose(pipe) == 0);
  return out;
}

}  // namespace

TEST_CASE("a library that is not there means no devices, and why") {
  const std::string out = probe("list " + kPlugin, "/nowhere/libwgpu_native.so");
  CHECK_THAT(out, StartsWith("devices 0 status 0\n/nowhere/libwgpu_native.so: cannot open"));
}

TEST_CASE("a file that is no library means no devices, and why") {
  const std::string out = probe("list " + kPlugin, TENON_SOURCE_DIR "/README.md");
  CHECK_THAT(out, StartsWith("devices 0 status 0\n"));
  CHECK_THAT(out, ContainsSubstring("invalid ELF header"));
}

TEST_CASE("another version is refused before it is used") {
  const std::string out = probe("list " + kPlugin, kFakes + "libold_version.so");
  CHECK_THAT(out, StartsWith("devices 0 status 0\n"));
  CHECK_THAT(out, ContainsSubstring("expected wgpu-native 29, got wgpu-native 22.1.0.5"));
}

TEST_CASE("a library that states no version is refused") {
  const std::string out = probe("list " + kPlugin, kFakes + "libno_version.so");
  CHECK_THAT(out, StartsWith("devices 0 status 0\n"));
  CHECK_THAT(out,
             ContainsSubstring("expected wgpu-native 29, got a library that states no version"));
}

TEST_CASE("a lost device stays lost, and nothing aborts") {
  if (!no_device().empty()) SKIP(no_device());
  const std::string out = probe("lose " + kPlugin, kFakes + "liblost.so");
  CHECK_THAT(out, StartsWith("done\n6 webgpu: the device is lost\n6 "));
  CHECK_THAT(out, EndsWith("6 webgpu: the device is lost\n6 webgpu: the device is lost\n"));
}

TEST_CASE("other drivers and compilers in the process, in either order") {
  if (!no_device().empty()) SKIP(no_device());
  const std::string folder = TENON_BINARY_DIR "/lib/tenon/libtenon_";
  CHECK(probe("run " + kPlugin, "") == "all ran\n");
  for (const std::string other : {"cpu.so", "vulkan.so"}) {
    if (!std::filesystem::exists(folder + other)) continue;
    CHECK(probe("run " + kPlugin + " " + folder + other, "") == "all ran\n");
    CHECK(probe("run " + folder + other + " " + kPlugin, "") == "all ran\n");
  }
}
