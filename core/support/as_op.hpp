// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A public function that is made of others names itself in what they refuse.
#pragma once

#include "core/support/error.hpp"

namespace tenon {

/// Throws `error` as one of `op`, which the caller has called: "[max] expected .." as "[clip]
/// expected ..". What is not the caller's mistake stays.
[[noreturn]] void throw_as_op(const char* op, const Error& error);

/// What `f` returns.
template <class F>
auto as_op(const char* op, const F& f) {
  try {
    return f();
  } catch (const Error& error) {
    throw_as_op(op, error);
  }
}

}  // namespace tenon
