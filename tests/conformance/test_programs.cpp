// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Random programs: legal, certain, and rich.
#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <optional>
#include <set>

#include "conformance/abi/harness.hpp"
#include "conformance/abi/programs/model.hpp"
#include "conformance/cases/abi/program_data.hpp"
#include "conformance/cases/abi/programs.hpp"
#include "conformance/cases/abi/scalars.hpp"
#include "conformance/cases/reproducer.hpp"
#include "conformance/shrink/draft.hpp"
#include "conformance/shrink/shrink.hpp"
#include "conformance/shrink/size.hpp"
#include "core/support/error.hpp"
#include "sdk/program/op_info.hpp"
#include "sdk/program/text.hpp"
#include "sdk/program/verify.hpp"

using namespace tenon;
using namespace tenon::conformance;
using namespace tenon::conformance::abi;
using namespace tenon::conformance::abi::programs;
using namespace tenon::conformance::shrink;

namespace {

/// Runs a step in the model; gives its memory.
class Modelled {
 public:
  explicit Modelled(const SequenceStep& step) : program_(program_of(step)) {
    for (size_t axis = 0; axis < 3; ++axis) grid_[axis] = static_cast<uint32_t>(step.numbers[axis]);
    const auto seed = static_cast<uint64_t>(step.numbers[3]);
    std::vector<std::vector<ModelValue>> memory(program_.view().param_count());
    for (uint32_t i = 0; i < memory.size(); ++i) {
      const tn_param& param = program_.view().param(i);
      const auto dtype = static_cast<uint8_t>(param.dtype);
      const std::string_view name = program_.view().string(param.name);
      if (param.kind == TN_PARAM_SCALAR)
        memory[i] = {{program_scalar(seed, name, param), true}};
      else if (param.kind == TN_PARAM_BUFFER)
        for (uint64_t e = 0; e < param.count; ++e)
          memory[i].push_back({program_input(seed, name, dtype, e), true});
    }
    model_.emplace(program_.view(), std::move(memory), grid_);
    model_->run();
  }

  sdk::ProgramView program() const { return program_.view(); }
  const ModelMemory& memory(uint32_t param) const { return model_->memory(param); }
  /// Elements of a param whose value is certain, and all of them.
  std::pair<size_t, size_t> certain() const {
    size_t known = 0, all = 0;
    for (uint32_t i = 0; i < program().param_count(); ++i) {
      if (!(program().param(i).access & TN_ACCESS_WRITE)) continue;
      if (program().param(i).kind != TN_PARAM_BUFFER) continue;
      for (size_t e = 0; e < memory(i).size(); ++e, ++all) known += memory(i).value(e).known;
    }
    return {known, all};
  }

