// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The .npy format: numpy.org/neps/nep-0001-npy-format.html
#include "tenon/npy.hpp"

#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <limits>

#include "core/ir/dtype.hpp"
#include "core/support/error.hpp"
#include "core/support/file_io.hpp"
#include "frontend/tensor/state.hpp"

namespace tenon {
namespace {

constexpr size_t kMostAxes = 16;
constexpr std::string_view kMagic = "\x93NUMPY";

/// What a header calls the dtype: 'V' and its bytes where NumPy has no such float.
std::string descr_of(DType dtype) {
  const size_t bytes = dtype_size(dtype);
  const bool is_known = !is_float(dtype) || is_ieee(dtype);
  const char kind = dtype == DType::kBool ? 'b'
                    : !is_known           ? 'V'
                    : is_float(dtype)     ? 'f'
                    : is_signed(dtype)    ? 'i'
                                          : 'u';
  return fmt::format("{}{}{}", bytes == 1 ? '|' : '<', kind, bytes);
}

/// Reads the header's Python dictionary; every complaint names the byte.
class HeaderReader {
 public:
  HeaderReader(std::string_view text, size_t base, const std::string& origin)
      : text_(text), base_(base), origin_(origin) {}

  struct Header {
    std::string descr;
    bool first_axis_fastest = false;
    std::vector<int64_t> shape;
  };

  Header read() {
    Header header;
    bool has_descr = false, has_order = false, has_shape = false;
    const auto once = [&](bool& seen, const std::string& key) {
      if (seen) error("expected each key once, got '" + key + "' again");
      seen = true;
    };
    expect('{');
    while (!accept('}')) {
      const std::string key = string();
      expect(':');
      if (key == "descr") {
        once(has_descr, key);
        header.descr = string();
      } else if (key == "fortran_order") {
        once(has_order, key);
        const std::string order = word();
        if (order != "False" && order != "True") error("expected fortran_order False or True");
        header.first_axis_fastest = order == "True";
      } else if (key == "shape") {
        once(has_shape, key);
        header.shape = shape();
      } else {
        error("expected descr, fortran_order or shape, got '" + key + "'");
      }
      if (!accept(',')) {
        expect('}');
        break;
      }
    }
    if (!has_descr || !has_order || !has_shape) error("expected descr, fortran_order and shape");
    skip_space();
    if (at_ != text_.size()) error("expected the end of the header");
    return header;
  }

