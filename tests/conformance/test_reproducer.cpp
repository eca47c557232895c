// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reproducer files: exact round trip, clear errors, and 20,000 damaged files that do no harm.
#include <catch2/catch_test_macros.hpp>

#include "conformance/cases/generator.hpp"
#include "conformance/cases/graphs/boundary_values.hpp"
#include "conformance/cases/reproducer.hpp"
#include "conformance/cases/scalar_list.hpp"
#include "core/support/error.hpp"

using namespace tenon;
using namespace tenon::conformance;
using namespace tenon::conformance::abi;
using namespace tenon::conformance::graphs;

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
    REQUIRE(read.test.oracle_seed == written.test.oracle_seed);
    REQUIRE(read.test.transform_seed == written.test.transform_seed);
    REQUIRE(read.test.refusal == written.test.refusal);
    REQUIRE(read.test.sequence.has_value() == written.test.sequence.has_value());
    REQUIRE(read.test.index == i);
    REQUIRE(read.backend == "cpu");
    REQUIRE(read.outcome.text == "a b");
    REQUIRE(write_reproducer(read) == text);
  }
}

TEST_CASE("long runs of one value are short") {
  Builder builder;
  Reproducer written;
  written.backend = "cpu";
  const NodeRef x = builder.param("x", DType::kF32, {4096});
  written.test.graph.name = "conformance";
  written.test.graph.params = {x};
  written.test.graph.outputs = {builder.unary(Op::NEG, x)};
  written.test.graph.output_names = {""};
  written.test.inputs = {Array::zeros(DType::kF32, {4096})};
  written.test.inputs[0].set(1027, Scalar::of(DType::kF32, 1.5));
  const std::string text = write_reproducer(written);
  CHECK(text.find("# input x f32 [4096] = 0*1027 1.5 0*3068\n") != std::string::npos);
  CHECK(parse_reproducer(text, builder, "text").test.inputs[0].bytes ==
        written.test.inputs[0].bytes);
}

TEST_CASE("a written sequence, its transforms and its history read back the same") {
  Builder builder;
  Reproducer written;
  written.test.seed = 3;
  written.test.index = 9;
  written.test.cell = {"sequence", "-", "-"};
  written.test.oracle_seed = ~uint64_t{0};
  written.test.sequence = Sequence{"", {{"allocate", {0, 64}}, {"free", {}}, {"copy", {-1, 7}}}};
  written.outcome = failed("leak", "one\ntwo");
  written.outcome.diff = "[0]\t1\t2\t1\n[1]\t3\tinf\t";
  Generator earlier(3, builder);
  for (uint64_t i = 0; i < 12; ++i) written.after.push_back(earlier.make(100 + i));
  written.after.push_back(written.test);
  const std::string text = write_reproducer(written);
  const Reproducer read = parse_reproducer(text, builder, "text");
  CHECK(write_reproducer(read) == text);
  REQUIRE(read.after.size() == written.after.size());
  for (size_t i = 0; i < read.after.size(); ++i) {
    const Case &was = written.after[i], &is = read.after[i];
    CHECK(write_reproducer({is, {}, ""}) == write_reproducer({was, {}, ""}));
    REQUIRE(is.inputs.size() == was.inputs.size());
    for (size_t k = 0; k < is.inputs.size(); ++k) CHECK(is.inputs[k].bytes == was.inputs[k].bytes);
  }
  CHECK(read.test.oracle_seed == written.test.oracle_seed);
  CHECK(read.outcome.diff == written.outcome.diff);
  REQUIRE(read.test.sequence);
  REQUIRE(read.test.sequence->steps.size() == 3);
  CHECK(read.test.sequence->steps[2].verb == "copy");
  CHECK(read.test.sequence->steps[2].numbers == std::vector<int64_t>{-1, 7});

  written.test.sequence = Sequence{"short_structs", {}};
  CHECK(parse_reproducer(write_reproducer(written), builder, "text").test.sequence->check ==
        "short_structs");
  written.test.sequence = Sequence{};
  CHECK(parse_reproducer(write_reproducer(written), builder, "text").test.sequence->steps.empty());

  Generator generator(11, builder);
  written.test = generator.make(0);
  for (uint64_t i = 0; written.test.graph.outputs.empty(); ++i) written.test = generator.make(i);
  written.test.transforms = {"split a0 4; unroll a0.i", "none", "bind a0 grid.x", ""};
  CHECK(parse_reproducer(write_reproducer(written), builder, "text").test.transforms ==
        written.test.transforms);
  written.test.transforms.clear();
  written.test.transform_seed = 0;
  CHECK(parse_reproducer(write_reproducer(written), builder, "text").test.transform_seed == 0);
  written.test.sizes = {{"compute_units", 5}, {"l3_bytes", 512}};
  CHECK(parse_reproducer(write_reproducer(written), builder, "text").test.sizes ==
        written.test.sizes);
}

