// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The table behind TENON_BACKEND: one function for each entry of tn_plugin. Those that need the
// backend object are templates of three lines; the work is in backend_table.cpp.
#pragma once

#include <atomic>

#include "sdk/backend/backend.hpp"

namespace tenon::sdk {

/// Entries that know their object.
namespace table {
using BackendMaker = Backend& (*)();

int32_t device_enumerate(BackendMaker backend, uint32_t capacity, uint32_t stride,
                         tn_device_info* infos, uint32_t reason_capacity, char* reason,
                         uint32_t* out_count, tn_error* error);
int32_t device_open(BackendMaker backend, uint32_t index, const char* options,
                    tn_device** out_device, tn_error* error);
int32_t properties(BackendMaker backend, const tn_target* target,
                   const tn_properties** out_properties, tn_error* error);
int32_t supports(BackendMaker backend, const tn_target* target, const tn_program* program,
                 uint32_t capacity, char* reason);
int32_t compile(BackendMaker backend, const tn_target* target, const tn_program* program,
                tn_compile_report* report, tn_executable** out_executable, tn_error* error);
int32_t executable_load(BackendMaker backend, const tn_target* target, const void* bytes,
                        size_t size, tn_executable** out_executable, tn_error* error);
const void* get_extension(BackendMaker backend, const char* id);

/// Fills the entries that need no backend object.
void fill(tn_plugin& plugin, const BackendInfo& info);
/// Whether the ranges of versions overlap; writes the error where they do not.
bool negotiate(const BackendInfo& info, uint32_t abi_min, uint32_t abi_max, tn_error* error);
}  // namespace table

template <class Type>
struct BackendTable {
  static const tn_plugin* query(const tn_host* host, uint32_t abi_min, uint32_t abi_max,
                                tn_error* error) {
    if (!table::negotiate(Type::kInfo, abi_min, abi_max, error)) return nullptr;
    host_slot() = host;
    static const tn_plugin plugin = make();
    return &plugin;
  }

 private:
  static std::atomic<const tn_host*>& host_slot() {
    static std::atomic<const tn_host*> host = nullptr;
    return host;
  }
  static Backend& backend() {
    static Backend* const instance = [] {
      auto* made = new Type();
      made->set_host(host_slot());
      return made;
    }();
    return *instance;
  }

  static tn_plugin make() {
    tn_plugin plugin = TN_INIT(tn_plugin);
    table::fill(plugin, Type::kInfo);
    plugin.device_enumerate = [](uint32_t capacity, uint32_t stride, tn_device_info* infos,
                                 uint32_t reason_capacity, char* reason, uint32_t* out_count,
                                 tn_error* error) {
      return table::device_enumerate(backend, capacity, stride, infos, reason_capacity, reason,
                                     out_count, error);
    };
    plugin.device_open = [](uint32_t index, const char* options, tn_device** out_device,
                            tn_error* error) {
      return table::device_open(backend, index, options, out_device, error);
    };
    plugin.properties = [](const tn_target* target, const tn_properties** out, tn_error* error) {
      return table::properties(backend, target, out, error);
    };
    plugin.supports = [](const tn_target* target, const tn_program* program, uint32_t capacity,
                         char* reason) {
      return table::supports(backend, target, program, capacity, reason);
    };
    plugin.compile = [](const tn_target* target, const tn_program* program,
                        tn_compile_report* report, tn_executable** out, tn_error* error) {
      return table::compile(backend, target, program, report, out, error);
    };
    plugin.executable_load = [](const tn_target* target, const void* bytes, size_t size,
                                tn_executable** out, tn_error* error) {
      return table::executable_load(backend, target, bytes, size, out, error);
    };
    plugin.get_extension = [](const char* id) { return table::get_extension(backend, id); };
    return plugin;
  }
};

}  // namespace tenon::sdk
