// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What docs/measured/training.md says of the loop, measured:
//   train_measure prefetch [STEPS]   how long steps wait for batches of PNG files with transforms
//   train_measure memory [STEPS]     what a process holds after every tenth of the steps
#include <chrono>
#include <filesystem>
#include <fstream>
#include <string_view>

#include "tenon/data/transforms.hpp"
#include "tenon/formats/image.hpp"
#include "tests/train/learner.hpp"

using namespace tenon;

namespace {

namespace fs = std::filesystem;

struct ConvNet {
  nn::Conv2d conv1{3, 32, 3, {.padding = 1}}, conv2{32, 64, 3, {.padding = 1}};
  nn::Linear fc{64 * 8 * 8, 10};
  TENON_MODULE(ConvNet, conv1, conv2, fc)
  Tensor operator()(const Tensor& x) const {
    const Tensor a = nn::max_pool(conv1(x).relu(), {2, 2});
    return fc(nn::flatten(nn::max_pool(conv2(a).relu(), {2, 2})));
  }
};

double count(auto time) { return std::chrono::duration<double>(time).count(); }

/// 1,000 noisy PNG files of 40 x 40 in ten classes.
void write_images(const fs::path& folder) {
  data::Draws draws(1, 0, 0);
  for (int64_t i = 0; i < 1000; ++i) {
    Array image = Array::zeros(DType::kU8, {40, 40, 3});
    for (size_t j = 0; j < image.bytes.size(); ++j)
      image.bytes[j] = static_cast<uint8_t>(
          (static_cast<int64_t>(j) * (i % 10 + 1) / 60 + draws.below(16)) % 256);
    const fs::path path = folder / std::to_string(i % 10) / (std::to_string(i) + ".png");
    fs::create_directories(path.parent_path());
    formats::write_png(path, image);
  }
}

void prefetch(int64_t steps) {
  std::string name = fs::temp_directory_path() / "tenon-png-XXXXXX";
  const fs::path folder = mkdtemp(name.data());
  write_images(folder);
  const data::Dataset examples =
      data::map(data::image_folder(folder).dataset(),
                data::chain({data::random_crop(32, 32, 4), data::random_flip(),
                             data::normalise({0.5}, {0.25})}));
  data::Loader loader(examples, {.batch = 64, .seed = 1});
  ConvNet model(Key(1));
  const auto loss = [](ConvNet& m, const std::vector<Tensor>& batch) {
    return nn::cross_entropy(m(batch[0]), batch[1]);
  };
  const nn::Optimizer optimizer = nn::adamw();
  train::fit(model, optimizer, loader, loss, {.steps = 5});  // compiles
  const auto before = loader.waited();
  const train::Result result = train::fit(model, optimizer, loader, loss, {.steps = steps});
  const double waited = count(loader.waited() - before);
  std::printf("%lld steps of 64 images: %.2f ms a step, of these %.3f ms (%.2f %%) waiting\n",
              static_cast<long long>(steps), 1e3 * result.seconds / static_cast<double>(steps),
              1e3 * waited / static_cast<double>(steps), 100 * waited / result.seconds);
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < 40; ++i) loader.next();
  const auto alone = std::chrono::steady_clock::now() - begin;
  std::printf("batches alone: %.2f ms each\n", 1e3 * count(alone) / 40);
  fs::remove_all(folder);
}

int64_t resident_kib() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("VmRSS:")) return std::atoll(line.c_str() + 6);
  return 0;
}

void memory(int64_t steps) {
  test::Learner model(Key(1));
  data::Loader loader(test::learner_data(), {.batch = 5, .seed = 4});
  train::Options options{.steps = steps, .key = Key(7)};
  options.on_step = [&](const train::Report& report) {
    if (report.step % (steps / 10) != 0) return;
    const DeviceInfo device = Context::standard().device();
    std::printf("step %6lld: %lld KiB resident, %llu bytes in use, %llu reserved on %s\n",
                static_cast<long long>(report.step), static_cast<long long>(resident_kib()),
                static_cast<unsigned long long>(device.bytes_in_use),
                static_cast<unsigned long long>(device.bytes_reserved), device.id.c_str());
  };
  train::fit(model, test::learner_optimizer(), loader, test::learner_loss, options);
}

}  // namespace

int main(int count, char** words) try {
  const std::string_view what = count > 1 ? words[1] : "";
  const int64_t steps = count > 2 ? std::atoll(words[2]) : what == "memory" ? 10000 : 100;
  if (steps < 10 || (what != "prefetch" && what != "memory")) {
    std::fprintf(stderr, "usage: %s prefetch|memory [STEPS, 10 and more]\n", words[0]);
    return 2;
  }
  what == "memory" ? memory(steps) : prefetch(steps);
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "train_measure: %s\n", error.what());
  return 3;
}
