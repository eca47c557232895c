// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Every public function with sizes that are symbols, an axis at a time and all together: the values
// and gradients of numbers, by one trace, or a refusal that names the function and the size.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <optional>
#include <regex>
#include <set>

#include "core/support/error.hpp"
#include "frontend/tensor/state.hpp"
#include "tenon/nn/nn.hpp"
#include "tests/docs/check_table.hpp"
#include "tests/sizes/case.hpp"
#include "tests/tensor/devices.hpp"

#include <catch2/catch_test_macros.hpp>

namespace tenon::test {
namespace {

constexpr int64_t kMostOfSize = 40;

/// Numbers for letters.
using Numbers = std::map<char, int64_t>;

std::string shape_of(const std::string& input) { return input.substr(0, input.find(':')); }

DType dtype_of(const std::string& input) {
  const size_t colon = input.find(':');
  if (colon == std::string::npos) return DType::kF32;
  return input.substr(colon + 1) == "bool" ? DType::kBool : DType::kI64;
}

/// In the order in which they occur.
std::string letters_of(const SizeCase& one) {
  std::string letters;
  for (const std::string& input : one.inputs)
    for (const char c : shape_of(input))
      if (std::isalpha(c) && letters.find(c) == std::string::npos) letters += c;
  return letters;
}

/// "fft" of "fft", "nn.conv" of "nn.conv, 2d".
std::string function_of(const SizeCase& one) {
  return one.name.substr(0, one.name.find_first_of(", "));
}

int64_t least_of(const SizeCase& one, char letter) {
  const auto found = one.least.find(letter);
  return found == one.least.end() ? 1 : found->second;
}

/// Sizes that differ, so that none stands for another.
Numbers usual_sizes(const SizeCase& one) {
  Numbers sizes;
  int64_t next = 2;
  for (const char letter : letters_of(one)) {
    next = std::max(next + 1, least_of(one, letter));
    sizes[letter] = next;
  }
  return sizes;
}

Tensors inputs_of(const SizeCase& one, const Numbers& sizes, Context& context) {
  Tensors inputs;
  for (const std::string& input : one.inputs) {
    std::vector<int64_t> shape;
    for (const char c : shape_of(input)) shape.push_back(std::isalpha(c) ? sizes.at(c) : c - '0');
    Array array = Array::zeros(dtype_of(input), shape);
    const auto seed = static_cast<int64_t>(inputs.size());
    for (int64_t i = 0; i < array.count(); ++i) {
      const int64_t step = (i + 3 * seed) * 7 % 11;
      array.set(
          i, array.dtype == DType::kF32
                 ? Scalar::of(DType::kF32, static_cast<double>(step) / 4 - 1.1 +
                                               static_cast<double>(i % 29) / 64)
                 : Scalar::of_int(array.dtype, array.dtype == DType::kBool ? step % 2 : step % 3));
    }
    inputs.push_back(tensor(array, context));
  }
  return inputs;
}

Tensors with_symbols(const SizeCase& one, Tensors inputs, const std::string& letters) {
  for (size_t i = 0; i < inputs.size(); ++i) {
    const std::string shape = shape_of(one.inputs[i]);
    for (size_t axis = 0; axis < shape.size(); ++axis)
      if (letters.find(shape[axis]) != std::string::npos)
        inputs[i] = inputs[i].with_size(static_cast<int>(axis),
                                        Size::symbol(std::string("size_") + shape[axis],
                                                     least_of(one, shape[axis]), kMostOfSize));
  }
  return inputs;
}

/// The gradients of a weighted sum of the results of floats.
Tensors gradients_of(const SizeCase& one, const Tensors& inputs) {
  Tensors wrt;
  for (const Tensor& x : inputs)
    if (is_float(x.dtype())) wrt.push_back(x);
  const auto loss = [&](const Tensors& given) {
    Tensors all = inputs;
    auto next = given.begin();
    for (Tensor& x : all)
      if (is_float(x.dtype())) x = *next++;
    Tensor sum = zeros({}, DType::kF32, all[0].context());
    for (const Tensor& y : one.call(all))
      if (is_float(y.dtype())) sum = sum + (y * (y * 0.3 + 1)).sum();
    for (const Tensor& x : given) sum = sum + x.sum();  // no input is without any gradient
    return sum;
  };
  return value_and_grad(loss)(wrt).gradients;
}

bool has_gradient(const SizeCase& one) {
  return one.has_gradient && std::ranges::any_of(one.inputs, [](const std::string& input) {
           return dtype_of(input) == DType::kF32;
         });
}

std::string difference(const std::vector<Array>& got, const std::vector<Array>& want) {
  for (size_t i = 0; i < want.size(); ++i) {
    if (got[i].shape != want[i].shape || got[i].dtype != want[i].dtype)
      return fmt::format("result {} has another shape or dtype", i);
    for (int64_t k = 0; k < want[i].count(); ++k) {
      const double a = got[i].at(k).as_double(), b = want[i].at(k).as_double();
      const bool same = a == b || (std::isnan(a) && std::isnan(b)) ||
                        std::abs(a - b) <= 1e-3 * std::max(1.0, std::abs(b));
      if (!same) return fmt::format("result {}, element {}: got {}, expected {}", i, k, a, b);
    }
  }
  return "";
}

/// What came of a call with symbols: nothing to say, or a refusal, or another result.
struct Outcome {
  std::string refused, wrong;
};

std::vector<Array> arrays_of(const Tensors& tensors) {
  std::vector<Array> arrays;
  for (const Tensor& x : tensors) arrays.push_back(x.to_array());
  return arrays;
}

/// A compiled function, called with sizes of some letters one after another; the others stay.
Outcome tried(const SizeCase& one, const std::string& letters, Context& context,
              const std::vector<int64_t>& tries,
              const std::function<Tensors(const Tensors&)>& call) {
  const auto compiled = compile([&](const Tensors& x) { return call(x); }, {.name = "sizes"});
  for (const int64_t size : tries) {
    Numbers sizes = usual_sizes(one);
    int64_t more = 0;  // sizes that differ, but for 1
    for (const char letter : letters)
      sizes[letter] = std::max(least_of(one, letter), size + (size == 5 ? more++ : 0));
    const Tensors inputs = inputs_of(one, sizes, context);
    const Tensors symbolic = with_symbols(one, inputs, letters);
    const std::vector<Array> want = arrays_of(call(inputs));
    try {
      const std::vector<Array> got = arrays_of(one.is_traced ? compiled(symbolic) : call(symbolic));
      const std::string wrong = difference(got, want);
      if (!wrong.empty()) return {"", fmt::format("size {}: {}", size, wrong)};
    } catch (const Error& error) {
      return {error.what(), ""};
    }
  }
  if (one.is_traced && compiled.traces() != 1)
    return {"", fmt::format("{} traces", compiled.traces())};
  return {};
}

std::vector<SizeCase> all_size_cases() {
  std::vector<SizeCase> all;
  for (const auto& cases :
       {element_size_cases(), tensor_size_cases(), linalg_size_cases(), nn_size_cases()})
    all.insert(all.end(), cases.begin(), cases.end());
  return all;
}

/// A size that must be a number is refused by its name, and by that of the function.
void check_refused(const SizeCase& one, char letter, Context& context) {
  INFO("size " << letter);
  const Outcome out = tried(one, std::string(1, letter), context, {5}, one.call);
  INFO(out.refused);
  CHECK(out.wrong.empty());
  CHECK(out.refused.starts_with("[" + function_of(one) + "] expected "));
  CHECK(out.refused.find(std::string("size_") + letter) != std::string::npos);
}

void check_sizes(const SizeCase& one, const std::string& letters, Context& context,
                 const std::vector<int64_t>& tries, bool with_gradient) {
  INFO("sizes " << letters);
  const Outcome values = tried(one, letters, context, tries, one.call);
  INFO(values.refused << values.wrong);
  CHECK((values.refused + values.wrong).empty());
  if (!with_gradient || !has_gradient(one)) return;
  const Outcome gradients = tried(one, letters, context, {5, 1},
                                  [&](const Tensors& inputs) { return gradients_of(one, inputs); });
  INFO("gradient: " << gradients.refused << gradients.wrong);
  CHECK((gradients.refused + gradients.wrong).empty());
}

/// "f32[n, 3]"
std::string type_text(const std::string& input) {
  std::string text = std::string(dtype_name(dtype_of(input))) + "[";
  for (const char c : shape_of(input)) text += (text.back() == '[' ? "" : ", ") + std::string(1, c);
  return text + "]";
}

/// What docs/tensor.md says of all cases.
std::string sizes_text(const std::vector<SizeCase>& cases) {
  std::set<std::string> functions;
  std::string rows;
  for (const SizeCase& one : cases) {
    functions.insert(function_of(one));
    std::string types;
    for (const std::string& input : one.inputs)
      types += (types.empty() ? "" : ", ") + type_text(input);
    for (const auto& [letter, why] : one.numbers)
      rows += fmt::format("| `{}` of {} | {} | {} |\n", one.name, types, letter, why);
  }
  return fmt::format(
             "In all {} functions and layers any size may be a symbol, in gradients too, but for "
             "these:\n\n| function | must be a number | as |\n|---|---|---|\n",
             functions.size()) +
         rows;
}

/// Functions and layers of the public headers of a folder, but for those of some files.
std::set<std::string> public_names(const std::string& folder, const std::string& prefix,
                                   const std::set<std::string>& without) {
  const std::regex declaration(R"((?:TENON_API [\w:<>]+ (\w+)\()|(?:^struct TENON_API (\w+)))");
  std::set<std::string> names;
  for (const auto& entry :
       std::filesystem::directory_iterator(std::string(TENON_SOURCE_DIR) + "/" + folder)) {
    if (entry.is_directory() || without.contains(entry.path().stem().string())) continue;
    std::ifstream in(entry.path());
    std::smatch match;
    for (std::string line; std::getline(in, line);)
      if (std::regex_search(line, match, declaration))
        names.insert(prefix + (match[1].matched ? match[1] : match[2]).str());
  }
  return names;
}

}  // namespace

TEST_CASE("sizes that are symbols: every function has a case") {
  std::set<std::string> names = public_names(
      "frontend/tensor/include/tenon", "",
      {"compile", "context", "cost", "dlpack", "finite", "npy", "print", "promote", "size"});
  names.merge(public_names("frontend/nn/include/tenon/nn", "nn.",
                           {"checkpoint", "initialisers", "module", "precision", "summary"}));
#define TENON_FUNCTION(name, parameters, arguments, meaning) names.insert(#name);
#include "tenon/functions.def"
#undef TENON_FUNCTION
  for (const char* none : {"tensor", "from_file", "linspace", "logspace", "fftfreq", "rfftfreq",
                           "realize", "realize_detached", "check_is_function", "nn.check_pool"})
    CHECK(names.erase(none) == 1);
  for (const SizeCase& one : all_size_cases()) names.erase(function_of(one));
  for (const std::string& name : names) {
    INFO(name);
    CHECK(false);
  }
}

TEST_CASE("sizes that are symbols: values and gradients of numbers, or a refusal") {
  on_each_device([](Context& context) {
    const bool is_cpu = context.device().id.starts_with("cpu");
    for (const SizeCase& one : all_size_cases()) {
      INFO(one.name);
      std::string letters = letters_of(one);
      for (const auto& [letter, why] : one.numbers) {
        if (!is_cpu) check_refused(one, letter, context);
        std::erase(letters, letter);
      }
      // What compiles for long takes all at once.
      for (const char letter : letters)
        if (!is_cpu) check_sizes(one, std::string(1, letter), context, {5, 1, one.largest}, true);
      if (letters.size() > 1 || is_cpu) check_sizes(one, letters, context, {5, 1}, false);
    }
  });
}

TEST_CASE("docs/tensor.md lists which sizes must be numbers") {
  check_table("tensor.md", "sizes", sizes_text(all_size_cases()));
}

TEST_CASE("sizes that are symbols: none of an axis") {
  on_each_device([](Context& context) {
    const Size n = Size::symbol("n", 0, 40);
    const Tensor weight = ones({2, 3, 3}, DType::kF32, context);
    const auto f = compile([](const Tensor& x, const Tensor& w) {
      return Tensors{cumsum(x, 0),
                     cummax(x, 2),
                     sort(x, 0),
                     argsort(x, 1),
                     tile(x, {2}),
                     repeat(x, 2, 0),
                     nn::conv(x, w, {2}, {1}, 1),
                     unfold(x, 2, 3),
                     nn::max_pool(x, {2}),
                     roll(x, {1}, {0})};
    });
    for (const int64_t count : {3, 0, 33}) {
      INFO(count);
      const Tensor x = arange(count * 15, DType::kF32, context).cos().reshape({count, 3, 5});
      const std::vector<Array> got = arrays_of(f(x.with_size(0, n), weight));
      CHECK(difference(got, arrays_of(f(x, weight))) == "");
    }
    CHECK(f.traces() == 4);
  });
}

}  // namespace tenon::test
