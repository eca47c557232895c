// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tenon/formats/safetensors.hpp"

#include <algorithm>
#include <bit>
#include <numeric>
#include <unordered_map>
#include <unordered_set>

#include "core/support/error.hpp"
#include "frontend/formats/host_array.hpp"
#include "frontend/formats/input_file.hpp"
#include "frontend/formats/safetensors_header.hpp"
#include "tenon/file_io.hpp"
#include "tenon/make.hpp"

namespace tenon::formats {
namespace {

static_assert(std::endian::native == std::endian::little, "files are little-endian");

constexpr uint64_t kLengthBytes = 8;

/// What the header's first bytes say, held against the file.
uint64_t header_length(const InputFile& file) {
  TN_REQUIRE(file.size() >= kLengthBytes,
             "{}: expected a safetensors file of at least 8 bytes, got {}", file.path(),
             file.size());
  uint64_t length = 0;
  file.read(0, &length, kLengthBytes);
  TN_REQUIRE(length <= std::min(kMostHeader, file.size() - kLengthBytes),
             "{}: byte 0: expected a header of at most {} bytes, got a length of {}", file.path(),
             std::min(kMostHeader, file.size() - kLengthBytes), length);
  return length;
}

}  // namespace

struct SafetensorsFile::State {
  explicit State(const std::string& path) : file(path) {}
  InputFile file;
  uint64_t data_begin = 0;
  SafetensorsHeader header;
  std::unordered_map<std::string_view, const TensorInfo*> by_name;
};

SafetensorsFile::SafetensorsFile(const std::string& path) : state_(std::make_unique<State>(path)) {
  const uint64_t length = header_length(state_->file);
  std::string text(length, '\0');
  state_->file.read(kLengthBytes, text.data(), length);
  state_->data_begin = kLengthBytes + length;
  state_->header = parse_safetensors_header(path, text, state_->file.size() - state_->data_begin);
  for (const TensorInfo& tensor : state_->header.tensors)
    state_->by_name.emplace(tensor.name, &tensor);
}

SafetensorsFile::SafetensorsFile(SafetensorsFile&&) noexcept = default;
SafetensorsFile& SafetensorsFile::operator=(SafetensorsFile&&) noexcept = default;
SafetensorsFile::~SafetensorsFile() = default;

const SafetensorsFile::State& SafetensorsFile::state() const {
  TN_REQUIRE(state_, "[safetensors] expected an open file, got one that was moved from");
  return *state_;
}

const std::vector<TensorInfo>& SafetensorsFile::tensors() const { return state().header.tensors; }
const Metadata& SafetensorsFile::metadata() const { return state().header.metadata; }

const TensorInfo* SafetensorsFile::find(std::string_view name) const {
  const auto found = state().by_name.find(name);
  return found == state().by_name.end() ? nullptr : found->second;
}

Array SafetensorsFile::read(std::string_view name) const {
  const TensorInfo* tensor = find(name);
  TN_REQUIRE(tensor != nullptr, "{}: expected a tensor '{}', got a file without it",
             state().file.path(), shortened(name));
  Array array = host_array(state().file.path(), tensor->dtype, tensor->shape);
  state().file.read(state().data_begin + tensor->begin, array.bytes.data(), array.bytes.size());
  if (array.dtype == DType::kBool)
    for (uint8_t& value : array.bytes) value = value != 0;
  return array;
}

Safetensors read_safetensors(const std::string& path, Context& context) {
  const SafetensorsFile file(path);
  Safetensors out{{}, file.metadata()};
  for (const TensorInfo& tensor : file.tensors())
    out.tensors.emplace_back(tensor.name, tenon::tensor(file.read(tensor.name), context));
  return out;
}

void write_safetensors(const std::string& path, const NamedArrays& arrays,
                       const Metadata& metadata) {
  std::unordered_set<std::string_view> names;
  for (const auto& [name, array] : arrays) {
    TN_REQUIRE(name != "__metadata__" && names.insert(name).second,
               "[write_safetensors] expected each name once and none to be __metadata__, got '{}'",
               shortened(name));
    check_array("write_safetensors", name, array);
  }
  std::vector<size_t> order(arrays.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order, std::greater(),
                           [&](size_t i) { return dtype_size(arrays[i].second.dtype); });
  SafetensorsHeader header{std::vector<TensorInfo>(arrays.size()), metadata};
  std::vector<std::string_view> parts(2);
  uint64_t at = 0;
  for (const size_t i : order) {
    const auto& [name, array] = arrays[i];
    header.tensors[i] = {name, array.dtype, array.shape, at, at + array.bytes.size()};
    at += array.bytes.size();
    parts.emplace_back(reinterpret_cast<const char*>(array.bytes.data()), array.bytes.size());
  }
  const std::string text = print_safetensors_header(header);
  TN_REQUIRE(text.size() <= kMostHeader,
             "[write_safetensors] expected a header of at most {} bytes, got {}", kMostHeader,
             text.size());
  const uint64_t length = text.size();
  parts[0] = {reinterpret_cast<const char*>(&length), kLengthBytes};
  parts[1] = text;
  write_file(path, parts);
}

void write_safetensors(const std::string& path, const NamedTensors& tensors,
                       const Metadata& metadata) {
  write_safetensors(path, to_arrays(tensors), metadata);
}

}  // namespace tenon::formats
