// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <fstream>
#include <sstream>

#include "core/support/error.hpp"
#include "tests/tensor/goldens/golden.hpp"

namespace tenon::test {
namespace {

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, separator);) parts.push_back(part);
  return parts;
}

std::vector<std::string> words(const std::string& text) {
  std::vector<std::string> parts;
  std::istringstream in(text);
  for (std::string part; in >> part;) parts.push_back(part);
  return parts;
}

/// dtype[shape]:hex
Array parse_array(const std::string& text) {
  const size_t open = text.find('['), close = text.find("]:");
  TN_REQUIRE(open != std::string::npos && close != std::string::npos, "[golden] no array: {}",
             text);
  const auto dtype = dtype_from_name(text.substr(0, open));
  TN_REQUIRE(dtype, "[golden] no dtype: {}", text);
  std::vector<int64_t> shape;
  for (const std::string& dim : split(text.substr(open + 1, close - open - 1), ','))
    shape.push_back(std::stoll(dim));
  Array array = Array::zeros(*dtype, shape);
  const size_t digits = 2 * dtype_size(*dtype), begin = close + 2;
  TN_REQUIRE(text.size() - begin == digits * static_cast<size_t>(array.count()),
             "[golden] not {} elements: {}", array.count(), text);
  for (int64_t i = 0; i < array.count(); ++i) {
    const std::string bits = text.substr(begin + static_cast<size_t>(i) * digits, digits);
    array.set(i, Scalar{*dtype, std::stoull(bits, nullptr, 16)});
  }
  return array;
}

}  // namespace

std::vector<Case> read_cases(const std::string& file) {
  const std::string path = std::string(TENON_SOURCE_DIR) + "/tests/" + file + ".txt";
  std::ifstream in(path);
  TN_REQUIRE(in, "[golden] cannot read {}", path);
  std::map<std::string, Array> named;
  std::vector<Case> cases;
  int number = 0;
  for (std::string line; std::getline(in, line);) {
    ++number;
    if (line.empty() || line[0] == '#') continue;
    const auto arrays = [&](const std::string& text) {
      std::vector<Array> found;
      for (const std::string& word : words(text))
        found.push_back(word[0] == '@' ? named.at(word.substr(1)) : parse_array(word));
      return found;
    };
    if (line[0] == '@') {
      const auto parts = words(line);
      named.emplace(parts.at(0).substr(1), parse_array(parts.at(2)));
      continue;
    }
    const auto fields = split(line, '|');
    TN_REQUIRE(fields.size() == 4, "[golden] {}:{}: expected four fields", path, number);
    Case& c = cases.emplace_back();
    c.line = number;
    c.function = words(fields[0]).at(0);
    c.inputs = arrays(fields[1]);
    for (const std::string& word : words(fields[2])) {
      const size_t equals = word.find('=');
      c.attributes[word.substr(0, equals)] = word.substr(equals + 1);
    }
    c.outputs = arrays(fields[3]);
  }
  return cases;
}

const std::string& Call::word(const std::string& key) const {
  const auto found = attributes.find(key);
  TN_REQUIRE(found != attributes.end(), "[golden] expected an attribute {}", key);
  return found->second;
}
std::vector<int64_t> Call::integers(const std::string& key) const {
  std::vector<int64_t> values;
  for (const std::string& value : split(word(key), ',')) values.push_back(std::stoll(value));
  return values;
}
std::vector<int> Call::axes(const std::string& key) const {
  std::vector<int> values;
  if (!has(key)) return values;
  for (const int64_t value : integers(key)) values.push_back(static_cast<int>(value));
  return values;
}
int64_t Call::integer(const std::string& key) const { return std::stoll(word(key)); }
double Call::real(const std::string& key) const { return std::stod(word(key)); }
DType Call::dtype() const { return dtype_from_name(word("dtype")).value(); }

}  // namespace tenon::test
