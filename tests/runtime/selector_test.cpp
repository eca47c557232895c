// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The grammar of TENON_DEVICES, and what a selector picks.
#include <catch2/catch_test_macros.hpp>
#include <random>

#include "core/device/open_devices.hpp"
#include "core/device/selector.hpp"
#include "tests/runtime/support.hpp"

using namespace tenon;
using namespace tenon::test;

TEST_CASE("terms, devices and options are read") {
  const auto terms =
      parse_selector("cuda:0+gpu+uuid=ab-12@pool=2G@threads=4,-vulkan:all,cpu@optional");
  REQUIRE(terms.size() == 3);
  CHECK(terms[0].backend == "cuda");
  REQUIRE(terms[0].devices.size() == 3);
  CHECK(terms[0].devices[0].kind == SelectorDevice::Kind::kIndex);
  CHECK(terms[0].devices[0].index == 0);
  CHECK(terms[0].devices[1].kind == SelectorDevice::Kind::kKind);
  CHECK(terms[0].devices[1].text == "gpu");
  CHECK(terms[0].devices[2].text == "ab-12");
  CHECK(terms[0].options.at("pool") == "2G");
  CHECK(terms[0].options.at("threads") == "4");
  CHECK(terms[1].negative);
  CHECK(terms[1].devices[0].kind == SelectorDevice::Kind::kAll);
  CHECK(terms[2].options.contains("optional"));
  CHECK(terms[2].text == "cpu@optional");
}

TEST_CASE("a device that holds a '/' is a path") {
  const auto terms = parse_selector("disk:/a b/\xc3\xa9%2C.bin+./x@readonly,disk:/y");
  REQUIRE(terms.size() == 2);
  REQUIRE(terms[0].devices.size() == 2);
  CHECK(terms[0].devices[0].kind == SelectorDevice::Kind::kPath);
  CHECK(terms[0].devices[0].text == "/a b/\xc3\xa9%2C.bin");
  CHECK(terms[0].devices[1].text == "./x");
  CHECK(terms[0].options.contains("readonly"));
  CHECK(terms[1].devices[0].text == "/y");
}

TEST_CASE("wrong selectors name column and expectation") {
  const struct {
    const char* text;
    const char* message;
  } table[] = {
      {"", "column 1 of '': expected a backend"},
      {",", "column 1 of ',': expected a backend"},
      {"cpu,", "column 5 of 'cpu,': expected a backend (letters a-z, digits, _), got the end"},
      {"cpu gpu", "column 4 of 'cpu gpu': expected ',' or '@' or ':' or the end, got ' '"},
      {"CPU", "column 1 of 'CPU': expected a backend"},
      {"cpu:",
       "column 5 of 'cpu:': expected all, cpu, gpu, accelerator, storage, an index, uuid= or a "
       "path"},
      {"cpu:tpu", "column 5 of 'cpu:tpu': expected all, cpu, gpu"},
      {"cpu:0+", "column 7"},
      {"cpu:99999999999", "column 5 of 'cpu:99999999999': expected an index below 2147483648"},
      {"cpu:-1", "column 5"},
      {"cpu:uuid=", "expected a uuid (hexadecimal digits and -), got the end"},
      {"cpu@", "column 5 of 'cpu@': expected an option's name"},
      {"cpu@pool=", "expected a value after '='"},
      {"cpu@pool=2X", "expected a positive number with K, M, G or T or none, got '2X'"},
      {"cpu@pool", "expected a positive number with K, M, G or T or none, got ''"},
      {"cpu@optional=1", "expected @optional without a value"},
      {"cpu@a=1@a=2", "expected each option once"},
      {"-cpu@pool=2G", "expected no option on a negative term"},
      {"--cpu", "column 2"},
      {"cpu\n", "'cpu\\x0a'"},
      {"-disk:/x", "expected no path on a negative term"},
      {"disk:/x@path=/y", "expected one path, as BACKEND:PATH or @path="},
      {"disk:/a%2", "column 8 of 'disk:/a%2': expected two hexadecimal digits after the %"},
      {"disk:/a%00", "expected two hexadecimal digits after the % of a path, got '%'"},
      {"disk:/a\tb", "column 8 of 'disk:/a\\x09b': expected a printable character of a path"},
  };
  for (const auto& row : table) {
    CAPTURE(row.text);
    ErrorKind kind{};
    const std::string message = error_of([&] { parse_selector(row.text); }, &kind);
    CHECK(has(message, row.message));
    CHECK(kind == ErrorKind::kInvalid);
  }
}

