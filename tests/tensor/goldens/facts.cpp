// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/tensor/goldens/facts.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <regex>

namespace tenon::test {
namespace {

std::string joined(std::string text) { return std::regex_replace(text, std::regex(" +"), " "); }

/// "floats, ints": kinds that are whole, then single dtypes.
std::string dtype_list(std::set<DType> dtypes) {
  std::string list;
  const auto add = [&](const std::string& word) { list += (list.empty() ? "" : ", ") + word; };
  const auto take = [&](const char* word, bool (*is)(DType)) {
    for (const DType dtype : all_dtypes())
      if (is(dtype) && dtype_size(dtype) > 0 && !dtypes.contains(dtype)) return;
    std::erase_if(dtypes, is);
    add(word);
  };
  take("floats", is_float);
  take("ints", is_int);
  for (const DType dtype : dtypes) add(std::string(dtype_name(dtype)));
  return list;
}

}  // namespace

std::map<std::string, std::string> public_comments() {
  const std::regex declaration(
      R"(TENON_API (?:Tensor|std::vector<Tensor>|ComplexPair|Scanned) (\w+)\()");
  const std::string folder = std::string(TENON_SOURCE_DIR) + "/frontend/tensor/include/tenon";
  std::map<std::string, std::string> comments;  // of overloads, the first
#define TENON_FUNCTION(name, parameters, arguments, meaning) comments.emplace(#name, meaning);
#include "tenon/functions.def"
#undef TENON_FUNCTION
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    std::ifstream in(entry.path());
    std::string above, name;
    for (std::string line; std::getline(in, line);) {
      const size_t text = line.find("///");
      const bool whole_line = text != std::string::npos && line.find_first_not_of(' ') == text;
      if (whole_line && line[text + 3] != '<') {
        above += line.substr(text + 3);
        continue;
      }
      std::smatch match;
      if (std::regex_search(line, match, declaration)) name = match[1];
      const bool ends = line.find(';') != std::string::npos;
      if (!name.empty() && ends) {
        if (text != std::string::npos) above = line.substr(text + 4);
        const std::string comment = joined(above.substr(!above.empty() && above[0] == ' '));
        if (!comment.empty()) comments.emplace(name, comment);
        name.clear();
      }
      if (ends || line.empty()) above.clear();
    }
  }
  return comments;
}

std::string facts_table(std::span<const Function> functions,
                        const std::map<std::string, Facts>& facts) {
  const std::map<std::string, std::string> comments = public_comments();
  std::string table =
      "| function | meaning | dtypes | ULP f32 | ULP f64 | kernels |\n|---|---|---|---|---|---|\n";
  for (const Function& function : functions) {
    const std::string name = function.name;
    const auto comment = comments.find(name.substr(0, name.find("_of_")));
    std::string meaning = comment == comments.end() ? "" : comment->second;
    meaning = std::regex_replace(meaning, std::regex("\\|"), "\\|");
    const Facts& seen = facts.at(name);
    const auto ulps = [&](double value) {
      return value == 0 ? std::string("0")
                        : fmt::format("{}{}", value, function.of_largest ? " of the largest" : "");
    };
    table +=
        fmt::format("| `{}` | {} | {} | {} | {} | {} |\n", name, meaning, dtype_list(seen.dtypes),
                    ulps(function.f32), ulps(function.f64), seen.kernels);
  }
  return table;
}

}  // namespace tenon::test
