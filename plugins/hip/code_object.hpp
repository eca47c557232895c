// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// libamd_comgr, AMD's code object manager, opened at run time: what architectures the compiler
// knows, what a code object says of its kernel, and its disassembly. Declared here, from
// amd_comgr.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sdk/helpers/shared_library.hpp"

namespace tenon::hip {

/// amd_comgr_data_t and its kin: a handle in a struct.
struct ComgrHandle {
  uint64_t handle = 0;
};

struct ComgrFunctions {
  int (*isa_count)(size_t* out);
  int (*isa_name)(size_t index, const char** out);
  int (*create_data)(int kind, ComgrHandle* out);
  int (*release_data)(ComgrHandle);
  int (*set_data)(ComgrHandle, size_t size, const char* bytes);
  int (*set_data_name)(ComgrHandle, const char* name);
  int (*get_data)(ComgrHandle, size_t* size, char* bytes);
  int (*data_isa_name)(ComgrHandle, size_t* size, char* name);
  int (*create_set)(ComgrHandle* out);
  int (*destroy_set)(ComgrHandle);
  int (*add_to_set)(ComgrHandle set, ComgrHandle data);
  int (*data_of_set)(ComgrHandle set, int kind, size_t index, ComgrHandle* out);
  int (*create_action)(ComgrHandle* out);
  int (*destroy_action)(ComgrHandle);
  int (*set_action_isa)(ComgrHandle, const char* name);
  int (*do_action)(int kind, ComgrHandle info, ComgrHandle input, ComgrHandle result);
  int (*metadata)(ComgrHandle data, ComgrHandle* out);
  int (*destroy_metadata)(ComgrHandle);
  int (*lookup)(ComgrHandle map, const char* key, ComgrHandle* out);
  int (*element)(ComgrHandle list, size_t index, ComgrHandle* out);
  int (*string_of)(ComgrHandle, size_t* size, char* text);
};

class CodeObjects {
 public:
  /// Throws TN_ERROR_NOT_FOUND with the reason.
  CodeObjects();
  /// "gfx90a" and so on, without features.
  const std::vector<std::string>& architectures() const { return architectures_; }

  struct Usage {
    uint32_t registers = 0;  ///< vector registers of a thread
    uint32_t spills = 0;     ///< of vector and scalar registers
  };
  /// Of the first kernel.
  Usage usage(std::span<const std::byte> binary) const;
  /// Throws TN_ERROR_UNSUPPORTED where the library cannot.
  std::string disassemble(std::span<const std::byte> binary) const;

 private:
  class Handle;
  Handle load(std::span<const std::byte> binary) const;
  uint32_t number(ComgrHandle kernel, const char* key) const;

  sdk::SharedLibrary library_;
  ComgrFunctions comgr_ = {};
  std::vector<std::string> architectures_;
};

}  // namespace tenon::hip
