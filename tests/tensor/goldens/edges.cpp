// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The table of edges: values and gradients of functions at zeros, infinities, NaN, ends of dtypes
// and of domains, in each dtype that the device computes in. edges_cases.py says what is in a line.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <set>
#include <span>
#include <sstream>

#include "core/interval/ops.hpp"
#include "core/support/error.hpp"
#include "frontend/tensor/state.hpp"
#include "tenon/gradient.hpp"
#include "tenon/literal.hpp"
#include "tenon/make.hpp"
#include "tenon/sort.hpp"
#include "tests/tensor/goldens/golden.hpp"

#include <catch2/catch_test_macros.hpp>

namespace tenon::test {
namespace {

constexpr int64_t kRow = 4;  ///< elements of each row of edges_rows.txt

/// Values; nothing where a number is not compared.
using Numbers = std::vector<std::optional<double>>;

Numbers numbers_of(const std::string& text) {
  Numbers numbers;
  std::istringstream in(text);
  for (std::string word; in >> word;) {
    if (word == "-") {
      numbers.emplace_back();
      continue;
    }
    word.append(16 - word.size(), '0');
    numbers.emplace_back(Scalar{DType::kF64, std::stoull(word, nullptr, 16)}.as_double());
  }
  return numbers;
}

struct Line {
  std::string text, name;
  std::map<std::string, std::string> attributes;
  std::vector<std::string> inputs;
  std::vector<Numbers> expected;  ///< of the function, then of its gradients
};

struct Table {
  std::map<std::string, std::vector<double>> points;
  std::vector<Line> lines;
};

Table read_table(const std::string& file) {
  const std::string path = std::string(TENON_SOURCE_DIR) + "/tests/tensor/goldens/" + file + ".txt";
  std::ifstream in(path);
  TN_REQUIRE(in, "[edges] cannot read {}", path);
  Table table;
  for (std::string text; std::getline(in, text);) {
    if (text.empty() || text[0] == '#') continue;
    if (text[0] == '@') {
      const size_t space = text.find(' ');
      for (const std::optional<double>& v : numbers_of(text.substr(space)))
        table.points[text.substr(1, space - 1)].push_back(v.value());
      continue;
    }
    Line& line = table.lines.emplace_back();
    std::istringstream fields(text);
    std::string field;
    std::getline(fields, field, '|');
    line.text = field.substr(0, field.find_last_not_of(' ') + 1);
    std::istringstream words(field);
    words >> line.name;
    for (std::string word; words >> word;)
      line.attributes[word.substr(0, word.find('='))] = word.substr(word.find('=') + 1);
    std::getline(fields, field, '|');
    std::istringstream names(field);
    for (std::string name; names >> name;) line.inputs.push_back(name);
    while (std::getline(fields, field, '|')) line.expected.push_back(numbers_of(field));
  }
  return table;
}

/// Under names of their own what other files call with more tensors.
const Function kOwn[] = {
    {"clip",
     [](const Call& c) { return Tensors{clip(c.in.at(0), c.real("low"), c.real("high"))}; }},
    {"nan_to_num",
     [](const Call& c) {
       return Tensors{nan_to_num(c.in.at(0), c.real("nan"), c.real("posinf"), c.real("neginf"))};
     }},
    {"searchsorted",
     [](const Call& c) {
       const Tensor edges = tensor<float>({-1, 0, 0.5, 1, INFINITY}, c.context);
       return Tensors{searchsorted(edges.astype(c.in.at(0).dtype()), c.in.at(0))};
     }},
    {"where", [](const Call& c) { return Tensors{where(c.in.at(0) > 0, c.in.at(0), c.in.at(1))}; }},
    {"lerp", [](const Call& c) { return Tensors{lerp(c.in.at(0), c.in.at(1), c.real("weight"))}; },
     2, 2},
    {"dot",
     [](const Call& c) {
       const Tensor factors = tensor<float>({1, -2, 0.5, 3}, c.context);
       return Tensors{c.in.at(0).matmul(factors.astype(c.in.at(0).dtype()))};
     },
     4, 4, true, false},
};

/// A number that is not as expected.
struct Difference {
  const Line& line;
  DType dtype;
  std::span<const double> point;  ///< what it was computed from: operands, or a row
  bool gradient;
  double got, want;
};

/// The facts of the dtype that narrow floats are computed in.
reference::FloatFacts inside(const Difference& d) {
  return reference::float_facts(d.dtype == DType::kF64 ? d.dtype : DType::kF32);
}
double least(DType dtype) {  ///< subnormal number
  return std::ldexp(reference::float_facts(dtype).min_normal(),
                    1 - reference::float_facts(dtype).precision);
}
double largest(std::span<const double> row) {
  double found = 0;
  for (const double x : row) found = std::max(found, std::abs(x));
  return found;
}
/// Of products: those of all factors above 1, or below, leave the dtype.
bool product_leaves(const Difference& d) {
  double large = 0, small = 0;
  for (const double x : d.point) {
    if (std::abs(x) > 1) large += std::log2(std::abs(x));
    if (x != 0 && std::abs(x) < 1) small += std::log2(std::abs(x));
  }
  return large >= std::log2(inside(d).max) || small <= std::log2(inside(d).min_normal());
}
bool squares_leave(const Difference& d) {
  const double most = largest(d.point), least_square = std::sqrt(inside(d).min_normal());
  return most > std::sqrt(inside(d).max) / 4 || (most < 4 * least_square && most > 0);
}

/// What differs, and why that is right.
struct Expectation {
  std::vector<std::string> functions;
  const char* reason;
  bool (*holds)(const Difference& d);
};

const std::vector<Expectation>& expectations() {
  static const std::vector<Expectation> all = {
      {{"tanh", "sigmoid"},
       "slopes are made of the value, as in JAX and PyTorch: exact to roundings of 1, not of "
       "themselves",
       [](const Difference& d) {
         return d.gradient &&
                std::abs(d.got - d.want) <=
                    2 * reference::ulp(1, inside(d).precision > 24 ? DType::kF64 : DType::kF32);
       }},
      {{"silu", "mish", "gelu", "gelu_exact"},
       "x times a share that is subnormal has the few bits of that",
       [](const Difference& d) {
         return std::abs(d.got - d.want) <=
                2 * std::abs(d.point[0]) * least(d.dtype == DType::kF64 ? d.dtype : DType::kF32);
       }},
      {{"sort", "median", "quantile", "topk"},
       "equal zeros may change places",
       [](const Difference& d) { return d.got == 0 && d.want == 0; }},
      {{"sum", "mean", "cumsum", "var", "stddev", "layer_norm", "dot", "lerp"},
       "a partial sum, or a difference, is beyond the dtype, as in NumPy",
       [](const Difference& d) {
         double total = 0;
         for (const double x : d.point) total += std::abs(x) / 2;
         return total >= inside(d).max / 2;
       }},
      {{"lerp"},
       "its ends cancel",
       [](const Difference& d) {
         return std::abs(d.got - d.want) <= 2 * reference::ulp(largest(d.point), d.dtype);
       }},
      {{"prod", "cumprod"}, "a partial product is beyond the dtype", product_leaves},
      {{"var", "stddev", "layer_norm"},
       "squares of the distances from the mean are beyond the dtype, as in NumPy",
       squares_leave},
      {{"layer_norm"},
       "terms as large as the inverse of the deviation cancel",
       [](const Difference& d) {
         double mean = 0, squares = 0;
         for (const double x : d.point) mean += x / kRow;
         for (const double x : d.point) squares += (x - mean) * (x - mean) / kRow;
         const double most = kRow / std::sqrt(squares + 1e-5);
         return d.gradient && std::abs(d.got - d.want) <= 16 * reference::ulp(most, d.dtype);
       }},
      {{"norm"},
       "slopes are made of the norm, which is Inf or has the few bits of a subnormal number",
       [](const Difference& d) {
         const double most = largest(d.point);
         return d.gradient && (most >= inside(d).max / 16 || most < 16 * inside(d).min_normal());
       }},
  };
  return all;
}

/// Of gradients at least so many ULPs: their formulas subtract and multiply.
constexpr double kGradientUlps = 64;

struct Device {
  Context& context;
  bool relaxed;  ///< subnormal numbers may be 0, and zeros have any sign
};

bool is_subnormal_of(DType dtype, double x) {
  return x != 0 && std::abs(x) < reference::float_facts(dtype).min_normal();
}

/// Empty if the number is as expected, rounded to the dtype.
std::string wrong(double got, double exact, DType dtype, double ulps, bool signed_zero,
                  const Device& device) {
  const double want = cast(Scalar::of(DType::kF64, exact), dtype).as_double();
  const std::string text = fmt::format("got {}, expected {}", got, want);
  if (std::isnan(want) || std::isnan(got)) return std::isnan(want) == std::isnan(got) ? "" : text;
  if (want == 0 && got == 0) {
    const bool same = std::signbit(want) == std::signbit(got);
    return same || !signed_zero || device.relaxed ? "" : text;
  }
  const auto facts = reference::float_facts(dtype);
  if (device.relaxed && std::abs(want) < facts.min_normal() && std::abs(got) <= facts.min_normal())
    return "";
  if (std::isinf(want) || std::isinf(got)) {
    // Beside the end of the dtype a rounding decides.
    const double most = facts.max, end = most - ulps * reference::ulp(most, dtype);
    const bool near = ulps > 0 && std::abs(got) >= end && std::abs(want) >= end;
    return got == want || (near && (got < 0) == (want < 0)) ? "" : text;
  }
  return std::abs(got - want) <= ulps * reference::ulp(want, dtype) ? "" : text;
}

class Run {
 public:
  Run(const std::string& file, const Device& device)
      : table_(read_table(file)), device_(device), by_name_(functions_by_name()) {
    for (const Function& function : kOwn) by_name_[function.name] = &function;
  }

