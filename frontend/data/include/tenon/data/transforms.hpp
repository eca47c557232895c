// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is done to images before they are learned from: the first part of an example, u8 [height,
// width, channels]. Those that choose draw from the example's own random numbers. What does not fit
// throws kInvalid where the example is made.
#pragma once

#include <vector>

#include "tenon/data/dataset.hpp"

namespace tenon::data {

/// One after the other.
TENON_API Transform chain(std::vector<Transform> transforms);
/// The middle; throws for an image that is smaller.
TENON_API Transform crop(int64_t height, int64_t width);
/// Any place of the image with `padding` zeros around it.
TENON_API Transform random_crop(int64_t height, int64_t width, int64_t padding = 0);
/// Left becomes right with a chance of p.
TENON_API Transform random_flip(double p = 0.5);
/// (x / 255 - mean) / deviation as f32 [channels, height, width], which is what convolutions take;
/// one number for all channels or one for each.
TENON_API Transform normalise(std::vector<float> mean, std::vector<float> deviation);

}  // namespace tenon::data
