// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A lazy tensor: calls build a graph; reading a value schedules and runs it.
//
// A Tensor is a cheap handle. Shapes broadcast as NumPy's do (size-1 axes grow, missing leading
// axes are added), dtypes promote (tenon/promote.hpp); a negative axis counts from the end. Errors
// are tenon::Error of kind kInvalid:
// "[op] expected ..., got ...". Values that are there can be read after the Context is destroyed;
// what is still lazy then is such an error, as is a use of a Tensor that was moved from.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "tenon/array.hpp"
#include "tenon/context.hpp"
#include "tenon/dtype.hpp"
#include "tenon/export.hpp"
#include "tenon/number.hpp"
#include "tenon/precision.hpp"
#include "tenon/size.hpp"

namespace tenon {

/// DTypeOf<float>::value is DType::kF32.
template <class T>
struct DTypeOf;
template <>
struct DTypeOf<bool> : std::integral_constant<DType, DType::kBool> {};
template <>
struct DTypeOf<int8_t> : std::integral_constant<DType, DType::kI8> {};
template <>
struct DTypeOf<int16_t> : std::integral_constant<DType, DType::kI16> {};
template <>
struct DTypeOf<int32_t> : std::integral_constant<DType, DType::kI32> {};
template <>
struct DTypeOf<int64_t> : std::integral_constant<DType, DType::kI64> {};
template <>
struct DTypeOf<uint8_t> : std::integral_constant<DType, DType::kU8> {};
template <>
struct DTypeOf<uint16_t> : std::integral_constant<DType, DType::kU16> {};
template <>
struct DTypeOf<uint32_t> : std::integral_constant<DType, DType::kU32> {};
template <>
struct DTypeOf<uint64_t> : std::integral_constant<DType, DType::kU64> {};
template <>
struct DTypeOf<float> : std::integral_constant<DType, DType::kF32> {};
template <>
struct DTypeOf<double> : std::integral_constant<DType, DType::kF64> {};

/// A half-open range of an axis, as Python's begin:end:step; a negative begin or end counts from
/// the end. A negative step goes from `begin` (the last element) down to above `end` (to the
/// first).
struct Slice {
  std::optional<Size> begin, end;
  int64_t step = 1;
};

class TENON_API Tensor {
 public:
  /// Numbers are tensors, so that x * 2 reads well. A number keeps its value until it meets a
  /// tensor, whose dtype it takes; throws there if that dtype does not hold it. Beside integers a
  /// float makes f32 of both; beside bools an integer makes i64.
  template <class T>
  requires std::is_arithmetic_v<T> Tensor(T value) : Tensor(Number(value)) {}  // NOLINT
  explicit Tensor(Number value);
  // Making.
  template <class T>
  static Tensor from(std::span<const T> values, std::vector<int64_t> shape,
                     Context& context = Context::standard());
  template <class T>
  static Tensor from(std::initializer_list<T> values, std::vector<int64_t> shape,
                     Context& context = Context::standard());
  static Tensor from(const Array& array, Context& context = Context::standard());
  static Tensor from_npy(const std::string& path, Context& context = Context::standard());
  /// What a file holds from byte `offset` on, little-endian, the last axis fastest. `device` is one
  /// of files, as "disk:/data/w.bin". Nothing is read before it is used, and then of a `slice`
  /// along leading axes only those rows. Throws kEnvironment if the file is shorter.
  static Tensor from_file(const std::string& device, DType dtype, std::vector<int64_t> shape,
                          uint64_t offset = 0, Context& context = Context::standard());
  static Tensor full(const Sizes& shape, Number value, DType dtype = DType::kF32,
                     Context& context = Context::standard());
  static Tensor zeros(const Sizes& shape, DType dtype = DType::kF32,
                      Context& context = Context::standard());
  static Tensor ones(const Sizes& shape, DType dtype = DType::kF32,
                     Context& context = Context::standard());
  /// 0, 1, .. n - 1; throws if the dtype does not hold them.
  static Tensor arange(const Size& n, DType dtype = DType::kI64,
                       Context& context = Context::standard());
  /// The size as a number, i64 of shape [].
  static Tensor from_size(const Size& size, Context& context = Context::standard());
  /// Uniform in [0, 1), f32, by threefry2x32 of (seed, position): the same numbers on every device.
  static Tensor rand(std::vector<int64_t> shape, uint64_t seed,
                     Context& context = Context::standard());
  static Tensor randn(std::vector<int64_t> shape, uint64_t seed,
                      Context& context = Context::standard());

