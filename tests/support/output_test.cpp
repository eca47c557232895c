// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What reaches a terminal: no control characters of strangers, and no output lost in silence.
#include "core/support/output.hpp"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch_test_macros.hpp>
#include <functional>
#include <nlohmann/json.hpp>

using namespace tenon;

namespace {

/// Exit code of a child whose standard output is `path`, or closed if it is null.
int in_child(const char* path, const std::function<int()>& action) {
  fflush(stdout);
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    close(1);
    close(2);
    open_standard_streams();
    if (path) dup2(open(path, O_WRONLY), 1);
    _exit(action());
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace

TEST_CASE("texts are to_printable, not obeyed") {
  CHECK(printable_line("a\tb\nc\x1b[2J") == "a\u2409b\u240ac\u241b[2J");
  CHECK(printable("a\tb\nc\x1b[2J") == "a\tb\nc\u241b[2J");
  CHECK(printable_line("\xc2\x9b") == "\ufffd");  // the same escape in one character
  CHECK(printable_line("\u202e\u2028") == "\ufffd\ufffd");
  CHECK(to_printable(std::string("\r")) == "\u240d");
  CHECK(to_printable(Lines{"a\n\r"}) == "a\n\u240d");
  CHECK(to_printable(Painted{"\033[31m"}) == "\033[31m");
  CHECK(paint("x\x1b", "31")
            .text.find("\x1b"
                       "x") == std::string::npos);
  CHECK(json_text(nlohmann::json("\xff\x7f\u0085"), -1) == R"("\ufffd\u007f\u0085")");
}

TEST_CASE("output that could not be written is a fault") {
  const auto short_text = [] {
    say("{}\n", "text");
    return finish_output("test", 0, 3);
  };
  const auto long_text = [] {
    write_output(std::string(1 << 20, 'x'));
    return finish_output("test", 0, 3);
  };
  CHECK(in_child("/dev/null", short_text) == 0);
  for (const char* path : {"/dev/full", static_cast<const char*>(nullptr)}) {
    CHECK(in_child(path, short_text) == 3);
    CHECK(in_child(path, long_text) == 3);
    CHECK(in_child(path, [] {
            say("{}\n", "text");
            return finish_output("test", 1, 3);
          }) == 1);
    CHECK(in_child(path, [] { return finish_output("test", 0, 3); }) == 0);
  }
}
