// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The named checks of the ABI's rules. Each is a function that throws a Finding where the plugin
// breaks its rule, and NotThere where the plugin leaves out what it is about.
#pragma once

#include <functional>
#include <span>
#include <string_view>

#include "conformance/abi/kernel.hpp"
#include "conformance/abi/open_device.hpp"

namespace tenon::conformance::abi::checks {

struct CheckContext {
  const Subject& subject;
  uint64_t seed = 0;
  const std::function<void()>& alive;
  tn_dtype dtype = TN_DTYPE_VOID;  ///< that of the check's row

  const tn_plugin& table() const { return subject.table; }
  OpenDevice open() const { return OpenDevice(subject, subject.index, subject.options_or_null()); }
};

struct CheckRow {
  std::string_view name;  ///< one of abi_checks(), each once
  void (*run)(const CheckContext&);
  int rule;  ///< of docs/abi.md, with a row in cases/abi/rules.def: what its findings name
  tn_dtype dtype = TN_DTYPE_VOID;  ///< of a check that each dtype has
};

/// Of all groups, in the order of abi_checks().
const std::vector<CheckRow>& all_rows();

/// One table for each group, in its own file.
std::span<const CheckRow> first_checks();
std::span<const CheckRow> entry_checks();
std::span<const CheckRow> device_checks();
std::span<const CheckRow> refusal_checks();
std::span<const CheckRow> struct_checks();
std::span<const CheckRow> memory_checks();
std::span<const CheckRow> slab_checks();
std::span<const CheckRow> program_checks();
std::span<const CheckRow> op_checks();
std::span<const CheckRow> limit_checks();
std::span<const CheckRow> large_number_checks();
std::span<const CheckRow> program_form_checks();
std::span<const CheckRow> large_program_checks();
std::span<const CheckRow> wide_value_checks();
std::span<const CheckRow> float_checks();
std::span<const CheckRow> again_checks();
std::span<const CheckRow> together_checks();
std::span<const CheckRow> process_checks();
std::span<const CheckRow> thread_checks();
std::span<const CheckRow> many_object_checks();
std::span<const CheckRow> shared_byte_checks();
std::span<const CheckRow> space_claim_checks();
std::span<const CheckRow> subgroup_checks();
std::span<const CheckRow> submission_checks();
std::span<const CheckRow> point_checks();
std::span<const CheckRow> work_checks();
std::span<const CheckRow> leak_checks();

/// What the check ways_of_the_host does in its process.
void take_ways(const CheckContext& context);

/// What it throws names its rule. Throws kInvalid for a name that is none.
void run_check(std::string_view name, const CheckContext& context);

// The device, opened; each throws NotThere where it is not such a one.
OpenDevice submitting(const CheckContext& c);
OpenDevice computing(const CheckContext& c);  ///< and submitting
OpenDevice with_timelines(const CheckContext& c);
OpenDevice submitting_with_timelines(const CheckContext& c);

/// A u32 program that adds a constant to what is there.
KernelSpec adding(int64_t constant);
/// An executable that the device takes, for checks that need any; throws NotThere.
Loaded any_kernel(const OpenDevice& device);
/// Runs the executable on fresh memory and holds the result against the kernel's meaning.
void expect_result(const OpenDevice& device, const Kernel& kernel, tn_executable* executable,
                   const char* how);
/// A slab of space 0; throws NotThere where there is no room.
MemoryHandle any_memory(const OpenDevice& device, uint64_t size);
/// Long enough for a submission that waits for nothing more.
void settle();
/// Throws NotThere.
void need(bool condition, const char* what);

}  // namespace tenon::conformance::abi::checks
