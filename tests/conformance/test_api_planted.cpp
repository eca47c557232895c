// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Planted bugs beyond small numbers and single calls, each found by the check of its rule; and what
// is odd but legal passes.
#include <catch2/catch_test_macros.hpp>

#include <filesystem>
#include <initializer_list>

#include "conformance/abi/harness.hpp"
#include "conformance/abi/isolated_process.hpp"
#include "conformance/cases/abi/sequence.hpp"

using namespace tenon;
using namespace tenon::conformance;
using namespace tenon::conformance::abi;

namespace {

const std::filesystem::path kPlanted =
    std::filesystem::path(TENON_BINARY_DIR) / "lib/tenon-selftest/libtenon_planted.so";

Outcome check(const std::string& variant, const std::string& name) {
  isolated_program = std::filesystem::path(TENON_BINARY_DIR) / "bin/tenon-conformance";
  ApiHarness harness(Target{"planted:0@bug=" + variant, kPlanted});
  Case test;
  test.seed = 3;
  test.sequence = Sequence{name, {}};
  return harness.run(test, [] {});
}

struct Row {
  const char *bug, *check, *kind;
};

void expect_found(std::initializer_list<Row> rows) {
  for (const auto& [bug, name, kind] : rows) {
    const Outcome outcome = check(bug, name);
    INFO(bug << " in " << name << ": " << outcome.text);
    CHECK(outcome.status == Status::kFail);
    CHECK(outcome.kind == kind);
    CHECK(outcome.text.find("rule ") != std::string::npos);
  }
}

}  // namespace

TEST_CASE("numbers that are kept in too few bits are found") {
  expect_found({{"fill_past_2_20", "large_fills", "mismatch"},
                {"copy_length_24", "large_copies", "mismatch"},
                {"copy_offset_20", "large_copies", "mismatch"},
                {"map_offset_16", "large_maps", "mismatch"},
                {"past_2_20", "many_elements", "mismatch"},
                {"commands_16", "crowded_submissions", "mismatch"},
                {"argument_ring", "crowded_submissions", "mismatch"},
                {"arguments_24", "many_arguments", "mismatch"},
                {"lanes_32", "wide_vectors", "mismatch"},
                {"groups_2_17", "many_workgroups", "mismatch"},
                {"nesting_32", "deep_programs", "mismatch"},
                {"codes_256", "many_executables", "mismatch"},
                {"slabs_1024", "many_slabs", "mismatch"},
                {"timeline_leap", "timeline_leaps", "order"},
                {"trips_16", "long_loops", "mismatch"},
                {"counter_32", "long_loops", "mismatch"},
                {"saved_64k", "long_programs", "error"},
                {"timeline_32", "timeline_jumps", "order"},
                {"timeline_signed", "timeline_jumps", "order"},
                {"timeline_2_53", "timeline_jumps", "order"},
                {"timeline_2_53", "timeline_steps", "order"},
                {"timeout_32", "long_timeouts", "error"},
                {"timeout_overflow", "long_timeouts", "error"},
                {"operand_15", "long_programs", "mismatch"},
                {"in_flight_64", "many_in_flight", "mismatch"}});
}

TEST_CASE("the first check finds ops and casts that are wrong, and names them") {
  struct Named {
    const char *bug, *words;
  };
  for (const auto& [bug, words] :
       {Named{"int_cast_wraps", "cast f32x1 to i8: out_i8 ["}, Named{"idiv_floors", "idiv i"},
        Named{"max_drops_nan", "max f32x1: out_f32 ["}, Named{"u8_saturates", "add u8x1: out_u8 ["},
        Named{"nan_compares_true", "cmplt f32x1: out_bool ["}}) {
    const Outcome outcome = check(bug, "ops_together");
    INFO(bug << ": " << outcome.text);
    CHECK(outcome.status == Status::kFail);
    CHECK(outcome.text.starts_with(words));
  }
}

TEST_CASE("texts that differ say where") {
  const Outcome outcome = check("texts_in_pieces", "threads_save");
  INFO(outcome.text);
  CHECK(outcome.kind == "mismatch");
  CHECK(outcome.text.find("which differ from line ") != std::string::npos);
  CHECK(outcome.text.find(": expected \"") != std::string::npos);
}

TEST_CASE("loads are far enough for 24 bits where there is room") {
  const Outcome outcome = check("past_2_24", "half_gib_slab");
  if (outcome.status == Status::kUnsupported) SKIP("expected 1 GiB to be free");
  CHECK(outcome.kind == "mismatch");
}

TEST_CASE("an offset of 32 bits is found where there is room") {
  const Outcome outcome = check("fill_offset_32", "huge_slab");
  if (outcome.status == Status::kUnsupported) SKIP("expected 8 GiB to be free");
  CHECK(outcome.kind == "mismatch");
}

TEST_CASE("what outlives a launch, and what disturbs its neighbours, is found") {
  expect_found({{"arguments_cached", "launched_again", "mismatch"},
                {"arguments_latest", "launched_in_flight", "error"},
                {"grid_kept", "launched_again", "error"},
                {"scalars_kept", "launched_again", "mismatch"},
                {"offset_kept", "launched_again", "mismatch"},
                {"carry_kept", "launched_again", "mismatch"},
                {"pattern_kept", "patterns_alike", "mismatch"},
                {"refused_runs", "refused_submissions", "mismatch"},
                {"copy_words", "copies_inside", "mismatch"},
                {"map_is_copy", "maps_that_stay", "mismatch"},
                {"reads_rounded", "read_offsets", "mismatch"},
                {"loads_longer", "damaged_executables", "error"},
                {"wait_wakes_one", "threads_wait", "order"},
                {"locale_of_text", "ways_of_the_host", "error"},
                {"first_rounding", "ways_of_the_host", "error"},
                {"x87_precision", "ways_of_the_host", "error"},
                {"old_host", "hosts_with_less", "error"},
                {"atomic_float_bits", "atomics", "mismatch"},
                {"shared_carry", "atomics", "mismatch"},
                {"close_stops", "two_handles", "mismatch"},
                {"one_list", "threads_submit", "mismatch"},
                {"first_wait", "several_timelines", "order"},
                {"first_signal", "several_timelines", "order"},
                {"twin_destroyed", "destroyed_beside", "mismatch"},
                {"reduce_workgroup", "subgroups", "mismatch"},
                {"shuffle_in_region", "subgroups", "mismatch"},
                {"atomic_add_32", "atomics", "mismatch"},
                {"atomic_unsigned", "atomics", "mismatch"},
                {"atomic_compare_32", "atomics", "mismatch"},
                {"atomic_old_32", "atomics", "mismatch"},
                {"file_on_damage", "leak_after_errors", "leak"},
                {"copies_read_first", "order_of_commands", "mismatch"},
                {"zero_waits", "wait_length", "error"},
                {"shares_shared", "handles_share_nothing", "mismatch"},
                {"rounding_of_opener", "ways_of_the_host", "mismatch"},
                {"status_of_exit", "process_untouched", "error"},
                {"locale_of_long_text", "texts", "error"}});
}

TEST_CASE("what is odd but legal passes every check") {
  for (const char* variant :
       {"reorders", "stale_memory", "spare_files", "subgroups", "wide_vectors"})
    for (const std::string& name : abi_checks()) {
      const Outcome outcome = check(variant, name);
      INFO(variant << " in " << name << ": " << outcome.text);
      CHECK(!is_failure(outcome.status));
    }
}
