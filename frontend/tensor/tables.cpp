// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/tensor/tables.hpp"

#include "core/support/error.hpp"
#include "core/support/process.hpp"
#include "tenon/make.hpp"

namespace tenon {

Tensor Tables::get(Context& context, const std::string& name, DType dtype,
                   std::vector<int64_t> shape, const std::function<std::vector<double>()>& make) {
  const ForkHold hold;  // before the lock: at its end arrays of others are given back
  const std::lock_guard lock(mutex_);
  const std::pair<std::string, DType> key{name, dtype};
  if (const auto found = known_.find(key); found != known_.end()) return found->second;
  const std::vector<double> values = make();
  Array array = Array::zeros(dtype, std::move(shape));
  TN_ASSERT(array.count() == static_cast<int64_t>(values.size()));
  for (int64_t i = 0; i < array.count(); ++i)
    array.set(i, Scalar::of(dtype, values[static_cast<size_t>(i)]));
  Tensor table = tensor(array, context);
  if (elements_ > kMostElements) known_.clear(), elements_ = 0;
  elements_ += array.count();
  known_.emplace(key, table);
  return table;
}

}  // namespace tenon