  /// Of a dtype: every n-th line.
  void check(DType dtype, int every) {
    for (size_t i = 0; i < table_.lines.size(); ++i) {
      if (i % static_cast<size_t>(every) != 0) continue;
      check(table_.lines[i], dtype);
    }
  }
  const std::set<std::string>& functions() const { return functions_; }
  int64_t compared() const { return compared_; }
  const std::map<std::string, int64_t>& explained() const { return explained_; }

 private:
  /// Positions of the points, or rows, that the dtype has.
  std::vector<size_t> held(const Line& line, DType dtype, size_t group) const {
    std::vector<size_t> places;
    const size_t count = table_.points.at(line.inputs[0]).size() / group;
    for (size_t i = 0; i < count; ++i) {
      bool all = true;
      for (const std::string& name : line.inputs) {
        for (size_t k = i * group; k < (i + 1) * group; ++k) {
          const double x = table_.points.at(name)[k];
          const double narrow = cast(Scalar::of(DType::kF64, x), dtype).as_double();
          all = all && (narrow == x || (std::isnan(narrow) && std::isnan(x))) &&
                !(device_.relaxed && is_subnormal_of(dtype, x));
        }
      }
      if (all) places.push_back(i);
    }
    return places;
  }

  void check(const Line& line, DType dtype) {
    INFO(line.text << " of " << dtype_name(dtype) << " on " << device_.context.device().id);
    REQUIRE(by_name_.contains(line.name));
    const Function& function = *by_name_.at(line.name);
    functions_.insert(line.name);
    const bool by_rows = line.inputs[0] == "rows";
    const size_t group = by_rows ? kRow : 1;
    const std::vector<size_t> places = held(line, dtype, group);
    std::vector<Tensor> inputs;
    std::vector<std::vector<double>> points;
    const auto n = static_cast<int64_t>(places.size());
    for (const std::string& name : line.inputs) {
      Array array = Array::zeros(dtype, by_rows ? std::vector{n, kRow} : std::vector{n});
      std::vector<double>& own = points.emplace_back();
      for (const size_t place : places)
        for (size_t k = place * group; k < (place + 1) * group; ++k) {
          own.push_back(table_.points.at(name)[k]);
          array.set(static_cast<int64_t>(own.size()) - 1, Scalar::of(dtype, own.back()));
        }
      inputs.push_back(tensor(array, device_.context));
    }
    const auto run = [&](const std::vector<Tensor>& in) {
      Call call{device_.context, in, line.attributes};
      return std::vector<Tensor>{function.run(call).at(0)};
    };
    std::vector<Tensor> results = run(inputs);
    if (line.expected.size() > 1) {
      // Rows' results have the weights 1, 2, .., which tell their elements apart.
      Array seed = Array::zeros(results[0].dtype(), results[0].shape());
      const int64_t row = by_rows && results[0].rank() == 2 ? seed.shape.back() : 1;
      for (int64_t i = 0; i < seed.count(); ++i)
        seed.set(i, Scalar::of(seed.dtype, static_cast<double>(i % row + 1)));
      for (const Tensor& g : vjp(run, inputs, {tensor(seed, device_.context)}).products)
        results.push_back(g);
    }
    realize(results);
    REQUIRE(results.size() >= line.expected.size());
    std::string differences;
    for (size_t part = 0; part < line.expected.size(); ++part) {
      const std::vector<double> got = doubles(results[part]);
      const size_t own = got.size() / std::max<size_t>(places.size(), 1);
      for (size_t i = 0; i < got.size(); ++i) {
        const size_t place = places[i / own] * own + i % own;
        const std::optional<double>& want = line.expected[part].at(place);
        if (!want) continue;
        ++compared_;
        if (part == 0 && near_largest(function, dtype, got[i], line.expected[part], place, own))
          continue;
        compare(line, function, dtype, part > 0, i / own, points, got[i], *want, differences);
      }
    }
    CHECK(differences == "");
  }

