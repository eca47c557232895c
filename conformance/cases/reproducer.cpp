// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Writes and parses reproducer files.
#include "conformance/cases/reproducer.hpp"

#include <algorithm>
#include <sstream>

#include "conformance/cases/abi/programs.hpp"
#include "conformance/cases/generator.hpp"
#include "conformance/cases/graphs/shapes.hpp"
#include "conformance/cases/scalar_list.hpp"
#include "conformance/cases/training.hpp"
#include "core/ir/text/text.hpp"
#include "core/kernel/transforms/transform.hpp"
#include "core/support/error.hpp"
#include "sdk/support/scanner.hpp"

namespace tenon::conformance {
namespace {

constexpr std::string_view kMagic = "# tenon-conformance 1";
constexpr int64_t kMaxElements = 1 << 20;
constexpr std::string_view kAfter = "# after ";

std::string one_line(std::string text) {
  std::ranges::replace(text, '\n', ' ');
  return text;
}

std::string shape_text(const std::vector<int64_t>& shape) {
  return fmt::format("[{}]", fmt::join(shape, ", "));
}

/// Each line of the text as a comment with a key.
std::string commented(std::string_view key, const std::string& text) {
  std::string out;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) out += fmt::format("# {} {}\n", key, line);
  return out;
}

/// Reads the comment lines of one file.
class Header {
 public:
  Header(std::string_view origin, Reproducer& out) : origin_(origin), out_(out) {}

  void line(int number, const std::string& text) {
    number_ = number;
    sdk::Scanner in(text);
    in.accept("#");
    const std::string_view key = in.word();
    Case& test = out_.test;
    if (key == "case") {
      std::tie(test.seed, test.index) = case_of(std::string(in.word()));
      test.cell.op = in.word();
      test.cell.dtype = in.word();
      test.cell.layout = in.rest();
    } else if (key == "mode") {
      test.mode = mode(in.rest());
    } else if (key == "refusal") {
      ends(in);
      test.refusal = true;
    } else if (key == "oracles") {
      test.oracle_seed = whole(in);
    } else if (key == "transform_seed") {
      test.transform_seed = whole(in);
    } else if (key == "transforms") {
      test.transforms.push_back(checked("transforms as in core/kernel/transforms/transform.hpp",
                                        std::string(in.rest()), [](const std::string& t) {
                                          if (t != kNoTransforms) parse_transforms(t);
                                        }));
    } else if (key == "size") {
      const std::string name(in.word());
      if (!is_device_size(name)) expected(fmt::format("a size of a device, got \"{}\"", name));
      test.sizes[name] = whole(in);
    } else if (key == "steps") {
      const uint64_t steps = whole(in);
      if (steps < 1 || steps > kMostSteps) expected(fmt::format("1 to {} steps", kMostSteps));
      if (test.steps) expected(fmt::format("steps once, got {} after {}", steps, test.steps));
      test.steps = static_cast<uint32_t>(steps);
    } else if (key == "sequence") {
      sequence(std::string(in.rest()));
    } else if (key == "apart") {
      ends(in);
      out_.apart = true;
    } else if (key == "symbol") {
      symbol(in);
    } else if (key == "input") {
      input(in);
    } else {
      outcome(key, in);
    }
  }

  /// A line of the history, which begins with a case and has none itself.
  const std::string& history(int number, const std::string& text) {
    number_ = number;
    has_history_ = has_history_ || text.starts_with("case ");
    if (!has_history_ || text.starts_with("after") || text.starts_with("# "))
      expected(
          fmt::format("\"{}case SEED:INDEX ...\" and the other lines of that case, got \"{}\" "
                      "(older versions named cases of their own generator)",
                      kAfter, text));
    return text;
  }

 private:
  [[noreturn]] void expected(const std::string& what) {
    fail(ErrorKind::kInvalid, "[replay] {}:{}: expected {}", origin_, number_, what);
  }