TEST_CASE("sizes") {
  CHECK(parse_bytes("1048576") == 1048576);
  CHECK(parse_bytes("2G") == uint64_t{2} << 30);
  CHECK(parse_bytes("3T") == uint64_t{3} << 40);
  for (const char* wrong : {"", "G", "-1", "0", "1.5G", "1GB", "99999999T", "18446744073709551616"})
    CHECK(has(error_of([&] { parse_bytes(wrong); }), "[@pool] expected a positive number"));
}

TEST_CASE("mutated selectors give an answer or an error") {
  const char* more = std::getenv("TENON_MUTATIONS");
  const int count = more ? std::atoi(more) : 20000;
  const std::string seeds[] = {"cuda:0@pool=2G,vulkan@optional,cpu", "-cpu:0+gpu,-null:uuid=ab-cd",
                               "cpu:all@threads=2@pool=512M", "disk:/a%2Cb+./c@readonly"};
  const std::string alphabet = "-+:@=,_0129agupcl \x01\xff\x80G/%.";
  std::mt19937 random(7);
  int accepted = 0;
  for (int i = 0; i < count; ++i) {
    std::string text = seeds[random() % 4];
    for (uint32_t k = 0; k < 1 + random() % 4; ++k) {
      const size_t at = random() % (text.size() + 1);
      const char c = alphabet[random() % alphabet.size()];
      if (random() % 3 == 0 && at < text.size()) {
        text.erase(at, 1);
      } else if (random() % 2 == 0 && at < text.size()) {
        text[at] = c;
      } else {
        text.insert(at, 1, c);
      }
    }
    ErrorKind kind = ErrorKind::kInvalid;
    accepted += error_of([&] { parse_selector(text); }, &kind).empty();
    if (kind != ErrorKind::kInvalid) FAIL("not kInvalid: " << text);
  }
  CHECK(accepted > 0);
  CHECK(accepted < count);
}

TEST_CASE("a selector picks devices in its order") {
  const auto ids = [](const std::string& selector) {
    Runtime runtime(options_for(selector, "fake"));
    std::string text;
    for (const auto& device : runtime.devices()) text += (text.empty() ? "" : " ") + device->id();
    return text;
  };
  CHECK(ids("fake") == "fake:0 fake:1 fake:2");
  CHECK(ids("fake:2+0") == "fake:0 fake:2");
  CHECK(ids("fake:2,fake") == "fake:2 fake:0 fake:1");
  CHECK(ids("fake:gpu") == "fake:1");
  CHECK(ids("fake:accelerator,fake:cpu") == "fake:2 fake:0");
  CHECK(ids("fake:uuid=10111213-1415-1617-1819-1a1b1c1d1e1f") == "fake:1");
  CHECK(ids("fake:all,-fake:1") == "fake:0 fake:2");
  CHECK(ids("nothing@optional,fake:0") == "fake:0");
  CHECK(ids("fake:7@optional,fake:1") == "fake:1");
  CHECK(ids("fake:0@oom=1000000@pool=1M") == "fake:0");
}

TEST_CASE("what a selector asks for and is not there is an error with a list") {
  const auto message = [](const std::string& selector) {
    return error_of([&] { Runtime runtime(options_for(selector, "fake")); });
  };
  CHECK(has(message(""), "expected a selector, got ''; there is: fake:0 (cpu, fake device 0)"));
  CHECK(has(message("abacus"), "term 'abacus': there is no backend 'abacus'; there is: fake:0"));
  CHECK(has(message("fake:9"), "term 'fake:9' matches no device; there is:"));
  CHECK(has(message("fake:0,-fake"), "expected at least one device"));
  CHECK(has(message("-abacus"), "term '-abacus': there is no backend 'abacus'"));
  CHECK(has(message("fake:0@colour=red"), "option colour: expected a key that the backend knows"));
  CHECK(has(message("fake:0 "), "column 7"));
}
