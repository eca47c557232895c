// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Checks of tn_plugin_query and of the table it gives.
#include <cctype>
#include <cstddef>
#include <cstring>
#include <string>

#include "conformance/abi/at_once.hpp"
#include "conformance/abi/checks/check.hpp"
#include "conformance/abi/counting_host.hpp"
#include "conformance/abi/isolated_process.hpp"
#include "core/plugin/library.hpp"

namespace tenon::conformance::abi::checks {
namespace {

void query_twice(const CheckContext& c) {
  at_once(2, [&](int) {
    const tn_plugin* again = c.subject.query(&counting_host(), 1, TN_ABI_VERSION, nullptr);
    expect(again, "tn_plugin_query: expected a table each time, got null");
    const tn_plugin table = abi_read(again);
    const tn_plugin& first = c.subject.plain;
    // What lies between the numbers and the pointers says nothing.
    const bool same =
        table.abi_version == first.abi_version && table.program_min == first.program_min &&
        table.program_max == first.program_max && table.priority == first.priority &&
        std::memcmp(&table.backend, &first.backend, sizeof table - offsetof(tn_plugin, backend)) ==
            0;
    expect(same, "tn_plugin_query: expected the same table each time, got another");
  });
}

void query_versions(const CheckContext& c) {
  tn_error error = abi_struct<tn_error>();
  expect(!c.subject.query(&counting_host(), 900, 909, &error),
         "tn_plugin_query: expected null for ABI versions 900 to 909, got a table");
  expect(error.code == TN_ERROR_INCOMPATIBLE,
         "tn_plugin_query: expected TN_ERROR_INCOMPATIBLE for ABI versions 900 to 909, got code {}",
         error.code);
  const std::string said = fixed_string(error.message);
  expect(std::ranges::any_of(said, [](unsigned char ch) { return std::isdigit(ch); }),
         "tn_plugin_query: expected a message that names its own range, got \"{}\"", said);
  expect(!c.subject.query(&counting_host(), 900, 909, nullptr),
         "tn_plugin_query: expected null for ABI versions 900 to 909, got a table");
  {  // the table of before still works
    const OpenDevice device = c.open();
    const MemoryHandle memory = any_memory(device, 64);
    if (device.computes()) any_kernel(device);
  }
  for (const uint32_t most : {900u, uint32_t{1} << 31, UINT32_MAX}) {
    const tn_plugin* wide = c.subject.query(&counting_host(), 1, most, nullptr);
    expect(wide, "tn_plugin_query: expected a table for ABI versions 1 to {}, got null", most);
    expect(abi_read(wide).abi_version >= 1, "tn_plugin: expected abi_version 1 or more, got {}",
           abi_read(wide).abi_version);
  }
}

void table_functions(const CheckContext& c) {
  const tn_plugin& t = c.table();
  expect(t.license, "tn_plugin: expected a license, got null");
  expect(t.version && *t.version, "tn_plugin: expected a version, got an empty one");
  for (const char* letter = t.backend; *letter; ++letter)
    expect(std::islower(static_cast<unsigned char>(*letter)) ||
               std::isdigit(static_cast<unsigned char>(*letter)) || *letter == '_',
           "tn_plugin: expected a backend of lower case letters, digits and _, got \"{}\"",
           t.backend);
  const OpenDevice device = c.open();
  const std::string missing = check_device_functions(t, device.properties().flags);
  expect(missing.empty(), "tn_plugin: {}", missing);
  if (device.is_async())
    expect(t.timeline_signal, "tn_plugin: expected timeline_signal with TN_DEVICE_ASYNC, got null");
  if (device.computes())
    expect(t.program_min <= t.program_max,
           "tn_plugin: expected program_min <= program_max, got {} and {}", t.program_min,
           t.program_max);
}

void unknown_extension(const CheckContext& c) {
  need(c.table().get_extension, "the plugin has no get_extension");
  for (const char* id : {"org.example.nothing.v1", "", "org.tenon.graphs.v1.more"})
    expect(!c.table().get_extension(id), "get_extension: expected null for \"{}\", got a table",
           id);
}

/// In a process of its own, which the plugin finds as a program would be.
void process_untouched(const CheckContext& c) {
  if (!run_isolated(c.subject.target, c.alive)) return;  // nor would it end with a device open
  expect(run_isolated(c.subject.target, c.alive, {.leaves_open = true}),
         "a program that returned 0 from main with a device open: expected it to end, as without");
}

/// Hosts that have fewer functions, in processes of their own: a plugin may keep the first it gets.
void hosts_with_less(const CheckContext& c) {
  for (const char* host : {"old", "bare"}) run_isolated(c.subject.target, c.alive, {.host = host});
}

}  // namespace

std::span<const CheckRow> entry_checks() {
  static constexpr CheckRow kRows[] = {
      {"query_twice", query_twice, 3},
      {"query_versions", query_versions, 4},
      {"table_functions", table_functions, 5},
      {"unknown_extension", unknown_extension, 9},
      {"process_untouched", process_untouched, 39},
      {"hosts_with_less", hosts_with_less, 7},
  };
  return kRows;
}

}  // namespace tenon::conformance::abi::checks
