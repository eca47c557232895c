// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the handles of tenon.h are, and how a function of it fails. Internal to the library.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <exception>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tenon/context.hpp"
#include "tenon/error.hpp"
#include "tenon/function.hpp"
#include "tenon/tenon.h"
#include "tenon/tensor.hpp"

// The context goes with the last that was made of it.
struct tenon_context {
  std::shared_ptr<tenon::Context> context;
};
struct tenon_tensor {
  std::shared_ptr<tenon::Context> context;
  tenon::Tensor tensor;
};
struct tenon_graph {
  std::shared_ptr<tenon::Context> context;
  tenon::Function function;
  std::vector<tenon::FunctionValue> inputs, outputs;
  tenon_graph(std::shared_ptr<tenon::Context> of, const tenon::Function& f)
      : context(std::move(of)),
        function(f),
        inputs(function.inputs()),
        outputs(function.outputs()) {}
};

namespace tenon::c {

/// Keeps the message for tenon_last_error, and answers the code.
tenon_status failed(std::exception_ptr error) noexcept;
tenon_status code_of(ErrorKind kind);

/// Calls f; what it throws becomes the status.
template <class F>
tenon_status guarded(const F& f) noexcept {
  try {
    f();
    return TENON_OK;
  } catch (...) {
    return failed(std::current_exception());
  }
}

template <class... A>
[[noreturn]] void refuse(fmt::format_string<A...> text, A&&... args) {
  throw Error(ErrorKind::kInvalid, fmt::format(text, std::forward<A>(args)...));
}

/// What a caller must give.
template <class T>
T& given(const char* call, const char* name, T* pointer) {
  if (pointer == nullptr) refuse("[{}] expected {}, got null", call, name);
  return *pointer;
}

/// A struct that begins with its size, from a caller who was built with a header of another age: as
/// many bytes as both know, the rest zero.
template <class T>
T read_struct(const char* call, const char* name, const T& from, uint32_t smallest) {
  if (from.size < smallest)
    refuse("[{}] expected {}.size of at least {}, got {}", call, name, smallest, from.size);
  T out{};
  std::memcpy(&out, &from, std::min<size_t>(from.size, sizeof out));
  return out;
}
template <class T>
void write_struct(const char* call, const char* name, T from, T* to, uint32_t smallest) {
  const uint32_t size = given(call, name, to).size;
  if (size < smallest)
    refuse("[{}] expected {}.size of at least {}, got {}", call, name, smallest, size);
  from.size = size;
  std::memcpy(to, &from, std::min<size_t>(size, sizeof from));
  if (size > sizeof from)
    std::memset(reinterpret_cast<char*>(to) + sizeof from, 0, size - sizeof from);
}

/// The whole text with its zero byte.
void write_text(const char* call, std::string_view text, char* out, uint64_t capacity);
/// As much of it as there is room for.
void write_part(const char* call, std::string_view text, char* out, uint64_t capacity,
                uint64_t* length);

}  // namespace tenon::c
