// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <cctype>
#include <filesystem>

#include "core/support/error.hpp"
#include "tenon/data/dataset.hpp"
#include "tenon/formats/image.hpp"

namespace tenon::data {
namespace {

namespace fs = std::filesystem;

/// Names in a folder, sorted.
std::vector<fs::path> entries(const fs::path& folder) {
  std::vector<fs::path> found;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error))
    found.push_back(at->path());
  if (error)
    fail(ErrorKind::kEnvironment, "[image_folder] {}: expected a readable folder, got: {}",
         folder.string(), error.message());
  std::ranges::sort(found);
  return found;
}

bool is_folder(const fs::path& path) {
  std::error_code ignored;
  return fs::is_directory(path, ignored);
}

bool is_image(const fs::path& path) {
  std::string end = path.extension().string();
  std::ranges::transform(end, end.begin(), [](unsigned char c) { return std::tolower(c); });
  return end == ".png" || end == ".jpg" || end == ".jpeg";
}

}  // namespace

ImageFolder image_folder(const std::string& path) {
  ImageFolder out;
  for (const fs::path& folder : entries(path)) {
    if (!is_folder(folder)) continue;
    for (const fs::path& file : entries(folder)) {
      if (!is_image(file)) continue;
      out.files.push_back(file.string());
      out.labels.push_back(static_cast<int64_t>(out.classes.size()));
    }
    out.classes.push_back(folder.filename().string());
  }
  TN_REQUIRE(!out.files.empty(),
             "[image_folder] {}: expected sub-folders with PNG or JPEG files, got {} sub-folders "
             "without one",
             path, out.classes.size());
  return out;
}

Dataset ImageFolder::dataset(int channels) const {
  TN_REQUIRE(files.size() == labels.size(), "[image_folder] expected a label a file, got {} of {}",
             labels.size(), files.size());
  return {static_cast<int64_t>(files.size()),
          [files = files, labels = labels, channels](int64_t index, Draws&) {
            const auto i = static_cast<size_t>(index);
            Array label = Array::zeros(DType::kI64, {});
            label.set(0, Scalar::of_int(DType::kI64, labels.at(i)));
            return Example{formats::read_image(files.at(i), channels), std::move(label)};
          }};
}

}  // namespace tenon::data
