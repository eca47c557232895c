// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The files of examples/90_null_backend and 92_gccjit, put into the program when it is built.
#pragma once

#include <span>
#include <string_view>

namespace tenon::cli {

struct TemplateFile {
  std::string_view backend;  ///< "null" or "gccjit"
  std::string_view name;     ///< without folders
  std::string_view text;
};

std::span<const TemplateFile> template_files();

}  // namespace tenon::cli
