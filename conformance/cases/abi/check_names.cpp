// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Names of the ABI's checks; conformance/abi/checks has one function for each.
#include "conformance/cases/abi/sequence.hpp"

namespace tenon::conformance {

const std::vector<std::string>& abi_checks() {
  static const std::vector<std::string> names = {
      // the entry and the table
      "query_twice",
      "query_versions",
      "table_functions",
      "unknown_extension",
      "process_untouched",
      // devices
      "enumerate_capacity",
      "enumerate_short",
      "enumerate_stable",
      "info_strings",
      "unknown_option",
      "open_twice",
      "properties_sane",
      "properties_stable",
      "unknown_target",
      // refusals
      "open_beyond",
      "refused_calls",
      "named_targets",
      // sizes of structs
      "short_error",
      "short_report",
      "short_inputs",
      "long_inputs",
      "unknown_chain",
      "null_allowed",
      // memory
      "map_ranges",
      "odd_offsets",
      "huge_allocation",
      "host_allocation_fails",
      "aligned_slabs",
      "slabs_apart",
      "between_spaces",
      "imported_memory",
      "room_after_refusal",
      // programs
      "malformed_programs",
      "supports_is_pure",
      "compile_at_once",
      "saved_and_loaded",
      "damaged_executables",
      "texts",
      "each_op",
      // limits
      "shared_memory",
      "workgroup_shapes",
      "grid_limits",
      "scalars",
      "reloaded_programs",
      // submissions
      "zero_grid",
      "empty_submission",
      "structs_are_read",
      "order_of_commands",
      "timeline_values",
      "timeline_timeouts",
      "many_commands",
      "bound_offsets",
      "wait_length",
      "timeline_backwards",
      // leaks
      "leak_of_devices",
      "leak_of_memory",
      "leak_of_executables",
      "leak_of_timelines",
      "leak_of_submissions",
      "leak_after_errors",
  };
  return names;
}

}  // namespace tenon::conformance