  static double ulps_of(const Function& function, DType dtype) {
    if (dtype == DType::kF64) return function.f64;
    return dtype == DType::kF32 ? function.f32 : std::min(function.f32, 1.0);
  }

  /// Of functions whose error is that of the largest number of a row.
  static bool near_largest(const Function& function, DType dtype, double got, const Numbers& wanted,
                           size_t place, size_t row) {
    if (!function.of_largest) return false;
    double most = 0;
    for (size_t k = place / row * row; k < (place / row + 1) * row; ++k)
      if (wanted[k] && std::isfinite(*wanted[k])) most = std::max(most, std::abs(*wanted[k]));
    return std::abs(got - wanted[place].value()) <=
           ulps_of(function, dtype) * reference::ulp(most, dtype);
  }

  static std::vector<double> doubles(const Tensor& x) {
    const Array array = x.to_array();
    std::vector<double> values;
    for (int64_t i = 0; i < array.count(); ++i)
      values.push_back(is_float(array.dtype) ? array.at(i).as_double()
                                             : static_cast<double>(array.at(i).as_int()));
    return values;
  }

  void compare(const Line& line, const Function& function, DType dtype, bool gradient, size_t at,
               const std::vector<std::vector<double>>& points, double got, double want,
               std::string& differences) {
    std::vector<double> point;
    for (const std::vector<double>& own : points) {
      const size_t group = line.inputs[0] == "rows" ? kRow : 1;
      for (size_t k = at * group; k < (at + 1) * group; ++k) point.push_back(own[k]);
    }
    const double own = ulps_of(function, dtype);
    const double ulps = gradient ? std::max(kGradientUlps, 4 * own) : own;
    const std::string text =
        wrong(got, want, dtype, ulps, function.signed_zero && !gradient, device_);
    if (text.empty()) return;
    const Difference difference{line, dtype, point, gradient, got, want};
    for (const Expectation& known : expectations()) {
      if (std::ranges::find(known.functions, line.name) == known.functions.end() ||
          !known.holds(difference))
        continue;
      ++explained_[known.reason];
      return;
    }
    std::string where;
    for (const double x : point) where += fmt::format("{}{}", where.empty() ? "" : ", ", x);
    differences += fmt::format("\n  {}at {}: {}", gradient ? "gradient " : "", where, text);
  }

