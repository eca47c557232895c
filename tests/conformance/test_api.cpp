// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Layer 4 on plugins that are right, and on ones that break a single rule.
#include <catch2/catch_test_macros.hpp>

#include <csignal>
#include <cstdlib>
#include <set>

#include "conformance/abi/checks/check.hpp"
#include "conformance/abi/harness.hpp"
#include "conformance/abi/isolated_process.hpp"
#include "conformance/cases/abi/sequence.hpp"

using namespace tenon;
using namespace tenon::conformance;
using namespace tenon::conformance::abi;

namespace {

const std::filesystem::path kBinary = TENON_BINARY_DIR;
const std::filesystem::path kSync = kBinary / "lib/tenon-examples/libtenon_null.so";
const std::filesystem::path kAsync = kBinary / "lib/tenon-selftest/libtenon_planted.so";

/// A plugin behind the wrapper that breaks one rule; "" breaks none.
Target breaking(const std::filesystem::path& base, const char* rule) {
  setenv("TENON_BREAKS_BASE", base.c_str(), 1);
  setenv("TENON_BREAKS", rule, 1);
  return {"breaks", kBinary / "test-plugins/conformance/libtenon_breaks.so"};
}

Outcome check(ApiHarness& harness, const std::string& name) {
  Case test;
  test.seed = 3;
  test.sequence = Sequence{name, {}};
  return harness.run(test, [] {});
}

Outcome run(ApiHarness& harness, const Sequence& sequence) {
  Case test;
  test.sequence = sequence;
  return harness.run(test, [] {});
}

Sequence drawn(uint64_t seed) {
  Choices choices(seed);
  return draw_sequence(choices);
}

bool is_good(const Outcome& outcome) { return !is_failure(outcome.status); }

/// The first of many drawn sequences that fails, and how.
std::optional<std::pair<uint64_t, Outcome>> first_failure(const Target& target, uint64_t most) {
  ApiHarness harness(target);
  for (uint64_t seed = 0; seed < most; ++seed)
    if (const Outcome outcome = run(harness, drawn(seed)); !is_good(outcome))
      return std::pair(seed, outcome);
  return std::nullopt;
}

}  // namespace

TEST_CASE("every check has a name of its own") {
  const std::set<std::string> names(abi_checks().begin(), abi_checks().end());
  CHECK(names.size() == abi_checks().size());
}

TEST_CASE("plugins that keep the rules pass every check") {
  isolated_program = kBinary / "bin/tenon-conformance";
  for (const auto& base : {kSync, kAsync}) {
    ApiHarness harness(breaking(base, ""));
    for (const std::string& name : abi_checks()) {
      const Outcome outcome = check(harness, name);
      INFO(base << " " << name << ": " << outcome.text);
      CHECK(is_good(outcome));
    }
  }
}