  // Facts.
  DType dtype() const;
  /// Throws kInvalid, naming the symbol, where a size is one: sizes() has them all.
  std::vector<int64_t> shape() const;
  Sizes sizes() const;
  int rank() const;
  int64_t size() const;          ///< elements; throws as shape() does
  int64_t size(int axis) const;  ///< throws as shape() does
  /// Id of the device that holds it or, while it is lazy, that will compute it.
  std::string device() const;
  Context& context() const;

  // Reading: each schedules what is needed, runs it and waits.
  Array to_array() const;
  template <class T>
  std::vector<T> to_vector() const;  ///< T must be the dtype's; f16, bf16, fp8 read as float
  template <class T>
  T item() const;  ///< the one element
  void save_npy(const std::string& path) const;
  /// Writes the elements into a file at byte `offset`, as from_file reads them; the file grows if
  /// it ends before, and what lies between is zero. Throws kEnvironment, for want of space before a
  /// byte is written.
  void write_file(const std::string& device, uint64_t offset = 0) const;
  /// Schedules several tensors as one graph and submits it; reading does this by itself.
  static void realize(const std::vector<Tensor>& tensors);

  /// The same value (computed first, if it is lazy) as a tensor whose type says `size` for an axis:
  /// graphs of a symbol are planned once and run for each value of it, which the tensors tell. With
  /// a number it becomes fixed again. A gradient ends here, as at all that was read. Throws
  /// kInvalid for a size that the symbol's bounds do not allow.
  Tensor with_size(int axis, const Size& size) const;

  // Movement.
  Tensor reshape(const Sizes& shape) const;  ///< one -1 is inferred
  Tensor expand(const Sizes& shape) const;
  Tensor permute(std::vector<int> axes) const;
  Tensor transpose(int a = -2, int b = -1) const;
  Tensor flip(std::vector<int> axes) const;
  Tensor pad(std::vector<std::pair<int64_t, int64_t>> pairs, Number value = 0) const;
  /// Leading axes; the rest whole. Throws for a range outside of the axis, and for step 0.
  Tensor slice(std::vector<Slice> ranges) const;
  Tensor select(int axis, int64_t index) const;  ///< drops the axis
  Tensor squeeze(int axis) const;
  Tensor unsqueeze(int axis) const;
  Tensor flatten() const;
  static Tensor cat(const std::vector<Tensor>& tensors, int axis = 0);