  /// The text if `parse` takes it.
  template <class Parse>
  std::string checked(const char* what, std::string text, const Parse& parse) {
    try {
      parse(text);
    } catch (const Error& error) {
      expected(fmt::format("{} ({})", what, error.what()));
    }
    return text;
  }

  std::pair<uint64_t, uint64_t> case_of(const std::string& name) {
    checked("a case", name, parse_case_name);
    return parse_case_name(name);
  }

  void ends(sdk::Scanner& in) {
    if (!in.at_end()) expected(fmt::format("the end of the line, got \"{}\"", in.rest()));
  }

  uint64_t whole(sdk::Scanner& in) {
    const auto number = sdk::number_of<uint64_t>(in.word());
    if (!number || !in.at_end()) expected("one number");
    return *number;
  }

  void sequence(const std::string& text) {
    abi::Sequence& all = out_.test.sequence ? *out_.test.sequence : out_.test.sequence.emplace();
    checked("one call", text, [&](const std::string& line) { abi::parse_line(line, all); });
  }

  /// What was seen when the file was written; any other comment is for people.
  void outcome(std::string_view key, sdk::Scanner& in) {
    if (key == "status") {
      const std::string name(in.word());
      checked("a status", name, status_from_name);
      out_.outcome.status = status_from_name(name);
      out_.outcome.kind = std::string(in.rest());
    } else if (key == "text") {
      out_.outcome.text = std::string(in.rest());
    } else if (key == "diff") {
      out_.outcome.diff += (out_.outcome.diff.empty() ? "" : "\n") + std::string(in.rest());
    } else if (key == "backend") {
      out_.backend = std::string(in.rest());
    } else if (key == "plugin") {
      out_.plugin = std::string(in.rest());
    }
  }

  ValueMode mode(std::string_view text) {
    for (const ValueMode mode : {ValueMode::kExact, ValueMode::kConditioned, ValueMode::kSpecial})
      if (mode_name(mode) == text) return mode;
    expected("mode exact, conditioned or special");
  }

  void symbol(sdk::Scanner& in) {
    const std::string name(in.word());
    int64_t value = 0;
    if (name.empty() || in.word() != "=" || in.number(value) != std::errc())
      expected("symbol NAME = VALUE");
    ends(in);
    if (!out_.test.symbols.emplace(name, value).second)
      expected(fmt::format("a symbol once, got {} again", name));
  }

  void input(sdk::Scanner& in) {
    in.word();  // its name, which the graph has too
    const auto dtype = dtype_from_name(in.word());
    if (!dtype || *dtype == DType::kVoid) expected("input NAME DTYPE [SHAPE] = VALUES");
    Array array = Array::zeros(*dtype, shape(in));
    if (!in.accept("=") && !in.at_end()) ends(in);
    int64_t i = 0;
    while (!in.at_end()) {
      const std::string_view word = in.word();
      const size_t star = std::min(word.find('*'), word.size());
      const auto value = read_scalar(word.substr(0, star), *dtype);
      const std::optional<int64_t> times = star == word.size()
                                               ? std::optional<int64_t>(1)
                                               : sdk::number_of<int64_t>(word.substr(star + 1));
      if (!value || !times || *times < 1) expected("values of the input's dtype, or VALUE*TIMES");
      if (*times > array.count() - i) expected("as many values as the shape says, got more");
      for (const int64_t end = i + *times; i < end; ++i) array.set(i, *value);
    }
    if (i != array.count()) expected("as many values as the shape says, got fewer");
    out_.test.inputs.push_back(std::move(array));
  }

  std::vector<int64_t> shape(sdk::Scanner& in) {
    std::vector<int64_t> sizes;
    int64_t size = 0, count = 1;
    if (!in.accept("[")) expected("a shape in brackets");
    if (in.accept("]")) return sizes;
    do {
      if (in.number(size) != std::errc()) expected("a shape in brackets");
      if (size < 0 || size > kMaxElements || (count *= std::max<int64_t>(size, 1)) > kMaxElements)
        expected("a shape of at most 2^20 elements");
      sizes.push_back(size);
    } while (in.accept(","));
    if (!in.accept("]")) expected("a comma or a bracket in the shape");
    return sizes;
  }

