// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// tenon-gccjit PROGRAM LIBRARY: compiles a program to a shared library with a function `kernel`.
// tenon-gccjit --version: which libgccjit does.
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <vector>

#include "builder.hpp"
#include "sdk/program/builder.hpp"
#include "sdk/program/verify.hpp"
#include "sdk/walk/walk.hpp"

int main(int count, char** words) try {
  if (count == 2 && std::string_view(words[1]) == "--version") {
    std::printf("libgccjit %d.%d.%d\n", gcc_jit_version_major(), gcc_jit_version_minor(),
                gcc_jit_version_patchlevel());
    return 0;
  }
  if (count != 3) throw std::runtime_error("expected PROGRAM and LIBRARY");
  std::ifstream in(words[1], std::ios::binary);
  const std::vector<char> bytes{std::istreambuf_iterator<char>(in),
                                std::istreambuf_iterator<char>()};
  const tenon::sdk::Program program = tenon::sdk::load_program(std::as_bytes(std::span(bytes)));
  gccjit::Builder builder(program.view());
  tenon::sdk::walk(program.view(), builder);
  builder.compile_to(words[2]);
  std::_Exit(0);  // libgccjit leaves memory behind, which leak checkers would tell
} catch (const std::exception& error) {
  std::fprintf(stderr, "tenon-gccjit: %s\n", error.what());
  return 1;
}
