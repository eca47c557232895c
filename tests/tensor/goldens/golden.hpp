// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Cases of a golden file (make_goldens.py says what is in a line), run on the device of the
// environment and compared.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "tenon/tenon.hpp"

namespace tenon::test {

using Tensors = std::vector<Tensor>;

/// Inputs and attributes of one case. What a case lacks is an error that names it.
struct Call {
  Context& context;
  Tensors in;
  std::map<std::string, std::string> attributes;

  bool has(const std::string& key) const { return attributes.contains(key); }
  const std::string& word(const std::string& key) const;
  std::vector<int64_t> integers(const std::string& key) const;
  std::vector<int> axes(const std::string& key = "axes") const;  ///< none where it is not given
  int64_t integer(const std::string& key) const;
  int axis() const { return static_cast<int>(integer("axis")); }
  double real(const std::string& key) const;
  DType dtype() const;
};

/// A function of the API under the name that golden files have for it.
struct Function {
  const char* name;
  std::function<Tensors(const Call&)> run;
  double f32 = 0;  ///< ULPs that it may be off; of narrower floats: 1 where this is above 0
  double f64 = 0;
  bool of_largest = false;  ///< ULPs of the largest number of the result: sums
  bool signed_zero = true;  ///< a zero has NumPy's sign
  bool moves = false;       ///< elements stay what they are: the first case runs in every dtype
};

/// A line of a golden file.
struct Case {
  int line = 0;
  std::string function;
  std::vector<Array> inputs, outputs;
  std::map<std::string, std::string> attributes;
};

/// The lines of tests/FILE.txt.
std::vector<Case> read_cases(const std::string& file);

/// The context of the environment's device; without that device the test is skipped.
std::unique_ptr<Context> open_context();

/// The functions of each file.
std::span<const Function> unary_functions();
std::span<const Function> binary_functions();
std::span<const Function> make_functions();
std::span<const Function> move_functions();
std::span<const Function> reduce_functions();
std::span<const Function> scan_functions();
std::span<const Function> order_functions();
std::span<const Function> index_functions();
std::span<const Function> linalg_functions();
std::span<const Function> fft_functions();
std::span<const Function> control_flow_functions();
/// All of them, and members, by their names.
std::map<std::string, const Function*> functions_by_name();

/// Runs every case of tests/tensor/goldens/FILE.txt; each function has cases, each case a function.
/// On the CPU also holds the table FILE of docs/tensor.md against what was seen.
void run_goldens(const std::string& file, std::span<const Function> functions);

}  // namespace tenon::test
