// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Damage to texts and files, for readers that must come through it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <random>
#include <string>
#include <vector>

namespace tenon::test {

/// The low bytes of a number.
inline std::string word(uint64_t value, size_t bytes, bool big_endian = false) {
  std::string out;
  for (size_t i = 0; i < bytes; ++i)
    out += static_cast<char>(value >> (8 * (big_endian ? bytes - 1 - i : i)));
  return out;
}

/// After one to four edits: a byte changed, bytes left out, a piece of the format or of another
/// sample put in, the end cut off, a word at an edge of its range, bytes repeated.
inline std::string mutated(std::string bytes, const std::vector<std::string>& samples,
                           const std::vector<std::string>& pieces, std::mt19937_64& random) {
  static constexpr uint64_t kEdges[] = {0,          1,          0x7f,       0x80,     0xff,
                                        0x7fffffff, 0x80000000, 0xffffffff, 1u << 24, ~0ull};
  const auto at = [&] { return bytes.empty() ? 0 : random() % bytes.size(); };
  for (uint64_t edits = 1 + random() % 2 * (random() % 4); edits > 0; --edits) {
    switch (random() % 7) {
      case 0:
        if (!bytes.empty()) bytes[at()] = static_cast<char>(random());
        break;
      case 1:
        bytes.erase(at(), random() % 20);
        break;
      case 2:
        bytes.insert(at(), pieces[random() % pieces.size()]);
        break;
      case 3: {
        const std::string& other = samples[random() % samples.size()];
        bytes.insert(at(), other.substr(random() % other.size(), random() % 60));
        break;
      }
      case 4:
        bytes.resize(at());
        break;
      case 5: {
        const std::string value =
            word(kEdges[random() % std::size(kEdges)], 1u << random() % 4, random() % 2 == 0);
        const size_t from = at();
        bytes.replace(from, std::min(value.size(), bytes.size() - from), value);
        break;
      }
      default: {
        const size_t from = at();
        const std::string piece = bytes.substr(from, 1 + random() % 8);
        for (uint64_t times = random() % 300; times > 0; --times) bytes.insert(from, piece);
      }
    }
  }
  return bytes;
}

}  // namespace tenon::test
