// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Planted bugs beyond small numbers and single calls, each found by the check of its rule; and what
// is odd but legal passes.
#include <catch2/catch_test_macros.hpp>

#include <filesystem>

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

}  // namespace

TEST_CASE("numbers that are kept in too few bits are found") {
  struct Row {
    const char *bug, *check, *kind;
  };
  for (const auto& [bug, name, kind] : {Row{"fill_past_2_20", "large_fills", "mismatch"},
                                        Row{"copy_length_24", "large_copies", "mismatch"},
                                        Row{"copy_offset_20", "large_copies", "mismatch"},
                                        Row{"map_offset_16", "large_maps", "mismatch"},
                                        Row{"past_2_20", "many_elements", "mismatch"},
                                        Row{"commands_16", "crowded_submissions", "mismatch"},
                                        Row{"argument_ring", "crowded_submissions", "mismatch"},
                                        Row{"arguments_24", "many_arguments", "mismatch"},
                                        Row{"lanes_32", "wide_vectors", "mismatch"},
                                        Row{"groups_2_17", "many_workgroups", "mismatch"},
                                        Row{"nesting_32", "deep_programs", "mismatch"},
                                        Row{"codes_256", "many_executables", "mismatch"},
                                        Row{"slabs_1024", "many_slabs", "mismatch"},
                                        Row{"timeline_leap", "timeline_leaps", "order"},
                                        Row{"trips_16", "long_loops", "mismatch"},
                                        Row{"counter_32", "long_loops", "mismatch"},
                                        Row{"saved_64k", "long_programs", "error"},
                                        Row{"timeline_32", "timeline_jumps", "order"},
                                        Row{"timeline_signed", "timeline_jumps", "order"},
                                        Row{"timeline_2_53", "timeline_jumps", "order"},
                                        Row{"timeline_2_53", "timeline_steps", "order"},
                                        Row{"timeout_32", "long_timeouts", "error"},
                                        Row{"timeout_overflow", "long_timeouts", "error"}}) {
    const Outcome outcome = check(bug, name);
    INFO(bug << " in " << name << ": " << outcome.text);
    CHECK(outcome.status == Status::kFail);
    CHECK(outcome.kind == kind);
  }
}

TEST_CASE("an offset of 32 bits is found where there is room") {
  const Outcome outcome = check("fill_offset_32", "huge_slab");
  if (outcome.status == Status::kUnsupported) SKIP("expected 8 GiB to be free");
  CHECK(outcome.kind == "mismatch");
}

TEST_CASE("what outlives a launch, and what disturbs its neighbours, is found") {
  struct Row {
    const char *bug, *check, *kind;
  };
  for (const auto& [bug, name, kind] : {Row{"arguments_cached", "launched_again", "mismatch"},
                                        Row{"arguments_latest", "launched_in_flight", "error"},
                                        Row{"grid_kept", "launched_again", "error"},
                                        Row{"scalars_kept", "launched_again", "mismatch"},
                                        Row{"offset_kept", "launched_again", "mismatch"},
                                        Row{"carry_kept", "launched_again", "mismatch"},
                                        Row{"pattern_kept", "patterns_alike", "mismatch"},
                                        Row{"refused_runs", "refused_submissions", "mismatch"},
                                        Row{"copy_words", "copies_inside", "mismatch"},
                                        Row{"loads_longer", "damaged_executables", "error"},
                                        Row{"wait_wakes_one", "threads_wait", "order"},
                                        Row{"locale_of_text", "ways_of_the_host", "error"},
                                        Row{"first_rounding", "ways_of_the_host", "error"},
                                        Row{"x87_precision", "ways_of_the_host", "error"},
                                        Row{"old_host", "hosts_with_less", "error"},
                                        Row{"atomic_float_bits", "atomics", "mismatch"},
                                        Row{"shared_carry", "atomics", "mismatch"},
                                        Row{"close_stops", "two_handles", "mismatch"},
                                        Row{"one_list", "threads_submit", "mismatch"},
                                        Row{"first_wait", "several_timelines", "order"},
                                        Row{"first_signal", "several_timelines", "order"},
                                        Row{"twin_destroyed", "destroyed_beside", "mismatch"},
                                        Row{"reduce_workgroup", "subgroups", "mismatch"},
                                        Row{"shuffle_in_region", "subgroups", "mismatch"},
                                        Row{"atomic_add_32", "atomics", "mismatch"},
                                        Row{"atomic_unsigned", "atomics", "mismatch"},
                                        Row{"atomic_compare_32", "atomics", "mismatch"},
                                        Row{"atomic_old_32", "atomics", "mismatch"},
                                        Row{"file_on_damage", "leak_after_errors", "leak"}}) {
    const Outcome outcome = check(bug, name);
    INFO(bug << " in " << name << ": " << outcome.text);
    CHECK(outcome.status == Status::kFail);
    CHECK(outcome.kind == kind);
  }
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
