// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The built CPU plugin, and the programs and values that its tests share.
#pragma once

#include "sdk/program/dtype_info.hpp"
#include "tests/plugin/device.hpp"

namespace tenon::cpu_test {

using namespace plugin_test;  // NOLINT: the fixture is these tests' own

const tn_plugin& plugin();
/// One device with default options for all tests.
const Device& shared_device();

/// Element `i` of a packed array of `size`-byte elements, zero-extended.
uint64_t element(const Bytes& bytes, size_t i, uint32_t size);
void set_element(Bytes& bytes, size_t i, uint32_t size, uint64_t value);

/// Those of dtypes.def that `is` is true of.
std::vector<tn_dtype> dtypes_where(bool (*is)(const sdk::DTypeInfo&));

/// A program that applies one op to elements [0, count) of its input buffers, `lanes` at a time.
sdk::Program elementwise_program(tn_opcode op, std::span<const tn_dtype> inputs, tn_dtype output,
                                 uint16_t lanes, uint64_t imm = 0);

/// Bit patterns worth trying: specials of the dtype and random ones. Deterministic.
std::vector<uint64_t> interesting_values(tn_dtype dtype, size_t random_count);

}  // namespace tenon::cpu_test
