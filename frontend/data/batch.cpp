// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/data/batch.hpp"

#include <fmt/ranges.h>

#include <cstring>
#include <new>

#include "core/support/error.hpp"
#include "frontend/data/whole.hpp"

namespace tenon::data {
namespace {

std::string described(const Array& array) {
  return fmt::format("{} [{}]", dtype_name(array.dtype), fmt::join(array.shape, ", "));
}

/// Room for `count` parts like this one.
Array room_for(const Array& part, size_t count) {
  std::vector<int64_t> shape = {static_cast<int64_t>(count)};
  shape.insert(shape.end(), part.shape.begin(), part.shape.end());
  return Array::zeros(part.dtype, std::move(shape));
}

/// Puts an example at its place of the batch, which the first example shapes.
void put(const Example& example, const Example& first, size_t place, std::vector<Array>& batch) {
  TN_REQUIRE(example.size() == first.size(), "expected {} parts as of the batch's first, got {}",
             first.size(), example.size());
  for (size_t i = 0; i < example.size(); ++i) {
    const Array &part = example[i], &like = first[i];
    TN_REQUIRE(part.dtype == like.dtype && part.shape == like.shape &&
                   part.bytes.size() == like.bytes.size(),
               "part {}: expected {} as of the batch's first, got {}", i, described(like),
               described(part));
    if (!part.bytes.empty())
      std::memcpy(batch[i].bytes.data() + place * part.bytes.size(), part.bytes.data(),
                  part.bytes.size());
  }
}

void make(const Dataset& dataset, std::span<const int64_t> indices, size_t place, Draws draws,
          Example& first, std::vector<Array>& batch) {
  const Example example = dataset.get(indices[place], draws);
  if (place == 0) {
    first = example;
    for (const Array& part : first) {
      TN_REQUIRE(is_whole(part), "expected the bytes of {}, got {}", described(part),
                 part.bytes.size());
      batch.push_back(room_for(part, indices.size()));
    }
  }
  put(example, first, place, batch);
}

}  // namespace

std::vector<Array> make_batch(const Dataset& dataset, std::span<const int64_t> indices,
                              uint64_t seed, uint64_t epoch,
                              const std::function<bool()>& is_stopped) {
  Example first;
  std::vector<Array> batch;
  for (size_t place = 0; place < indices.size(); ++place) {
    if (is_stopped()) return {};
    const auto index = static_cast<uint64_t>(indices[place]);
    const auto at = [&] { return fmt::format("[loader] example {} of epoch {}: ", index, epoch); };
    try {
      make(dataset, indices, place, Draws(seed, epoch, index), first, batch);
    } catch (const Error& error) {
      throw Error(error.kind(), at() + error.what());
    } catch (const std::bad_alloc&) {
      throw Error(ErrorKind::kOutOfMemory, at() + "expected memory, got none");
    } catch (const std::exception& error) {
      throw Error(ErrorKind::kInvalid, at() + error.what());
    }
  }
  return batch;
}

}  // namespace tenon::data
