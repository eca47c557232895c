// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a context says when it goes or the process ends, whichever is first: the standard context
// never goes.
#pragma once

#include <functional>

#include "core/support/process.hpp"

namespace tenon {

class AtEnd {
 public:
  /// Calls `say` once, in the process that made this.
  explicit AtEnd(std::function<void()> say);
  ~AtEnd();
  AtEnd(const AtEnd&) = delete;
  AtEnd& operator=(const AtEnd&) = delete;

 private:
  static void say_all();
  void say() const;
  const std::function<void()> say_;
  const Birthplace made_in_ = birthplace();
  AtEnd* next_ = nullptr;
};

}  // namespace tenon
