// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the programs that learn take, and how they say what they saw.
#pragma once

#include <tenon/file_io.hpp>
#include <tenon/formats/chart.hpp>
#include <tenon/train/train.hpp>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

struct Options {
  uint64_t seed = 0;
  int64_t steps = 0;
  bool json = false;
  std::string svg;     ///< a file for the learning curve
  std::string png;     ///< for what the model makes, if it makes images
  std::string record;  ///< for what another program needs to make the same steps
};

/// Ends the program, with a word about it, for what it does not take and for --help.
inline Options parse_options(int count, char** words, const char* about, int64_t steps,
                             bool makes_images = false) {
  Options options;
  options.steps = steps;
  const auto usage = [&](std::FILE* to, int code) {
    std::fprintf(to, "%s\nusage: %s [--seed N] [--steps N] [--json] [--svg%s|--record FILE]\n",
                 about, words[0], makes_images ? "|--png" : "");
    std::exit(code);
  };
  for (int i = 1; i < count; ++i) {
    const std::string word = words[i];
    if (word == "--help") usage(stdout, 0);
    if (word == "--json") {
      options.json = true;
      continue;
    }
    std::string* const file = word == "--svg"                   ? &options.svg
                              : word == "--png" && makes_images ? &options.png
                              : word == "--record"              ? &options.record
                                                                : nullptr;
    if (file != nullptr && i + 1 < count) {
      *file = words[++i];
      continue;
    }
    const std::string text = i + 1 < count ? words[++i] : "";
    int64_t number = -1;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    const bool is_number = error == std::errc() && end == text.data() + text.size() && number >= 0;
    if ((word != "--seed" && word != "--steps") || !is_number) {
      std::fprintf(
          stderr,
          "%s: expected the options below, a file or a number of 0 to %lld after them, got "
          "'%s %s'\n",
          words[0], static_cast<long long>(INT64_MAX), word.c_str(), text.c_str());
      usage(stderr, 2);
    }
    (word == "--seed" ? reinterpret_cast<int64_t&>(options.seed) : options.steps) = number;
  }
  return options;
}

/// The mean loss of each tenth of the run, in the unit that it is multiplied to.
inline void print_curve(const std::vector<float>& losses, double factor, const char* unit) {
  const size_t rows = std::min<size_t>(10, losses.size());
  std::vector<double> means;
  for (size_t i = 0; i < rows; ++i) {
    const size_t begin = losses.size() * i / rows, end = losses.size() * (i + 1) / rows;
    double sum = 0;
    for (size_t j = begin; j < end; ++j) sum += factor * static_cast<double>(losses[j]);
    means.push_back(sum / static_cast<double>(end - begin));
  }
  const double most = rows == 0 ? 0 : *std::max_element(means.begin(), means.end());
  for (size_t i = 0; i < rows; ++i) {
    const double bar = 40 * means[i] / most;  // of losses below 0 and NaN there is none
    std::printf("step %5zu  %7.4f %s %s\n", losses.size() * (i + 1) / rows, means[i], unit,
                std::string(bar > 0 && most > 0 ? static_cast<size_t>(bar) : 0, '#').c_str());
  }
}

/// `accuracy`: of what was held out, 0 to 1; below 0: it does not apply.
inline void print(const tenon::train::Result& learned, const Options& options, double accuracy,
                  double factor = 1, const char* unit = "") {
  if (!options.svg.empty()) {
    tenon::formats::Series series{.name = "loss", .x = {}, .y = {}};
    for (const float loss : learned.losses) {
      series.x.push_back(static_cast<double>(series.x.size() + 1));
      series.y.push_back(factor * static_cast<double>(loss));
    }
    tenon::write_file(options.svg,
                      tenon::formats::line_chart({series}, {.x_label = "step", .y_label = unit}));
  }
  if (!options.json) {
    print_curve(learned.losses, factor, unit);
    std::printf("%zu steps in %.1f s\n", learned.losses.size(), learned.seconds);
    return;
  }
  std::printf("{\"losses\":[");
  for (size_t i = 0; i < learned.losses.size(); ++i)
    std::printf("%s%.9g", i == 0 ? "" : ",", static_cast<double>(learned.losses[i]));
  std::printf("],");
  if (accuracy >= 0) std::printf("\"accuracy\":%.6g,", accuracy);
  std::printf("\"seconds\":%.3f}\n", learned.seconds);
}