  std::string_view origin_;
  Reproducer& out_;
  int number_ = 0;
  bool has_history_ = false;
};

/// A file from outside may not make the reference allocate without end.
void check_sizes(const Case& test, std::string_view origin) {
  for (const NodeRef& node : topological(test.graph.outputs)) {
    double count = 1;
    for (const int64_t size : graphs::concrete(node->shape, test.symbols))
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
    const auto shape = graphs::concrete(params[i]->shape, test.symbols);
    TN_REQUIRE(params[i]->dtype == test.inputs[i].dtype && shape == test.inputs[i].shape,
               "[replay] {}: expected input {} as {}{}, got {}{}", origin, i,
               dtype_name(params[i]->dtype), shape_text(shape), dtype_name(test.inputs[i].dtype),
               shape_text(test.inputs[i].shape));
  }
}

/// Of steps, outputs have to fit the inputs that they become, and be there.
void check_steps(const Case& test, std::string_view origin) {
  if (test.steps == 0) return;
  TN_REQUIRE(!test.refusal && !test.transform_seed && test.transforms.empty() && test.sizes.empty(),
             "[replay] {}: expected steps without a refusal and without transforms", origin);
  const auto& [params, outputs] = std::tie(test.graph.params, test.graph.outputs);
  TN_REQUIRE(!outputs.empty() && outputs.size() <= params.size() + 1,
             "[replay] {}: expected a step to give a loss and at most {} states, got {} outputs",
             origin, params.size(), outputs.size());
  TN_REQUIRE(outputs[0]->dtype == DType::kF32 && outputs[0]->shape.empty(),
             "[replay] {}: expected a step's loss as f32[], got {}", origin,
             type_string(*outputs[0]));
  for (size_t i = 0; i + 1 < outputs.size(); ++i)
    TN_REQUIRE(type_string(*outputs[i + 1]) == type_string(*params[i]),
               "[replay] {}: expected output {} of a step as {}, its next input, got {}", origin,
               i + 1, type_string(*params[i]), type_string(*outputs[i + 1]));
}

/// What a case is called and how it is run.
std::string head_text(const Case& test) {
  std::string out =
      fmt::format("# case {} {} {} {}\n# mode {}\n", case_name(test.seed, test.index), test.cell.op,
                  test.cell.dtype, test.cell.layout, mode_name(test.mode));
  if (test.refusal) out += "# refusal\n";
  if (test.oracle_seed) out += fmt::format("# oracles {}\n", test.oracle_seed);
  if (test.steps) out += fmt::format("# steps {}\n", test.steps);
  if (test.transform_seed) out += fmt::format("# transform_seed {}\n", *test.transform_seed);
  for (const auto& [name, value] : test.sizes) out += fmt::format("# size {} {}\n", name, value);
  for (const std::string& list : test.transforms) out += fmt::format("# transforms {}\n", list);
  return out;
}

/// Each value after a space; a longer run of one as "0*4096".
std::string values_text(const Array& array) {
  constexpr int64_t kLeastRun = 4;
  std::string out;
  for (int64_t i = 0, end = 0; i < array.count(); i = end) {
    const Scalar value = array.at(i);
    for (end = i; end < array.count() && array.at(end) == value;) ++end;
    const std::string text = " " + write_scalar(value);
    if (end - i >= kLeastRun)
      out += fmt::format("{}*{}", text, end - i);
    else
      for (; i < end; ++i) out += text;
  }
  return out;
}

/// What it does: inputs and graph, or calls.
std::string body_text(const Case& test) {
  std::string out;
  if (test.sequence) {
    const std::string calls = commented("sequence", abi::print(*test.sequence));
    return calls.empty() ? "# sequence\n" : calls;
  }
  for (const auto& [name, value] : test.symbols)
    out += fmt::format("# symbol {} = {}\n", name, value);
  for (size_t i = 0; i < test.inputs.size(); ++i) {
    const Array& array = test.inputs[i];
    out += fmt::format("# input {} {} {} =", test.graph.params[i]->as<ParamAttr>().name,
                       dtype_name(array.dtype), shape_text(array.shape));
    out += values_text(array) + '\n';
  }
  return out + print(test.graph);
}

/// A case of the history: as commented() lines, of which those above the graph lose their "# ".
std::string history_text(const Case& test) {
  std::string out;
  std::istringstream in(head_text(test) + body_text(test));
  for (std::string line; std::getline(in, line);)
    out += fmt::format("{}{}\n", kAfter, line.starts_with("# ") ? line.substr(2) : line);
  return out;
}

/// Makes texts of their own of the lines of history_text. Each line keeps its number in the file.
class Histories {
 public:
  void line(int number, std::string_view text) {
    if (text.starts_with("case ")) {
      texts_.emplace_back(kMagic);
      last_ = 1;
      in_graph_ = false;
    }
    in_graph_ = in_graph_ || text.starts_with("graph ");
    texts_.back() += std::string(static_cast<size_t>(number - last_), '\n');
    texts_.back() += (in_graph_ ? "" : "# ") + std::string(text);
    last_ = number;
  }
  const std::vector<std::string>& texts() const { return texts_; }