TEST_CASE("what is wrong with a reproducer is said with its file and line") {
  struct Row {
    const char* line;
    const char* words;
  };
  for (const Row& row : {Row{"# case 7 add f32 flipped", "expected a case"},
                         Row{"# mode wild", "expected mode exact"},
                         Row{"# oracles x", "expected one number"},
                         Row{"# transform_seed 1 2", "expected one number"},
                         Row{"# transforms fold a0", "expected transforms"},
                         Row{"# size index_bits 32", "expected a size of a device"},
                         Row{"# size l2_bytes many", "expected one number"},
                         Row{"# sequence copy x", "expected one call"},
                         Row{"# after 3:7", "older versions"},
                         Row{"# after mode exact", "and the other lines of that case"},
                         Row{"# after case 3 add f32", "expected a case"},
                         Row{"# status GOOD", "expected a status"},
                         Row{"# symbol n 3", "expected symbol NAME = VALUE"},
                         Row{"# symbol n = 3 4", "expected the end of the line, got \"4\""},
                         Row{"# symbol n = 3\n# symbol n = 4", "a.tn:3: expected a symbol once"},
                         Row{"# refusal junk", "expected the end of the line"},
                         Row{"# apart junk", "expected the end of the line"},
                         Row{"# input x f32 [2] junk = 1 2", "expected the end of the line"},
                         Row{"# sequence\ngraph g() {}", "a.tn:3: expected comments alone"},
                         Row{"# input x f32 [2] = 1", "got fewer"},
                         Row{"# input x f32 [2] = 1*3", "got more"},
                         Row{"# input x f32 [2] = 1*0", "VALUE*TIMES"},
                         Row{"# input x f32 [2] = 1*99999999999999999999", "VALUE*TIMES"},
                         Row{"# input x f32 [2] = 1 2 3", "got more"}}) {
    INFO(row.line);
    Builder builder;
    try {
      parse_reproducer(std::string("# tenon-conformance 1\n") + row.line + "\n", builder, "a.tn");
      FAIL("expected an error");
    } catch (const Error& error) {
      CHECK(std::string(error.what()).find("a.tn:") != std::string::npos);
      CHECK(std::string(error.what()).find(row.words) != std::string::npos);
      CHECK(error.kind() == ErrorKind::kInvalid);
    }
  }
}

TEST_CASE("what is wrong with a case of the history is said with its line in the file") {
  Builder builder;
  const std::string text =
      "# tenon-conformance 1\n# case 3:9 add f32 -\n# for people\n# after case 3:1 add f32 -\n"
      "# after mode exact\n# after input x f32 [2] = 1 2 3\n";
  try {
    parse_reproducer(text, builder, "a.tn");
    FAIL("expected an error");
  } catch (const Error& error) {
    CHECK(std::string(error.what()).find("a.tn:6: ") != std::string::npos);
  }
}

TEST_CASE("every edge of every dtype has a text") {
  for (const DType dtype : all_dtypes())
    for (const uint64_t bits : boundary_values(dtype)) {
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
    Reproducer written{generator.make(i), {}, "cpu"};
    if (i % 4 == 0) written.after = {generator.make(i + 1)};
    std::string text = write_reproducer(written);
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