TEST_CASE("a broken rule is found by its check") {
  struct Row {
    const char *rule, *check, *kind;
    bool async = false;
  };
  constexpr Row kRows[] = {
      {"table", "query_twice", "error"},
      {"versions", "query_versions", "error"},
      {"forgets", "query_versions", "error"},
      {"extension", "unknown_extension", "error"},
      {"capacity", "enumerate_capacity", "error"},
      {"info_overrun", "enumerate_short", "error"},
      {"info_text", "info_strings", "error"},
      {"option", "unknown_option", "error"},
      {"alignment", "properties_sane", "error"},
      {"target", "unknown_target", "error"},
      {"error_overrun", "short_error", "error"},
      {"report_overrun", "short_report", "error"},
      {"target_tail", "short_inputs", "error"},
      {"command_tail", "short_inputs", "error"},
      {"long", "long_inputs", "error"},
      {"chain", "unknown_chain", "error"},
      {"map_offset", "map_ranges", "mismatch"},
      {"odd_fill", "odd_offsets", "mismatch"},
      {"out_of_memory", "huge_allocation", "error"},
      {"host_leak", "host_allocation_fails", "leak"},
      {"host_code", "host_allocation_fails", "error"},
      {"malformed", "malformed_programs", "support"},
      {"reason_overrun", "supports_is_pure", "error"},
      {"damaged", "damaged_executables", "error"},
      {"zero_grid", "zero_grid", "error"},
      {"reversed", "order_of_commands", "mismatch"},
      {"waits", "structs_are_read", "order", true},
      {"query", "timeline_values", "order", true},
      {"timeout", "timeline_timeouts", "error", true},
      {"any_index", "open_beyond", "error"},
      {"out_on_error", "refused_calls", "error"},
      {"error_silent", "refused_calls", "error"},
      {"no_reason", "refused_calls", "error"},
      {"no_reason", "malformed_programs", "error"},
      {"needs_device", "named_targets", "support"},
      {"misaligned", "aligned_slabs", "error"},
      {"alias", "slabs_apart", "mismatch"},
      {"copy_source", "between_spaces", "mismatch"},
      {"import", "imported_memory", "mismatch"},
      {"account", "room_after_refusal", "error"},
      {"shared_overlap", "shared_memory", "mismatch", true},
      {"block_axis", "workgroup_shapes", "mismatch", true},
      {"grid", "grid_limits", "mismatch", true},
      {"scalar", "scalars", "mismatch"},
      {"saved_constants", "reloaded_programs", "mismatch"},
      {"most_commands", "many_commands", "mismatch"},
      {"bound_offset", "bound_offsets", "guard"},
      {"long_timeout", "wait_length", "error", true},
      {"short_timeout", "wait_length", "error", true},
      {"backwards", "timeline_backwards", "order", true},
      {"device_leak", "leak_of_devices", "leak"},
      {"memory_leak", "leak_of_memory", "leak"},
      {"executable_leak", "leak_of_executables", "leak"},
      {"timeline_leak", "leak_of_timelines", "leak", true},
      {"submission_leak", "leak_of_submissions", "leak"},
      {"error_leak", "leak_after_errors", "leak"},
  };
  for (const Row& row : kRows) {
    ApiHarness harness(breaking(row.async ? kAsync : kSync, row.rule));
    const Outcome outcome = check(harness, row.check);
    INFO(row.rule << " in " << row.check << ": " << outcome.text);
    CHECK(outcome.status == Status::kFail);
    CHECK(outcome.kind == row.kind);
  }
  breaking(kSync, "");
}

TEST_CASE("what a plugin does to its process is found") {
  isolated_program = kBinary / "bin/tenon-conformance";
  struct Row {
    const char *rule, *said;
  };
  for (const auto& [rule, said] :
       {Row{"prints", "standard output"}, Row{"moves", "working directory"},
        Row{"locale", "locale"}, Row{"umask", "umask"}, Row{"handler", "SIGTERM"},
        Row{"blocks", "signal 13"}, Row{"rounding", "rounding"}, Row{"exit", "exit status 42"},
        Row{"environment", "expected PATH as before"}, Row{"preloads", "expected no LD_PRELOAD"},
        Row{"closes", "standard error"}, Row{"alarm", "SIGALRM"},
        Row{"order", "first enumeration"}}) {
    ApiHarness harness(breaking(kSync, ""));
    CHECK(check(harness, "process_untouched").status == Status::kPass);
    setenv("TENON_BREAKS", rule, 1);
    const Outcome outcome = check(harness, "process_untouched");
    INFO(rule << ": " << outcome.text);
    CHECK(outcome.status == Status::kFail);
    CHECK(outcome.text.find(said) != std::string::npos);
  }
  breaking(kSync, "");
}

TEST_CASE("a change to the process is found after any call, and the call is named") {
  struct Row {
    const char *bug, *check, *said;
  };
  for (const auto& [bug, name, said] :
       {Row{"flush_on_load", "damaged_executables", "after executable_load: the floating point"},
        Row{"rounding_on_unmap", "map_ranges", "after memory_unmap: the rounding"},
        Row{"signal_on_save", "damaged_executables",
            "after executable_save: the action of SIGCHLD"},
        Row{"mask_on_timeout", "timeline_timeouts", "after timeline_wait: signal 15"},
        Row{"directory_for_text", "texts", "after executable_text: the working directory"},
        Row{"locale_on_refusal", "malformed_programs", "after compile: the locale"}}) {
    ApiHarness harness(Target{fmt::format("planted:0@bug={}", bug), kAsync});
    const Outcome outcome = check(harness, name);
    INFO(bug << ": " << outcome.text);
    CHECK(outcome.status == Status::kFail);
    CHECK(outcome.kind == "error");
    CHECK(outcome.text.find(said) != std::string::npos);
    std::signal(SIGCHLD, SIG_DFL);  // all else is put back
  }
}

