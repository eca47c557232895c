// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tensors as text, laid out as NumPy's.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>
#include <vector>

#include "tenon/array.hpp"
#include "tenon/export.hpp"
#include "tenon/tensor.hpp"

namespace tenon {

/// The names and values of numpy.set_printoptions.
struct PrintOptions {
  int precision = 8;         ///< most digits after the point
  int64_t threshold = 1000;  ///< more elements than these are summarised
  int64_t edge_items = 3;    ///< of each axis, at both ends, of what is summarised
  int line_width = 75;
};

/// As numpy's str(): each float with the fewest digits that tell it from its neighbours, columns
/// aligned, an exponent where values are far apart.
TENON_API std::string to_string(const Array& array, const PrintOptions& options = {});
/// Computes and reads the tensor.
TENON_API std::string to_string(const Tensor& x, const PrintOptions& options = {});
TENON_API std::ostream& operator<<(std::ostream& out, const Tensor& x);

/// What a tensor holds, of its finite elements; those of bool count as 0 and 1.
struct Description {
  DType dtype = DType::kVoid;
  std::vector<int64_t> shape;
  std::string device;
  int64_t count = 0, nan_count = 0, infinite_count = 0;
  double min = 0, mean = 0, max = 0;  ///< NaN if no element is finite
};
TENON_API Description describe(const Tensor& x);
/// "f32[3, 4] on cpu:0: min -1.5, mean 0.25, max 2, 1 NaN, 0 infinite"
TENON_API std::string to_string(const Description& description);

}  // namespace tenon
