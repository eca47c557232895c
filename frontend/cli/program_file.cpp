// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/cli/program_file.hpp"

#include <sstream>

#include "core/support/error.hpp"
#include "sdk/program/text.hpp"

namespace tenon::cli {
namespace {

constexpr std::string_view kProgram = "program ", kComment = "#", kStep = "# sequence | ";

/// A program's lines, each at its number in the file, so that errors name that.
struct Piece {
  std::string text;
  int lines = 0;

  void add(int number, std::string_view line) {
    text.append(static_cast<size_t>(number - 1 - lines), '\n');
    text += std::string(line) + '\n';
    lines = number;
  }
};

/// Of lines that do not begin with a program there is none.
std::vector<Piece> pieces_of(std::string_view text) {
  std::vector<Piece> out;
  std::istringstream in{std::string(text)};
  std::string line;
  for (int number = 1; std::getline(in, line); ++number) {
    const bool is_step = line.starts_with(kStep);
    if (!is_step && line.starts_with(kComment)) continue;
    const std::string_view code = std::string_view(line).substr(is_step ? kStep.size() : 0);
    if (code.starts_with(kProgram)) out.emplace_back();
    if (code.find_first_not_of(" \t\r") == code.npos) continue;
    if (out.empty()) return {};
    out.back().add(number, code);
  }
  return out;
}

}  // namespace

std::vector<sdk::Program> programs_in(std::string_view text, std::string_view origin) {
  std::vector<sdk::Program> out;
  for (const Piece& piece : pieces_of(text)) {
    std::string error;
    out.push_back(sdk::parse_program(piece.text, error));
    TN_REQUIRE(error.empty(), "{}: [program] {}", origin, error);
  }
  return out;
}

}  // namespace tenon::cli
