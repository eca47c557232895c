// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Creates a program, compiles it, reads the results and destroys it.
#include "sdk/stream/compiler.hpp"

#include <fmt/format.h>

#include <memory>

#include "sdk/support/failure.hpp"

namespace tenon::sdk {
namespace {

constexpr size_t kLogInMessage = 400;  // what fits into a tn_error

std::string trimmed_text(const std::vector<std::byte>& bytes) {
  std::string text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  while (!text.empty() && (text.back() == '\0' || text.back() == '\n')) text.pop_back();
  return text;
}

}  // namespace

RuntimeCompiler::RuntimeCompiler(std::span<const std::string> libraries, const std::string& prefix,
                                 const char* code, const char* text)
    : library_(libraries) {
  if (!library_) throw Failure(TN_ERROR_NOT_FOUND, library_.reason());
  int (*version)(int*, int*) = nullptr;
  std::string missing;
  const auto bind = [&](const std::string& name, void* slot) {
    const std::string symbol = prefix + name;
    const SymbolRow row{symbol.c_str(), slot};
    if (missing.empty()) missing = load_symbols(library_, std::span(&row, 1));
  };
  bind("CreateProgram", &create_);
  bind("CompileProgram", &compile_);
  bind("DestroyProgram", &destroy_);
  bind("GetProgramLogSize", &log_size_);
  bind("GetProgramLog", &log_);
  bind("GetErrorString", &error_text_);
  bind("Version", &version);
  bind(fmt::format("Get{}Size", code), &code_size_);
  bind(fmt::format("Get{}", code), &code_);
  if (text) bind(fmt::format("Get{}Size", text), &text_size_);
  if (text) bind(fmt::format("Get{}", text), &text_);
  if (!missing.empty()) throw Failure(TN_ERROR_NOT_FOUND, missing);
  int minor = 0;
  check(version(&major_, &minor), "version");
  version_ = fmt::format("{}.{}", major_, minor);
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
  out.log = trimmed_text(read(made, log_size_, log_));
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