  Table table_;
  Device device_;
  std::map<std::string, const Function*> by_name_;
  std::set<std::string> functions_;
  int64_t compared_ = 0;
  std::map<std::string, int64_t> explained_;  ///< how many by their reasons
};

}  // namespace

TEST_CASE("values and gradients at edges") {
  const std::unique_ptr<Context> opened = open_context();
  const Capabilities& can = runtime_of(*opened).device().capabilities();
  const Device device{*opened, can.numerics != 0};
  const char* const wanted = std::getenv("TENON_TESTS_EVERY");
  const int every = wanted ? std::max(1, std::atoi(wanted)) : 1;
  size_t functions = 0;
  int64_t compared = 0;
  std::map<std::string, int64_t> explained;
  for (const char* file : {"edges_unary", "edges_binary", "edges_rows"}) {
    Run run(file, device);
    for (const DType dtype : {DType::kF16, DType::kBF16, DType::kF32, DType::kF64})
      if (dtype != DType::kF64 || can.of(DType::kF64).arithmetic) run.check(dtype, every);
    functions += run.functions().size();
    compared += run.compared();
    for (const auto& [reason, count] : run.explained()) explained[reason] += count;
  }
  INFO(functions << " functions, " << compared << " numbers");
  for (const auto& [reason, count] : explained) UNSCOPED_INFO(count << ": " << reason);
  if (every == 1) {
    // Each explanation is needed, on a device that has subnormal numbers and all dtypes.
    if (!device.relaxed && can.of(DType::kF64).arithmetic)
      CHECK(explained.size() == expectations().size());
    CHECK(functions >= 120);
    CHECK(compared >= int64_t{120} * 20 * (can.of(DType::kF64).arithmetic ? 4 : 3));
  }
}

}  // namespace tenon::test
