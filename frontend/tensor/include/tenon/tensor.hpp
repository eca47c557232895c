// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A lazy tensor: calls build a graph; reading a value schedules and runs it.
//
// Its functions are rows of tenon/functions.def, each a free function and a member: sum(x, 0) and
// x.sum(0). What is made of no tensor or of several, or gives several, is a free function alone.
//
// A Tensor is a cheap handle. Shapes broadcast as NumPy's do (size-1 axes grow, missing leading
// axes are added), dtypes promote (tenon/promote.hpp); a negative axis counts from the end. Errors
// are tenon::Error of kind kInvalid:
// "[op] expected ..., got ...". Values that are there can be read after the Context is destroyed;
// what is still lazy then is such an error, as is a use of a Tensor that was moved from.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "tenon/array.hpp"
#include "tenon/axes.hpp"
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
// The other name of 64 bits (long on some systems, long long on others).
template <>
struct DTypeOf<std::conditional_t<std::is_same_v<int64_t, long>, long long, long>>
    : std::integral_constant<DType, DType::kI64> {};
template <>
struct DTypeOf<
    std::conditional_t<std::is_same_v<uint64_t, unsigned long>, unsigned long long, unsigned long>>
    : std::integral_constant<DType, DType::kU64> {};
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

/// Between two neighbours in the sorted order, where q * (n - 1) falls between them.
enum class Quantile : uint8_t { kLinear, kLower, kHigher, kMidpoint, kNearest };
/// What stands before and after an axis: the tensor mirrored without its edge, its edge, or its
/// other end.
enum class PadMode : uint8_t { kReflect, kReplicate, kCircular };
/// What becomes of an element that is written: the value, or element and value together; kMean is
/// the mean of the element and all values that meet there. kReplace: the last value stays.
enum class Combine : uint8_t { kReplace, kAdd, kMul, kMax, kMin, kMean };

class Index;
class Tensor;
#define TENON_FUNCTION(name, parameters, arguments, meaning) TENON_API Tensor name parameters;
#include "tenon/functions.def"
#undef TENON_FUNCTION

// A row's parameters and arguments, of a member: without the first, with *this.
#define TENON_REST(first, ...) (__VA_ARGS__)
#define TENON_OF_THIS(...) (*this __VA_OPT__(, ) __VA_ARGS__)

class TENON_API Tensor {
 public:
  /// None yet: any use of it is an error that says so.
  Tensor() = default;
  Tensor(const Tensor&) = default;
  Tensor(Tensor&&) = default;
  // Not to what a call returned: x[0] = y would change nothing. `set` gives a new tensor.
  Tensor& operator=(const Tensor&) & = default;
  Tensor& operator=(Tensor&&) & = default;
  ~Tensor() = default;

  /// Numbers are tensors, so that x * 2 reads well. A number keeps its value until it meets a
  /// tensor, whose dtype it takes; throws there if that dtype does not hold it. Beside integers a
  /// float makes f32 of both; beside bools an integer makes i64.
  template <class T>
  requires std::is_arithmetic_v<T> Tensor(T value) : Tensor(Number(value)) {}  // NOLINT
  explicit Tensor(Number value);

  // Facts.
  /// False for one made of nothing, or moved from.
  bool has_value() const { return state_ != nullptr; }
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
  /// All elements, row-major, into as many bytes as they are.
  void read(std::span<std::byte> out) const;
  template <class T>
  std::vector<T> to_vector() const;  ///< T must be the dtype's; f16, bf16, fp8 read as float
  template <class T>
  T item() const;  ///< the one element
  /// Writes the elements into a file at byte `offset`, as from_file reads them; the file grows if
  /// it ends before, and what lies between is zero. Throws kEnvironment, for want of space before a
  /// byte is written.
  void write_file(const std::string& device, uint64_t offset = 0) const;

  /// The same value (computed first, if it is lazy) as a tensor whose type says `size` for an axis:
  /// graphs of a symbol are planned once and run for each value of it, which the tensors tell. With
  /// a number it becomes fixed again. No gradient goes through it: that is an error. Throws
  /// kInvalid for a size that the symbol's bounds do not allow.
  Tensor with_size(int axis, const Size& size) const;

  /// Parts, as `get` of tenon/index.hpp: x[0], x[{0, Slice{1, {}}}], x[mask].
  Tensor operator[](const Index& index) const;
  Tensor operator[](std::initializer_list<Index> index) const;

#define TENON_FUNCTION(name, parameters, arguments, meaning) \
  Tensor name TENON_REST parameters const { return tenon::name TENON_OF_THIS arguments; }
#include "tenon/functions.def"
#undef TENON_FUNCTION

  struct State;
  explicit Tensor(std::shared_ptr<State> state) : state_(std::move(state)) {}
  /// Throws kInvalid for one that has no value: made of nothing, moved from, or donated.
  const std::shared_ptr<State>& state() const;

 private:
  std::shared_ptr<State> state_;
};

#undef TENON_REST
#undef TENON_OF_THIS

/// Schedules several tensors as one graph and submits it; reading does this by itself.
TENON_API void realize(const std::vector<Tensor>& tensors);
/// The same; the values are data from then on, as those of a file: gradients end at them.
TENON_API void realize_detached(const std::vector<Tensor>& tensors);
/// a where the condition is true, else b.
TENON_API Tensor where(const Tensor& condition, const Tensor& a, const Tensor& b);

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
// Bits of integers; ~ of a bool is its contrary. Shifts by what is not in [0, bits) give 0, or -1
// for a negative number shifted right.
TENON_API Tensor operator~(const Tensor& x);
TENON_API Tensor operator<<(const Tensor& x, const Tensor& bits);
TENON_API Tensor operator>>(const Tensor& x, const Tensor& bits);

// a = a + b, and so on: other tensors of a's old value keep it. As in NumPy, b must broadcast to
// a's shape and the result have a's dtype; a number that has met no tensor takes both from b.
TENON_API Tensor& operator+=(Tensor& a, const Tensor& b);
TENON_API Tensor& operator-=(Tensor& a, const Tensor& b);
TENON_API Tensor& operator*=(Tensor& a, const Tensor& b);
TENON_API Tensor& operator/=(Tensor& a, const Tensor& b);
TENON_API Tensor& operator%=(Tensor& a, const Tensor& b);
TENON_API Tensor& operator&=(Tensor& a, const Tensor& b);
TENON_API Tensor& operator|=(Tensor& a, const Tensor& b);
TENON_API Tensor& operator^=(Tensor& a, const Tensor& b);
TENON_API Tensor& operator<<=(Tensor& a, const Tensor& bits);
TENON_API Tensor& operator>>=(Tensor& a, const Tensor& bits);

}  // namespace tenon

#include "tenon/index.hpp"  // what brackets take