 private:
  [[noreturn]] void error(const std::string& what) const {
    fail(ErrorKind::kInvalid, "{}: byte {}: {}", origin_, base_ + at_, what);
  }
  void skip_space() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n')) ++at_;
  }
  bool accept(char c) {
    skip_space();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  void expect(char c) {
    if (!accept(c)) error(fmt::format("expected '{}'", c));
  }
  std::string string() {
    skip_space();
    const char quote = at_ < text_.size() ? text_[at_] : '\0';
    if (quote != '\'' && quote != '"') error("expected a string");
    const size_t end = text_.find(quote, at_ + 1);
    if (end == std::string_view::npos) error("expected the end of a string");
    std::string value(text_.substr(at_ + 1, end - at_ - 1));
    at_ = end + 1;
    return value;
  }
  std::string word() {
    skip_space();
    const size_t begin = at_;
    while (at_ < text_.size() && std::isalpha(static_cast<unsigned char>(text_[at_])) != 0) ++at_;
    return std::string(text_.substr(begin, at_ - begin));
  }
  std::vector<int64_t> shape() {
    std::vector<int64_t> dims;
    expect('(');
    while (!accept(')')) {
      skip_space();
      int64_t dim = 0;
      const auto [end, code] =
          std::from_chars(text_.data() + at_, text_.data() + text_.size(), dim);
      if (code != std::errc() || dim < 0) error("expected a size");
      at_ = static_cast<size_t>(end - text_.data());
      dims.push_back(dim);
      if (dims.size() > kMostAxes) error(fmt::format("expected at most {} dimensions", kMostAxes));
      if (!accept(',')) {
        expect(')');
        break;
      }
    }
    return dims;
  }

  std::string_view text_;
  size_t base_;
  const std::string& origin_;
  size_t at_ = 0;
};

DType dtype_of(const std::string& descr, std::optional<DType> as, const std::string& origin) {
  for (const DType dtype : all_dtypes()) {
    std::string own = descr_of(dtype);
    if (own[1] != 'V' && own[0] == '<' && descr.starts_with('>')) own[0] = '>';
    if (own == descr && (descr[1] != 'V' || as == dtype)) return dtype;
  }
  fail(ErrorKind::kInvalid, "{}: expected a bool, integer or float dtype{}, got '{}'", origin,
       descr.size() > 1 && descr[1] == 'V' ? " (bits are read only as a stated bf16 or fp8)" : "",
       descr);
}

uint64_t little_endian(std::span<const std::byte> bytes) {
  uint64_t value = 0;
  for (size_t i = bytes.size(); i-- > 0;) value = value << 8 | static_cast<uint64_t>(bytes[i]);
  return value;
}

/// Bytes of the data, or nothing if they cannot be counted.
std::optional<size_t> data_size(const std::vector<int64_t>& shape, size_t element) {
  size_t total = element;
  for (const int64_t dim : shape) {
    if (dim == 0) return 0;
    if (total > std::numeric_limits<int64_t>::max() / static_cast<size_t>(dim)) return std::nullopt;
    total *= static_cast<size_t>(dim);
  }
  return total;
}

/// From elements of which the first axis runs fastest to those of which the last one does.
void make_last_axis_fastest(Array& array) {
  const size_t element = dtype_size(array.dtype), rank = array.shape.size();
  const std::vector<uint8_t> from = array.bytes;
  std::array<size_t, kMostAxes> strides{element}, at{};
  for (size_t axis = 1; axis < rank; ++axis)
    strides[axis] = strides[axis - 1] * static_cast<size_t>(array.shape[axis - 1]);
  size_t source = 0;
  for (size_t to = 0; to < from.size(); to += element) {
    std::memcpy(array.bytes.data() + to, from.data() + source, element);
    for (size_t axis = rank; axis-- > 0;) {
      source += strides[axis];
      if (++at[axis] < static_cast<size_t>(array.shape[axis])) break;
      source -= strides[axis] * at[axis];
      at[axis] = 0;
    }
  }
}

/// Of a file: it is held twice while it becomes an array, and memory that is not there would end
/// the process rather than the call.
uint64_t most_bytes() {
  const auto pages = static_cast<uint64_t>(std::max(0L, sysconf(_SC_PHYS_PAGES)));
  return pages / 2 * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

}  // namespace

Array parse_npy(std::span<const std::byte> bytes, const std::string& origin,
                std::optional<DType> as) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  TN_REQUIRE(text.starts_with(kMagic),
             "{}: byte 0: expected the .npy magic \\x93NUMPY, got another file", origin);
  TN_REQUIRE(bytes.size() >= 10, "{}: byte {}: expected a header, got the end of the file", origin,
             bytes.size());
  const int version = static_cast<int>(bytes[6]);
  TN_REQUIRE(version >= 1 && version <= 3, "{}: byte 6: expected format version 1 to 3, got {}",
             origin, version);
  const size_t length_bytes = version == 1 ? 2 : 4;
  TN_REQUIRE(bytes.size() >= 8 + length_bytes,
             "{}: byte 8: expected a header length, got the end of the file", origin);
  const size_t begin = 8 + length_bytes;
  const size_t length = little_endian(bytes.subspan(8, length_bytes));
  TN_REQUIRE(length <= bytes.size() - begin,
             "{}: byte 8: expected a header of {} bytes, got the end of the file", origin, length);
  const auto header = HeaderReader(text.substr(begin, length), begin, origin).read();
  Array array;
  array.dtype = dtype_of(header.descr, as, origin);
  array.shape = header.shape;
  const std::optional<size_t> size = data_size(array.shape, dtype_size(array.dtype));
  const std::span<const std::byte> data = bytes.subspan(begin + length);
  TN_REQUIRE(size == data.size(), "{}: byte {}: expected {} bytes for shape [{}] of {}, got {}",
             origin, begin + length, size ? std::to_string(*size) : "too many",
             fmt::join(array.shape, ", "), dtype_name(array.dtype), data.size());
  array.bytes.resize(data.size());
  if (!data.empty()) std::memcpy(array.bytes.data(), data.data(), data.size());
  if (header.descr.starts_with('>'))
    for (size_t at = 0; at < array.bytes.size(); at += dtype_size(array.dtype))
      std::reverse(array.bytes.data() + at, array.bytes.data() + at + dtype_size(array.dtype));
  if (header.first_axis_fastest) make_last_axis_fastest(array);
  if (array.dtype == DType::kBool) {
    for (uint8_t& value : array.bytes) value = value != 0;
  }
  return array;
}

Array read_npy(const std::string& path, std::optional<DType> as) {
  const std::string text = read_file(path, most_bytes());
  return parse_npy(std::as_bytes(std::span(text)), path, as);
}

namespace {

/// What stands before the elements.
std::string begin_of_npy(const char* op, const Array& array) {
  check_array(op, array);
  std::string header = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}{}), }}",
                                   descr_of(array.dtype), fmt::join(array.shape, ", "),
                                   array.shape.size() == 1 ? "," : "");
  header.append(63 - (10 + header.size()) % 64, ' ').push_back('\n');
  const auto length = static_cast<uint16_t>(header.size());
  const char preamble[4] = {1, 0, static_cast<char>(length & 0xFF), static_cast<char>(length >> 8)};
  return std::string(kMagic).append(preamble, sizeof preamble) + header;
}

std::string_view data_of(const Array& array) {
  return {reinterpret_cast<const char*>(array.bytes.data()), array.bytes.size()};
}

}  // namespace

std::string print_npy(const Array& array) {
  return begin_of_npy("print_npy", array).append(data_of(array));
}

void write_npy(const std::string& path, const Array& array) {
  const std::string begin = begin_of_npy("write_npy", array);
  const std::string_view parts[] = {begin, data_of(array)};
  write_file(path, parts);
}

}  // namespace tenon
