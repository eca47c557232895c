// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Writes and parses reproducer files.
#include "conformance/cases/reproducer.hpp"

#include <algorithm>
#include <sstream>

#include "conformance/cases/generator.hpp"
#include "conformance/cases/scalar_list.hpp"
#include "conformance/cases/shapes.hpp"
#include "core/ir/text.hpp"
#include "core/support/error.hpp"

namespace tenon::conformance {
namespace {

constexpr std::string_view kMagic = "# tenon-conformance 1";
constexpr int64_t kMaxElements = 1 << 20;

std::string one_line(std::string text) {
  std::ranges::replace(text, '\n', ' ');
  return text;
}

std::string shape_text(const std::vector<int64_t>& shape) {
  return fmt::format("[{}]", fmt::join(shape, ", "));
}

/// Reads the comment lines of one file.
class Header {
 public:
  Header(std::string_view origin, Reproducer& out) : origin_(origin), out_(out) {}

  void line(int number, const std::string& text) {
    number_ = number;
    std::istringstream in(text);
    std::string mark, key;
    in >> mark >> key;
    if (key == "case") {
      std::string name;
      in >> name >> out_.test.cell.op >> out_.test.cell.dtype;
      std::tie(out_.test.seed, out_.test.index) = parse_case_name(name);
      out_.test.cell.layout = rest(in);
    } else if (key == "mode") {
      out_.test.mode = mode(rest(in));
    } else if (key == "refusal") {
      out_.test.refusal = true;
    } else if (key == "status") {
      std::string name;
      in >> name;
      out_.outcome.status = status_from_name(name);
      out_.outcome.kind = rest(in);
    } else if (key == "text") {
      out_.outcome.text = rest(in);
    } else if (key == "backend") {
      out_.backend = rest(in);
    } else if (key == "after") {
      out_.after.push_back(parse_case_name(rest(in)));
    } else if (key == "symbol") {
      symbol(in);
    } else if (key == "input") {
      input(in);
    }  // any other comment is for people
  }

 private:
  [[noreturn]] void expected(const char* what) {
    fail(ErrorKind::kInvalid, "[replay] {}:{}: expected {}", origin_, number_, what);
  }

  static std::string rest(std::istringstream& in) {
    std::string text;
    std::getline(in >> std::ws, text);
    return text;
  }

  ValueMode mode(const std::string& text) {
    for (const ValueMode mode : {ValueMode::kExact, ValueMode::kConditioned, ValueMode::kSpecial})
      if (mode_name(mode) == text) return mode;
    expected("mode exact, conditioned or special");
  }

  void symbol(std::istringstream& in) {
    std::string name, equals;
    int64_t value = 0;
    if (!(in >> name >> equals >> value) || equals != "=") expected("symbol NAME = VALUE");
    out_.test.symbols[name] = value;
  }

  void input(std::istringstream& in) {
    std::string name, dtype_text, shape;
    in >> name >> dtype_text;
    const auto dtype = dtype_from_name(dtype_text);
    if (!dtype || *dtype == DType::kVoid) expected("input NAME DTYPE [SHAPE] = VALUES");
    std::getline(in >> std::ws, shape, '=');
    const std::vector<int64_t> sizes = parse_shape(shape);
    Array array = Array::zeros(*dtype, sizes);
    std::string word;
    int64_t i = 0;
    for (; in >> word; ++i) {
      const auto value = read_scalar(word, *dtype);
      if (!value) expected("values of the input's dtype");
      if (i == array.count()) expected("as many values as the shape says, got more");
      array.set(i, *value);
    }
    if (i != array.count()) expected("as many values as the shape says, got fewer");
    out_.test.inputs.push_back(std::move(array));
  }

