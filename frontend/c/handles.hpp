// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the handles of tenon.h are, and how a function of it fails. Internal to the library.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <exception>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sdk/support/float_state.hpp"
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
  mutable std::atomic<int> uses = 0;  ///< calls under way; -1: one that donates it
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

/// Calls f with a FloatState; what it throws becomes the status.
template <class F>
tenon_status guarded(const F& f) noexcept {
  const sdk::FloatState floats;
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

/// A call that uses a tensor. Nobody waits, as a child made by fork would wait for ever. Throws
/// where another thread donates it, and, for who donates it, where another thread uses it.
class Use {
 public:
  Use(const char* call, const tenon_tensor& tensor, bool donates = false)
      : uses_(tensor.uses), donates_(donates) {
    int before = uses_.load();
    do {
      if (before < 0)
        refuse("[{}] expected a tensor with a value, got one that another thread donates", call);
      if (donates && before > 0)
        refuse(
            "[{}] expected a donated input that nothing else needs, got one that another thread "
            "uses",
            call);
    } while (!uses_.compare_exchange_weak(before, donates ? -1 : before + 1));
  }
  ~Use() {
    if (donates_)
      uses_ = 0;
    else
      --uses_;
  }
  Use(const Use&) = delete;
  Use& operator=(const Use&) = delete;

 private:
  std::atomic<int>& uses_;
  const bool donates_;
};

/// The size that a caller set, who may have been built with a header of another age.
inline uint32_t size_of_struct(const char* call, const char* name, uint32_t size,
                               uint32_t smallest) {
  constexpr uint32_t kLargest = 4096;  // more was never set
  if (size < smallest)
    refuse("[{}] expected {}.size of at least {}, got {}", call, name, smallest, size);
  if (size > kLargest)
    refuse("[{}] expected {}.size of at most {}, got {}", call, name, kLargest, size);
  return size;
}

/// As many bytes as both know, the rest zero. Throws where a newer caller asks for something.
template <class T>
T read_struct(const char* call, const char* name, const T& from, uint32_t smallest) {
  const uint32_t size = size_of_struct(call, name, from.size, smallest);
  const auto* const bytes = reinterpret_cast<const unsigned char*>(&from);
  for (size_t i = sizeof from; i < size; ++i)
    if (bytes[i] != 0)
      refuse("[{}] expected zeros from byte {} of {} on, which a newer library knows, got {} at {}",
             call, sizeof from, name, bytes[i], i);
  T out{};
  std::memcpy(&out, bytes, std::min<size_t>(size, sizeof out));
  return out;
}
template <class T>
void write_struct(const char* call, const char* name, T from, T* to, uint32_t smallest) {
  const uint32_t size = size_of_struct(call, name, given(call, name, to).size, smallest);
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
