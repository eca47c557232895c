// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Datasets of arrays and folders, transforms of images, and the draws that they take.
#include "tenon/data/dataset.hpp"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cmath>
#include <set>

#include "tenon/data/loader.hpp"
#include "tenon/data/transforms.hpp"
#include "tenon/error.hpp"
#include "tenon/formats/image.hpp"
#include "tenon/make.hpp"
#include "tests/formats/files.hpp"
#include "tests/tensor/devices.hpp"

using namespace tenon;
using namespace tenon::data;
using namespace tenon::test;
using Catch::Matchers::ContainsSubstring;

namespace {

/// u8 [height, width, channels] that counts up.
Array picture(int64_t height, int64_t width, int64_t channels) {
  Array image = Array::zeros(DType::kU8, {height, width, channels});
  for (size_t i = 0; i < image.bytes.size(); ++i) image.bytes[i] = static_cast<uint8_t>(i);
  return image;
}

Array applied(const Transform& transform, Array image, uint64_t index = 0) {
  Example example = {std::move(image)};
  Draws draws(1, 0, index);
  transform(example, draws);
  return example[0];
}

Example get(const Dataset& dataset, int64_t index) {
  Draws draws(0, 0, static_cast<uint64_t>(index));
  return dataset.get(index, draws);
}

}  // namespace

