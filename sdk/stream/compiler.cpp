// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Create, compile, read, destroy.
#include "sdk/stream/compiler.hpp"

#include <fmt/format.h>

#include <memory>

#include "sdk/helpers/failure.hpp"

namespace tenon::sdk {
namespace {

constexpr size_t kLogInMessage = 400;  // what fits into a tn_error

std::string text_of(const std::vector<std::byte>& bytes) {
  std::string text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  while (!text.empty() && (text.back() == '\0' || text.back() == '\n')) text.pop_back();
  return text;
}

}  // namespace

RuntimeCompiler::RuntimeCompiler(std::span<const std::string> libraries, const Names& names)
    : library_(libraries) {
  if (!library_) throw Failure(TN_ERROR_NOT_FOUND, library_.reason());
  int (*version)(int*, int*) = nullptr;
  const SymbolRow rows[] = {
      {names.create, &create_},   {names.compile, &compile_},
      {names.destroy, &destroy_}, {names.log_size, &log_size_},
      {names.log, &log_},         {names.error_text, &error_text_},
      {names.version, &version},  {names.code_size, &code_size_},
      {names.code, &code_},
  };
  std::string missing = load_symbols(library_, rows);
  if (missing.empty() && names.text) {
    const SymbolRow more[] = {{names.text_size, &text_size_}, {names.text, &text_}};
    missing = load_symbols(library_, more);
  }
  if (!missing.empty()) throw Failure(TN_ERROR_NOT_FOUND, missing);
  int major = 0, minor = 0;
  check(version(&major, &minor), "version");
  version_ = fmt::format("{}.{}", major, minor);
}

void RuntimeCompiler::check(int code, const char* what) const {
  if (code == 0) return;
  throw Failure(TN_ERROR_INTERNAL,
                fmt::format("{}: {}: {}", library_.name(), what, error_text_(code)), code);
}

std::vector<std::byte> RuntimeCompiler::read(ApiProgram* program, Size size, Bytes bytes) const {
  size_t count = 0;
  check(size(program, &count), "size");
  std::vector<std::byte> out(count);
  if (count) check(bytes(program, reinterpret_cast<char*>(out.data())), "read");
  return out;
}

Compiled RuntimeCompiler::compile(const std::string& source, std::span<const std::string> options,
                                  Output output) const {
  ApiProgram* made = nullptr;
  check(create_(&made, source.c_str(), "kernel", 0, nullptr, nullptr), "program");
  const auto destroy = [this](ApiProgram* program) { destroy_(&program); };
  const std::unique_ptr<ApiProgram, decltype(destroy)> program(made, destroy);
  std::vector<const char*> pointers;
  for (const std::string& option : options) pointers.push_back(option.c_str());
  const int code = compile_(made, static_cast<int>(pointers.size()), pointers.data());
  Compiled out;
  out.log = text_of(read(made, log_size_, log_));
  if (code != 0) {
    throw Failure(
        TN_ERROR_COMPILE_FAILED,
        fmt::format("{}: {}: {:.{}}", library_.name(), error_text_(code), out.log, kLogInMessage),
        code);
  }
  const bool is_code = output == Output::kCode;
  out.bytes = read(made, is_code ? code_size_ : text_size_, is_code ? code_ : text_);
  return out;
}

}  // namespace tenon::sdk
