// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Data files as the inputs that a model learns from.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/ir/text/model.hpp"

namespace tenon::cli {

/// An input of a model that is no parameter. Its first axis counts examples.
struct DataInput {
  std::string name;
  DType dtype = DType::kF32;
  Shape shape;
};
/// Of a model that has a loss.
std::vector<DataInput> data_inputs(const Model& model);

/// One array for each input, of its dtype and of equally many rows. Each word is NAME=FILE.npy, the
/// array of one input; FILE.npz, of all that it has the names of; or FILE.npy or FILE.csv, a table
/// [rows, columns] that the inputs without another file share, from left to right. Numbers are
/// taken into the input's dtype: floats are rounded, integers must fit. Throws kInvalid, naming
/// `option`, for what is missing, does not fit or is beyond its bounds.
std::vector<Array> read_data(const std::string& option, const std::vector<std::string>& words,
                             const std::vector<DataInput>& inputs,
                             const std::vector<InputBounds>& bounds);

/// Rows [begin, end), or those given.
Array rows_of(const Array& array, int64_t begin, int64_t end);
Array rows_of(const Array& array, const std::vector<int64_t>& rows);

/// What the symbols are where a batch has so many rows of these arrays. Throws kInvalid for shapes
/// that do not fit.
SymbolValues sizes_of(const std::string& option, const std::vector<DataInput>& inputs,
                      const std::vector<Array>& arrays, int64_t batch);

}  // namespace tenon::cli