  std::vector<int64_t> parse_shape(const std::string& text) {
    std::istringstream in(text);
    std::vector<int64_t> sizes;
    char mark = 0;
    int64_t size = 0, count = 1;
    if (!(in >> mark) || mark != '[') expected("a shape in brackets");
    while (in >> size) {
      if (size < 0 || size > kMaxElements || (count *= std::max<int64_t>(size, 1)) > kMaxElements)
        expected("a shape of at most 2^20 elements");
      sizes.push_back(size);
      if (in >> mark && mark == ']') return sizes;
      if (mark != ',') expected("a comma or a bracket in the shape");
    }
    in.clear();
    if (!(in >> mark) || mark != ']' || !sizes.empty()) expected("a shape in brackets");
    return sizes;
  }

  std::string_view origin_;
  Reproducer& out_;
  int number_ = 0;
};

/// A file from outside may not make the reference allocate without end.
void check_sizes(const Case& test, std::string_view origin) {
  for (const NodeRef& node : topological(test.graph.outputs)) {
    double count = 1;
    for (const int64_t size : concrete(node->shape, test.symbols))
      count *= static_cast<double>(size);
    TN_REQUIRE(count <= 16.0 * kMaxElements,
               "[replay] {}: expected tensors of at most 2^24 elements, got {}", origin,
               to_string(node->shape));
  }
}

void check_inputs(const Case& test, std::string_view origin) {
  const auto& params = test.graph.params;
  for (const Expr& symbol : test.graph.symbols) {
    const auto value = test.symbols.find(symbol.name());
    TN_REQUIRE(value != test.symbols.end() && value->second >= symbol.min() &&
                   value->second <= symbol.max(),
               "[replay] {}: expected \"# symbol {} = VALUE\" inside its bounds", origin,
               symbol.name());
  }
  TN_REQUIRE(params.size() == test.inputs.size(), "[replay] {}: expected {} inputs, got {}", origin,
             params.size(), test.inputs.size());
  for (size_t i = 0; i < params.size(); ++i) {
    const auto shape = concrete(params[i]->shape, test.symbols);
    TN_REQUIRE(params[i]->dtype == test.inputs[i].dtype && shape == test.inputs[i].shape,
               "[replay] {}: expected input {} as {}{}, got {}{}", origin, i,
               dtype_name(params[i]->dtype), shape_text(shape), dtype_name(test.inputs[i].dtype),
               shape_text(test.inputs[i].shape));
  }
}

}  // namespace

std::string write_reproducer(const Reproducer& r) {
  const Case& test = r.test;
  std::string out(kMagic);
  out += fmt::format("\n# case {} {} {} {}\n# mode {}\n", case_name(test.seed, test.index),
                     test.cell.op, test.cell.dtype, test.cell.layout, mode_name(test.mode));
  if (test.refusal) out += "# refusal\n";
  out += fmt::format("# status {} {}\n# text {}\n# backend {}\n", status_name(r.outcome.status),
                     r.outcome.kind, one_line(r.outcome.text), one_line(r.backend));
  for (const auto& [seed, index] : r.after)
    out += fmt::format("# after {}\n", case_name(seed, index));
  for (const auto& [name, value] : test.symbols)
    out += fmt::format("# symbol {} = {}\n", name, value);
  for (size_t i = 0; i < test.inputs.size(); ++i) {
    const Array& array = test.inputs[i];
    out += fmt::format("# input {} {} {} =", test.graph.params[i]->as<ParamAttr>().name,
                       dtype_name(array.dtype), shape_text(array.shape));
    for (int64_t k = 0; k < array.count(); ++k) out += " " + write_scalar(array.at(k));
    out += '\n';
  }
  return out + print(test.graph);
}

Reproducer parse_reproducer(std::string_view text, Builder& builder, std::string_view origin) {
  TN_REQUIRE(text.substr(0, text.find('\n')) == kMagic,
             "[replay] {}:1: expected \"{}\" as the first line", origin, kMagic);
  Reproducer out;
  Header header(origin, out);
  std::istringstream in{std::string(text)};
  std::string line;
  for (int number = 1; std::getline(in, line); ++number)
    if (number > 1 && line.starts_with("# ")) header.line(number, line);
  out.test.graph = parse_graph(text, builder, origin);
  check_inputs(out.test, origin);
  check_sizes(out.test, origin);
  return out;
}

}  // namespace tenon::conformance
