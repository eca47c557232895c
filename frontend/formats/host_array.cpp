// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/formats/host_array.hpp"

#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>

#include "core/support/error.hpp"

namespace tenon::formats {
namespace {

uint64_t half_of_memory() {
  const auto pages = static_cast<uint64_t>(std::max(0L, sysconf(_SC_PHYS_PAGES)));
  return pages / 2 * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

}  // namespace

std::optional<uint64_t> byte_size(DType dtype, const std::vector<int64_t>& shape) {
  if (std::ranges::any_of(shape, [](int64_t size) { return size < 0; })) return std::nullopt;
  if (std::ranges::count(shape, 0) > 0) return 0;
  auto bytes = static_cast<int64_t>(dtype_size(dtype));
  for (const int64_t size : shape)
    if (__builtin_mul_overflow(bytes, size, &bytes)) return std::nullopt;
  return static_cast<uint64_t>(bytes);
}

void check_memory(std::string_view origin, uint64_t bytes) {
  if (bytes > half_of_memory())
    fail(ErrorKind::kOutOfMemory,
         "{}: expected at most half of the machine's memory, {} bytes, got {}", origin,
         half_of_memory(), bytes);
}

Array host_array(std::string_view origin, DType dtype, std::vector<int64_t> shape) {
  const std::optional<uint64_t> bytes = byte_size(dtype, shape);
  TN_REQUIRE(bytes, "{}: expected sizes of at least 0 and below 2^63 bytes, got [{}] of {}", origin,
             fmt::join(shape, ", "), dtype_name(dtype));
  check_memory(origin, *bytes);
  return Array::zeros(dtype, std::move(shape));
}

void check_array(const char* op, std::string_view name, const Array& array) {
  TN_REQUIRE(byte_size(array.dtype, array.shape) == array.bytes.size(),
             "[{}] {}: expected the bytes of {} [{}], got {} bytes", op, shortened(name),
             dtype_name(array.dtype), fmt::join(array.shape, ", "), array.bytes.size());
}

std::string_view shortened(std::string_view text) { return text.substr(0, 120); }

}  // namespace tenon::formats