TEST_CASE("a plugin that uses its host's memory well passes the n-th refusal") {
  // The wrapper uses it only where it is to break something, so nothing is there to refuse.
  ApiHarness harness(breaking(kSync, ""));
  CHECK(check(harness, "host_allocation_fails").status == Status::kUnsupported);
}

TEST_CASE("sequences pass on plugins that keep the rules") {
  for (const auto& base : {kSync, kAsync}) {
    const auto failure = first_failure(breaking(base, ""), 80);
    INFO(base << (failure ? failure->second.text + "\n" + print(drawn(failure->first)) : ""));
    CHECK(!failure);
  }
}

TEST_CASE("sequences find broken rules") {
  struct Row {
    const char* rule;
    bool async;
  };
  for (const auto& [rule, async] : {Row{"odd_fill", false},
                                    {"reversed", false},
                                    {"map_offset", false},
                                    {"waits", true},
                                    {"query", true}}) {
    const auto failure = first_failure(breaking(async ? kAsync : kSync, rule), 300);
    INFO(rule);
    CHECK(failure);
  }
  breaking(kSync, "");
}

TEST_CASE("sequences find planted bugs of queues, pools and caches") {
  for (const char* bug : {"signalled_early", "write_after_read", "stale_pooled",
                          "key_ignores_dtype", "zeros_merged"}) {
    const Target target{fmt::format("planted:0@bug={}", bug), kAsync};
    const auto failure = first_failure(target, 400);
    INFO(bug);
    CHECK(failure);
  }
  for (const char* benign : {"slow_queue", "large_alignment", "tiny_limits"}) {
    const Target target{fmt::format("planted:0@bug={}", benign), kAsync};
    const auto failure = first_failure(target, 40);
    INFO(benign << (failure ? failure->second.text : ""));
    CHECK(!failure);
  }
}

TEST_CASE("a mismatch says which byte, from which step") {
  const Sequence sequence =
      parse_sequence("allocate 0 0 0 64\nfill 0 0 64 1 7\nfill 0 3 8 4 1\nread 0 0 0\n");
  ApiHarness harness(breaking(kSync, "odd_fill"));
  const Outcome outcome = run(harness, sequence);
  CHECK(outcome.kind == "mismatch");
  INFO(outcome.text);
  CHECK(outcome.text.find("slab 0 byte 0: expected 0x07 from step 2, got 0x01") !=
        std::string::npos);
  CHECK(outcome.text.find("step 4 (read 0 0 0)") != std::string::npos);
  breaking(kSync, "");
}

TEST_CASE("offsets that lose their high bits are found") {
  ApiHarness harness(breaking(kSync, "offset_bits"));
  const Outcome outcome = run(harness, parse_sequence("huge 0\n"));
  if (outcome.status == Status::kVacuous) SKIP("expected 8 GiB to be free");
  CHECK(outcome.kind == "mismatch");
  breaking(kSync, "");
}

TEST_CASE("every part of a sequence is a sequence") {
  for (const auto& base : {kSync, kAsync}) {
    ApiHarness harness(breaking(base, ""));
    Random random(11);
    for (uint64_t seed = 0; seed < 120; ++seed) {
      Sequence sequence = drawn(seed);
      std::erase_if(sequence.steps, [&](const SequenceStep&) { return random.below(3) == 0; });
      for (SequenceStep& step : sequence.steps)
        for (int64_t& number : step.numbers)
          if (random.below(4) == 0 && number > 0)
            number = static_cast<int64_t>(random.below(static_cast<uint64_t>(number)));
      const Outcome outcome = run(harness, sequence);
      INFO(base << " " << outcome.text << "\n" << print(sequence));
      CHECK(is_good(outcome));
    }
  }
}

TEST_CASE("each op names the one that is wrong, in the dtypes in which it is") {
  ApiHarness harness({"planted:0@bug=shr_logical", kAsync});
  const Outcome outcome = check(harness, "each_op.i8");
  CHECK(outcome.kind == "mismatch");
  CHECK(outcome.text.find("shr i8x1: ") != outcome.text.npos);
  for (const char* sound : {"each_op.u8", "each_op.f32"})
    CHECK(check(harness, sound).status == Status::kPass);
}
