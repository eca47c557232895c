// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How a model is used: to learn or to answer, and where its random numbers come from.
#pragma once

#include <memory>

#include "tenon/export.hpp"
#include "tenon/random.hpp"

namespace tenon::nn {

/// A cheap handle; copies draw from one source. By default a model answers: nothing is dropped, and
/// running statistics are used and not changed.
class TENON_API Mode {
 public:
  Mode() = default;
  /// The model learns; `key`, which is used up, is split for each layer that draws.
  static Mode training(const Key& key);
  /// The model learns, and no layer of it draws: one that does throws kInvalid.
  static Mode training();

  bool is_training() const { return is_training_; }
  /// A new one at each call. Throws kInvalid, naming `layer`, if there was no key.
  Key key(const char* layer) const;

 private:
  bool is_training_ = false;
  std::shared_ptr<Key> rest_;
};

}  // namespace tenon::nn
