// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tenon/train/batches.hpp"

namespace tenon::train {

Batches::Batches(std::function<std::vector<Tensor>()> source) : next(std::move(source)) {}

Batches::Batches(data::Loader& loader)
    : next([&loader] { return loader.next(); }),
      position([&loader] { return loader.position(); }),
      seek([&loader](const data::Position& to) { loader.seek(to); }),
      in_epoch(loader.batches()) {}

Batches::Batches(std::vector<Tensor> tensors)
    : next([tensors = std::move(tensors)] { return tensors; }) {}

}  // namespace tenon::train
