// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "conformance/judge/declared.hpp"

#include <nlohmann/json.hpp>

#include "core/ir/dtype.hpp"
#include "core/ir/op.hpp"
#include "core/plugin/abi_struct.hpp"
#include "core/plugin/probe.hpp"
#include "core/plugin/status.hpp"
#include "tenon/ext/files.h"
#include "tenon/ext/graphs.h"
#include "tenon/ext/peers.h"
#include "tenon/ext/timing.h"

namespace tenon::conformance::judge {
namespace {

using nlohmann::json;

struct Bit {
  uint32_t bit;
  const char* name;
};
constexpr Bit kDeviceBits[] = {{TN_DEVICE_COMPUTE, "compute"},
                               {TN_DEVICE_ASYNC, "async"},
                               {TN_DEVICE_DETERMINISTIC, "deterministic"},
                               {TN_DEVICE_SYMBOLIC, "symbolic"},
                               {TN_DEVICE_SAVE, "save"},
                               {TN_DEVICE_SOFTWARE, "software"},
                               {TN_DEVICE_SUBGROUP_BARRIER, "subgroup barrier"}};
constexpr Bit kNumericsBits[] = {{TN_NUMERICS_FLUSH_INPUT, "flush input"},
                                 {TN_NUMERICS_FLUSH_OUTPUT, "flush output"},
                                 {TN_NUMERICS_NO_NAN, "no NaN"},
                                 {TN_NUMERICS_NO_INF, "no infinity"},
                                 {TN_NUMERICS_NO_SIGNED_ZERO, "no signed zero"},
                                 {TN_NUMERICS_CONTRACT, "contract"}};
constexpr Bit kAtomBits[] = {{TN_ATOM_FLUSHES_SUBNORMALS, "flushes subnormals"},
                             {TN_ATOM_REDUCED_OPERANDS, "reduced operands"},
                             {TN_ATOM_TRUNCATES, "truncates"}};
constexpr Bit kDTypeBits[] = {{TN_DTYPE_STORAGE, "storage"},
                              {TN_DTYPE_ARITHMETIC, "arithmetic"},
                              {TN_DTYPE_ATOMICS, "atomics"}};
constexpr Bit kMemoryBits[] = {{TN_MEMORY_DEVICE, "device"},
                               {TN_MEMORY_HOST_VISIBLE, "host visible"},
                               {TN_MEMORY_COHERENT, "coherent"},
                               {TN_MEMORY_IMPORT, "import"},
                               {TN_MEMORY_PERSISTENT, "persistent"}};
constexpr const char* kExtensions[] = {TN_FILES_ID, TN_GRAPHS_ID, TN_PEERS_ID, TN_TIMING_ID};

template <size_t n>
json names(const Bit (&bits)[n], uint32_t set) {
  json out = json::array();
  for (const Bit& bit : bits)
    if (set & bit.bit) out.push_back(bit.name);
  return out;
}

std::string dtype_text(uint32_t code) {
  for (const DType dtype : all_dtypes())
    if (static_cast<uint32_t>(dtype) == code) return std::string(dtype_name(dtype));
  return fmt::format("code {}", code);
}

json dtypes(const tn_properties& p) {
  json out = json::array();
  for (uint32_t i = 0; i < p.dtype_count; ++i) {
    const tn_dtype_caps caps = abi_element(p.dtypes, p.dtype_stride, i);
    out.push_back({{"dtype", dtype_text(caps.dtype)},
                   {"flags", names(kDTypeBits, caps.flags)},
                   {"vector_lanes", caps.vector_lanes},
                   {"rate", caps.rate}});
  }
  return out;
}

json memory_spaces(const tn_properties& p) {
  json out = json::array();
  for (uint32_t i = 0; i < p.memory_space_count; ++i) {
    const tn_memory_space space = abi_element(p.memory_spaces, p.memory_space_stride, i);
    out.push_back({{"flags", names(kMemoryBits, space.flags)},
                   {"alignment", space.alignment},
                   {"read_alignment", space.read_alignment},
                   {"total", space.total},
                   {"largest", space.largest}});
  }
  return out;
}

json matrix_atoms(const tn_properties& p) {
  json out = json::array();
  for (uint32_t i = 0; i < p.matrix_atom_count; ++i) {
    const tn_matrix_atom atom = abi_element(p.matrix_atoms, p.matrix_atom_stride, i);
    out.push_back({{"id", atom.id},
                   {"m", atom.m},
                   {"n", atom.n},
                   {"k", atom.k},
                   {"a", dtype_text(atom.a_dtype)},
                   {"b", dtype_text(atom.b_dtype)},
                   {"accumulator", dtype_text(atom.accumulator_dtype)},
                   {"threads", atom.subgroup},
                   {"numerics", names(kAtomBits, atom.numerics)}});
  }
  return out;
}

json native_ops(const tn_properties& p) {
  json out = json::array();
  for (const OpInfo& op : all_ops()) {
    const auto code = static_cast<uint32_t>(op.op);
    if (code < 512 && (p.native_ops[code >> 6] >> (code & 63) & 1)) out.push_back(op.text);
  }
  return out;
}

json limits(const tn_properties& p) {
  json out = {{"max_workgroup", {p.max_workgroup[0], p.max_workgroup[1], p.max_workgroup[2]}},
              {"max_grid", {p.max_grid[0], p.max_grid[1], p.max_grid[2]}},
              {"index_bits", p.index_bits},
              {"storage_bytes", p.storage_bytes}};
#define TN_LIMIT(type, name, unless_told) out[#name] = p.name;
#define TN_SIZE(type, name, unless_told)
#include "core/ir/limits.def"
  return out;
}

json hints(const tn_properties& p) {
  json out;
#define TN_LIMIT(type, name, unless_told)
#define TN_SIZE(type, name, unless_told) out[#name] = p.name;
#include "core/ir/limits.def"
  return out;
}

std::string text(const char* words) { return words ? words : ""; }

}  // namespace

std::string declared_properties(const Device& device) {
  const tn_plugin& plugin = device.plugin();
  tn_target target = abi_struct<tn_target>();
  target.device = device.handle();
  tn_error error = abi_struct<tn_error>();
  const tn_properties* raw = nullptr;
  check_status(plugin.properties(&target, &raw, &error), error, "properties", device.id());
  const tn_properties p = abi_read(raw);
  json extensions = json::array();
  for (const char* id : kExtensions)
    if (plugin.get_extension && plugin.get_extension(id)) extensions.push_back(id);
  const tn_device_info& info = device.info();
  const json out = {{"backend", text(plugin.backend)},
                    {"version", text(plugin.version)},
                    {"license", text(plugin.license)},
                    {"abi", plugin.abi_version},
                    {"device", device.id()},
                    {"name", fixed_string(info.name)},
                    {"kind", kind_name(info.kind)},
                    {"driver", fixed_string(info.driver)},
                    {"target", fixed_string(info.target)},
                    {"flags", names(kDeviceBits, p.flags)},
                    {"accuracy", p.accuracy == TN_ACCURACY_RELAXED ? "relaxed" : "strict"},
                    {"numerics", names(kNumericsBits, p.numerics)},
                    {"dtypes", dtypes(p)},
                    {"memory_spaces", memory_spaces(p)},
                    {"limits", limits(p)},
                    {"hints", hints(p)},
                    {"native_ops", native_ops(p)},
                    {"matrix_atoms", matrix_atoms(p)},
                    {"extensions", extensions}};
  return out.dump(-1, ' ', false, json::error_handler_t::replace);
}

}  // namespace tenon::conformance::judge