TEST_CASE("draws are a function of seed, epoch and index") {
  std::set<uint64_t> seen;
  for (uint64_t seed = 0; seed < 10; ++seed)
    for (uint64_t epoch = 0; epoch < 10; ++epoch)
      for (uint64_t index = 0; index < 10; ++index) {
        Draws draws(seed, epoch, index), again(seed, epoch, index);
        const uint64_t bits = draws.bits();
        CHECK(bits == again.bits());
        seen.insert(bits);
      }
  CHECK(seen.size() == 1000);
  Draws draws(1, 2, 3);
  std::vector<int> counts(7);
  double sum = 0;
  for (int i = 0; i < 70'000; ++i) {
    ++counts[static_cast<size_t>(draws.below(7))];
    sum += draws.uniform();
  }
  for (const int count : counts) CHECK(std::abs(count - 10'000) < 500);  // five deviations
  CHECK(std::abs(sum / 70'000 - 0.5) < 0.006);
  CHECK_THROWS_WITH(draws.below(0), ContainsSubstring("a count above 0"));
}

TEST_CASE("every order of shuffling comes about equally often") {
  std::vector<std::vector<int64_t>> orders;
  for (uint64_t epoch = 0; epoch < 6000; ++epoch) orders.push_back(shuffled(3, 11, epoch));
  std::vector<int64_t> order = {0, 1, 2};
  do CHECK(std::abs(std::ranges::count(orders, order) - 1000) < 150);  // five deviations
  while (std::ranges::next_permutation(order).found);
  CHECK(shuffled(0, 1, 1).empty());
}

TEST_CASE("examples of arrays are their elements") {
  const Dataset dataset = from_arrays({picture(3, 2, 2), picture(3, 1, 1)});
  REQUIRE(dataset.size == 3);
  const Example example = get(dataset, 1);
  CHECK(example[0] == Array{DType::kU8, {2, 2}, {4, 5, 6, 7}});
  CHECK(example[1] == Array{DType::kU8, {1, 1}, {1}});
  const Dataset part = subset(dataset, {2, 0});
  CHECK(part.size == 2);
  CHECK(get(part, 0)[1].bytes == std::vector<uint8_t>{2});
  CHECK_THROWS_WITH(get(part, 2), ContainsSubstring("an index in [0, 2), got 2"));
  CHECK_THROWS_WITH(subset(dataset, {3}), ContainsSubstring("an index in [0, 3), got 3"));
  CHECK_THROWS_WITH(get(dataset, -1), ContainsSubstring("got -1"));
  CHECK_THROWS_WITH(from_arrays({}), ContainsSubstring("at least one array"));
  CHECK_THROWS_WITH(from_arrays({picture(3, 1, 1), picture(2, 1, 1)}),
                    ContainsSubstring("equally many"));
  CHECK_THROWS_WITH(from_arrays({Array::zeros(DType::kF32, {})}),
                    ContainsSubstring("equally many"));
  on_each_device([](Context& context) {
    const Tensor x = arange(6, DType::kF32, context).reshape({3, 2}) + 1;
    CHECK(get(from_tensors({x}), 2)[0].at(1).as_double() == 6);
  });
}

TEST_CASE("images are cropped in the middle and at random places") {
  CHECK(applied(crop(1, 2), picture(3, 4, 1)).bytes == std::vector<uint8_t>{5, 6});
  CHECK(applied(crop(3, 4), picture(3, 4, 2)) == picture(3, 4, 2));
  std::set<std::vector<uint8_t>> seen;
  for (uint64_t i = 0; i < 300; ++i)
    seen.insert(applied(random_crop(2, 2), picture(3, 4, 1), i).bytes);
  CHECK(seen.size() == 6);
  CHECK(seen.contains({0, 1, 4, 5}));
  CHECK(seen.contains({6, 7, 10, 11}));
  seen.clear();
  for (uint64_t i = 0; i < 300; ++i)
    seen.insert(applied(random_crop(1, 1, 1), Array{DType::kU8, {1, 1, 1}, {9}}, i).bytes);
  CHECK(seen == std::set<std::vector<uint8_t>>{{0}, {9}});
  CHECK_THROWS_WITH(applied(crop(4, 4), picture(3, 4, 1)), ContainsSubstring("at least 4 x 4"));
  CHECK_THROWS_WITH(applied(random_crop(6, 4, 1), picture(3, 4, 1)),
                    ContainsSubstring("with 1 around it"));
  CHECK_THROWS_WITH(crop(0, 1), ContainsSubstring("a size above 0"));
  CHECK_THROWS_WITH(random_crop(1, 1, -1), ContainsSubstring("a padding of at least 0"));
}

TEST_CASE("arrays whose bytes are not those of their shape are refused") {
  constexpr int64_t kLong = int64_t{1} << 32;
  for (const std::vector<int64_t>& shape :
       {std::vector<int64_t>{kLong, kLong}, {2, -1}, {2, 2}, {kLong, 1, 0, -1}}) {
    CHECK_THROWS_WITH(from_arrays({Array{DType::kF32, shape, {}}}),
                      ContainsSubstring("[from_arrays] expected the bytes of f32 ["));
  }
  for (const Transform& transform :
       {crop(1, 1), random_crop(1, 1), random_flip(1), normalise({0}, {1})}) {
    CHECK_THROWS_WITH(applied(transform, Array{DType::kU8, {4, 4, 3}, {1, 2, 3}}),
                      ContainsSubstring("got u8 [4, 4, 3] of 3 bytes"));
    CHECK_THROWS_AS(applied(transform, Array{DType::kU8, {kLong, kLong, 1}, {}}), Error);
  }
}

TEST_CASE("images are flipped left to right with the chance that was given") {
  CHECK(applied(random_flip(1), picture(2, 3, 2)).bytes ==
        std::vector<uint8_t>{4, 5, 2, 3, 0, 1, 10, 11, 8, 9, 6, 7});
  CHECK(applied(random_flip(0), picture(2, 3, 2)) == picture(2, 3, 2));
  int flipped = 0;
  for (uint64_t i = 0; i < 1000; ++i)
    flipped += applied(random_flip(0.25), picture(1, 2, 1), i) == picture(1, 2, 1) ? 0 : 1;
  CHECK(std::abs(flipped - 250) < 70);
  CHECK_THROWS_WITH(random_flip(1.5), ContainsSubstring("a chance in [0, 1]"));
}

TEST_CASE("images are normalised, channels first") {
  const Array image =
      applied(normalise({0, 0.5F}, {1, 2}), Array{DType::kU8, {1, 2, 2}, {0, 51, 255, 102}});
  CHECK(image.dtype == DType::kF32);
  CHECK(image.shape == std::vector<int64_t>{2, 1, 2});
  const double expected[] = {0, 1, (51.0 / 255 - 0.5) / 2, (102.0 / 255 - 0.5) / 2};
  for (int64_t i = 0; i < 4; ++i) CHECK(std::abs(image.at(i).as_double() - expected[i]) < 1e-7);
  CHECK(applied(normalise({0}, {1}), picture(2, 2, 3)).shape == std::vector<int64_t>{3, 2, 2});
  CHECK_THROWS_WITH(applied(normalise({0, 0}, {1, 1}), picture(1, 1, 3)),
                    ContainsSubstring("of 2 channels, got 3"));
  CHECK_THROWS_WITH(normalise({}, {}), ContainsSubstring("as many means"));
  CHECK_THROWS_WITH(
      applied(normalise({0}, {1}), Array::zeros(DType::kF32, {1, 1, 1})),
      ContainsSubstring("expected an image, u8 [height, width, channels], got f32 [1, 1, 1]"));
  CHECK_THROWS_WITH(normalise({0, 0}, {1, 0}),
                    ContainsSubstring("expected deviations other than 0, got [1, 0]"));
  Example empty;
  Draws draws(0, 0, 0);
  CHECK_THROWS_WITH(crop(1, 1)(empty, draws), ContainsSubstring("got an empty one"));
}

TEST_CASE("a folder of images is a dataset, its classes the sub-folders") {
  const Folder folder;
  for (const char* name : {"b", "a", "none"}) fs::create_directory(folder / name);
  formats::write_png(folder / "b/1.png", picture(4, 5, 3));
  formats::write_png(folder / "a/2.PNG", picture(4, 5, 1));
  formats::write_png(folder / "a/1.png", picture(4, 5, 4));
  folder.put("a/notes.txt", "no image");
  const ImageFolder images = image_folder(folder / "");
  CHECK(images.classes == std::vector<std::string>{"a", "b", "none"});
  REQUIRE(images.files.size() == 3);
  CHECK(images.files[1].ends_with("a/2.PNG"));
  CHECK(images.labels == std::vector<int64_t>{0, 0, 1});
  const Dataset dataset = map(
      images.dataset(), chain({random_crop(3, 3, 1), random_flip(), normalise({0.5F}, {0.25F})}));
  CHECK(get(images.dataset(), 2)[0] == picture(4, 5, 3));
  on_each_device([&](Context& context) {
    Loader loader(dataset, {.batch = 3, .shuffle = false}, context);
    const std::vector<Tensor> batch = loader.next();
    CHECK(batch[0].shape() == std::vector<int64_t>{3, 3, 3, 3});
    CHECK(batch[1].to_vector<int64_t>() == std::vector<int64_t>{0, 0, 1});
    const std::string damaged = folder.put("b/0.png", "text");
    Loader bad(image_folder(folder / "").dataset(), {.batch = 1, .shuffle = false}, context,
               {0, 2});
    CHECK_THROWS_WITH(bad.next(), ContainsSubstring("example 2 of epoch 0: " + damaged +
                                                    ": expected a PNG or JPEG"));
    fs::remove(damaged);
  });
  CHECK_THROWS_WITH(image_folder(folder / "none"),
                    ContainsSubstring("expected sub-folders with PNG or JPEG files, got 0"));
  CHECK_THROWS_WITH(image_folder(folder / "missing"), ContainsSubstring("No such file"));
}