  // Elementwise. Functions of real numbers cast integers and bools to f32.
  Tensor cast(DType dtype) const;
  Tensor bit_cast(DType dtype) const;
  Tensor neg() const;      ///< -x
  Tensor abs() const;      ///< |x|
  Tensor recip() const;    ///< 1 / x
  Tensor sqrt() const;     ///< NaN below 0
  Tensor rsqrt() const;    ///< 1 / sqrt(x)
  Tensor exp() const;      ///< e^x
  Tensor exp2() const;     ///< 2^x
  Tensor log() const;      ///< natural; -Inf at 0, NaN below
  Tensor log2() const;     ///< ln(x) / ln(2)
  Tensor sin() const;      ///< of radians
  Tensor cos() const;      ///< of radians
  Tensor tanh() const;     ///< (e^2x - 1) / (e^2x + 1)
  Tensor sigmoid() const;  ///< 1 / (1 + e^-x)
  Tensor relu() const;     ///< max(x, 0)
  Tensor gelu() const;     ///< x sigmoid(2 u), u = sqrt(2/pi) (x + 0.044715 x^3): the tanh form
  Tensor floor() const;    ///< toward minus infinity; integers stay
  Tensor trunc() const;    ///< toward 0; integers stay
  Tensor square() const;   ///< x x
  Tensor pow(double exponent) const;  ///< x^exponent, as C's pow; by products or sqrt if small
  Tensor maximum(const Tensor& other) const;  ///< the larger; NaN if either is
  Tensor minimum(const Tensor& other) const;  ///< the smaller; NaN if either is
  Tensor idiv(const Tensor& other) const;     ///< of integers, truncated; 0 by 0
  static Tensor where(const Tensor& condition, const Tensor& a, const Tensor& b);

  // Reductions. No axes: all of them. `keep` leaves them with size 1.
  Tensor sum(std::vector<int> axes = {}, bool keep = false) const;
  Tensor prod(std::vector<int> axes = {}, bool keep = false) const;
  Tensor max(std::vector<int> axes = {}, bool keep = false) const;
  Tensor min(std::vector<int> axes = {}, bool keep = false) const;
  Tensor mean(std::vector<int> axes = {}, bool keep = false) const;
  Tensor var(std::vector<int> axes = {}, bool keep = false) const;  ///< population variance
  Tensor argmax(int axis, bool keep = false) const;                 ///< i64; the first of equals
  Tensor softmax(int axis = -1) const;
  Tensor layer_norm(int axis = -1, double epsilon = 1e-5) const;
  Tensor cumsum(int axis) const;

  // Products and indexing.
  /// [.., m, k] x [.., k, n]; leading axes broadcast. `precision`: what f32 factors may be cut to;
  /// kDefault is the Context's.
  Tensor matmul(const Tensor& other, Precision precision = Precision::kDefault) const;
  Tensor gather(int axis, const Tensor& index) const;  ///< as TAKE
  Tensor take(int axis, const Tensor& index) const;    ///< whole slices: index is 1-d
  Tensor scatter(int axis, const Tensor& index,
                 const Tensor& values) const;  ///< as STORE, the last duplicate stays
  Tensor scatter_add(int axis, const Tensor& index,
                     const Tensor& values) const;  ///< as STORE, adding
  Tensor to(const std::string& device) const;

  struct State;
  explicit Tensor(std::shared_ptr<State> state) : state_(std::move(state)) {}
  const std::shared_ptr<State>& state() const;  ///< throws kInvalid for one that was moved from

 private:
  std::shared_ptr<State> state_;
};

TENON_API Tensor operator+(const Tensor& a, const Tensor& b);
TENON_API Tensor operator-(const Tensor& a, const Tensor& b);
TENON_API Tensor operator*(const Tensor& a, const Tensor& b);
TENON_API Tensor operator/(const Tensor& a, const Tensor& b);  ///< as in C++: integers truncate
TENON_API Tensor operator%(const Tensor& a, const Tensor& b);
TENON_API Tensor operator-(const Tensor& a);
TENON_API Tensor operator<(const Tensor& a, const Tensor& b);
TENON_API Tensor operator>(const Tensor& a, const Tensor& b);
TENON_API Tensor operator<=(const Tensor& a, const Tensor& b);
TENON_API Tensor operator>=(const Tensor& a, const Tensor& b);
TENON_API Tensor operator==(const Tensor& a, const Tensor& b);
TENON_API Tensor operator!=(const Tensor& a, const Tensor& b);
TENON_API Tensor operator&(const Tensor& a, const Tensor& b);
TENON_API Tensor operator|(const Tensor& a, const Tensor& b);
TENON_API Tensor operator^(const Tensor& a, const Tensor& b);

}  // namespace tenon
