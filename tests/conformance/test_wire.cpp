// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What workers and their parent say to each other: each message comes back as it was, and bytes
// that nobody wrote are no message and no crash.
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <limits>

#include "conformance/cases/choices.hpp"
#include "conformance/worker/wire.hpp"
#include "core/support/error.hpp"

using namespace tenon;
using namespace tenon::conformance;
using namespace tenon::conformance::judge;
using namespace tenon::conformance::worker;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

Outcome full_outcome() {
  return {.status = Status::kDeviceLost,
          .kind = "mismatch",
          .text = "two\nlines\twith \\ \"marks\" and é",
          .worst_ulp = kInfinity,
          .worst_input = "-0x1p-149",
          .digest = ~uint64_t{0},
          .needs = kNeedsFlush | kNeedsRelaxed,
          .ulps = {{-3, 0.1, -1e300, -1}, {4, kInfinity, 5e-324, std::nan("")}},
          .diff = "[0]\t1\tnan\tinf\n[1]\t2\t3\t1",
          .transforms = "split i 4\nunroll i.1"};
}

std::vector<Message> messages() {
  return {Ready{{"cpu:0", "name", "strict", "/x.so", "{\"a\":1}", true, true}},
          Refused{"no such device"},
          Probed{true, "4 is not 5"},
          Begun{~uint64_t{0}, 3, {"cast.i8", "f32", "flipped"}},
          Entered{RunPhase::kFirstLaunch},
          Ended{7, full_outcome(), {0, 5, 4000000}},
          Idle{},
          Bye{"what the case did to the process stays in it"}};
}

template <class T, class Variant>
T again(const T& one, std::string (*write)(const Variant&),
        std::optional<Variant> (*read)(std::string_view)) {
  const std::string line = write(one);
  INFO(line);
  CHECK(line.find('\n') == line.npos);
  const std::optional<Variant> back = read(line);
  REQUIRE(back);
  REQUIRE(std::holds_alternative<T>(*back));
  CHECK(write(*back) == line);
  return std::get<T>(*back);
}

template <class T>
T again(const T& one) {
  return again<T, Message>(one, write_message, read_message);
}

}  // namespace

TEST_CASE("a message comes back as it was") {
  for (const Message& message : messages())
    std::visit([](const auto& one) { again(one); }, message);
  const Ready ready = again(std::get<Ready>(messages()[0]));
  CHECK(ready.facts.properties == "{\"a\":1}");
  CHECK((ready.facts.deterministic && ready.facts.memory_only));
  const Begun begun = again(std::get<Begun>(messages()[3]));
  CHECK(begun.index == ~uint64_t{0});
  CHECK(begun.cell.layout == "flipped");
  CHECK(again(Entered{RunPhase::kLaunch}).phase == RunPhase::kLaunch);
  const Ended ended = again(std::get<Ended>(messages()[5]));
  const Outcome wanted = full_outcome();
  CHECK(ended.reached == std::vector<uint32_t>{0, 5, 4000000});
  CHECK(ended.outcome.status == wanted.status);
  CHECK(ended.outcome.text == wanted.text);
  CHECK(ended.outcome.worst_ulp == kInfinity);
  CHECK(ended.outcome.digest == wanted.digest);
  CHECK(ended.outcome.diff == wanted.diff);
  REQUIRE(ended.outcome.ulps.size() == 2);
  CHECK(ended.outcome.ulps[0].ulp == 0.1);
  CHECK(ended.outcome.ulps[0].at == -1e300);
  CHECK(ended.outcome.ulps[1].at == 5e-324);
  CHECK(std::isnan(ended.outcome.ulps[1].bound));
  const RunRange range =
      again<RunRange, Command>({~uint64_t{0}, 1, 2}, write_command, read_command);
  CHECK((range.seed == ~uint64_t{0} && range.begin == 1 && range.end == 2));
  CHECK(again<RunText, Command>({12345}, write_command, read_command).bytes == 12345);
}

TEST_CASE("bytes of a plugin that are no text are replaced, and the line stays one") {
  const Bye bye = again(Bye{"\xff\xfe\n\x01" + std::string(1, '\0') + "end"});
  CHECK(bye.reason == "\ufffd\ufffd\n\x01" + std::string(1, '\0') + "end");
}

TEST_CASE("what no worker writes is no message") {
  for (const std::string text :
       {"", "[]", "{}", "null", "[\"idle\"]", "[\"idle\",", "[\"other\",{}]", "[1,{}]",
        "[\"refused\",{}]", "[\"refused\",{\"reason\":1}]", "[\"entered\",{\"phase\":3}]",
        "[\"entered\",{\"phase\":-1}]", "[\"begun\",{\"index\":\"a\",\"attempt\":0,\"cell\":[]}]",
        "[\"idle\",{}] more"})
    CHECK_FALSE(read_message(text));
  CHECK_FALSE(read_message(std::string(1 << 20, '[')));
  CHECK_FALSE(read_command("[\"text\",{}]"));
}

TEST_CASE("damaged lines are messages or none, never a crash") {
  Choices choices(11);
  size_t none = 0, some = 0;
  for (int i = 0; i < 20000; ++i) {
    std::string line = write_message(messages()[choices.below(messages().size())]);
    for (int64_t edits = choices.between(1, 3); edits > 0; --edits) {
      const size_t at = choices.below(line.size());
      if (choices.chance(50))
        line[at] = static_cast<char>(choices.below(256));
      else
        line.erase(at, choices.below(8) + 1);
      if (line.empty()) line = "x";
    }
    ++(read_message(line) ? some : none);
  }
  CHECK(none > 5000);
  CHECK(some > 100);
}
