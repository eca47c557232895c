// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A run-time compiler of a vendor. NVRTC and hiprtc have the same functions under different names.
// Sources: the NVRTC documentation and HIP's hiprtc.h.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "sdk/backend/shared_library.hpp"

namespace tenon::sdk {

struct ApiProgram;

/// The result of a compilation.
struct Compiled {
  std::vector<std::byte> bytes;
  std::string log;  ///< of the compiler: warnings, and the output of -v
};

class RuntimeCompiler {
 public:
  /// Opens the first library of `libraries`. Functions are named `prefix`CreateProgram and so on;
  /// code is read by `prefix`Get`code`, and where `text` is not null assembly by `prefix`Get`text`.
  /// Throws TN_ERROR_NOT_FOUND with the reason.
  RuntimeCompiler(std::span<const std::string> libraries, const std::string& prefix,
                  const char* code, const char* text);

  enum class Output { kCode, kText };
  /// Throws TN_ERROR_COMPILE_FAILED with the log. kText needs `text`.
  Compiled compile(const std::string& source, std::span<const std::string> options,
                   Output output) const;
  const SharedLibrary& library() const { return library_; }
  /// As "13.0".
  const std::string& version() const { return version_; }
  int major_version() const { return major_; }

 private:
  using Size = int (*)(ApiProgram*, size_t*);
  using Bytes = int (*)(ApiProgram*, char*);
  std::vector<std::byte> read(ApiProgram* program, Size size, Bytes bytes) const;
  void check(int code, const char* what) const;

  SharedLibrary library_;
  std::string version_;
  int major_ = 0;
  int (*create_)(ApiProgram**, const char* source, const char* name, int headers,
                 const char* const* header_texts, const char* const* header_names) = nullptr;
  int (*compile_)(ApiProgram*, int count, const char* const* options) = nullptr;
  int (*destroy_)(ApiProgram**) = nullptr;
  const char* (*error_text_)(int) = nullptr;
  Size log_size_ = nullptr, code_size_ = nullptr, text_size_ = nullptr;
  Bytes log_ = nullptr, code_ = nullptr, text_ = nullptr;
};

}  // namespace tenon::sdk