 private:
  sdk::Program program_;
  uint32_t grid_[3] = {};
  std::optional<ProgramModel> model_;
};

SequenceStep drawn_step(uint64_t seed) {
  Choices choices(seed);
  return draw_program(choices);
}

SequenceStep step_of(const std::string& text, std::vector<int64_t> numbers = {1, 1, 1, 0}) {
  return {"program", std::move(numbers), text};
}

/// Elements of param 0 after a program whose grid is 1 x 1 x 1 and whose inputs are zeros.
std::vector<int64_t> result(const std::string& text) {
  const Modelled run(step_of(text));
  std::vector<int64_t> out;
  for (size_t e = 0; e < run.memory(0).size(); ++e) {
    const ModelValue& value = run.memory(0).value(e);
    CHECK(value.known);
    const auto dtype = static_cast<uint8_t>(run.program().param(0).dtype);
    out.push_back(static_cast<int64_t>(convert(value.bits, dtype, TN_DTYPE_I64)));
  }
  return out;
}

/// What a program is refused for.
std::string refusal(const std::string& text) {
  try {
    Modelled run(step_of(text, {2, 1, 1, 1}));
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

bool has_part(const std::string& text, const char* part) { return text.find(part) != text.npos; }

}  // namespace

TEST_CASE("random programs are legal, end, and are certain in all that they write") {
  size_t known = 0, all = 0;
  for (uint64_t seed = 0; seed < 2000; ++seed) {
    const SequenceStep step = drawn_step(seed);
    INFO("seed " << seed << "\n" << step.text);
    const sdk::Program program = program_of(step);
    REQUIRE(sdk::verify_program(program.get(), program.size()) == "");
    CHECK(sdk::print_program(program.view()) == step.text);
    std::string refused;
    try {
      const auto [certain, total] = Modelled(step).certain();
      known += certain;
      all += total;
    } catch (const Error& error) {
      refused = error.what();
    }
    REQUIRE(refused == "");
  }
  CHECK(known == all);
}

TEST_CASE("threads of random programs wait for each other where all of them come") {
  size_t waiting = 0;
  for (uint64_t seed = 0; seed < 40'000; ++seed) {
    const SequenceStep step = drawn_step(seed);
    if (!has_part(step.text, "subgroup") || !has_part(step.text, "barrier")) continue;
    ++waiting;
    std::string error;
    const sdk::Program program = sdk::parse_program(step.text, error);
    INFO("seed " << seed << "\n" << step.text);
    REQUIRE(error == "");
  }
  CHECK(waiting > 300);
}

TEST_CASE("there is a way on from every value that programs may come to") {
  for (uint64_t seed = 0; seed < 4000; ++seed) {
    Choices choices(mix(11, seed));
    draw_programs(choices);  // an empty choice throws
  }
}

TEST_CASE("random programs have every op, in every dtype that it takes") {
  std::set<std::pair<std::string, std::string>> seen;
  std::set<std::string> more;
  for (uint64_t seed = 0; seed < 6000; ++seed) {
    const SequenceStep step = drawn_step(seed);
    if (step.numbers[4] & kAgain) more.insert("again");
    if (step.numbers[4] & kReloaded) more.insert("reloaded");
    const sdk::Program program = program_of(step);
    const sdk::ProgramView view = program.view();
    int depth = 0;
    for (uint32_t i = 0; i < view.op_count(); ++i) {
      const tn_op& op = view.op(i);
      depth += op.op == TN_OP_IF || op.op == TN_OP_LOOP;
      depth -= op.op == TN_OP_END;
      const bool meets = op.op >= TN_OP_SUBGROUP_SHUFFLE && op.op <= TN_OP_SUBGROUP_BROADCAST;
      if (meets && depth > 0) more.insert("met in a region");
      if (op.op == TN_OP_ATOMIC && sdk::dtype_bytes(op.dtype) == 8)
        more.insert("atomic of 64 bits");
      const bool compares = sdk::op_info(op.op)->kind == sdk::OpKind::COMPARE;
      const uint8_t dtype = compares ? view.op(view.operands(op)[0]).dtype : op.dtype;
      seen.emplace(sdk::op_text(op.op), sdk::dtype_text(dtype));
      if (op.lanes > 1) more.insert(fmt::format("{} vector", sdk::op_text(op.op)));
      if (op.flags & TN_OP_WHILE) more.insert("while");
      if (op.flags & TN_OP_ALIGNED) more.insert("aligned");
      if (op.op == TN_OP_INDEX) more.insert(fmt::format("axis {}", op.imm));
      if (op.op == TN_OP_ATOMIC) more.insert(fmt::format("atomic {}", op.imm & 0xff));
      if (op.op == TN_OP_CAST && op.imm) more.insert("bits");
      if (op.op == TN_OP_TAKE && op.operand_count > 2) more.insert("masked load");
      if (op.op == TN_OP_STORE && op.operand_count > 3) more.insert("masked store");
      if (op.op == TN_OP_PARAM) {
        const tn_param& param = view.param(static_cast<uint32_t>(op.imm));
        more.insert(fmt::format("space {} kind {}", param.space, param.kind));
      }
    }
  }
  for (const sdk::OpInfo& op : sdk::all_ops()) {
    constexpr tn_opcode kRounds[] = {TN_OP_RECIP, TN_OP_SQRT, TN_OP_EXP2, TN_OP_LOG2, TN_OP_SIN,
                                     TN_OP_FDIV,  TN_OP_EXP,  TN_OP_LN,   TN_OP_COS};
    if (!sdk::is_elementwise(op) || std::ranges::find(kRounds, op.op) != std::end(kRounds))
      continue;
    for (uint8_t dtype = 0; dtype < 32; ++dtype) {
      if (!sdk::is_usable(dtype) || !sdk::takes(op.types, dtype)) continue;
      if (op.op == TN_OP_FMA && sdk::dtype_bytes(dtype) == 1) continue;  // hardly ever exact
      INFO(op.text << " " << sdk::dtype_text(dtype));
      CHECK(seen.contains({std::string(op.text), std::string(sdk::dtype_text(dtype))}));
    }
  }
  for (const char* construct : {"while",
                                "aligned",
                                "axis 0",
                                "axis 1",
                                "axis 2",
                                "axis 3",
                                "axis 4",
                                "axis 5",
                                "axis 6",
                                "atomic 1",
                                "atomic 2",
                                "atomic 3",
                                "atomic 4",
                                "atomic 5",
                                "bits",
                                "masked load",
                                "masked store",
                                "load vector",
                                "broadcast vector",
                                "compose vector",
                                "carry vector",
                                "space 1 kind 1",
                                "space 2 kind 1",
                                "space 2 kind 2",
                                "space 3 kind 3",
                                "space 4 kind 3",
                                "space 5 kind 3",
                                "axis 7",
                                "axis 8",
                                "met in a region",
                                "atomic of 64 bits",
                                "again",
                                "reloaded"}) {
    INFO(construct);
    CHECK(more.contains(construct));
  }
  for (const char* op : {"lane_reduce", "extract", "if", "else", "loop", "barrier",
                         "subgroup_shuffle", "subgroup_reduce", "subgroup_broadcast"}) {
    INFO(op);
    CHECK(std::ranges::any_of(seen, [&](const auto& pair) { return pair.first == op; }));
  }
}

TEST_CASE("a program is a function of its draws, and the simplest is short") {
  for (uint64_t seed = 0; seed < 50; ++seed) {
    Choices fresh(seed);
    const Sequence sequence = draw_programs(fresh);
    Choices again(fresh.draws());
    CHECK(print(draw_programs(again)) == print(sequence));
    CHECK(print(parse_sequence(print(sequence))) == print(sequence));
    CHECK(is_programs(sequence));
  }
  Choices nothing(std::vector<uint64_t>{});
  const Sequence simplest = draw_programs(nothing);
  CHECK(simplest.steps.size() == 1);
  CHECK(program_of(simplest.steps[0]).view().op_count() <= 10);
}

TEST_CASE("the model knows loops") {
  CHECK(result("program p(%y: global i32[4] write) workgroup 1 1 1 {\n"
               "  %1 = const -3 : i32\n  %2 = const 2 : i32\n  %3 = const 0 : i32\n"
               "  %4 = loop %1, %2, %2 : i32 {\n"  // -3, -1, 1
               "    %5 = carry %3 : i32\n"
               "    store %y, %5, %4\n"
               "    %7 = const 1 : i32\n    %8 = add %5, %7 : i32\n"
               "    end %8\n  }\n"
               "  store %y, %5, %5\n}\n") == std::vector<int64_t>{-3, -1, 1, 3});
  // Ends when it says so, with the values of that iteration; one without any keeps the first ones.
  CHECK(result("program p(%y: global i32[2] write) workgroup 1 1 1 {\n"
               "  %1 = const 0 : i32\n  %2 = const 9 : i32\n  %3 = const 1 : i32\n"
               "  %4 = loop %1, %2, %3 while : i32 {\n"
               "    %5 = carry %2 : i32\n"
               "    %6 = add %5, %4 : i32\n"
               "    %7 = const 2 : i32\n    %8 = cmplt %4, %7 : bool\n"
               "    end %6, %8\n  }\n"
               "  %10 = loop %3, %1, %3 : i32 {\n    %11 = carry %5 : i32\n    end %1\n  }\n"
               "  store %y, %1, %5\n  store %y, %3, %11\n}\n") == std::vector<int64_t>{12, 12});
}

TEST_CASE("a loop's condition is read before its carries change") {
  // The bools take turns: true in the first iteration, false in the second.
  const std::string text =
      "program p(%y: global i32[1] write) workgroup 1 1 1 {\n"
      "  %1 = const 0 : i32\n  %2 = const 9 : i32\n  %3 = const 1 : i32\n"
      "  %4 = const false : bool\n  %5 = const true : bool\n"
      "  %6 = loop %1, %2, %3 while : i32 {\n"
      "    %7 = carry %4 : bool\n    %8 = carry %5 : bool\n    %9 = carry %1 : i32\n"
      "    %10 = add %9, %3 : i32\n"
      "    end %8, %7, %10, %8\n  }\n"
      "  store %y, %1, %9\n}\n";
  CHECK(result(text) == std::vector<int64_t>{2});
  const std::filesystem::path plugins = TENON_BINARY_DIR "/lib";
  for (const Target& target :
       {Target{"null", plugins / "tenon-examples/libtenon_null.so"},
        Target{"planted:0@bug=relaxed", plugins / "tenon-selftest/libtenon_planted.so"}}) {
    ApiHarness harness(target);
    Case test;
    test.sequence = Sequence{"", {step_of(text)}};
    const Outcome outcome = harness.run(test, [] {});
    INFO(target.backend << " " << outcome.text);
    CHECK(outcome.status == Status::kPass);
  }
}

TEST_CASE("the model knows bools, masks and lanes") {
  CHECK(result("program p(%y: global u8[4] write) workgroup 1 1 1 {\n"
               "  %1 = const false : bool\n  %2 = const true : bool\n"
               "  %3 = cmplt %1, %2 : bool\n  %4 = cmplt %2, %1 : bool\n"
               "  %5 = cast %3 : u8\n  %6 = cast %4 : u8\n"
               "  %7 = const 0 : i32\n  %8 = const 1 : i32\n"
               "  store %y, %7, %5\n  store %y, %8, %6\n"
               "  %11 = index lane : i32x4\n  %12 = const 2 : i32x4\n"
               "  %13 = cmplt %12, %11 : boolx4\n"
               "  %14 = cast %11 : u8x4\n"
               "  store %y, %11, %14, %13\n}\n") == std::vector<int64_t>{1, 0, 0, 3});
}

TEST_CASE("the model knows subgroups, and where they meet") {
  const std::string head =
      "program p(%y: global i32[8] write) workgroup 8 1 1 subgroup 4 {\n"
      "  %1 = index block.x : i32\n  %2 = const 3 : i32\n  %3 = sub %2, %1 : i32\n"
      "  %4 = and %3, %2 : i32\n  %5 = mul %1, %1 : i32\n";
  const auto given = [&](const std::string& op) {
    return result(head + "  %6 = " + op + " : i32\n  store %y, %1, %6\n}\n");
  };
  CHECK(given("subgroup_shuffle %5, %4") == std::vector<int64_t>{9, 4, 1, 0, 49, 36, 25, 16});
  CHECK(given("subgroup_broadcast %5, 2") == std::vector<int64_t>{4, 4, 4, 4, 36, 36, 36, 36});
  CHECK(given("subgroup_reduce.add %5") ==
        std::vector<int64_t>{14, 14, 14, 14, 126, 126, 126, 126});
  // One subgroup comes to it; then a part of one.
  const auto within = [&](const char* threads) {
    return head + "  %6 = const " + threads +
           " : i32\n  %7 = cmplt %1, %6 : bool\n  if %7 {\n"
           "    %9 = subgroup_shuffle %5, %4 : i32\n    store %y, %1, %9\n  }\n}\n";
  };
  CHECK(result(within("4")) == std::vector<int64_t>{9, 4, 1, 0, 0, 0, 0, 0});
  CHECK(has_part(refusal(within("6")), "all threads of a subgroup"));
}

TEST_CASE("the model refuses what has no certain meaning") {
  const std::string head =
      "program p(%y: global i32[8] read write) workgroup 4 1 1 {\n"
      "  %1 = index block.x : i32\n  %2 = index grid.x : i32\n  %3 = const 0 : i32\n";
  CHECK(has_part(refusal(head + "  store %y, %3, %1\n}\n"), "no other thread"));
  CHECK(has_part(refusal(head + "  store %y, %1, %1\n}\n"), "no other thread"));  // two workgroups
  CHECK(has_part(refusal(head + "  %4 = const 8 : i32\n  %5 = load %y, %4 : i32\n}\n"),
                 "element below"));
  CHECK(
      has_part(refusal(head + "  %4 = cmplt %1, %2 : bool\n  if %4 {\n    barrier block\n  }\n}\n"),
               "all threads"));
  CHECK(has_part(
      refusal(head + "  %4 = const 1 : i32\n  %5 = const 2147483647 : i32\n"
                     "  %6 = loop %3, %5, %4 : i32 {\n    %7 = add %6, %6 : i32\n  }\n}\n"),
      "ends soon"));
  // A value of fresh memory is nobody's to know.
  CHECK(has_part(refusal("program p(%y: global i32[8] read write) workgroup 1 1 1 {\n"
                         "  %own = param scratch i32[2]\n  %2 = const 0 : i32\n"
                         "  %3 = load %own, %2 : i32\n  %4 = load %y, %3 : i32\n}\n"),
                 "certain value"));
  // Threads that add to one cell are fine as long as nobody looks at what it held.
  const std::string adds = head + "  %4 = atomic.add.block %y, %3, %1 : i32\n";
  CHECK(refusal(adds + "}\n") == "");
  CHECK(has_part(refusal(adds + "  %5 = add %4, %4 : i32\n}\n"), "no other thread"));
}

TEST_CASE("floats are known as long as nothing rounds") {
  const auto known = [](const std::string& value) {
    const Modelled run(
        step_of("program p(%y: global f32[1] write) workgroup 1 1 1 {\n"
                "  %1 = const 0 : i32\n  %2 = const 1.5 : f32\n"
                "  %3 = const 0.1 : f32\n  %4 = const 1e-40 : f32\n  %5 = " +
                value + " : f32\n  store %y, %1, %5\n}\n"));
    return run.memory(0).value(0).known;
  };
  CHECK(known("add %2, %2"));
  CHECK(known("mul %2, %2"));
  CHECK(!known("add %2, %3"));
  CHECK(!known("mul %3, %3"));
  CHECK(!known("max %2, %4"));
  CHECK(!known("recip %2"));
}

TEST_CASE("a case of programs comes back from its file") {
  Builder builder;
  for (uint64_t seed = 0; seed < 20; ++seed) {
    Choices choices(seed);
    Reproducer written;
    written.test.sequence = draw_programs(choices);
    written.test.cell = {"api.program", "-", "-"};
    const std::string text = write_reproducer(written);
    const Reproducer read = parse_reproducer(text, builder, "file");
    REQUIRE(read.test.sequence);
    CHECK(print(*read.test.sequence) == print(*written.test.sequence));
  }
}

TEST_CASE("edits of a program leave a program or nothing") {
  for (uint64_t seed = 0; seed < 60; ++seed) {
    const sdk::Program program = program_of(drawn_step(seed));
    for (uint32_t i = 0; i < program.view().op_count(); ++i) {
      const uint16_t op = program.view().op(i).op;
      if (op != TN_OP_IF && op != TN_OP_LOOP && op != TN_OP_CARRY) continue;
      Draft without(program.view()), unwrapped(program.view());
      if (op == TN_OP_CARRY) {
        without.drop_carry(without.at(i).operands[0], static_cast<uint32_t>(without.at(i).op.imm));
      } else {
        without.drop_region(i);
        unwrapped.unwrap(i);
      }
      INFO("seed " << seed << " op " << i);
      const auto shorter = without.finish(), flatter = unwrapped.finish();
      REQUIRE(shorter);
      CHECK(sdk::verify_program(shorter->get(), shorter->size()) == "");
      REQUIRE(flatter);
      CHECK(sdk::verify_program(flatter->get(), flatter->size()) == "");
    }
  }
}

namespace {

constexpr const char* kPlantedPlugin = TENON_BINARY_DIR "/lib/tenon-selftest/libtenon_planted.so";

Target planted_target(const char* bug) {
  return {fmt::format("planted:0@bug={}", bug), kPlantedPlugin};
}

/// The first failing case of many, with what it came to.
std::optional<std::pair<Case, Outcome>> first_failing_case(ApiHarness& harness, uint64_t most) {
  for (uint64_t seed = 0; seed < most; ++seed) {
    Case test;
    Choices choices(seed);
    test.sequence = draw_programs(choices);
    Outcome outcome = harness.run(test, [] {});
    if (is_failure(outcome.status)) return std::pair(std::move(test), std::move(outcome));
  }
  return std::nullopt;
}

}  // namespace

TEST_CASE("random programs find planted bugs, and what is left of them is small") {
  for (const char* bug : {"idiv_floors", "unroll_remainder", "offset_dropped", "wrong_pad_value"}) {
    INFO(bug);
    ApiHarness harness(planted_target(bug));
    auto failure = first_failing_case(harness, 600);
    REQUIRE(failure);
    Builder builder;
    const auto probe = [&](const Case& candidate) -> std::optional<Outcome> {
      Outcome outcome = harness.run(candidate, [] {});
      if (outcome.status != failure->second.status || outcome.kind != failure->second.kind)
        return std::nullopt;
      return outcome;
    };
    const Shrunk small = shrink::shrink(failure->first, failure->second, probe, builder);
    INFO(print(*small.test.sequence));
    CHECK(size_of(small.test).nodes <= 18);
    CHECK(harness.run(small.test, [] {}).kind == "mismatch");
    // No edit on the way may have made a program that means nothing.
    for (const SequenceStep& step : small.test.sequence->steps) CHECK_NOTHROW(Modelled(step));
  }
}

TEST_CASE("random programs and each op pass on devices that are right") {
  for (const char* benign :
       {"declared_ftz", "fma_contraction", "other_tree", "relaxed", "unsupported_dtypes",
        "tiny_limits", "reassociated_sum", "flushed_results", "small_buffers"}) {
    ApiHarness harness(planted_target(benign));
    const auto failure = first_failing_case(harness, 60);
    INFO(benign << (failure ? failure->second.text + print(*failure->first.sequence) : ""));
    CHECK(!failure);
    for (const std::string& name : abi_checks()) {
      if (!name.starts_with("each_op.")) continue;
      Case check;
      check.sequence = Sequence{name, {}};
      const Outcome outcome = harness.run(check, [] {});
      INFO(benign << " " << name << ": " << outcome.text);
      CHECK(!is_failure(outcome.status));
      if (name == "each_op.f32" || name == "each_op.i32") CHECK(outcome.status == Status::kPass);
    }
  }
}

TEST_CASE("a program that takes the model too long is vacuous") {
  ApiHarness harness(planted_target("other_tree"));
  const std::string head =
      "program p(%y: global i32[8] read write) workgroup 4 1 1 {\n"
      "  %1 = index block.x : i32\n  %2 = const 0 : i32\n  %3 = const 1 : i32\n";
  const std::string loops =
      "  %4 = const 5000000 : i32\n  %5 = loop %2, %4, %3 : i32 {\n"
      "    %6 = add %5, %5 : i32\n  }\n";
  Case test;
  test.sequence = Sequence{"", {step_of(head + loops + "}\n")}};
  const Outcome alone = harness.run(test, [] {});
  CHECK(alone.status == Status::kVacuous);
  CHECK(has_part(alone.text, "ends soon"));
  // Others in the same case count all the same.
  test.sequence->steps.push_back(step_of(head + "  store %y, %1, %1\n}\n"));
  CHECK(harness.run(test, [] {}).status == Status::kPass);
}

TEST_CASE("a program without a meaning is an error of the tool, and no plugin's fault") {
  ApiHarness harness(planted_target("other_tree"));
  const std::string racing =
      "program p(%y: global i32[8] read write) workgroup 4 1 1 {\n"
      "  %1 = index block.x : i32\n  %2 = const 0 : i32\n  %3 = add %1, %1 : i32\n"
      "  store %y, %2, %3\n}\n";
  Case test;
  test.sequence = Sequence{"", {step_of(racing)}};
  const Outcome outcome = harness.run(test, [] {});
  CHECK(outcome.status == Status::kToolError);
  CHECK(outcome.kind == kProgramKind);
  CHECK(has_part(outcome.text, "no other thread"));
  // Threads of two subgroups, of which one comes to a barrier of the workgroup.
  test.sequence->steps = {
      step_of("program p(%y: global i32[8] read write) workgroup 8 1 1 subgroup 4 {\n"
              "  %1 = index subgroup : i32\n  %2 = const 1 : i32\n  %3 = cmplt %1, %2 : bool\n"
              "  if %3 {\n    barrier block\n  }\n}\n")};
  const Outcome apart = harness.run(test, [] {});
  CHECK(apart.status == Status::kToolError);
  CHECK(apart.kind == kProgramKind);
  CHECK(has_part(apart.text, "all threads of a workgroup"));
  CHECK(!is_failure(apart.status));
  CHECK(!is_tried(apart.status));
}
