// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reproducer files: exact round trip, clear errors, and 20,000 damaged files that do no harm.
#include <catch2/catch_test_macros.hpp>

#include "conformance/cases/generator.hpp"
#include "conformance/cases/reproducer.hpp"
#include "conformance/cases/scalar_list.hpp"
#include "conformance/cases/values.hpp"
#include "core/support/error.hpp"

using namespace tenon;
using namespace tenon::conformance;

namespace {

/// Flips, cuts, doubles and swaps bytes.
std::string damage(std::string text, Choices& choices) {
  const auto edits = choices.between(1, 4);
  for (int64_t i = 0; i < edits && !text.empty(); ++i) {
    const size_t at = choices.below(text.size());
    switch (choices.below(5)) {
      case 0:
        text[at] = static_cast<char>(choices.below(256));
        break;
      case 1:
        text.erase(at, choices.below(20));
        break;
      case 2:
        text.insert(at, text.substr(choices.below(text.size()), choices.below(30)));
        break;
      case 3:
        text[at] = "0123456789-[]%=,:#\n "[choices.below(20)];
        break;
      default:
        text.resize(at);
        break;
    }
  }
  return text;
}

}  // namespace

TEST_CASE("a written case reads back the same") {
  Builder builder;
  Generator generator(11, builder);
  for (uint64_t i = 0; i < 400; ++i) {
    INFO("case 11:" << i);
    const Reproducer written{generator.make(i), {Status::kFail, "mismatch", "a\nb", 0, ""}, "cpu"};
    const std::string text = write_reproducer(written);
    const Reproducer read = parse_reproducer(text, builder, "text");
    REQUIRE(same_structure(read.test.graph, written.test.graph));
    REQUIRE(read.test.inputs.size() == written.test.inputs.size());
    for (size_t k = 0; k < read.test.inputs.size(); ++k)
      REQUIRE(read.test.inputs[k].bytes == written.test.inputs[k].bytes);
    REQUIRE(read.test.symbols == written.test.symbols);
    REQUIRE(read.test.mode == written.test.mode);
    REQUIRE(read.test.index == i);
    REQUIRE(read.backend == "cpu");
    REQUIRE(read.outcome.text == "a b");
    REQUIRE(write_reproducer(read) == text);
  }
}

TEST_CASE("every edge of every dtype has a text") {
  for (const DType dtype : all_dtypes())
    for (const uint64_t bits : lattice(dtype)) {
      const Scalar value{dtype, bits};
      INFO(dtype_name(dtype) << " " << bits << " as " << write_scalar(value));
      CHECK(read_scalar(write_scalar(value), dtype) == value);
    }
  CHECK(write_scalar({DType::kF32, 0x7FC00001}) == "0x7fc00001");
  CHECK(write_scalar(Scalar::of(DType::kF32, 0.1)) == "0.1");
  CHECK_FALSE(read_scalar("256", DType::kU8));
  CHECK_FALSE(read_scalar("-1", DType::kU8));
  CHECK_FALSE(read_scalar("2", DType::kBool));
  CHECK_FALSE(read_scalar("1.5x", DType::kF32));
  CHECK_FALSE(read_scalar("", DType::kI32));
}

TEST_CASE("a damaged reproducer is an error or a case, never a crash") {
  Builder builder;
  Generator generator(5, builder);
  std::vector<std::string> texts;
  for (uint64_t i = 0; texts.size() < 40; ++i) {
    std::string text = write_reproducer({generator.make(i), {}, "cpu"});
    if (text.size() < 4000) texts.push_back(std::move(text));
  }
  Choices choices(1);
  int parsed = 0, refused = 0;
  for (int i = 0; i < 20000; ++i) {
    const std::string text = damage(choices.pick(texts), choices);
    try {
      parse_reproducer(text, builder, "damaged");
      ++parsed;
    } catch (const Error& error) {
      CHECK(std::string(error.what()).size() > 10);
      ++refused;
    }
  }
  CHECK(parsed + refused == 20000);
  CHECK(refused > 5000);
}
