// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Datasets: examples by their number, as plain values.
//
//   const data::ImageFolder folder = data::image_folder("train");
//   const data::Dataset train = data::map(folder.dataset(), data::chain({
//       data::random_crop(32, 32, 4), data::random_flip(), data::normalise({0.5}, {0.25})}));
//   data::Loader loader(train, {.batch = 64, .seed = 1});
//   const std::vector<Tensor> batch = loader.next();  // images f32 [64, 3, 32, 32], labels i64
//   [64]
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "tenon/array.hpp"
#include "tenon/data/draws.hpp"
#include "tenon/export.hpp"
#include "tenon/tensor.hpp"

namespace tenon::data {

/// One example: its parts in an order that the dataset chooses, as an image and its label.
using Example = std::vector<Array>;

/// `get` takes an index in [0, size) and the random numbers that are this example's. Loaders call
/// it from several threads at once; what it throws reaches who asked for the batch.
struct Dataset {
  int64_t size = 0;
  std::function<Example(int64_t index, Draws& draws)> get;
};

/// Example i is the i-th element along the first axis of each array. Throws kInvalid unless all
/// have the same number of them.
TENON_API Dataset from_arrays(std::vector<Array> arrays);
/// The same of tensors, which are read to the host once.
TENON_API Dataset from_tensors(const std::vector<Tensor>& tensors);
/// Those at the given indices, in their order.
TENON_API Dataset subset(Dataset dataset, std::vector<int64_t> indices);

/// The PNG and JPEG files of a folder whose sub-folders are the classes: both sorted by name.
struct TENON_API ImageFolder {
  std::vector<std::string> classes;
  std::vector<std::string> files;
  std::vector<int64_t> labels;  ///< of each file, a place in `classes`

  /// Examples are the image, u8 [height, width, channels], and its label, i64 []. Files are read
  /// as they are asked for.
  Dataset dataset(int channels = 3) const;
};
/// Throws kEnvironment for what the system refuses, kInvalid for a folder without classes or
/// without images.
TENON_API ImageFolder image_folder(const std::string& path);

/// Changes an example.
using Transform = std::function<void(Example& example, Draws& draws)>;
TENON_API Dataset map(Dataset dataset, Transform transform);

}  // namespace tenon::data
