// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/formats/safetensors_header.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <nlohmann/json.hpp>
#include <optional>
#include <unordered_set>

#include "core/support/error.hpp"
#include "frontend/formats/host_array.hpp"

namespace tenon::formats {
namespace {

using Json = nlohmann::json;

constexpr std::string_view kMetadata = "__metadata__";

/// The format's name of a dtype: ours in capitals, of a float's fields after a line: "F8_E4M3".
std::string format_name(DType dtype) {
  std::string name;
  for (const char c : dtype_name(dtype)) {
    if (c == 'e') name += '_';
    name += static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  }
  return name;
}

/// Events of the parser, so that keys which stand twice are seen and nothing is nested deeper than
/// the format has it:  {name: {"dtype": .., "shape": [..], "data_offsets": [.., ..]}}
class HeaderReader {
 public:
  explicit HeaderReader(const std::string& path) : path_(path) {}

  SafetensorsHeader header;

  bool start_object(size_t) {
    if (depth_ == 0) return enter();
    if (depth_ != 1) unexpected("an object");
    if (is_metadata_) return enter();
    keys_.fill(false);
    header.tensors.emplace_back().name = name_;
    return enter();
  }
  bool key(std::string& key) {
    if (depth_ == 1) {
      if (!names_.insert(key).second)
        error("each name once", fmt::format("'{}' again", shortened(key)));
      name_ = key;
      is_metadata_ = key == kMetadata;
      return true;
    }
    if (is_metadata_) {
      if (!header.metadata.try_emplace(key).second)
        error("each key once", fmt::format("'{}' again", shortened(key)));
      key_ = key;
      return true;
    }
    const auto* const found = std::ranges::find(kKeys, key);
    if (found == kKeys.end())
      error("dtype, shape or data_offsets", fmt::format("'{}'", shortened(key)));
    field_ = static_cast<size_t>(found - kKeys.begin());
    if (std::exchange(keys_[field_], true)) error("each key once", fmt::format("'{}' again", key));
    return true;
  }
  bool end_object() {
    --depth_;
    if (depth_ != 1 || is_metadata_) return true;
    for (size_t i = 0; i < kKeys.size(); ++i)
      if (!keys_[i]) error(fmt::format("the key {}", kKeys[i]), "none");
    if (offsets_.size() != 2) error("two data_offsets", std::to_string(offsets_.size()));
    TensorInfo& tensor = header.tensors.back();
    tensor.begin = offsets_[0];
    tensor.end = offsets_[1];
    return true;
  }
  bool start_array(size_t) {
    if (depth_ != 2 || is_metadata_ || field_ == kDType || in_array_) unexpected("an array");
    in_array_ = true;
    if (field_ == kOffsets) offsets_.clear();
    return true;
  }
  bool end_array() {
    in_array_ = false;
    return true;
  }
  bool string(std::string& text) {
    if (depth_ == 2 && is_metadata_) {
      header.metadata[key_] = text;
      return true;
    }
    if (depth_ != 2 || field_ != kDType || in_array_) unexpected("a string");
    const auto dtype = std::ranges::find(all_dtypes(), text, format_name);
    if (dtype == all_dtypes().end())
      error("a dtype that Tenon has", fmt::format("'{}'", shortened(text)));
    header.tensors.back().dtype = *dtype;
    return true;
  }
  bool number_unsigned(uint64_t value) {
    if (!in_array_) unexpected("a number");
    if (field_ == kOffsets) {
      offsets_.push_back(value);
      return true;
    }
    std::vector<int64_t>& shape = header.tensors.back().shape;
    if (value > INT64_MAX) error("sizes below 2^63", std::to_string(value));
    if (shape.size() == kMostAxes) error("at most 16 axes", "more");
    shape.push_back(static_cast<int64_t>(value));
    return true;
  }
  bool number_integer(int64_t value) {
    if (!in_array_) unexpected("a number");
    error("numbers of at least 0", std::to_string(value));
  }
  bool number_float(double, const std::string& text) {
    error("whole numbers below 2^64", fmt::format("{}", shortened(text)));
  }
  bool null() { unexpected("null"); }
  bool boolean(bool) { unexpected("a bool"); }
  bool binary(Json::binary_t&) { unexpected("bytes"); }
  bool parse_error(size_t position, const std::string&, const Json::exception& exception) {
    const std::string_view what = exception.what();  // "[id] parse error at line 1, ..: .."
    fail(ErrorKind::kInvalid, "{}: byte {}: expected a header of JSON, got: {}", path_,
         7 + position, shortened(what.substr(what.find(": ") + 2)));
  }

 private:
  enum Field : size_t { kDType, kShape, kOffsets };
  static constexpr std::array<std::string_view, 3> kKeys = {"dtype", "shape", "data_offsets"};

