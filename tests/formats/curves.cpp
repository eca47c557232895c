// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What shows how learning goes: event files of TensorBoard, and charts.
#include <fmt/format.h>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <climits>
#include <cstring>
#include <limits>

#include "frontend/formats/event_record.hpp"
#include "tenon/error.hpp"
#include "tenon/formats/chart.hpp"
#include "tenon/formats/tensorboard.hpp"
#include "tests/formats/files.hpp"

using namespace tenon;
using namespace tenon::formats;
using namespace tenon::test;
using Catch::Matchers::ContainsSubstring;

namespace {

std::string hex(std::string_view bytes) {
  std::string text;
  for (const char c : bytes) text += fmt::format("{:02x}", static_cast<uint8_t>(c));
  return text;
}

size_t count(const std::string& text, std::string_view what) {
  size_t found = 0;
  for (size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += what.size()) ++found;
  return found;
}

/// The data of each record, whose checksums hold.
std::vector<std::string> records(const std::string& bytes) {
  std::vector<std::string> out;
  for (size_t at = 0; at < bytes.size();) {
    uint64_t length = 0;
    REQUIRE(at + 16 <= bytes.size());
    std::memcpy(&length, bytes.data() + at, 8);
    REQUIRE(length <= bytes.size() - at - 16);
    out.push_back(bytes.substr(at + 12, length));
    REQUIRE(bytes.substr(at, length + 16) == event_record(out.back()));
    at += length + 16;
  }
  return out;
}

}  // namespace

TEST_CASE("checksums are those of RFC 3720") {
  CHECK(crc32c(std::string(32, '\0')) == 0x8a9136aa);
  CHECK(crc32c(std::string(32, '\xff')) == 0x62a8ab43);
  CHECK(crc32c("123456789") == 0xe3069283);
}

TEST_CASE("events are byte for byte what TensorBoard's own writer makes") {
  CHECK(hex(event_record(version_event(1700000000.25))) ==
        "1800000000000000a37f4b220900001040fc54d9411a0d627261696e2e4576656e743a32338d2fe9");
  CHECK(hex(event_record(scalar_event(1700000001.5, 300, "loss/train", 0.75F))) ==
        "2100000000000000017becf60900006040fc54d94110ac022a130a110a0a6c6f73732f747261696e150000403f"
        "2090a358");
}

TEST_CASE("an event file has each scalar as soon as it was given") {
  const Folder folder;
  const EventWriter other(folder / "run/1");
  EventWriter writer(folder / "run/1");
  CHECK(writer.path() != other.path());
  for (int step = 0; step < 3; ++step) {
    writer.scalar("loss", step, 1.0F / static_cast<float>(step + 1));
    CHECK(records(bytes_of(writer.path())).size() == static_cast<size_t>(step) + 2);
  }
  CHECK(records(bytes_of(writer.path()))[0].ends_with("brain.Event:2"));
  CHECK(records(bytes_of(writer.path()))[1].find("loss") != std::string::npos);
  CHECK_THROWS_WITH(EventWriter(folder.put("file", "")), ContainsSubstring("expected to write"));
}

TEST_CASE("a chart has a line for each series, ticks and a legend") {
  const std::string chart =
      line_chart({{"train <1>", {0, 1, 2}, {2, 1, 0.5}}, {"a & b", {0, 2}, {1, 3}}},
                 {.title = "Loss", .x_label = "step", .y_label = "nats"});
  CHECK(chart.starts_with("<svg "));
  CHECK(chart.ends_with("</svg>\n"));
  CHECK(count(chart, "<path ") == 2);
  CHECK_THAT(chart, ContainsSubstring("train &lt;1>") && ContainsSubstring("a &amp; b") &&
                        ContainsSubstring(">Loss<") && ContainsSubstring(">step<") &&
                        ContainsSubstring(">nats<") && ContainsSubstring(">1.5<"));
  // From the left end of the axis, at the height of 2 between 0.5 and 3, over 720 x 400 pixels.
  CHECK_THAT(chart, ContainsSubstring("<path d=\"M64.0 162.4L384.0 288.8L704.0 352.0\""));
}

TEST_CASE("lines are broken where there is no number, and any numbers make a chart") {
  const double nan = std::nan(""), inf = std::numeric_limits<double>::infinity();
  CHECK(count(line_chart({{"a", {0, 1, 2, 3}, {1, nan, 2, 3}}}), "M") == 2);
  for (const std::vector<double>& y : std::vector<std::vector<double>>{{0, 0},
                                                                       {1e300, -1e300},
                                                                       {5e-324, 0},
                                                                       {inf, -inf},
                                                                       {nan, 1},
                                                                       {1e15, 1e15 + 1},
                                                                       {-7, -7}}) {
    const std::string chart = line_chart({{"a", {0, 1}, y}});
    CHECK(count(chart, "nan") + count(chart, "inf") == 0);
    CHECK(count(chart, "<line ") < 60);
    CHECK(count(chart, "<line ") > 4);
  }
  CHECK(count(line_chart({}), "<path") == 0);
  CHECK_THROWS_WITH(line_chart({{"a", {0}, {}}}), ContainsSubstring("of 'a', got 1 and 0"));
  CHECK_THROWS_WITH(line_chart({}, {.width = 10}), ContainsSubstring("at least 200 x 120"));
  CHECK(line_chart({}, {.width = 16384, .height = 16384}).size() < 200000);
  CHECK_THROWS_WITH(line_chart({}, {.width = INT_MAX, .height = INT_MAX}),
                    ContainsSubstring("at most 16384 x 16384 pixels, got 2147483647 x 2147483647"));
}
