// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "conformance/abi/checks/check.hpp"

#include <chrono>
#include <thread>

#include "conformance/abi/slab.hpp"
#include "conformance/cases/abi/check_order.hpp"
#include "conformance/cases/abi/rules.hpp"
#include "conformance/cases/abi/sequence.hpp"
#include "core/support/error.hpp"

namespace tenon::conformance::abi::checks {
namespace {

std::vector<CheckRow> rows_of(std::initializer_list<std::span<const CheckRow>> groups) {
  std::vector<CheckRow> rows;
  for (const auto group : groups) rows.insert(rows.end(), group.begin(), group.end());
  return rows;
}

std::vector<CheckRow> quick_rows() {
  return rows_of(
      {first_checks(),    entry_checks(),   device_checks(),       refusal_checks(),
       struct_checks(),   memory_checks(),  slab_checks(),         program_checks(),
       op_checks(),       limit_checks(),   program_form_checks(), submission_checks(),
       point_checks(),    work_checks(),    leak_checks(),         wide_value_checks(),
       float_checks(),    again_checks(),   together_checks(),     shared_byte_checks(),
       subgroup_checks(), process_checks(), thread_checks(),       space_claim_checks()});
}

/// About large numbers of bytes, ops, workgroups and objects.
std::vector<CheckRow> slow_rows() {
  return rows_of({large_number_checks(), large_program_checks(), many_object_checks()});
}

}  // namespace

const std::vector<CheckRow>& all_rows() {
  static const std::vector<CheckRow> rows = [] {
    std::vector<CheckRow> all = quick_rows();
    const std::vector<CheckRow> slow = slow_rows();
    all.insert(all.end(), slow.begin(), slow.end());
    return all;
  }();
  return rows;
}

OpenDevice submitting(const CheckContext& c) {
  OpenDevice device = c.open();
  need(device.submits(), "the device takes no submissions");
  return device;
}

OpenDevice computing(const CheckContext& c) {
  OpenDevice device = c.open();
  need(device.computes() && device.submits(), "the device has memory only");
  return device;
}

OpenDevice with_timelines(const CheckContext& c) {
  OpenDevice device = c.open();
  need(device.is_async(), "the device is synchronous");
  return device;
}

OpenDevice submitting_with_timelines(const CheckContext& c) {
  OpenDevice device = submitting(c);
  need(device.is_async(), "the device is synchronous");
  return device;
}

void run_check(std::string_view name, const CheckContext& context) {
  for (const CheckRow& row : all_rows()) {
    if (row.name != name) continue;
    context.alive();
    try {
      return row.run({context.subject, context.seed, context.alive, row.dtype});
    } catch (const Finding& finding) {
      throw Finding{finding.kind, with_rule(finding.text, row.rule)};
    } catch (const Lost& lost) {
      throw Lost{with_rule(lost.text, row.rule)};
    }
  }
  fail(ErrorKind::kInvalid, "[check] expected the name of a check, got \"{}\"", name);
}

void expect_result(const OpenDevice& device, const Kernel& kernel, tn_executable* executable,
                   const char* how) {
  constexpr uint64_t kBytes = 4096;
  const std::string what = fmt::format("of the program {} {} that was {}", kernel.spec().kind,
                                       sdk::dtype_text(uint8_t(kernel.spec().dtype)), how);
  const MemoryHandle out = any_memory(device, kBytes), in = any_memory(device, kBytes);
  Slab to, from;
  to.resize(kBytes);
  from.resize(kBytes);
  to.fill(0, kBytes, 0x41000000, 4, 1);
  from.fill(0, kBytes, 0x42aa000042480000, 8, 2);
  const auto extent = kernel.extent(16);
  const uint64_t scalar = kernel.scalar_bits(7);
  LaunchArguments arguments;
  const std::vector<tn_command> commands = {
      fill_command(out.get(), 0, kBytes, 0x41000000, 4),
      fill_command(in.get(), 0, kBytes, 0x42aa000042480000, 8),
      launch_command(kernel, executable, extent, {out.get(), 0}, {in.get(), 0}, scalar, arguments)};
  device.run(commands);
  const uint64_t size = kernel.element_bytes();
  kernel.apply(extent, from.range(0, extent.inputs * size), to.range(0, extent.outputs * size),
               scalar);
  std::vector<uint8_t> got(kBytes);
  device.read(out.get(), 0, 0, got);
  to.compare_bound(0, 0, extent.outputs * size, got, what);
  device.read(in.get(), 0, 0, got);
  from.compare(1, 0, got, what);
}

KernelSpec adding(int64_t constant) {
  KernelSpec spec;
  spec.kind = "accumulate";
  spec.dtype = TN_DTYPE_U32;
  spec.constant = constant;
  return spec;
}

Loaded any_kernel(const OpenDevice& device) {
  need(device.computes(), "the device has memory only");
  for (const tn_dtype dtype : {TN_DTYPE_U32, TN_DTYPE_I32, TN_DTYPE_F32}) {
    KernelSpec spec;
    spec.dtype = dtype;
    if (auto loaded = load_kernel(spec, device)) return std::move(*loaded);
  }
  throw NotThere{"the device takes none of the small programs"};
}

MemoryHandle any_memory(const OpenDevice& device, uint64_t size) {
  MemoryHandle memory = device.allocate(0, size);
  need(memory != nullptr, "no room for a slab");
  return memory;
}

void settle() { std::this_thread::sleep_for(std::chrono::milliseconds(3)); }

void need(bool condition, const char* what) {
  if (!condition) throw NotThere{what};
}

}  // namespace tenon::conformance::abi::checks

namespace tenon::conformance::abi {

int rule_of_check(std::string_view name) {
  for (const checks::CheckRow& row : checks::all_rows())
    if (row.name == name) return row.rule;
  return 0;
}

size_t quick_check_count() {
  static const size_t count = checks::quick_rows().size();
  return count;
}

const std::vector<std::string>& abi_checks() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (const checks::CheckRow& row : checks::all_rows()) all.emplace_back(row.name);
    return all;
  }();
  return names;
}

}  // namespace tenon::conformance::abi
