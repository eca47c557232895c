// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/cli/train_data.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <optional>

#include "core/support/error.hpp"
#include "sdk/support/scanner.hpp"
#include "tenon/formats/csv.hpp"
#include "tenon/formats/npz.hpp"
#include "tenon/npy.hpp"
#include "tenon/number.hpp"

namespace tenon::cli {
namespace {

using Columns = std::pair<int64_t, int64_t>;  ///< [first, last)

Number number_of(const Scalar& value) {
  if (is_float(value.dtype)) return value.as_double();
  if (value.dtype == DType::kU64) return value.bits;
  return value.as_int();
}

size_t row_bytes(const Array& array) {
  return array.shape[0] == 0 ? 0 : array.bytes.size() / static_cast<size_t>(array.shape[0]);
}

class Reader {
 public:
  Reader(const std::string& option, const std::vector<DataInput>& inputs)
      : option_(option), inputs_(inputs), arrays_(inputs.size()) {}

  void read(const std::string& word) {
    const size_t equals = word.find('=');
    const std::string path = word.substr(equals + 1);  // npos + 1 is 0
    const std::string end = std::filesystem::path(path).extension().string();
    TN_REQUIRE(end == ".npy" || (equals == word.npos && (end == ".npz" || end == ".csv")),
               "[{}] expected NAME=FILE.npy, FILE.npz, or a table FILE.npy or FILE.csv, got '{}'",
               option_, word);
    if (equals != word.npos) {
      const size_t i = input(word.substr(0, equals));
      TN_REQUIRE(!arrays_[i], "[{}] expected each input once, got {} twice", option_,
                 inputs_[i].name);
      set(i, read_npy(path, inputs_[i].dtype), path);
    } else if (end == ".npz") {
      for (auto& [name, array] : formats::read_npz(path)) {
        const auto at = std::ranges::find(inputs_, name, &DataInput::name);
        const auto i = static_cast<size_t>(at - inputs_.begin());
        if (at != inputs_.end() && !arrays_[i]) set(i, std::move(array), path);
      }
    } else {
      TN_REQUIRE(table_.empty(), "[{}] expected one table at most, got {} and {}", option_, table_,
                 path);
      table_ = path;
    }
  }

  std::vector<Array> finish() {
    if (!table_.empty()) cut_table();
    std::vector<Array> out;
    for (size_t i = 0; i < inputs_.size(); ++i) {
      TN_REQUIRE(arrays_[i], "[{}] expected data for the inputs {}, got none for {}", option_,
                 fmt::join(names(), ", "), inputs_[i].name);
      out.push_back(std::move(*arrays_[i]));
      TN_REQUIRE(out[i].shape[0] == out[0].shape[0],
                 "[{}] expected equally many rows of all inputs, got {} of {} and {} of {}",
                 option_, out[0].shape[0], inputs_[0].name, out[i].shape[0], inputs_[i].name);
    }
    TN_REQUIRE(out[0].shape[0] > 0, "[{}] expected rows, got none", option_);
    return out;
  }

 private:
  std::vector<std::string> names() const {
    std::vector<std::string> out;
    for (const DataInput& input : inputs_) out.push_back(input.name);
    return out;
  }

  size_t input(const std::string& name) const {
    const auto at = std::ranges::find(inputs_, name, &DataInput::name);
    TN_REQUIRE(at != inputs_.end(), "[{}] expected one of the inputs {}, got '{}'", option_,
               fmt::join(names(), ", "), name);
    return static_cast<size_t>(at - inputs_.begin());
  }

  void set(size_t i, Array array, const std::string& path) {
    const DataInput& input = inputs_[i];
    TN_REQUIRE(array.shape.size() == input.shape.size(),
               "[{}] expected {}{} for {}, got {}{} in {}", option_, dtype_name(input.dtype),
               to_string(input.shape), input.name, dtype_name(array.dtype),
               fmt::format("[{}]", fmt::join(array.shape, ", ")), path);
    if (array.dtype != input.dtype) {
      Array other = Array::zeros(input.dtype, array.shape);
      for (int64_t k = 0; k < array.count(); ++k) {
        const Number number = number_of(array.at(k));
        const auto value = number.in(input.dtype);
        TN_REQUIRE(value, "[{}] expected values of {} for {}, got {} at element {} of {}", option_,
                   dtype_name(input.dtype), input.name, number.text(), k, path);
        other.set(k, *value);
      }
      array = std::move(other);
    }
    arrays_[i] = std::move(array);
  }

  /// How many columns of a table an input takes.
  int64_t width_of(const DataInput& input) const {
    int64_t width = 1;
    for (size_t axis = 1; axis < input.shape.size(); ++axis) {
      const Dim& dim = input.shape[axis];
      TN_REQUIRE(dim.is_const() && !__builtin_mul_overflow(width, dim.value(), &width),
                 "[{}] expected {}=FILE.npy where sizes after the first are symbols, got a table",
                 option_, input.name);
    }
    return width;
  }

  Array table() const {
    if (!table_.ends_with(".csv")) return read_npy(table_);
    const formats::CsvTable bare = formats::read_csv(table_, {.header = false});
    const bool has_names =
        bare.rows() > 0 && bare.columns() > 0 && !sdk::number_of<double>(bare.text(0, 0));
    return has_names ? formats::read_csv(table_).matrix(DType::kF64) : bare.matrix(DType::kF64);
  }

