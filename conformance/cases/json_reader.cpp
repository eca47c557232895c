// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "conformance/cases/json_reader.hpp"

#include <cmath>

#include "conformance/cases/json_number.hpp"
#include "core/support/printable.hpp"

namespace tenon::conformance {

void JsonReader::expected(std::string_view what) const {
  fail(ErrorKind::kInvalid, "[{}] {}: expected {}, got {}", who_,
       path_.empty() ? "the document" : path_, what, shortened_text(json_text(*json_, -1), 60));
}

JsonReader JsonReader::at(const std::string& key) const {
  if (!json_->is_object()) expected("an object");
  const auto found = json_->find(key);
  std::string path = path_.empty() ? key : path_ + "." + key;
  TN_REQUIRE(found != json_->end(), "[{}] {}: expected a value, got none", who_, path);
  return {*found, who_, std::move(path)};
}

std::vector<JsonReader> JsonReader::list() const {
  if (!json_->is_array()) expected("an array");
  std::vector<JsonReader> out;
  for (const Json& one : *json_)
    out.push_back({one, who_, fmt::format("{}[{}]", path_, out.size())});
  return out;
}

std::vector<JsonReader> JsonReader::list(size_t count) const {
  std::vector<JsonReader> out = list();
  if (out.size() != count) expected(fmt::format("an array of {}", count));
  return out;
}

std::vector<std::pair<std::string, JsonReader>> JsonReader::object() const {
  if (!json_->is_object()) expected("an object");
  std::vector<std::pair<std::string, JsonReader>> out;
  for (const auto& [key, value] : json_->items()) out.emplace_back(key, at(key));
  return out;
}

std::string JsonReader::text() const {
  if (!json_->is_string()) expected("a text");
  return json_->get<std::string>();
}

std::vector<std::string> JsonReader::texts() const {
  std::vector<std::string> out;
  for (const JsonReader& one : list()) out.push_back(one.text());
  return out;
}

bool JsonReader::flag() const {
  if (!json_->is_boolean()) expected("true or false");
  return json_->get<bool>();
}

uint64_t JsonReader::whole(uint64_t most) const {
  if (!json_->is_number_unsigned() || json_->get<uint64_t>() > most)
    expected(most == UINT64_MAX          ? "a whole number below 2^64"
             : most == uint64_t{1} << 53 ? "a whole number up to 2^53"
                                         : fmt::format("a whole number up to {}", most));
  return json_->get<uint64_t>();
}

int64_t JsonReader::integer(int64_t least, int64_t most) const {
  const bool is_there = json_->is_number_unsigned() ? json_->get<uint64_t>() <= INT64_MAX
                                                    : json_->is_number_integer();
  if (!is_there || json_->get<int64_t>() < least || json_->get<int64_t>() > most)
    expected(fmt::format("a whole number in [{}, {}]", least, most));
  return json_->get<int64_t>();
}

double JsonReader::number() const {
  if (json_->is_string()) {
    const std::string word = text();
    if (word != "inf" && word != "-inf" && word != "nan") expected("a number, inf, -inf or nan");
    return number_of(*json_);
  }
  if (!json_->is_number()) expected("a number, inf, -inf or nan");
  return json_->get<double>();
}

double JsonReader::finite(double least) const {
  if (!json_->is_number() || !std::isfinite(json_->get<double>()) || json_->get<double>() < least)
    expected(fmt::format("a number of {} or more", least));
  return json_->get<double>();
}

}  // namespace tenon::conformance
