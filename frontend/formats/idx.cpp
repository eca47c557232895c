// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tenon/formats/idx.hpp"

#include <fmt/ranges.h>

#include <algorithm>

#include "core/support/error.hpp"
#include "frontend/formats/gzip_file.hpp"
#include "frontend/formats/host_array.hpp"

namespace tenon::formats {
namespace {

DType dtype_of(uint8_t code, const std::string& path) {
  constexpr std::pair<uint8_t, DType> kCodes[] = {{0x08, DType::kU8},  {0x09, DType::kI8},
                                                  {0x0B, DType::kI16}, {0x0C, DType::kI32},
                                                  {0x0D, DType::kF32}, {0x0E, DType::kF64}};
  for (const auto& [known, dtype] : kCodes)
    if (known == code) return dtype;
  fail(ErrorKind::kInvalid, "{}: byte 2: expected the code of a dtype, 0x08 to 0x0e, got {:#04x}",
       path, code);
}

std::vector<int64_t> read_shape(GzipFile& file, size_t rank, const std::string& path) {
  std::vector<uint8_t> bytes(rank * 4);
  TN_REQUIRE(file.read(bytes.data(), bytes.size()) == bytes.size(),
             "{}: byte 4: expected {} sizes, got the end of the file", path, rank);
  std::vector<int64_t> shape;
  for (size_t i = 0; i < bytes.size(); i += 4)
    shape.push_back(int64_t{bytes[i]} << 24 | int64_t{bytes[i + 1]} << 16 |
                    int64_t{bytes[i + 2]} << 8 | bytes[i + 3]);
  return shape;
}

}  // namespace

Array read_idx(const std::string& path) {
  GzipFile file(path);
  uint8_t magic[4] = {};
  TN_REQUIRE(file.read(magic, sizeof magic) == sizeof magic && magic[0] == 0 && magic[1] == 0,
             "{}: byte 0: expected an IDX file, which begins with two zeros, got another", path);
  const DType dtype = dtype_of(magic[2], path);
  TN_REQUIRE(magic[3] <= kMostAxes, "{}: byte 3: expected at most {} axes, got {}", path, kMostAxes,
             magic[3]);
  std::vector<int64_t> shape = read_shape(file, magic[3], path);
  const std::optional<uint64_t> size = byte_size(dtype, shape);
  TN_REQUIRE(size && *size <= file.most_bytes(),
             "{}: expected the elements of {} [{}], got a file that cannot hold them", path,
             dtype_name(dtype), fmt::join(shape, ", "));
  Array array = host_array(path, dtype, std::move(shape));
  const size_t got = file.read(array.bytes.data(), array.bytes.size());
  char more = 0;
  TN_REQUIRE(got == array.bytes.size() && file.read(&more, 1) == 0,
             "{}: expected {} bytes of {} [{}], got {}", path, array.bytes.size(),
             dtype_name(dtype), fmt::join(array.shape, ", "),
             got < array.bytes.size() ? std::to_string(got) : "more");
  const auto width = static_cast<std::ptrdiff_t>(dtype_size(dtype));
  for (auto at = array.bytes.begin(); width > 1 && at != array.bytes.end(); at += width)
    std::reverse(at, at + width);
  return array;
}

}  // namespace tenon::formats
