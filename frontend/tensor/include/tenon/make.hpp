// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tensors from values, files, shapes and rules. What is made of shapes and rules is lazy.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "tenon/export.hpp"
#include "tenon/tensor.hpp"

namespace tenon {

/// Values in row-major order, as many as the shape has.
template <class T>
TENON_API Tensor tensor(std::span<const T> values, std::vector<int64_t> shape,
                        Context& context = Context::standard());
template <class T>
Tensor tensor(const std::vector<T>& values, std::vector<int64_t> shape,
              Context& context = Context::standard()) {
  return tensor(std::span<const T>(values), std::move(shape), context);
}
TENON_API Tensor tensor(const Array& array, Context& context = Context::standard());
/// A copy of these bytes, row-major. Throws kInvalid unless there are as many as the shape says.
TENON_API Tensor tensor(std::span<const std::byte> bytes, DType dtype, std::vector<int64_t> shape,
                        Context& context = Context::standard());
/// What a file holds from byte `offset` on, little-endian, the last axis fastest. `device` is one
/// of files, as "disk:/data/w.bin". Nothing is read before it is used, and then of a `slice`
/// along leading axes only those rows. Throws kEnvironment if the file is shorter.
TENON_API Tensor from_file(const std::string& device, DType dtype, std::vector<int64_t> shape,
                           uint64_t offset = 0, Context& context = Context::standard());
/// The size as a number, i64 of shape [].
TENON_API Tensor from_size(const Size& size, Context& context = Context::standard());

TENON_API Tensor full(const Sizes& shape, Number value, DType dtype = DType::kF32,
                      Context& context = Context::standard());
TENON_API Tensor zeros(const Sizes& shape, DType dtype = DType::kF32,
                       Context& context = Context::standard());
TENON_API Tensor ones(const Sizes& shape, DType dtype = DType::kF32,
                      Context& context = Context::standard());
// Shape, context and, if none is given, dtype of another tensor.
TENON_API Tensor zeros_like(const Tensor& x, std::optional<DType> dtype = {});  ///< 0
TENON_API Tensor ones_like(const Tensor& x, std::optional<DType> dtype = {});   ///< 1
/// A number that the dtype holds, in every element.
TENON_API Tensor full_like(const Tensor& x, Number value, std::optional<DType> dtype = {});

/// 0, 1, .. n - 1; throws if the dtype does not hold them.
TENON_API Tensor arange(const Size& n, DType dtype = DType::kI64,
                        Context& context = Context::standard());
/// begin, begin + step, .. before end; the size is ceil((end - begin) / step). i64 if all three are
/// integers, else f32. Throws for step 0 and for what the dtype does not hold.
TENON_API Tensor arange(Number begin, Number end, Number step = 1, std::optional<DType> dtype = {},
                        Context& context = Context::standard());
/// `count` numbers in equal steps from `begin` to `end`, which is the last one if `endpoint`. In
/// float dtypes of 32 bits and more off by at most an ULP of the larger end.
TENON_API Tensor linspace(double begin, double end, int64_t count = 50, bool endpoint = true,
                          DType dtype = DType::kF32, Context& context = Context::standard());
/// base to the powers linspace(begin, end, count, endpoint).
TENON_API Tensor logspace(double begin, double end, int64_t count = 50, bool endpoint = true,
                          double base = 10, DType dtype = DType::kF32,
                          Context& context = Context::standard());

/// [rows, columns] of zeros with ones where column = row + offset; no columns: as many as rows.
TENON_API Tensor eye(const Size& rows, std::optional<Size> columns = {}, int64_t offset = 0,
                     DType dtype = DType::kF32, Context& context = Context::standard());
/// Ones where column <= row + offset.
TENON_API Tensor tri(const Size& rows, std::optional<Size> columns = {}, int64_t offset = 0,
                     DType dtype = DType::kF32, Context& context = Context::standard());
/// Integers [..] to [.., classes]: 1 at the position that the integer names, which may be none.
TENON_API Tensor one_hot(const Tensor& x, int64_t classes, DType dtype = DType::kF32);
/// Of tensors of rank 1 the tensors of all combinations; `ij`: axes in the order of the tensors,
/// else, as NumPy has it, the first two change places.
TENON_API std::vector<Tensor> meshgrid(const std::vector<Tensor>& axes, bool ij = false);

}  // namespace tenon