  void cut_table() {
    const Array all = table();
    TN_REQUIRE(all.shape.size() == 2, "[{}] expected a table [rows, columns] in {}, got [{}]",
               option_, table_, fmt::join(all.shape, ", "));
    std::vector<Columns> columns;
    std::string list;
    int64_t first = 0;
    for (size_t i = 0; i < inputs_.size(); ++i) {
      const int64_t width = arrays_[i] ? 0 : width_of(inputs_[i]);
      if (!arrays_[i])
        list += fmt::format("{}{} of {}", list.empty() ? "" : ", ", width, inputs_[i].name);
      columns.emplace_back(first, first + width);
      TN_REQUIRE(!__builtin_add_overflow(first, width, &first), "[{}] expected fewer columns",
                 option_);
    }
    TN_REQUIRE(first == all.shape[1] && !list.empty(),
               "[{}] expected {} columns ({}) in {}, got {}", option_, first, list, table_,
               all.shape[1]);
    for (size_t i = 0; i < inputs_.size(); ++i)
      if (!arrays_[i]) set(i, cut(all, columns[i], inputs_[i].shape), table_);
  }

  static Array cut(const Array& all, Columns columns, const Shape& shape) {
    Array out;
    out.dtype = all.dtype;
    out.shape = {all.shape[0]};
    for (size_t axis = 1; axis < shape.size(); ++axis) out.shape.push_back(shape[axis].value());
    const auto size = static_cast<int64_t>(dtype_size(all.dtype));
    for (int64_t row = 0; row < all.shape[0]; ++row) {
      const auto at = [&](int64_t column) {
        return all.bytes.begin() + (row * all.shape[1] + column) * size;
      };
      out.bytes.insert(out.bytes.end(), at(columns.first), at(columns.second));
    }
    return out;
  }

  const std::string& option_;
  const std::vector<DataInput>& inputs_;
  std::vector<std::optional<Array>> arrays_;
  std::string table_;
};

}  // namespace

std::vector<DataInput> data_inputs(const Model& model) {
  std::vector<DataInput> inputs;
  const std::vector<NodeRef>& params = model.loss->params;
  for (size_t i = 0; i + model.parameters.size() < params.size(); ++i) {
    const Node& node = *params[i];
    inputs.push_back({node.as<ParamAttr>().name, node.dtype, node.shape});
    TN_REQUIRE(!node.shape.empty(),
               "[train] expected inputs whose first axis counts examples, got {} of shape []",
               inputs.back().name);
  }
  TN_REQUIRE(!inputs.empty(), "[train] expected a model with inputs, got none");
  return inputs;
}

std::vector<Array> read_data(const std::string& option, const std::vector<std::string>& words,
                             const std::vector<DataInput>& inputs,
                             const std::vector<InputBounds>& bounds) {
  Reader reader(option, inputs);
  for (const std::string& word : words) reader.read(word);
  std::vector<Array> arrays = reader.finish();
  for (size_t i = 0; i < inputs.size(); ++i)
    for (const InputBounds& within : bounds) {
      if (within.name != inputs[i].name) continue;
      const Number low = within.low, high = within.high;
      for (int64_t k = 0; k < arrays[i].count(); ++k) {
        const double value = arrays[i].at(k).as_double();
        TN_REQUIRE(
            value >= static_cast<double>(within.low) && value <= static_cast<double>(within.high),
            "[{}] expected {} in [{}, {}], got {} in row {}", option, within.name, low.text(),
            high.text(), to_string(arrays[i].at(k)),
            k / std::max<int64_t>(1, arrays[i].count() / arrays[i].shape[0]));
      }
    }
  return arrays;
}

Array rows_of(const Array& array, int64_t begin, int64_t end) {
  Array out;
  out.dtype = array.dtype;
  out.shape = array.shape;
  out.shape[0] = end - begin;
  const auto size = static_cast<std::ptrdiff_t>(row_bytes(array));
  out.bytes.assign(array.bytes.begin() + size * begin, array.bytes.begin() + size * end);
  return out;
}

Array rows_of(const Array& array, const std::vector<int64_t>& rows) {
  Array out;
  out.dtype = array.dtype;
  out.shape = array.shape;
  out.shape[0] = static_cast<int64_t>(rows.size());
  const auto size = static_cast<std::ptrdiff_t>(row_bytes(array));
  for (const int64_t row : rows) {
    const auto at = array.bytes.begin() + size * row;
    out.bytes.insert(out.bytes.end(), at, at + size);
  }
  return out;
}

SymbolValues sizes_of(const std::string& option, const std::vector<DataInput>& inputs,
                      const std::vector<Array>& arrays, int64_t batch) {
  SymbolValues sizes;
  for (size_t i = 0; i < inputs.size(); ++i) {
    for (size_t axis = 0; axis < inputs[i].shape.size(); ++axis) {
      const Dim& dim = inputs[i].shape[axis];
      const int64_t size = axis == 0 ? batch : arrays[i].shape[axis];
      int64_t expected = size;
      if (dim.is_const()) expected = dim.value();
      if (dim.kind() == ExprKind::kSymbol) {
        expected = sizes.emplace(dim.name(), size).first->second;
        TN_REQUIRE(dim.min() <= size && size <= dim.max(),
                   "[{}] expected {} in [{}, {}] as the size of axis {} of {}, got {}", option,
                   dim.name(), dim.min(), dim.max(), axis, inputs[i].name, size);
      }
      TN_REQUIRE(size == expected, "[{}] expected {} as the size of axis {} of {}, got {}",
                 axis == 0 ? "--batch" : option, expected, axis, inputs[i].name, size);
    }
  }
  return sizes;
}

}  // namespace tenon::cli
