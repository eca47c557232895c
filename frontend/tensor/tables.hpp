// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Numbers that depend on sizes alone, computed once a context. Internal to the library.
#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <string>

#include "tenon/tensor.hpp"

namespace tenon {

class Tables {
 public:
  /// The table of this name, which says all that it depends on but the dtype, with make()'s
  /// elements, rounded.
  Tensor get(Context& context, const std::string& name, DType dtype, std::vector<int64_t> shape,
             const std::function<std::vector<double>()>& make);

 private:
  static constexpr int64_t kMostElements = int64_t{1} << 23;  ///< kept; beyond, all are dropped
  std::mutex mutex_;
  std::map<std::pair<std::string, DType>, Tensor> known_;
  int64_t elements_ = 0;
};

}  // namespace tenon
