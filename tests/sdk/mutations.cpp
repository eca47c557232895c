// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Damaged programs, as bytes and as text: refused or accepted, never a crash. TENON_MUTATIONS sets
// how many; run it under the asan preset with 100000.
#include <catch2/catch_test_macros.hpp>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "sdk/program/text.hpp"
#include "sdk/program/verify.hpp"
#include "tests/sdk/samples.hpp"

using namespace tenon::sdk;

namespace {

int mutation_count() {
  const char* text = std::getenv("TENON_MUTATIONS");
  return text ? std::atoi(text) : 20000;
}

struct alignas(16) Block {
  unsigned char bytes[16];
};

/// A heap block of exactly the size, so that a sanitizer sees a read past its end.
std::string verify_exact(const std::vector<unsigned char>& bytes) {
  std::unique_ptr<Block[]> blocks(new Block[bytes.size() / 16 + 1]);
  auto* end = reinterpret_cast<unsigned char*>(blocks.get() + bytes.size() / 16 + 1);
  // 16-byte alignment and an exact end both hold only for sizes divisible by 16.
  auto* at =
      bytes.size() % 16 ? reinterpret_cast<unsigned char*>(blocks.get()) : end - bytes.size();
  std::memcpy(at, bytes.data(), bytes.size());
  const std::string error = verify_program(at, bytes.size());
  if (error.empty()) {  // what it accepts can be walked and printed, and comes back
    const std::string text = print_program(ProgramView(reinterpret_cast<tn_program*>(at)));
    std::string message;
    const Program again = parse_program(text, message);
    INFO(text);
    REQUIRE(message.empty());
    REQUIRE(print_program(again.view()) == text);
  }
  return error;
}

void mutate_word(std::vector<unsigned char>& bytes, std::mt19937_64& random) {
  static constexpr uint32_t kWords[] = {0,          1,          2,          3,         16,
                                        0x7fffffff, 0x80000000, 0xffffffff, 0xfffffff0};
  if (bytes.size() < 4) return;
  const size_t at = random() % (bytes.size() / 4) * 4;
  uint32_t word;
  std::memcpy(&word, &bytes[at], 4);
  switch (random() % 3) {
    case 0:
      word = kWords[random() % std::size(kWords)];
      break;
    case 1:
      word += static_cast<uint32_t>(random() % 7) - 3;
      break;
    default:
      word ^= 1u << random() % 32;
  }
  std::memcpy(&bytes[at], &word, 4);
}

}  // namespace

TEST_CASE("damaged blocks are refused or legal, and never read outside") {
  std::mt19937_64 random(7);
  std::vector<std::vector<unsigned char>> blocks;
  for (std::string_view text : samples::kAll) {
    std::string error;
    const Program program = parse_program(text, error);
    const auto* begin = reinterpret_cast<const unsigned char*>(program.get());
    blocks.emplace_back(begin, begin + program.size());
  }
  int refused = 0;
  const int count = mutation_count();
  for (int i = 0; i < count; ++i) {
    std::vector<unsigned char> bytes = blocks[random() % blocks.size()];
    const auto changes = random() % 3 + 1;
    for (uint64_t k = 0; k < changes; ++k) mutate_word(bytes, random);
    if (random() % 8 == 0) {  // cut, with a header that agrees
      bytes.resize(random() % (bytes.size() + 1));
      const auto size = static_cast<uint32_t>(bytes.size());
      if (size >= sizeof(tn_program))
        std::memcpy(&bytes[offsetof(tn_program, total_size)], &size, 4);
    }
    refused += !verify_exact(bytes).empty();
  }
  CHECK(refused > count / 2);
  CHECK(refused < count);
}

TEST_CASE("damaged text is refused with a place or is legal") {
  std::mt19937_64 random(11);
  static constexpr std::string_view kPieces[] = {"%",
                                                 "}",
                                                 "{",
                                                 "\n",
                                                 "end ",
                                                 ", ",
                                                 "carry",
                                                 "loop",
                                                 "x8",
                                                 "-",
                                                 "nan(",
                                                 "0x",
                                                 "%3",
                                                 ": ",
                                                 "[9999",
                                                 "shared",
                                                 "\0",
                                                 "\xff",
                                                 "18446744073709551616",
                                                 "1e999",
                                                 "else",
                                                 "align 3"};
  int refused = 0;
  const int count = mutation_count();
  for (int i = 0; i < count; ++i) {
    std::string text(samples::kAll[random() % std::size(samples::kAll)]);
    const auto changes = random() % 3 + 1;
    for (uint64_t k = 0; k < changes; ++k) {
      const size_t at = random() % (text.size() + 1);
      switch (random() % 4) {
        case 0:
          text.insert(at, kPieces[random() % std::size(kPieces)]);
          break;
        case 1:
          text.erase(at, random() % 9);
          break;
        case 2:
          if (at < text.size()) text[at] = static_cast<char>(random());
          break;
        default: {
          const std::string line = text.substr(at, text.find('\n', at) - at);
          text.insert(random() % (text.size() + 1), line);
        }
      }
    }
    std::string error;
    const Program program = parse_program(text, error);
    if (program.empty()) {
      ++refused;
      INFO(error);
      REQUIRE(error.starts_with("line "));
    } else {
      const std::string printed = print_program(program.view());
      const Program again = parse_program(printed, error);
      INFO(printed);
      REQUIRE(error.empty());
      REQUIRE(print_program(again.view()) == printed);
    }
  }
  CHECK(refused > count / 2);
  CHECK(refused < count);
}
