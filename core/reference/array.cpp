// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Arrays: sizes, single elements, and runs of elements as doubles or 64-bit integers.
#include <bit>
#include <cstring>
#include <new>

#include "core/reference/kernels.hpp"
#include "core/support/error.hpp"

namespace tenon {
namespace {

/// Reads or writes runs of a fixed width; `T` is the unsigned integer of that width.
template <class T, class F>
void read_run(const Array& array, int64_t first, int64_t count, F element) {
  const uint8_t* from = array.bytes.data() + first * static_cast<int64_t>(sizeof(T));
  for (int64_t i = 0; i < count; ++i) {
    T value;
    std::memcpy(&value, from + i * static_cast<int64_t>(sizeof(T)), sizeof(T));
    element(i, value);
  }
}

template <class T, class F>
void write_run(Array& array, int64_t first, int64_t count, F element) {
  uint8_t* to = array.bytes.data() + first * static_cast<int64_t>(sizeof(T));
  for (int64_t i = 0; i < count; ++i) {
    const auto value = static_cast<T>(element(i));
    std::memcpy(to + i * static_cast<int64_t>(sizeof(T)), &value, sizeof(T));
  }
}

}  // namespace

int64_t Array::count() const {
  int64_t n = 1;
  for (const int64_t size : shape) n *= size;
  return n;
}

namespace {

template <class T>
uint64_t load(const uint8_t* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

/// An array may have been moved from, or have other bytes than its shape says.
void check_place(const Array& array, int64_t i, size_t size) {
  const size_t at = static_cast<size_t>(i), bytes = array.bytes.size();
  TN_REQUIRE(at < bytes && (at + 1) * size <= bytes,
             "[array] expected an element within {} bytes of {}, got number {}", bytes,
             dtype_name(array.dtype), i);
}

}  // namespace

Scalar Array::at(int64_t i) const {
  const size_t size = dtype_size(dtype);
  check_place(*this, i, size);
  const uint8_t* const at = bytes.data() + static_cast<size_t>(i) * size;
  return {dtype, size == 4   ? load<uint32_t>(at)
                 : size == 8 ? load<uint64_t>(at)
                 : size == 2 ? load<uint16_t>(at)
                             : load<uint8_t>(at)};
}

void Array::set(int64_t i, const Scalar& value) {
  TN_ASSERT(value.dtype == dtype);
  const size_t size = dtype_size(dtype);
  check_place(*this, i, size);
  std::memcpy(bytes.data() + static_cast<size_t>(i) * size, &value.bits, size);
}

Array Array::zeros(DType dtype, std::vector<int64_t> shape) {
  int64_t bytes = static_cast<int64_t>(dtype_size(dtype));
  bool empty = false;
  for (const int64_t size : shape) {
    TN_REQUIRE(size >= 0, "[array] expected sizes of at least 0, got {}", size);
    empty |= size == 0;
  }
  for (const int64_t size : shape)
    if (!empty && __builtin_mul_overflow(bytes, size, &bytes))
      fail(ErrorKind::kOutOfMemory, "[array] expected fewer than 2^63 bytes, got more");
  Array array{dtype, std::move(shape), {}};
  try {
    if (!empty) array.bytes.resize(static_cast<size_t>(bytes));
  } catch (const std::exception&) {  // bad_alloc or length_error
    fail(ErrorKind::kOutOfMemory, "[array] the host has no room for {} bytes", bytes);
  }
  return array;
}

namespace reference {

std::vector<int64_t> strides_of(const std::vector<int64_t>& shape) {
  std::vector<int64_t> strides(shape.size(), 1);
  for (size_t i = shape.size(); i-- > 1;) strides[i - 1] = strides[i] * shape[i];
  return strides;
}

void load_floats(const Array& array, int64_t first, int64_t count, double* out) {
  switch (dtype_size(array.dtype)) {
    case 8:
      read_run<uint64_t>(array, first, count,
                         [&](int64_t i, uint64_t v) { out[i] = std::bit_cast<double>(v); });
      break;
    case 4:
      read_run<uint32_t>(array, first, count, [&](int64_t i, uint32_t v) {
        out[i] = static_cast<double>(std::bit_cast<float>(v));
      });
      break;
    case 2:
      read_run<uint16_t>(array, first, count,
                         [&](int64_t i, uint16_t v) { out[i] = narrow_to_double(v, array.dtype); });
      break;
    default:
      read_run<uint8_t>(array, first, count,
                        [&](int64_t i, uint8_t v) { out[i] = narrow_to_double(v, array.dtype); });
  }
}

void store_floats(Array& array, int64_t first, int64_t count, const double* values) {
  switch (dtype_size(array.dtype)) {
    case 8:
      write_run<uint64_t>(array, first, count,
                          [&](int64_t i) { return std::bit_cast<uint64_t>(values[i]); });
      break;
    case 4:
      write_run<uint32_t>(array, first, count, [&](int64_t i) {
        return std::bit_cast<uint32_t>(static_cast<float>(values[i]));
      });
      break;
    case 2:
      write_run<uint16_t>(array, first, count,
                          [&](int64_t i) { return double_to_narrow(values[i], array.dtype); });
      break;
    default:
      write_run<uint8_t>(array, first, count,
                         [&](int64_t i) { return double_to_narrow(values[i], array.dtype); });
  }
}

void load_bits(const Array& array, int64_t first, int64_t count, uint64_t* out) {
  const auto put = [&](int64_t i, uint64_t v) { out[i] = v; };
  switch (dtype_size(array.dtype)) {
    case 8:
      return read_run<uint64_t>(array, first, count, put);
    case 4:
      return read_run<uint32_t>(array, first, count, put);
    case 2:
      return read_run<uint16_t>(array, first, count, put);
    default:
      return read_run<uint8_t>(array, first, count, put);
  }
}

void load_ints(const Array& array, int64_t first, int64_t count, uint64_t* out) {
  load_bits(array, first, count, out);
  const size_t unused = 64 - dtype_bits(array.dtype);
  if (!is_signed(array.dtype) || unused == 0) return;
  for (int64_t i = 0; i < count; ++i)
    out[i] = static_cast<uint64_t>(static_cast<int64_t>(out[i] << unused) >> unused);
}

void store_bits(Array& array, int64_t first, int64_t count, const uint64_t* values) {
  const auto get = [&](int64_t i) { return values[i]; };
  switch (dtype_size(array.dtype)) {
    case 8:
      return write_run<uint64_t>(array, first, count, get);
    case 4:
      return write_run<uint32_t>(array, first, count, get);
    case 2:
      return write_run<uint16_t>(array, first, count, get);
    default:
      return write_run<uint8_t>(array, first, count, get);
  }
}

}  // namespace reference
}  // namespace tenon