 private:
  std::vector<std::string> texts_;
  int last_ = 1;
  bool in_graph_ = false;
};

}  // namespace

std::string write_reproducer(const Reproducer& r) {
  std::string out = fmt::format("{}\n{}", kMagic, head_text(r.test));
  out += fmt::format("# status {} {}\n# text {}\n", status_name(r.outcome.status), r.outcome.kind,
                     one_line(r.outcome.text));
  out += commented("diff", r.outcome.diff);
  out += fmt::format("# backend {}\n", one_line(r.backend));
  if (!r.plugin.empty()) out += fmt::format("# plugin {}\n", one_line(r.plugin));
  if (r.apart) out += "# apart\n";
  for (const Case& test : r.after) out += history_text(test);
  return out + body_text(r.test);
}

namespace {

/// Throws kInvalid for a text that is none.
void check_program(const abi::SequenceStep& step, std::string_view origin) {
  try {
    abi::program_of(step);
  } catch (const Error& error) {
    fail(ErrorKind::kInvalid, "[replay] {}: {}", origin, error.what());
  }
}

}  // namespace

Reproducer parse_reproducer(std::string_view text, Builder& builder, std::string_view origin) {
  TN_REQUIRE(text.substr(0, text.find('\n')) == kMagic,
             "[replay] {}:1: expected \"{}\" as the first line", origin, kMagic);
  Reproducer out;
  Header header(origin, out);
  Histories histories;
  std::istringstream in{std::string(text)};
  std::string line, graph_line;
  int graph_at = 0;  // the first line that is no comment
  for (int number = 1; std::getline(in, line); ++number) {
    if (number == 1) continue;
    if (line.starts_with(kAfter))
      histories.line(number, header.history(number, line.substr(kAfter.size())));
    else if (line.starts_with("# "))
      header.line(number, line);
    else if (graph_at == 0 && !line.starts_with('#') &&
             line.find_first_not_of(" \t\r") != line.npos)
      std::tie(graph_at, graph_line) = std::tie(number, line);
  }
  TN_REQUIRE(graph_at == 0 || !out.test.sequence,
             "[replay] {}:{}: expected comments alone beside a sequence, got \"{}\"", origin,
             graph_at, graph_line);
  for (const std::string& earlier : histories.texts())
    out.after.push_back(parse_reproducer(earlier, builder, origin).test);
  if (out.test.sequence) {
    for (const abi::SequenceStep& step : out.test.sequence->steps)
      if (abi::is_program(step)) check_program(step, origin);
    return out;
  }
  out.test.graph = parse_graph(text, builder, origin);
  check_inputs(out.test, origin);
  check_steps(out.test, origin);
  check_sizes(out.test, origin);
  return out;
}

}  // namespace tenon::conformance
