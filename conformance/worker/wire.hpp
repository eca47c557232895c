// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a worker and its parent say to each other: JSON, a line each. A worker's lines begin with
// the token of the session, which tells them from whatever a plugin writes to a descriptor that is
// not its own.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "conformance/cases/outcome.hpp"
#include "conformance/cases/target.hpp"
#include "conformance/judge/progress.hpp"

namespace tenon::conformance::worker {

// ---- From the worker ----

/// The plugin is loaded.
struct Ready {
  DeviceFacts facts;
};
/// It is not, and the worker ends.
struct Refused {
  std::string reason;
};
/// The case with a known answer was run, or could not be.
struct Probed {
  bool wrong = false;
  std::string text = {};  ///< what came out wrong
};
/// Written before the device sees the case: the journal. It compiles.
struct Begun {
  uint64_t index = 0, attempt = 0;
  Cell cell;
};
struct Entered {
  judge::RunPhase phase = judge::RunPhase::kCompile;
};
struct Ended {
  uint64_t index = 0;
  Outcome outcome;
  std::vector<uint32_t> reached = {};  ///< coverage cells that are new to the process
};
/// The command is done.
struct Idle {};
/// The worker ends by its own will; a fresh one goes on.
struct Bye {
  std::string reason;
};

using Message = std::variant<Ready, Refused, Probed, Begun, Entered, Ended, Idle, Bye>;
std::string write_message(const Message& message);  ///< without the end of the line
/// Nothing for what write_message never writes.
std::optional<Message> read_message(std::string_view line);

// ---- From the parent: its first line is the token, then ----

/// The case with a known answer.
struct RunProbe {};
/// Cases of the generator.
struct RunRange {
  uint64_t seed = 0, begin = 0, end = 0;
};
/// A reproducer of so many bytes follows the line; its index is 0.
struct RunText {
  uint64_t bytes = 0;
};

using Command = std::variant<RunProbe, RunRange, RunText>;
std::string write_command(const Command& command);
std::optional<Command> read_command(std::string_view line);

}  // namespace tenon::conformance::worker

namespace tenon::conformance {

// ---- Parts of them, which state.json has too; JSON looks for them where their types are. The
// readers throw kInvalid, or what JSON throws. ----

void to_json(nlohmann::json& json, const Cell& cell);
void from_json(const nlohmann::json& json, Cell& cell);
void to_json(nlohmann::json& json, const Outcome& outcome);
void from_json(const nlohmann::json& json, Outcome& outcome);

}  // namespace tenon::conformance
