// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The safetensors format (github.com/huggingface/safetensors): named tensors in one file, behind a
// header of JSON that tells where each lies.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tenon/array.hpp"
#include "tenon/export.hpp"
#include "tenon/formats/named.hpp"
#include "tenon/tensor.hpp"

namespace tenon::formats {

/// What the header says of one tensor. Its bytes are [begin, end) of what follows the header.
struct TensorInfo {
  std::string name;
  DType dtype = DType::kVoid;
  std::vector<int64_t> shape;
  uint64_t begin = 0, end = 0;
};

/// A file whose header was read and found whole: names are told apart, sizes equal shapes, and the
/// tensors lie one behind the other up to the end of the file. It stays open, so that what is read
/// later comes from the same file, even if another took its name since. One that was moved from
/// throws kInvalid where it is used.
class TENON_API SafetensorsFile {
 public:
  /// Throws kEnvironment for what the system refuses, kInvalid for a file that is not whole or has
  /// a dtype that Tenon has not, with the file, the tensor, what was expected and what was found.
  explicit SafetensorsFile(const std::string& path);
  SafetensorsFile(SafetensorsFile&&) noexcept;
  SafetensorsFile& operator=(SafetensorsFile&&) noexcept;
  ~SafetensorsFile();

  const std::vector<TensorInfo>& tensors() const;  ///< in the header's order
  const std::map<std::string, std::string>& metadata() const;
  /// nullptr: there is none of that name.
  const TensorInfo* find(std::string_view name) const;
  /// Throws kInvalid for a name that is not there, kOutOfMemory.
  Array read(std::string_view name) const;

 private:
  struct State;
  const State& state() const;
  std::unique_ptr<State> state_;
};

using Metadata = std::map<std::string, std::string>;

struct Safetensors {
  NamedTensors tensors;  ///< in the header's order, on the context's default device
  Metadata metadata;
};

/// All tensors of a file; throws as SafetensorsFile does.
TENON_API Safetensors read_safetensors(const std::string& path,
                                       Context& context = Context::standard());

/// The header names the tensors in their order; those of wider elements lie before others, so that
/// each is aligned to its element. The file is there as a whole or not at all, and an error leaves
/// an old one as it was (tenon/file_io.hpp, `write_file`). Throws kInvalid for names that are not
/// UTF-8, stand twice or are "__metadata__".
TENON_API void write_safetensors(const std::string& path, const NamedTensors& tensors,
                                 const Metadata& metadata = {});
TENON_API void write_safetensors(const std::string& path, const NamedArrays& arrays,
                                 const Metadata& metadata = {});

}  // namespace tenon::formats