  bool enter() {
    ++depth_;
    return true;
  }
  [[noreturn]] void error(std::string_view expected, std::string_view got) const {
    fail(ErrorKind::kInvalid, "{}: '{}': expected {}, got {}", path_, shortened(name_), expected,
         got);
  }
  [[noreturn]] void unexpected(std::string_view got) const {
    if (depth_ == 0) error("an object of tensors", got);
    if (depth_ == 1) error("an object", got);
    if (is_metadata_) error("texts", got);
    constexpr std::string_view kinds[] = {"the name of a dtype", "an array of sizes",
                                          "an array of two offsets"};
    error(kinds[field_], got);
  }

  const std::string& path_;
  std::unordered_set<std::string> names_;
  int depth_ = 0;
  std::string name_, key_;  ///< of the tensor, of the metadata
  bool is_metadata_ = false, in_array_ = false;
  size_t field_ = kDType;
  std::array<bool, 3> keys_{};  ///< seen in this tensor
  std::vector<uint64_t> offsets_;
};

std::string range_of(const TensorInfo& tensor) {
  return fmt::format("[{}, {})", tensor.begin, tensor.end);
}

/// Sizes are those of the shapes, and the tensors lie side by side.
void check_ranges(const std::string& path, const std::vector<TensorInfo>& tensors, uint64_t size) {
  std::vector<const TensorInfo*> sorted;
  for (const TensorInfo& tensor : tensors) {
    const std::optional<uint64_t> bytes = byte_size(tensor.dtype, tensor.shape);
    TN_REQUIRE(tensor.begin <= tensor.end && tensor.end <= size,
               "{}: '{}': expected offsets within the {} bytes of data, got {}", path,
               shortened(tensor.name), size, range_of(tensor));
    TN_REQUIRE(bytes == tensor.end - tensor.begin,
               "{}: '{}': expected {} bytes for [{}] of {}, got offsets {}", path,
               shortened(tensor.name), bytes ? std::to_string(*bytes) : "too many",
               fmt::join(tensor.shape, ", "), dtype_name(tensor.dtype), range_of(tensor));
    sorted.push_back(&tensor);
  }
  std::ranges::sort(sorted, {}, [](const TensorInfo* t) { return std::pair(t->begin, t->end); });
  uint64_t at = 0;
  for (const TensorInfo* tensor : sorted) {
    TN_REQUIRE(tensor->begin == at,
               "{}: '{}': expected to begin at {}, where the one before ends, "
               "got offsets {}",
               path, shortened(tensor->name), at, range_of(*tensor));
    at = tensor->end;
  }
  TN_REQUIRE(at == size, "{}: expected {} bytes of data, as the header has them, got {}", path, at,
             size);
}

/// In quotes. Throws kInvalid for what is not UTF-8.
std::string json_text(std::string_view text) {
  try {
    return Json(text).dump();
  } catch (const Json::exception&) {
    fail(ErrorKind::kInvalid, "[write_safetensors] expected names and texts in UTF-8, got '{}'",
         shortened(text));
  }
}

}  // namespace

SafetensorsHeader parse_safetensors_header(const std::string& path, std::string_view text,
                                           uint64_t data_size) {
  TN_REQUIRE(text.starts_with('{'), "{}: byte 8: expected a header of JSON that begins with {{",
             path);
  // nlohmann::json takes a NUL for the end of the text.
  const size_t end = std::min(text.find('\0'), text.size());
  TN_REQUIRE(end == text.size(),
             "{}: byte {}: expected a header of JSON, got {} bytes from a NUL on", path, 8 + end,
             text.size() - end);
  HeaderReader reader(path);
  Json::sax_parse(text.begin(), text.end(), &reader);
  check_ranges(path, reader.header.tensors, data_size);
  return std::move(reader.header);
}

std::string print_safetensors_header(const SafetensorsHeader& header) {
  std::vector<std::string> rows;
  if (!header.metadata.empty()) {
    std::vector<std::string> pairs;
    for (const auto& [key, value] : header.metadata)
      pairs.push_back(json_text(key) + ":" + json_text(value));
    rows.push_back(fmt::format("\"{}\":{{{}}}", kMetadata, fmt::join(pairs, ",")));
  }
  for (const TensorInfo& tensor : header.tensors) {
    TN_REQUIRE(std::ranges::count(all_dtypes(), tensor.dtype) == 1,
               "[write_safetensors] '{}': expected a dtype of tensors, got {}",
               shortened(tensor.name), dtype_name(tensor.dtype));
    rows.push_back(fmt::format(R"({}:{{"dtype":"{}","shape":[{}],"data_offsets":[{},{}]}})",
                               json_text(tensor.name), format_name(tensor.dtype),
                               fmt::join(tensor.shape, ","), tensor.begin, tensor.end));
  }
  std::string text = fmt::format("{{{}}}", fmt::join(rows, ","));
  text.append((8 - text.size() % 8) % 8, ' ');
  return text;
}

}  // namespace tenon::formats
