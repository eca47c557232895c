// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A generated table in docs/, held against what it is generated from. TENON_UPDATE=1 writes it.
#pragma once

#include <fmt/format.h>

#include <catch2/catch_test_macros.hpp>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

namespace tenon::test {

inline std::string read_file(const std::string& path) {
  std::ifstream file(path);
  REQUIRE(file);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

/// The table stands between two comments: <!-- begin NAME --> and <!-- end NAME -->.
inline void check_table(const std::string& document, const std::string& name,
                        const std::string& table) {
  const std::string path = std::string(TENON_SOURCE_DIR) + "/docs/" + document;
  const std::string begin = fmt::format("<!-- begin {} -->\n", name);
  const std::string end = fmt::format("<!-- end {} -->\n", name);
  std::string text = read_file(path);
  const bool update = std::getenv("TENON_UPDATE") != nullptr;
  if (update && text.find(begin) == std::string::npos)
    text += fmt::format("\n### {}\n{}{}", name, begin, end);
  INFO(path << " has a table " << name << "; TENON_UPDATE=1 writes it");
  const size_t from = text.find(begin);
  const size_t to = text.find(end);
  REQUIRE(from != std::string::npos);
  REQUIRE(to != std::string::npos);
  const size_t start = from + begin.size();
  if (update) {
    std::ofstream(path) << text.replace(start, to - start, table);
  } else {
    CHECK(text.substr(start, to - start) == table);
  }
}

}  // namespace tenon::test
