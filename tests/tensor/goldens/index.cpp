// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Brackets, and elements along an axis, against NumPy.
#include <catch2/catch_test_macros.hpp>
#include <sstream>

#include "tests/tensor/goldens/golden.hpp"

namespace tenon::test {
namespace {

std::optional<int64_t> number(const std::string& text) {
  return text.empty() ? std::nullopt : std::optional<int64_t>(std::stoll(text));
}

/// "1;0:5:2;...;None;t0"
std::vector<Index> index_of(const Call& call) {
  std::vector<Index> index;
  std::istringstream in(call.word("index"));
  for (std::string word; std::getline(in, word, ';');) {
    if (word == "...") {
      index.emplace_back(ellipsis);
    } else if (word == "None") {
      index.emplace_back(new_axis);
    } else if (word[0] == 't') {
      index.emplace_back(call.in.at(std::stoull(word.substr(1)) + 1));
    } else if (word.find(':') != std::string::npos) {
      std::istringstream parts(word);
      std::string begin, end, step;
      std::getline(parts, begin, ':');
      std::getline(parts, end, ':');
      std::getline(parts, step, ':');
      index.emplace_back(Slice{number(begin), number(end), number(step).value_or(1)});
    } else {
      index.emplace_back(std::stoll(word));
    }
  }
  return index;
}

Combine combine_of(const Call& call) {
  const std::string name = call.has("combine") ? call.word("combine") : "replace";
  if (name == "add") return Combine::kAdd;
  if (name == "mul") return Combine::kMul;
  if (name == "max") return Combine::kMax;
  if (name == "min") return Combine::kMin;
  if (name == "mean") return Combine::kMean;
  return Combine::kReplace;
}

const Function kIndex[] = {
    {"get", [](const Call& c) { return Tensors{get(c.in.at(0), index_of(c))}; }},
    {"set",
     [](const Call& c) {
       return Tensors{set(c.in.at(0), index_of(c), c.in.back(), combine_of(c))};
     },
     4, 4},
    {"take_along_axis",
     [](const Call& c) { return Tensors{take_along_axis(c.in.at(0), c.in.at(1), c.axis())}; }},
    {"put_along_axis",
     [](const Call& c) {
       return Tensors{put_along_axis(c.in.at(0), c.in.at(1), c.in.at(2), c.axis(), combine_of(c))};
     },
     4, 4},
};

TEST_CASE("brackets, and elements along an axis") { run_goldens("index", kIndex); }

}  // namespace

std::span<const Function> index_functions() { return kIndex; }

}  // namespace tenon::test
