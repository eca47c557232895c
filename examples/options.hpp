// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the programs that learn take, and how they say what they saw.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

struct Options {
  uint64_t seed = 0;
  int64_t steps = 0;
  bool json = false;
};

/// Ends the program, with a word about it, for what it does not take and for --help.
inline Options parse_options(int count, char** words, const char* about, int64_t steps) {
  Options options;
  options.steps = steps;
  const auto usage = [&](std::FILE* to, int code) {
    std::fprintf(to, "%s\nusage: %s [--seed N] [--steps N] [--json]\n", about, words[0]);
    std::exit(code);
  };
  for (int i = 1; i < count; ++i) {
    const std::string word = words[i];
    if (word == "--help") usage(stdout, 0);
    if (word == "--json") {
      options.json = true;
      continue;
    }
    char* end = nullptr;
    const char* const text = i + 1 < count ? words[++i] : "";
    const long long number = std::strtoll(text, &end, 10);
    if ((word != "--seed" && word != "--steps") || *text == 0 || *end != 0 || number < 0) {
      std::fprintf(stderr,
                   "%s: expected a number of 0 or more after --seed or --steps, got '%s %s'\n",
                   words[0], word.c_str(), text);
      usage(stderr, 2);
    }
    (word == "--seed" ? reinterpret_cast<int64_t&>(options.seed) : options.steps) = number;
  }
  return options;
}

struct Learned {
  std::vector<float> losses;
  double accuracy = -1;  ///< of what was held out, 0 to 1; below 0: it does not apply
  double seconds = 0;    ///< of all steps, compiling too
};

inline void print(const Learned& learned, bool json) {
  if (!json) {
    std::printf("%.1f%% of the digits that it has not seen are right, after %zu steps in %.1f s\n",
                100 * learned.accuracy, learned.losses.size(), learned.seconds);
    return;
  }
  std::printf("{\"losses\":[");
  for (size_t i = 0; i < learned.losses.size(); ++i)
    std::printf("%s%.9g", i == 0 ? "" : ",", static_cast<double>(learned.losses[i]));
  std::printf("],");
  if (learned.accuracy >= 0) std::printf("\"accuracy\":%.6g,", learned.accuracy);
  std::printf("\"seconds\":%.3f}\n", learned.seconds);
}
